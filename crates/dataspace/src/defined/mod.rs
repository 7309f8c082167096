//! The set of defined elements of a chunk of a sparse dataset.
//!
//! An element is identified by its offset: the number of elements before it in the box of the
//! chunk, in C order. A set stores either ascending offsets or runs of offsets, depending on which
//! is smaller. A change takes time in proportion to the changed part, besides the copying of bytes.

mod algebra;
mod boxes;
mod build;
mod corners;
mod cursor;
mod divisor;
mod rows;
mod segments;
mod store;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::ops::Range;

use crate::error::product;
use crate::{Block, DataspaceError, Dims, MAX_RANK, RegularHyperslab, Result};

pub use build::DefinedBuilder;
pub use corners::Corners;
pub use segments::{Segment, SegmentSource, Segments};
use store::{Offset, OffsetRun, Store, gallop};

/// The set of defined elements of a chunk of a sparse dataset: the elements that have a stored
/// value. The shape of the chunk is `dims`. An offset is the position of an element in the chunk,
/// in C order.
///
/// ```
/// use hyperslab_dataspace::{DefinedSet, Region};
/// let old = DefinedSet::of_region(&[4, 8], &Region::new(&[1, 2], &[2, 3])?)?;
/// let new = DefinedSet::of_region(&[4, 8], &Region::new(&[2, 4], &[1, 2])?)?;
/// let (both, segments) = old.overlay(&new);
/// assert_eq!(both.offsets().collect::<Vec<_>>(), [10, 11, 12, 18, 19, 20, 21]);
/// assert_eq!(segments.gather(b"abcdef", b"XY", 1)?, b"abcdeXY");
/// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinedSet {
    dims: Dims,
    total: u64,
    len: u64,
    store: Store,
}

/// Returns the number of elements of a box of the shape `dims`. Checks that the box can be the
/// shape of a chunk.
fn check_dims(dims: &[u64]) -> Result<u64> {
    if dims.is_empty() || dims.len() > MAX_RANK {
        return Err(DataspaceError::Invalid { subject: "the rank", problem: "is not between 1 and 32" });
    }
    product("number of elements", dims.iter().copied())
}

impl DefinedSet {
    /// Creates an empty set of defined elements of a chunk.
    ///
    /// # Errors
    /// [`DataspaceError::Invalid`] if the rank is not between 1 and 32,
    /// [`DataspaceError::Overflow`] if the number of elements of the box does not fit in 64 bits.
    pub fn empty(dims: &[u64]) -> Result<Self> {
        let total = check_dims(dims)?;
        Ok(Self { dims: Dims::from_slice(dims), total, len: 0, store: Store::Runs(Vec::new()) })
    }

    /// Creates the set of defined elements that contains all elements of a chunk.
    ///
    /// # Errors
    /// The errors of [`DefinedSet::empty`].
    pub fn all(dims: &[u64]) -> Result<Self> {
        let total = check_dims(dims)?;
        let runs =
            if total == 0 { Vec::new() } else { vec![OffsetRun { start: 0, end: total, position: 0 }] };
        Ok(Self::normalized(Dims::from_slice(dims), total, Store::Runs(runs)))
    }

    fn normalized(dims: Dims, total: u64, store: Store) -> Self {
        let store = store.normalized(total);
        Self { dims, total, len: store.len(), store }
    }

    /// Returns the shape of the chunk whose defined elements are in the set.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// Returns the number of all elements of the chunk, whether they are defined or not.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of defined elements in the set.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether no element of the chunk is defined.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether every element of the chunk is defined.
    pub fn is_all(&self) -> bool {
        self.len == self.total
    }

