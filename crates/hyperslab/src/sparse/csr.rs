//! Sparse matrices in compressed rows (CSR) and columns (CSC), from and to sparse datasets of two
//! dimensions.

use std::ops::Range;

use hyperslab_engine::ops::sparse::PointCoordinates;
use hyperslab_engine::{Error, Result};
use hyperslab_exact::to_u64;

use super::SparseView;
use super::read::map_slabs;
use super::slab_rows::SlabRows;
use crate::conversion::to_rust;
use crate::dataset::filled;
use crate::{H5Type, Region, Selection};

/// An integer type for row numbers, column numbers and element counts of a sparse matrix.
pub trait MatrixIndex: Copy + Default + Send + Sync {
    /// Returns the matrix index as `u64`. Returns `None` if the index is negative.
    fn to_u64(self) -> Option<u64>;

    /// Returns `number` as a matrix index of this integer type. Returns `None` if the number does
    /// not fit.
    fn from_u64(number: u64) -> Option<Self>;
}

macro_rules! matrix_index {
    ($($type:ty),*) => {$(
        impl MatrixIndex for $type {
            #[inline]
            fn to_u64(self) -> Option<u64> {
                u64::try_from(self).ok()
            }

            #[inline]
            fn from_u64(number: u64) -> Option<Self> {
                Self::try_from(number).ok()
            }
        }
    )*};
}

matrix_index!(u16, u32, u64, usize, i32, i64);

/// A sparse matrix in memory, in compressed rows (CSR) or compressed columns (CSC).
///
/// In compressed rows, row `r` has the elements `starts[r]..starts[r + 1]` of `indices` and
/// `values`, in ascending order of columns. In compressed columns, rows and columns are exchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct Compressed<T, I> {
    /// The position of the first element of each row, followed by the number of all elements.
    pub starts: Vec<usize>,
    /// The column of each element.
    pub indices: Vec<I>,
    /// The value of each element.
    pub values: Vec<T>,
}

/// The row and column numbers of the elements of a matrix in compressed rows or columns.
pub(super) struct CompressedCoordinates<'a, I, P> {
    pub(super) starts: &'a [P],
    pub(super) indices: &'a [I],
    /// The number of the first row, or of the first column if `by_columns`.
    pub(super) first: u64,
    pub(super) by_columns: bool,
}

impl<I: MatrixIndex, P: MatrixIndex> CompressedCoordinates<'_, I, P> {
    fn start(&self, row: usize) -> Option<usize> {
        self.starts.get(row).and_then(|start| usize::try_from(start.to_u64()?).ok())
    }

    /// Checks the starts of the rows or columns of a compressed matrix. They must ascend from 0 to
    /// the number of indices.
    pub(super) fn check(&self) -> Result<()> {
        let last = self.starts.len().checked_sub(1).and_then(|last| self.start(last));
        let ascend = |row: usize| match (self.start(row - 1), self.start(row)) {
            (Some(before), Some(start)) => before <= start,
            _ => false,
        };
        let sound = self.start(0) == Some(0)
            && last == Some(self.indices.len())
            && (1..self.starts.len()).all(ascend);
        if sound { Ok(()) } else { Err(self.unordered()) }
    }

    fn unordered(&self) -> Error {
        let count = self.indices.len();
        Error::Misuse(format!("the row starts of the compressed matrix must ascend from 0 to {count}"))
    }
}

impl<I: MatrixIndex, P: MatrixIndex> PointCoordinates for CompressedCoordinates<'_, I, P> {
    fn len(&self) -> usize {
        self.indices.len()
    }

    fn for_each(
        &self,
        points: Range<usize>,
        visit: &mut impl FnMut(usize, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let mut row = self
            .starts
            .partition_point(|start| start.to_u64().is_some_and(|start| start <= to_u64(points.start)));
        let mut number = points.start;
        while number < points.end {
            // Element `number` is in row `row - 1`, which ends at the start of row
            // `row`.
            let (Some(end), Some(before)) = (self.start(row), row.checked_sub(1)) else {
                return Err(self.unordered());
            };
            let end = end.min(points.end);
            let along = self.first.checked_add(to_u64(before)).ok_or_else(|| {
                Error::Misuse(format!("the row number {} + {before} does not fit in 64 bits", self.first))
            })?;
            for index in self.indices.get(number..end).ok_or_else(|| self.unordered())? {
                let across = index.to_u64();
                let across = across
                    .ok_or_else(|| Error::Misuse("an index of the compressed matrix is negative".into()))?;
                visit(number, &if self.by_columns { [across, along] } else { [along, across] })?;
                number += 1;
            }
            row += 1;
        }
        Ok(())
    }
}

