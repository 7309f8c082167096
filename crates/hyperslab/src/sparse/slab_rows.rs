//! The elements of a slab (a row of structured chunks) as compressed rows of a matrix.

use hyperslab_engine::ops::sparse::{SelectedChunk, Slab, StructuredForm};
use hyperslab_engine::{Error, Result};
use hyperslab_exact::to_usize;

use super::csr::MatrixIndex;
use crate::dataset::{filled, zeroed_elements};

/// The matrix rows in one slab of a sparse dataset, with their defined elements in C order. A slab
/// is the row of all chunks with the same coordinate in the slowest dimension.
pub(super) struct SlabRows<I> {
    /// The number of the first row.
    first: u64,
    /// The number of elements of each row.
    counts: Vec<usize>,
    /// The column of each element.
    pub(super) indices: Vec<I>,
    /// The values in the stored form.
    pub(super) values: Vec<u8>,
}

impl<I: MatrixIndex> SlabRows<I> {
    pub(super) fn new(form: &StructuredForm, slab: &Slab) -> Result<Self> {
        const WHAT: &str = "compressed rows";
        let count = to_usize(slab.len())?;
        let width = *form.grid.chunk().get(1).filter(|width| **width > 0).ok_or_else(inconsistent)?;
        let mut rows = Self {
            first: slab.first,
            counts: filled(to_usize(slab.height)?, 0, WHAT)?,
            indices: filled(count, I::default(), WHAT)?,
            values: zeroed_elements(count, form.element_size)?,
        };
        for part in &slab.parts {
            let mut cursor = RowCursor::before(width);
            let mut sound = true;
            let counts = &mut rows.counts;
            part.set().for_each_offset(|offset| {
                if offset >= cursor.end {
                    cursor.enter(offset);
                }
                match cursor.of(counts) {
                    Some(count) => *count += 1,
                    None => sound = false,
                }
            });
            sound.then_some(()).ok_or_else(inconsistent)?;
        }
        match form.element_size {
            1 => rows.scatter::<1>(slab, width)?,
            2 => rows.scatter::<2>(slab, width)?,
            4 => rows.scatter::<4>(slab, width)?,
            8 => rows.scatter::<8>(slab, width)?,
            size => rows.scatter_any(slab, width, size)?,
        }
        Ok(rows)
    }

    /// Returns the start of each row of the matrix: the index of its first element among the
    /// elements of the slab (a row of chunks).
    fn starts(&self) -> Vec<usize> {
        let mut before = 0_usize;
        let start = |count: &usize| {
            let start = before;
            before += *count;
            start
        };
        self.counts.iter().map(start).collect()
    }

    /// Distributes the elements of each chunk, of `N` bytes each, to the matrix rows of the slab (a
    /// row of chunks). Afterwards the elements are sorted by rows of the matrix.
    fn scatter<const N: usize>(&mut self, slab: &Slab, width: u64) -> Result<()> {
        let mut next = self.starts();
        let (indices, values) = (&mut self.indices, self.values.as_chunks_mut::<N>().0);
        for part in &slab.parts {
            let source = part.values().as_chunks::<N>().0;
            walk(part, width, &mut next, |column, from, to| {
                *indices.get_mut(to)? = I::from_u64(column)?;
                *values.get_mut(to)? = *source.get(from)?;
                Some(())
            })?;
        }
        Ok(())
    }

    /// Distributes the elements of each chunk, of `size` bytes each, to the matrix rows of the slab
    /// (a row of chunks). Afterwards the elements are sorted by rows of the matrix.
    fn scatter_any(&mut self, slab: &Slab, width: u64, size: usize) -> Result<()> {
        let mut next = self.starts();
        let (indices, values) = (&mut self.indices, &mut self.values);
        for part in &slab.parts {
            walk(part, width, &mut next, |column, from, to| {
                *indices.get_mut(to)? = I::from_u64(column)?;
                let range = |at: usize| Some(at.checked_mul(size)?..at.checked_add(1)?.checked_mul(size)?);
                values.get_mut(range(to)?)?.copy_from_slice(part.values().get(range(from)?)?);
                Some(())
            })?;
        }
        Ok(())
    }

    /// Adds the number of elements in each row of the matrix to the entry of `starts` after that
    /// row.
    pub(super) fn add_counts(&self, starts: &mut [usize], first_row: u64) -> Result<()> {
        for (count, row) in self.counts.iter().zip(self.first..) {
            let after = row.checked_sub(first_row).and_then(|row| usize::try_from(row).ok()?.checked_add(1));
            match after.and_then(|after| starts.get_mut(after)) {
                Some(start) => *start += *count,
                // A slab contains whole chunks, also at the edges of the selected rows.
                None if *count == 0 => {}
                None => return Err(inconsistent()),
            }
        }
        Ok(())
    }
}

/// Creates an error about structured chunks whose parts, counts and indices contradict each other.
fn inconsistent() -> Error {
    Error::internal("slab of structured chunks", "its elements lie in its rows and columns")
}

/// A cursor that moves through the rows of a chunk while the defined elements of the chunk are
/// visited.
struct RowCursor {
    width: u64,
    number: u64,
    /// The offset of the first element of the row.
    start: u64,
    /// The offset of the first element after the row.
    end: u64,
}

impl RowCursor {
    fn before(width: u64) -> Self {
        Self { width, number: 0, start: 0, end: 0 }
    }

    fn enter(&mut self, offset: u64) {
        self.number = offset / self.width;
        self.start = self.number * self.width;
        // The sum does not wrap, because the elements of a chunk fit in 64 bits.
        self.end = self.start.wrapping_add(self.width);
    }

    /// Returns the item of `entries` for the current row of the cursor. `entries` has one item for
    /// each row of the chunk.
    fn of<'a, T>(&self, entries: &'a mut [T]) -> Option<&'a mut T> {
        entries.get_mut(usize::try_from(self.number).ok()?)
    }
}

/// Walks over the defined elements of a chunk. For each element, calls `visit` with the element's
/// column, its number in the chunk, and its index in the slab (a row of chunks). `next` contains,
/// for each row of the chunk, the index in the slab of the next element.
///
/// # Errors
/// Returns [`Error::Internal`] if a row is not in `next`, or `visit` returns `None`.
#[inline]
fn walk(
    part: &SelectedChunk,
    width: u64,
    next: &mut [usize],
    mut visit: impl FnMut(u64, usize, usize) -> Option<()>,
) -> Result<()> {
    let first = *part.origin.get(1).ok_or_else(inconsistent)?;
    let mut row = RowCursor::before(width);
    let (mut from, mut to) = (0_usize, 0_usize);
    let mut sound = true;
    part.set().for_each_offset(|offset| {
        if offset >= row.end {
            if let Some(position) = row.of(next).filter(|_| row.end > 0) {
                *position = to;
            }
            row.enter(offset);
            match row.of(next) {
                Some(position) => to = *position,
                None => sound = false,
            }
        }
        // The sums do not wrap if the elements lie in the dataset; `visit` checks the positions.
        let column = first.wrapping_add(offset.wrapping_sub(row.start));
        sound &= visit(column, from, to).is_some();
        from = from.wrapping_add(1);
        to = to.wrapping_add(1);
    });
    if let Some(position) = row.of(next).filter(|_| row.end > 0) {
        *position = to;
    }
    sound.then_some(()).ok_or_else(inconsistent)
}
