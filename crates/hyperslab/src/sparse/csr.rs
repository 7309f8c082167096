//! Sparse matrices in compressed rows and columns (CSR and CSC), from and to sparse datasets of two dimensions.

use std::ops::Range;

use hyperslab_engine::ops::sparse::{Coordinates, Defined, Slab, StructuredForm};
use hyperslab_engine::{Error, Result};

use super::SparseView;
use super::read::shared;
use crate::datatype::convert::Conversions;
use crate::{H5Type, Region, Selection};

/// A whole number that counts rows, columns or elements of a sparse matrix.
pub trait MatrixIndex: Copy + Default + Send + Sync {
    /// The number, if it is not negative.
    fn to_u64(self) -> Option<u64>;

    /// The same number, if it fits.
    fn from_u64(number: u64) -> Option<Self>;

    /// The same number, which fits.
    fn truncated(number: u64) -> Self;
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

            #[inline]
            fn truncated(number: u64) -> Self {
                Self::try_from(number).unwrap_or_default()
            }
        }
    )*};
}

matrix_index!(u16, u32, u64, usize, i32, i64);

/// A sparse matrix in compressed rows: of row `r` the elements `starts[r]..starts[r + 1]`, by ascending columns. In
/// compressed columns it is the other way round.
#[derive(Debug, Clone, PartialEq)]
pub struct Compressed<T, I> {
    /// Where each row begins, and where the last one ends.
    pub starts: Vec<usize>,
    /// The column of each element.
    pub indices: Vec<I>,
    /// The value of each element.
    pub values: Vec<T>,
}

/// Coordinates of the elements of a matrix that is compressed along one dimension.
pub(super) struct CompressedCoordinates<'a, I, P> {
    pub(super) starts: &'a [P],
    pub(super) indices: &'a [I],
    /// Number of the first row.
    pub(super) first: u64,
    pub(super) by_columns: bool,
}

impl<I: MatrixIndex, P: MatrixIndex> CompressedCoordinates<'_, I, P> {
    fn start(&self, row: usize) -> usize {
        let start = self.starts.get(row).and_then(|start| start.to_u64());
        start.and_then(|start| usize::try_from(start).ok()).unwrap_or(usize::MAX)
    }

    /// That starts ascend from 0 to the number of indices.
    fn check(&self) -> Result<()> {
        let rows = self.starts.len();
        let sound = rows > 0
            && self.start(0) == 0
            && self.start(rows.saturating_sub(1)) == self.indices.len()
            && (1..rows).all(|row| self.start(row.saturating_sub(1)) <= self.start(row));
        if sound {
            return Ok(());
        }
        let count = self.indices.len();
        Err(Error::Misuse(format!("starts of rows that do not ascend from 0 to the {count} elements")))
    }
}

impl<I: MatrixIndex, P: MatrixIndex> Coordinates for CompressedCoordinates<'_, I, P> {
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
            .partition_point(|start| start.to_u64().is_some_and(|start| start <= points.start as u64));
        let mut number = points.start;
        while number < points.end {
            // The row before the first that begins behind the point.
            let end = self.start(row).min(points.end);
            let along = self.first.saturating_add(row.saturating_sub(1) as u64);
            for index in self.indices.get(number..end).unwrap_or_default() {
                let across = index.to_u64().unwrap_or(u64::MAX);
                visit(number, &if self.by_columns { [across, along] } else { [along, across] })?;
                number = number.saturating_add(1);
            }
            if end <= number && row >= self.starts.len() {
                break;
            }
            row = row.saturating_add(1);
        }
        Ok(())
    }
}