impl SparseView<'_> {
    /// Writes a matrix in compressed rows (CSR) to the sparse dataset. `starts` has one number for
    /// each row of the matrix and one more. No dense form of the matrix is needed.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<f64>().shape(&[3, 4]).sparse(&[2, 2]).create()?;
    /// a.sparse().write_csr(&[0_usize, 2, 2, 3], &[0_u32, 3, 1], &[1.0, 2.0, 3.0])?;
    /// assert_eq!(a.read_raw::<f64>(..)?, [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0]);
    /// assert_eq!(a.sparse().read_csr::<f64, u32>()?.indices, [0, 3, 1]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not sparse, does
    /// not have two dimensions, or is smaller than the matrix; if `starts` do not ascend from 0 to
    /// the number of elements; and if the lengths of `indices` and `values` differ. Returns the
    /// errors of [`write`](Self::write).
    pub fn write_csr<T: H5Type, I: MatrixIndex, P: MatrixIndex>(
        &self,
        starts: &[P],
        indices: &[I],
        values: &[T],
    ) -> Result<()> {
        self.write_csr_rows(0, starts, indices, values)
    }

    /// Writes a block of rows of a matrix in compressed rows (CSR) to the sparse dataset. The block
    /// begins at the row `first_row`; see [`write_csr`](Self::write_csr).
    ///
    /// # Errors
    /// Returns the errors of [`write_csr`](Self::write_csr).
    pub fn write_csr_rows<T: H5Type, I: MatrixIndex, P: MatrixIndex>(
        &self,
        first_row: u64,
        starts: &[P],
        indices: &[I],
        values: &[T],
    ) -> Result<()> {
        let points = CompressedCoordinates { starts, indices, first: first_row, by_columns: false };
        self.write_compressed(&points, values)
    }

    /// Writes a matrix in compressed columns (CSC) to the sparse dataset. `starts` has one number
    /// for each column of the matrix and one more, and `indices` are row numbers.
    ///
    /// For an example see [`read_csc`](Self::read_csc).
    ///
    /// # Errors
    /// Returns the errors of [`write_csr`](Self::write_csr).
    pub fn write_csc<T: H5Type, I: MatrixIndex, P: MatrixIndex>(
        &self,
        starts: &[P],
        indices: &[I],
        values: &[T],
    ) -> Result<()> {
        let points = CompressedCoordinates { starts, indices, first: 0, by_columns: true };
        self.write_compressed(&points, values)
    }

    fn write_compressed<T: H5Type, I: MatrixIndex, P: MatrixIndex>(
        &self,
        points: &CompressedCoordinates<'_, I, P>,
        values: &[T],
    ) -> Result<()> {
        points.check().and_then(|()| self.matrix_dims()).map_err(|error| self.dataset.context(error))?;
        if points.indices.len() != values.len() {
            let (got, count) = (values.len(), points.indices.len());
            return Err(self
                .dataset
                .context(Error::Misuse(format!("{got} values are given for {count} elements"))));
        }
        self.write_coordinates(None, points, &T::datatype(), &T::to_bytes(values))
    }

    /// Returns the numbers of rows and columns of a sparse dataset of two dimensions.
    fn matrix_dims(&self) -> Result<[u64; 2]> {
        match *self.dataset.dataspace().dims() {
            [rows, columns] if self.dataset.is_structured() => Ok([rows, columns]),
            _ => Err(Error::Misuse("the dataset is not a sparse dataset of two dimensions".into())),
        }
    }

    /// Reads the defined elements of the dataset as a matrix in compressed rows (CSR).
    ///
    /// For an example see [`write_csr`](Self::write_csr).
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not sparse or
    /// does not have two dimensions, and if the column numbers do not fit in `I`. Returns the
    /// errors of [`read`](Self::read).
    pub fn read_csr<T: H5Type, I: MatrixIndex>(&self) -> Result<Compressed<T, I>> {
        let [rows, _] = self.matrix_dims().map_err(|error| self.dataset.context(error))?;
        self.read_csr_rows(0..rows)
    }

    /// Reads the rows `rows` of the dataset as a matrix in compressed rows (CSR); see
    /// [`read_csr`](Self::read_csr).
    ///
    /// # Errors
    /// Returns the errors of [`read_csr`](Self::read_csr), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset does not have these rows.
    pub fn read_csr_rows<T: H5Type, I: MatrixIndex>(&self, rows: Range<u64>) -> Result<Compressed<T, I>> {
        let [_, columns] = self.matrix_dims().map_err(|error| self.dataset.context(error))?;
        if columns.checked_sub(1).is_some_and(|last| I::from_u64(last).is_none()) {
            let message = format!("the numbers of {columns} columns do not fit in the index type");
            return Err(self.dataset.context(Error::Misuse(message)));
        }
        // Saturates, because a range that ends before its start is empty.
        let count = rows.end.saturating_sub(rows.start);
        let mut starts = self.counters(count)?;
        let (mut indices, mut parts) = (Vec::new(), Vec::new());
        let mut total = 0_usize;
        if count > 0 && columns > 0 {
            let region = Region::new(&[rows.start, 0], &[count, columns]);
            let selection = Selection::region(&region.map_err(|error| self.dataset.context(error.into()))?);
            self.for_each_slabs(&selection, &mut |source, slabs| {
                let packed =
                    map_slabs(self.dataset.object().file(), &slabs, |slab| SlabRows::new(&source.form, slab));
                for part in packed {
                    let part: SlabRows<I> = part?;
                    part.add_counts(&mut starts, rows.start)?;
                    total += part.indices.len();
                    indices.push(part.indices);
                    parts.push(part.values);
                }
                Ok(())
            })?;
        }
        let mut before = 0_usize;
        for start in &mut starts {
            before += *start;
            *start = before;
        }
        let indices = indices.concat();
        Ok(Compressed { starts, indices, values: self.converted(total, &parts)? })
    }

    /// Returns `count + 1` counters that are zero, for counting the elements of each row or column
    /// of a matrix. Returns an error if the counters exceed the limit for results.
    fn counters(&self, count: u64) -> Result<Vec<usize>> {
        const WHAT: &str = "starts of a compressed matrix: bytes";
        let count = self.dataset.check_result(WHAT, count, size_of::<usize>());
        let length = count
            .and_then(|count| count.checked_add(1).ok_or(Error::Memory { subject: WHAT, bytes: u64::MAX }));
        length.and_then(|length| filled(length, 0, WHAT)).map_err(|error| self.dataset.context(error))
    }

    /// Converts `count` elements, whose stored bytes lie in `parts`, to values of the Rust type
    /// `T`.
    fn converted<T: H5Type>(&self, count: usize, parts: &[Vec<u8>]) -> Result<Vec<T>> {
        let plan = to_rust::<T>(self.dataset.conversions(), self.dataset.datatype());
        let plan = plan.map_err(|error| self.dataset.context(error.into()))?;
        let (from, to) = (plan.source_size().max(1), plan.destination_size());
        let values = T::read_vec(count, |mut out| {
            for part in parts {
                let elements = part.len() / from;
                let target = elements.checked_mul(to).and_then(|length| {
                    let (target, rest) = std::mem::take(&mut out).split_at_mut_checked(length)?;
                    out = rest;
                    Some(target)
                });
                let target = target.ok_or_else(|| {
                    Error::internal("compressed matrix", "the parts have the counted values")
                })?;
                plan.convert(part, target, elements)?;
            }
            Ok::<(), Error>(())
        });
        values.map_err(|error| self.dataset.context(error))
    }

    /// Reads the defined elements of the dataset as a matrix in compressed columns (CSC): `starts`
    /// has the position of the first element of each column, and `indices` are row numbers.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<i32>().shape(&[2, 3]).sparse(&[2, 2]).create()?;
    /// a.sparse().write_csc(&[0_u32, 1, 1, 3], &[1_u32, 0, 1], &[7, 8, 9])?;
    /// let columns = a.sparse().read_csc::<i32, u32>()?;
    /// assert_eq!((columns.starts, columns.indices, columns.values), (vec![0, 1, 1, 3], vec![1, 0, 1], vec![7, 8, 9]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_csr`](Self::read_csr), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the row numbers do not fit in `I`.
    pub fn read_csc<T: H5Type + Copy + Default, I: MatrixIndex>(&self) -> Result<Compressed<T, I>> {
        let rows = self.read_csr::<T, u64>()?;
        let [_, columns] = self.matrix_dims().map_err(|error| self.dataset.context(error))?;
        rows.transposed(self.counters(columns)?).ok_or_else(|| {
            self.dataset.context(Error::Misuse("the row numbers do not fit in the index type".into()))
        })
    }
}

