//! Matrices of the crate `sprs`, from and to sparse datasets of two dimensions.

use std::ops::{Add, Deref};

use hyperslab_engine::{Error, Result};
use hyperslab_exact::to_usize;
use sprs::{CsMat, CsMatBase, CsMatI, SpIndex, TriMat, TriMatI};

use super::SparseView;
use crate::{Compressed, H5Type, MatrixIndex};

impl SparseView<'_> {
    /// Writes a compressed matrix of the crate `sprs`, in compressed rows or columns, to a sparse
    /// dataset of the same shape. Requires the feature `sprs`.
    ///
    /// ```
    /// use sprs::{CsMat, TriMat};
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<f64>().shape(&[3, 4]).sparse(&[2, 2]).create()?;
    /// let mut entries = TriMat::new((3, 4));
    /// entries.add_triplet(0, 3, 2.0);
    /// entries.add_triplet(2, 1, 3.0);
    /// let matrix: CsMat<f64> = entries.to_csc();
    /// a.sparse().write_sprs(&matrix)?;
    /// assert_eq!(a.sparse().read_sprs::<f64>()?, matrix.to_csr());
    /// assert_eq!(a.sparse().read_sprs_csc::<f64>()?, matrix);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the matrix has another shape than
    /// the dataset. Returns the errors of [`write_csr`](Self::write_csr).
    pub fn write_sprs<T, I, P, PS, IS, DS>(&self, matrix: &CsMatBase<T, I, PS, IS, DS, P>) -> Result<()>
    where
        T: H5Type,
        I: SpIndex + MatrixIndex,
        P: SpIndex + MatrixIndex,
        PS: Deref<Target = [P]>,
        IS: Deref<Target = [I]>,
        DS: Deref<Target = [T]>,
    {
        self.check_shape(matrix.shape())?;
        let starts = matrix.proper_indptr();
        if matrix.is_csr() {
            self.write_csr(&starts, matrix.indices(), matrix.data())
        } else {
            self.write_csc(&starts, matrix.indices(), matrix.data())
        }
    }

    /// Reads the defined elements of the dataset as a matrix of the crate `sprs` in compressed rows
    /// (CSR). Requires the feature `sprs`.
    ///
    /// For an example see [`write_sprs`](Self::write_sprs).
    ///
    /// # Errors
    /// Returns the errors of [`read_csr`](Self::read_csr).
    pub fn read_sprs<T: H5Type>(&self) -> Result<CsMat<T>> {
        let Compressed { starts, indices, values } = self.read_csr::<T, usize>()?;
        let matrix = CsMatI::try_new(self.matrix_shape()?, starts, indices, values);
        matrix.map_err(|(.., error)| self.dataset.context(Error::Misuse(error.to_string())))
    }

    /// Reads the defined elements of the dataset as a matrix of the crate `sprs` in compressed
    /// columns (CSC). Requires the feature `sprs`.
    ///
    /// For an example see [`write_sprs`](Self::write_sprs).
    ///
    /// # Errors
    /// Returns the errors of [`read_csr`](Self::read_csr).
    pub fn read_sprs_csc<T: H5Type + Default>(&self) -> Result<CsMat<T>> {
        let Compressed { starts, indices, values } = self.read_csc::<T, usize>()?;
        let matrix = CsMatI::try_new_csc(self.matrix_shape()?, starts, indices, values);
        matrix.map_err(|(.., error)| self.dataset.context(Error::Misuse(error.to_string())))
    }

    /// Writes the entries of a triplet matrix (COO) of the crate `sprs` to a dataset of the same
    /// shape. Entries with equal coordinates are added, as in `sprs`. Requires the feature `sprs`.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<i32>().shape(&[10, 10]).sparse(&[5, 5]).create()?;
    /// let mut entries = sprs::TriMat::new((10, 10));
    /// for (row, column, value) in [(9, 9, 1), (0, 4, 2), (9, 9, 3)] {
    ///     entries.add_triplet(row, column, value);
    /// }
    /// a.sparse().write_triplets(&entries)?;
    /// let read = a.sparse().read_triplets::<i32>()?;
    /// assert_eq!((read.row_inds(), read.col_inds(), read.data()), (&[0, 9][..], &[4, 9][..], &[2, 4][..]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`write_sprs`](Self::write_sprs).
    pub fn write_triplets<T, I>(&self, matrix: &TriMatI<T, I>) -> Result<()>
    where
        T: H5Type + Add<Output = T>,
        I: SpIndex + MatrixIndex,
    {
        self.check_shape(matrix.shape())?;
        self.write_sprs(&matrix.to_csr::<usize>())
    }

    /// Reads the defined elements of the dataset as a triplet matrix (COO) of the crate `sprs`, in
    /// C order. Requires the feature `sprs`.
    ///
    /// For an example see [`write_triplets`](Self::write_triplets).
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset does not have two
    /// dimensions. Returns the errors of [`read`](Self::read).
    pub fn read_triplets<T: H5Type>(&self) -> Result<TriMat<T>> {
        let shape = self.matrix_shape()?;
        let (points, values) = self.read::<T>(..)?;
        let (mut rows, mut columns) = (Vec::with_capacity(values.len()), Vec::with_capacity(values.len()));
        for point in points.coordinates.chunks_exact(2) {
            if let [row, column] = *point {
                rows.push(to_usize(row)?);
                columns.push(to_usize(column)?);
            }
        }
        Ok(TriMat::from_triplets(shape, rows, columns, values))
    }

    /// Returns the numbers of rows and columns of a sparse dataset.
    fn matrix_shape(&self) -> Result<(usize, usize)> {
        match *self.dataset.dataspace().dims() {
            [rows, columns] => Ok((to_usize(rows)?, to_usize(columns)?)),
            _ => Err(self.dataset.context(Error::Misuse(format!(
                "a matrix must have 2 dimensions, but the dataset has {}",
                self.dataset.ndim()
            )))),
        }
    }

    fn check_shape(&self, (rows, columns): (usize, usize)) -> Result<()> {
        let shape = self.matrix_shape()?;
        if shape == (rows, columns) {
            return Ok(());
        }
        let subject = format!("a matrix of {rows} × {columns} for a dataset of {} × {}", shape.0, shape.1);
        Err(self.dataset.context(Error::Misuse(subject)))
    }
}