impl SparseView<'_> {
    /// Writes the elements of a matrix in compressed rows (CSR): `starts` has one number more than the matrix has rows. The
    /// dense matrix is never in memory.
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
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not a sparse one of two dimensions, or too small;
    /// if starts do not ascend; as [`write`](Self::write).
    pub fn write_csr<T: H5Type, I: MatrixIndex, P: MatrixIndex>(
        &self,
        starts: &[P],
        indices: &[I],
        values: &[T],
    ) -> Result<()> {
        self.write_csr_rows(0, starts, indices, values)
    }

    /// As [`write_csr`](Self::write_csr), of rows from `first_row` on: for matrices that come block by block.
    ///
    /// # Errors
    /// As [`write_csr`](Self::write_csr).
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

    /// Writes the elements of a matrix in compressed columns (CSC): `starts` has one number more than the matrix has
    /// columns, `indices` are rows.
    ///
    /// # Errors
    /// As [`write_csr`](Self::write_csr).
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
        points.check().and_then(|()| self.check_matrix()).map_err(|error| self.dataset.context(error))?;
        if points.indices.len() != values.len() {
            let (got, count) = (values.len(), points.indices.len());
            return Err(self.dataset.context(Error::Misuse(format!("{got} values for {count} elements"))));
        }
        self.write_coordinates(None, points, &T::datatype(), &T::to_bytes(values))
    }

    fn check_matrix(&self) -> Result<()> {
        if self.dataset.is_structured() && self.dataset.ndim() == 2 {
            return Ok(());
        }
        Err(Error::Misuse("it is not a sparse dataset of two dimensions".into()))
    }

    /// The defined elements as a matrix in compressed rows (CSR).
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not a sparse one of two dimensions, or a column
    /// does not fit the type; as [`read`](Self::read).
    pub fn read_csr<T: H5Type, I: MatrixIndex>(&self) -> Result<Compressed<T, I>> {
        let rows = self.dataset.dataspace().dims().first().copied().unwrap_or(0);
        self.read_csr_rows(0..rows)
    }

    /// As [`read_csr`](Self::read_csr), of some rows.
    ///
    /// # Errors
    /// As [`read_csr`](Self::read_csr), and if there are no such rows.
    pub fn read_csr_rows<T: H5Type, I: MatrixIndex>(&self, rows: Range<u64>) -> Result<Compressed<T, I>> {
        self.check_matrix().map_err(|error| self.dataset.context(error))?;
        let dims = self.dataset.dataspace().dims().to_vec();
        let columns = dims.get(1).copied().unwrap_or(0);
        if I::from_u64(columns.saturating_sub(1)).is_none() {
            return Err(self
                .dataset
                .context(Error::Misuse(format!("numbers of {columns} columns do not fit the type"))));
        }
        let count = rows.end.saturating_sub(rows.start);
        let mut starts = self.counters(count)?;
        let (mut indices, mut parts) = (Vec::new(), Vec::new());
        let mut total = 0_usize;
        if count > 0 && columns > 0 {
            let region = Region::new(&[rows.start, 0], &[count, columns]);
            let selection = Selection::region(&region.map_err(|error| self.dataset.context(error.into()))?);
            self.for_each_slabs(&selection, &mut |source, slabs| {
                let packed: Vec<Packed<I>> =
                    shared(self.dataset.object().file(), &slabs, |slab| Packed::new(&source.form, slab));
                for part in packed {
                    part.count(&mut starts, rows.start);
                    total = total.saturating_add(part.indices.len());
                    indices.push(part.indices);
                    parts.push(part.values);
                }
                Ok(())
            })?;
        }
        let mut before = 0_usize;
        for start in &mut starts {
            before = before.saturating_add(*start);
            *start = before;
        }
        let indices = indices.concat();
        Ok(Compressed { starts, indices, values: self.converted(total, &parts)? })
    }

    /// Zeros for so many rows or columns and one more, if memory can hold them.
    fn counters(&self, count: u64) -> Result<Vec<usize>> {
        let limit = self.dataset.object().file().container.store.limits().result_bytes;
        let bytes = count.saturating_add(1).saturating_mul(8);
        let length = usize::try_from(count).ok().and_then(|count| count.checked_add(1));
        let length = length.filter(|_| bytes <= limit);
        let length = length.filter(|length| Vec::<usize>::new().try_reserve_exact(*length).is_ok());
        let what = || "compressed matrix: bytes of its starts".into();
        let length =
            length.ok_or_else(|| self.dataset.context(Error::Limit { what: what(), got: bytes, limit }))?;
        Ok(vec![0; length])
    }

    /// Stored values, in pieces, as values of the type `T`.
    fn converted<T: H5Type>(&self, count: usize, parts: &[Vec<u8>]) -> Result<Vec<T>> {
        let plan =
            Conversions::clone(self.dataset.conversions()).plan(self.dataset.datatype(), &T::datatype());
        let plan = plan.map_err(|error| self.dataset.context(error.into()))?;
        let (from, to) = (plan.source_size().max(1), plan.destination_size());
        let values = T::read_vec(count, |mut out| {
            for part in parts {
                let elements = part.len() / from;
                let length = elements.saturating_mul(to).min(out.len());
                let (now, behind) = std::mem::take(&mut out).split_at_mut(length);
                plan.convert(part, now, elements)?;
                out = behind;
            }
            Ok::<(), Error>(())
        });
        values.map_err(|error| self.dataset.context(error))
    }

    /// The defined elements as a matrix in compressed columns (CSC): `starts` are those of columns, `indices` rows.
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
    /// As [`read_csr`](Self::read_csr).
    pub fn read_csc<T: H5Type + Copy + Default, I: MatrixIndex>(&self) -> Result<Compressed<T, I>> {
        let rows = self.read_csr::<T, u64>()?;
        let starts = self.counters(self.dataset.dataspace().dims().get(1).copied().unwrap_or(0))?;
        rows.transposed(starts)
            .ok_or_else(|| self.dataset.context(Error::Misuse("numbers of rows do not fit the type".into())))
    }
}

impl<T: Copy + Default> Compressed<T, u64> {
    /// The same matrix, compressed along the other dimension; `starts` are zeros, one more than it has coordinates.
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
                let place = next.get_mut(usize::try_from(*self.indices.get(at)?).ok()?)?;
                *indices.get_mut(*place)? = row;
                *values.get_mut(*place)? = *self.values.get(at)?;
                *place = place.checked_add(1)?;
            }
        }
        Some(Compressed { starts, indices, values })
    }
}

