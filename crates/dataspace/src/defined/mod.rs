//! Which elements of a chunk are defined.
//!
//! Elements are known by their offsets: the number of elements before them in the box of the chunk, in C order.
//! A set of them is kept as ascending offsets or as runs, whichever suits it, so that what a change costs is
//! what it touches, besides moving bytes.

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
use store::{Offset, Run, Store, gallop};

/// Which elements of a box, the extent of a chunk, are defined.
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

/// The number of elements of a box that can be the extent of a chunk.
fn check_dims(dims: &[u64]) -> Result<u64> {
    if dims.is_empty() || dims.len() > MAX_RANK {
        return Err(DataspaceError::Invalid { what: "the rank", problem: "is not between 1 and 32" });
    }
    product("number of elements", dims.iter().copied())
}

impl DefinedSet {
    /// No element of a box.
    ///
    /// # Errors
    /// [`DataspaceError::Invalid`] for a rank other than 1 to 32, [`DataspaceError::Overflow`] for a box of more
    /// elements than 64 bits count.
    pub fn empty(dims: &[u64]) -> Result<Self> {
        let total = check_dims(dims)?;
        Ok(Self { dims: Dims::from_slice(dims), total, len: 0, store: Store::Runs(Vec::new()) })
    }

    /// All elements of a box.
    ///
    /// # Errors
    /// As [`DefinedSet::empty`].
    pub fn all(dims: &[u64]) -> Result<Self> {
        let total = check_dims(dims)?;
        let runs = if total == 0 { Vec::new() } else { vec![Run { start: 0, end: total, position: 0 }] };
        Ok(Self::settled(Dims::from_slice(dims), total, Store::Runs(runs)))
    }

    fn settled(dims: Dims, total: u64, store: Store) -> Self {
        let store = store.settled(total);
        Self { dims, total, len: store.len(), store }
    }

    /// The extent of the box.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// The number of elements of the box.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number of defined elements.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no element is defined.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether every element is defined.
    pub fn is_all(&self) -> bool {
        self.len == self.total
    }

    /// Bytes of memory that the set takes, about.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.store.bytes()
    }

    /// Whether the element is defined.
    pub fn contains(&self, offset: u64) -> bool {
        self.position(offset).is_some()
    }

    /// How many defined elements stand before the element, if it is defined.
    pub fn position(&self, offset: u64) -> Option<u64> {
        match &self.store {
            Store::Near(offsets) => {
                let near = u32::try_from(offset).ok()?;
                offsets.binary_search(&near).ok().map(store::count)
            }
            Store::Far(offsets) => offsets.binary_search(&offset).ok().map(store::count),
            Store::Runs(runs) => {
                let run = runs.get(runs.partition_point(|run| run.end <= offset))?;
                let inside = offset.checked_sub(run.start)?;
                Some(run.position + inside)
            }
        }
    }

    /// How many defined elements have lower offsets.
    pub fn rank(&self, offset: u64) -> u64 {
        match &self.store {
            Store::Near(offsets) => store::count(offsets.partition_point(|at| at.get() < offset)),
            Store::Far(offsets) => store::count(offsets.partition_point(|at| *at < offset)),
            Store::Runs(runs) => {
                let run = runs.get(runs.partition_point(|run| run.end <= offset));
                run.map_or(self.len, |run| run.position + (offset.max(run.start) - run.start))
            }
        }
    }

    /// Visits the defined elements with offsets in `range` in ascending order, as runs: the first one's offset,
    /// how many defined elements of the box stand before it, and how many there are. Runs are as long as can be
    /// within the range.
    pub fn for_each_run(&self, range: Range<u64>, mut visit: impl FnMut(u64, u64, u64)) {
        let Ok(()) = self.try_for_each_run(range, |offset, position, count| {
            visit(offset, position, count);
            Ok::<(), Infallible>(())
        });
    }

    /// As [`DefinedSet::for_each_run`], up to the first error.
    ///
    /// # Errors
    /// The one that `visit` gives.
    pub fn try_for_each_run<E>(
        &self,
        range: Range<u64>,
        visit: impl FnMut(u64, u64, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.store {
            Store::Near(offsets) => runs_of_offsets(offsets, &range, visit),
            Store::Far(offsets) => runs_of_offsets(offsets, &range, visit),
            Store::Runs(runs) => clipped_runs(runs, &range, visit),
        }
    }

    /// Visits the offsets of all defined elements in ascending order.
    pub fn for_each_offset(&self, mut visit: impl FnMut(u64)) {
        match &self.store {
            Store::Near(offsets) => offsets.iter().for_each(|offset| visit(offset.get())),
            Store::Far(offsets) => offsets.iter().for_each(|offset| visit(*offset)),
            Store::Runs(runs) => runs.iter().for_each(|run| (run.start..run.end).for_each(&mut visit)),
        }
    }

    /// The offsets of all defined elements in ascending order. [`DefinedSet::for_each_offset`] is quicker.
    pub fn offsets(&self) -> impl Iterator<Item = u64> + '_ {
        let (near, far, runs) = match &self.store {
            Store::Near(offsets) => (offsets.as_slice(), &[][..], &[][..]),
            Store::Far(offsets) => (&[][..], offsets.as_slice(), &[][..]),
            Store::Runs(runs) => (&[][..], &[][..], runs.as_slice()),
        };
        let runs = runs.iter().flat_map(|run| run.start..run.end);
        near.iter().map(|offset| offset.get()).chain(far.iter().copied()).chain(runs)
    }

    /// Disjoint boxes, few, whose union is the set, by their starts in C order. What is the same in consecutive
    /// rows, planes and so on is one box.
    pub fn blocks(&self) -> Vec<Block> {
        self.corners().blocks()
    }

    /// The regular hyperslab that the set is, if it is one. A set without elements is none.
    pub fn as_regular(&self) -> Option<RegularHyperslab> {
        self.corners().as_regular()
    }

    /// The boxes of [`DefinedSet::blocks`], packed.
    pub fn corners(&self) -> Corners {
        Corners::of(self)
    }
}

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

fn clipped_runs<E>(
    runs: &[Run],
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