impl<T: Copy + Default> Compressed<T, u64> {
    /// Returns the same sparse matrix with rows and columns in exchanged roles: compressed columns
    /// become compressed rows, and vice versa. `starts` must contain one zero for each row or
    /// column of the result and one more. Returns `None` if an index does not fit.
    fn transposed<I: MatrixIndex>(&self, mut starts: Vec<usize>) -> Option<Compressed<T, I>> {
        for index in &self.indices {
            let count = starts.get_mut(usize::try_from(*index).ok()?.checked_add(1)?)?;
            *count = count.checked_add(1)?;
        }
        let mut before = 0_usize;
        for start in &mut starts {
            before = before.checked_add(*start)?;
            *start = before;
        }
        let mut next = starts.clone();
        let mut indices = vec![I::default(); self.indices.len()];
        let mut values = vec![T::default(); self.values.len()];
        for (row, bounds) in self.starts.windows(2).enumerate() {
            let [from, to] = bounds else { continue };
            let row = I::from_u64(u64::try_from(row).ok()?)?;
            for at in *from..*to {
                let position = next.get_mut(usize::try_from(*self.indices.get(at)?).ok()?)?;
                *indices.get_mut(*position)? = row;
                *values.get_mut(*position)? = *self.values.get(at)?;
                *position = position.checked_add(1)?;
            }
        }
        Some(Compressed { starts, indices, values })
    }
}