/// The elements of a slab in C order.
struct Packed<I> {
    first: u64,
    counts: Vec<usize>,
    indices: Vec<I>,
    values: Vec<u8>,
}

impl<I: MatrixIndex> Packed<I> {
    fn new(form: &StructuredForm, slab: &Slab) -> Self {
        let count = usize::try_from(slab.len()).unwrap_or(usize::MAX);
        let height = usize::try_from(slab.height).unwrap_or(usize::MAX);
        let width = form.grid.chunk().get(1).copied().unwrap_or(1).max(1);
        let mut packed = Self {
            first: slab.first,
            counts: vec![0; height],
            indices: vec![I::default(); count],
            values: vec![0; count.saturating_mul(form.element_size)],
        };
        for part in &slab.parts {
            let mut row = Row::before(width);
            let counts = &mut packed.counts;
            part.set().for_each_offset(|offset| {
                if offset >= row.end {
                    row.enter(offset);
                }
                if let Some(count) = counts.get_mut(row.number) {
                    *count = count.wrapping_add(1);
                }
            });
        }
        match form.element_size {
            1 => packed.place::<1>(slab, width),
            2 => packed.place::<2>(slab, width),
            4 => packed.place::<4>(slab, width),
            8 => packed.place::<8>(slab, width),
            size => packed.place_any(slab, width, size),
        }
        packed
    }

    /// Where each row begins.
    fn starts(&self) -> Vec<usize> {
        let mut before = 0_usize;
        let start = |count: &usize| {
            let start = before;
            before = before.saturating_add(*count);
            start
        };
        self.counts.iter().map(start).collect()
    }

    /// Puts elements of `N` bytes to their places.
    fn place<const N: usize>(&mut self, slab: &Slab, width: u64) {
        let mut next = self.starts();
        let (indices, values) = (&mut self.indices, self.values.as_chunks_mut::<N>().0);
        for part in &slab.parts {
            let source = part.values().as_chunks::<N>().0;
            walk(part, width, &mut next, |column, from, to| {
                if let Some(index) = indices.get_mut(to) {
                    *index = I::truncated(column);
                }
                if let (Some(value), Some(source)) = (values.get_mut(to), source.get(from)) {
                    *value = *source;
                }
            });
        }
    }

    fn place_any(&mut self, slab: &Slab, width: u64, size: usize) {
        let mut next = self.starts();
        let (indices, values) = (&mut self.indices, &mut self.values);
        for part in &slab.parts {
            walk(part, width, &mut next, |column, from, to| {
                if let Some(index) = indices.get_mut(to) {
                    *index = I::truncated(column);
                }
                let range = |at: usize| at.saturating_mul(size)..at.saturating_add(1).saturating_mul(size);
                if let (Some(value), Some(source)) =
                    (values.get_mut(range(to)), part.values().get(range(from)))
                {
                    value.copy_from_slice(source);
                }
            });
        }
    }

    /// Adds the number of elements of each row to the place behind it.
    fn count(&self, starts: &mut [usize], first_row: u64) {
        for (count, row) in self.counts.iter().zip(self.first..) {
            let place = row.checked_sub(first_row).and_then(|row| usize::try_from(row).ok()?.checked_add(1));
            if let Some(start) = place.and_then(|place| starts.get_mut(place)) {
                *start = start.saturating_add(*count);
            }
        }
    }
}

/// The row that a walk through a chunk is in.
struct Row {
    width: u64,
    number: usize,
    /// Offset of the first element, and of the first one behind.
    start: u64,
    end: u64,
}

impl Row {
    fn before(width: u64) -> Self {
        Self { width, number: 0, start: 0, end: 0 }
    }

    fn enter(&mut self, offset: u64) {
        let number = offset / self.width;
        self.number = usize::try_from(number).unwrap_or(usize::MAX);
        self.start = number.saturating_mul(self.width);
        self.end = self.start.saturating_add(self.width);
    }
}

/// Visits the elements of a chunk: column, number in the chunk, place in the slab; `next` are the next places of rows.
#[inline]
fn walk(part: &Defined, width: u64, next: &mut [usize], mut visit: impl FnMut(u64, usize, usize)) {
    let first = part.origin.get(1).copied().unwrap_or(0);
    let mut row = Row::before(width);
    let (mut from, mut to) = (0_usize, 0_usize);
    part.set().for_each_offset(|offset| {
        if offset >= row.end {
            if let Some(left) = next.get_mut(row.number).filter(|_| row.end > 0) {
                *left = to;
            }
            row.enter(offset);
            to = next.get(row.number).copied().unwrap_or(usize::MAX);
        }
        visit(first.wrapping_add(offset.wrapping_sub(row.start)), from, to);
        from = from.wrapping_add(1);
        to = to.wrapping_add(1);
    });
    if let Some(left) = next.get_mut(row.number).filter(|_| row.end > 0) {
        *left = to;
    }
}