    /// Returns the approximate memory use of the set of defined elements in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.store.bytes()
    }

    /// Returns whether the element at the offset `offset` in the chunk is defined.
    pub fn contains(&self, offset: u64) -> bool {
        self.position(offset).is_some()
    }

    /// Returns the number of defined elements of a chunk before the defined element at `offset`.
    /// Returns [`None`] if the element is not defined.
    pub fn position(&self, offset: u64) -> Option<u64> {
        match &self.store {
            Store::Offsets32(offsets) => {
                let near = u32::try_from(offset).ok()?;
                offsets.binary_search(&near).ok().map(store::count)
            }
            Store::Offsets64(offsets) => offsets.binary_search(&offset).ok().map(store::count),
            Store::Runs(runs) => {
                let run = runs.get(runs.partition_point(|run| run.end <= offset))?;
                let inside = offset.checked_sub(run.start)?;
                Some(run.position + inside)
            }
        }
    }

    /// Returns the rank of the offset `offset` in the set of defined elements of a chunk: the
    /// number of defined elements with lower offsets.
    pub fn rank(&self, offset: u64) -> u64 {
        match &self.store {
            Store::Offsets32(offsets) => store::count(offsets.partition_point(|at| at.get() < offset)),
            Store::Offsets64(offsets) => store::count(offsets.partition_point(|at| *at < offset)),
            Store::Runs(runs) => {
                let run = runs.get(runs.partition_point(|run| run.end <= offset));
                run.map_or(self.len, |run| run.position + (offset.max(run.start) - run.start))
            }
        }
    }

    /// Calls `visit` with each run of defined elements of a chunk, in ascending order. `range`
    /// limits the offsets of these elements in the chunk.
    ///
    /// `visit` receives the offset of the first element, the number of defined elements before it
    /// in the whole box, and the number of elements of the run. The runs are as long as possible
    /// within `range`.
    pub fn for_each_run(&self, range: Range<u64>, mut visit: impl FnMut(u64, u64, u64)) {
        let Ok(()) = self.try_for_each_run(range, |offset, position, count| {
            visit(offset, position, count);
            Ok::<(), Infallible>(())
        });
    }

    /// Calls `visit` with each run of defined elements of a chunk, in ascending order, until
    /// `visit` returns an error. `range` limits the offsets of these elements in the chunk.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn try_for_each_run<E>(
        &self,
        range: Range<u64>,
        visit: impl FnMut(u64, u64, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.store {
            Store::Offsets32(offsets) => runs_of_offsets(offsets, &range, visit),
            Store::Offsets64(offsets) => runs_of_offsets(offsets, &range, visit),
            Store::Runs(runs) => clipped_runs(runs, &range, visit),
        }
    }

    /// Calls `visit` with the offset in the chunk of each defined element, in ascending order.
    pub fn for_each_offset(&self, mut visit: impl FnMut(u64)) {
        match &self.store {
            Store::Offsets32(offsets) => offsets.iter().for_each(|offset| visit(offset.get())),
            Store::Offsets64(offsets) => offsets.iter().for_each(|offset| visit(*offset)),
            Store::Runs(runs) => runs.iter().for_each(|run| (run.start..run.end).for_each(&mut visit)),
        }
    }

    /// Returns the offsets in the chunk of all defined elements in ascending order.
    /// [`DefinedSet::for_each_offset`] is faster.
    pub fn offsets(&self) -> impl Iterator<Item = u64> + '_ {
        let (offsets32, offsets64, runs) = match &self.store {
            Store::Offsets32(offsets) => (offsets.as_slice(), &[][..], &[][..]),
            Store::Offsets64(offsets) => (&[][..], offsets.as_slice(), &[][..]),
            Store::Runs(runs) => (&[][..], &[][..], runs.as_slice()),
        };
        let runs = runs.iter().flat_map(|run| run.start..run.end);
        offsets32.iter().map(|offset| offset.get()).chain(offsets64.iter().copied()).chain(runs)
    }

    /// Returns disjoint boxes whose union is the set of defined elements, ordered by their starts
    /// in C order. Equal consecutive rows, planes and so on form one box, which keeps the number of
    /// boxes small.
    pub fn blocks(&self) -> Vec<Block> {
        self.corners().blocks()
    }

    /// Returns the set of defined elements as a regular hyperslab. Returns [`None`] if the set is
    /// not regular, or is empty.
    pub fn as_regular(&self) -> Option<RegularHyperslab> {
        self.corners().as_regular()
    }

    /// Returns a compact list of disjoint boxes. Their union is the set of defined elements. See
    /// [`DefinedSet::blocks`].
    pub fn corners(&self) -> Corners {
        Corners::of(self)
    }
}

/// Calls `visit` with each run of consecutive offsets of defined elements. `range` limits the
/// offsets.
fn runs_of_offsets<T: Offset, E>(
    offsets: &[T],
    range: &Range<u64>,
    mut visit: impl FnMut(u64, u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    let first = offsets.partition_point(|offset| offset.get() < range.start);
    let mut rest = offsets.split_at(first).1;
    if rest.last().is_some_and(|last| last.get() >= range.end) {
        let end = gallop(rest, 0, |offset| offset.get() < range.end);
        rest = rest.split_at(end).0;
    }
    let Some((head, tail)) = rest.split_first() else { return Ok(()) };
    let mut position = store::count(first);
    let (mut start, mut last, mut count) = (*head, *head, 1_u64);
    for offset in tail {
        if offset.follows(last) {
            count += 1;
        } else {
            visit(start.get(), position, count)?;
            position += count;
            (start, count) = (*offset, 1);
        }
        last = *offset;
    }
    visit(start.get(), position, count)
}

/// Calls `visit` with the part of each run of defined elements that lies in the range `range` of
/// offsets.
fn clipped_runs<E>(
    runs: &[OffsetRun],
    range: &Range<u64>,
    mut visit: impl FnMut(u64, u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    let first = runs.partition_point(|run| run.end <= range.start);
    for run in runs.split_at(first).1 {
        if run.start >= range.end {
            break;
        }
        let (start, end) = (run.start.max(range.start), run.end.min(range.end));
        if start < end {
            visit(start, run.position + (start - run.start), end - start)?;
        }
    }
    Ok(())
}
