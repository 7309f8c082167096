//! Conversion of ascending offsets of defined elements to coordinates.

use super::divisor::{Divisor, Unravel};
use super::{DefinedBuilder, DefinedSet};
use crate::Dims;
use std::ops::Range;

/// A cursor over the rows of a chunk, which converts ascending offsets of elements to coordinates.
/// A division is needed only if the row changes.
#[derive(Debug)]
pub(super) struct RowCursor {
    dims: Dims,
    /// The number of elements of a row.
    columns: u64,
    /// The offset of the first element of the current row.
    row: u64,
    /// The coordinates of the current element.
    coordinates: Dims,
}

impl RowCursor {
    pub(super) fn new(dims: &[u64]) -> Self {
        let coordinates = Dims::from_elem(0, dims.len());
        let columns = dims.last().copied().unwrap_or(0).max(1);
        Self { dims: dims.into(), columns, row: 0, coordinates }
    }

    /// Moves to the row of the chunk that contains the element at `offset`, and returns the column
    /// of this element. The row must not precede the current row.
    #[inline]
    fn advance_to(&mut self, offset: u64) -> u64 {
        let distance = offset - self.row;
        if distance >= self.columns {
            self.advance_rows(distance);
        }
        let column = offset - self.row;
        if let Some(last) = self.coordinates.last_mut() {
            *last = column;
        }
        column
    }

    /// Moves to another row of the chunk. The row contains the element `distance` elements after
    /// the start of the current row. The distance is at least one row.
    fn advance_rows(&mut self, distance: u64) {
        let mut rows = match (u32::try_from(distance), u32::try_from(self.columns)) {
            (Ok(distance), Ok(columns)) => u64::from(distance / columns),
            _ => distance / self.columns,
        };
        self.row += rows * self.columns;
        for (at, size) in self.coordinates.iter_mut().zip(&self.dims).rev().skip(1) {
            *at += rows;
            if *at < *size {
                break;
            }
            rows = *at / size;
            *at %= size;
        }
    }
}

impl DefinedSet {
    /// Calls `visit` with the runs of defined elements of a chunk in the range `range` of offsets.
    /// Cuts the runs at the ends of the chunk's rows.
    ///
    /// `visit` receives the coordinates of the first element, the number of defined elements before
    /// it in the whole box, and the number of elements of the run.
    pub fn for_each_row_run(&self, range: Range<u64>, mut visit: impl FnMut(&[u64], u64, u64)) {
        let mut rows = RowCursor::new(&self.dims);
        self.for_each_run(range, |mut offset, mut position, mut count| {
            while count > 0 {
                let taken = count.min(rows.columns - rows.advance_to(offset));
                visit(&rows.coordinates, position, taken);
                offset += taken;
                position += taken;
                count -= taken;
            }
        });
    }

    /// Returns the set of the defined elements of a chunk whose coordinates lie in the given
    /// ranges, one for each dimension: from the first number to before the second. Tests each
    /// defined element.
    ///
    /// ```
    /// use hyperslab_dataspace::DefinedSet;
    /// let set = DefinedSet::of_offsets(&[4, 8], vec![3, 11, 12, 30])?;
    /// assert_eq!(set.within(&[(0, 3), (3, 4)])?.offsets().collect::<Vec<_>>(), [3, 11]);
    /// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataspaceError::Rank`](crate::DataspaceError::Rank) if the number of ranges differs from
    /// the rank of the chunk.
    pub fn within(&self, ranges: &[(u64, u64)]) -> crate::Result<Self> {
        crate::error::same_rank("ranges of coordinates", self.dims.len(), ranges.len())?;
        let mut found = DefinedBuilder::with_capacity(&self.dims, 0)?;
        let divisors: Vec<Divisor> = self.dims.iter().map(|size| Divisor::new(*size, self.total)).collect();
        self.for_each_offset(|offset| {
            let mut rest = offset;
            let inside = divisors.iter().zip(ranges).rev().fold(true, |inside, (divisor, (from, to))| {
                let (before, at) = divisor.divide(rest);
                rest = before;
                inside & (at >= *from) & (at < *to)
            });
            if inside {
                found.push(offset);
            }
        });
        found.finish()
    }

    /// Calls `visit` with the coordinates of each defined element of a chunk of the rank `R`, in
    /// ascending order.
    pub fn for_each_point<const R: usize>(&self, mut visit: impl FnMut([u64; R])) {
        if self.dims.len() != R {
            return;
        }
        let unravel = Unravel::new(&self.dims, self.total);
        self.for_each_offset(|offset| visit(unravel.coordinates(offset)));
    }
}
