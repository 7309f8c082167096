//! Selections as runs of elements along the fastest dimension.

use smallvec::SmallVec;

use crate::blocks::BlockRuns;
use crate::{Axes, Axis, Dims, Points};

/// A run of selected elements along the fastest dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The coordinates of the first element.
    pub start: Dims,
    /// The number of elements.
    pub length: u64,
}

/// An iterator over the runs of selected elements along the fastest dimension: in C order, or in
/// list order for points.
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    pub(crate) source: Source<'a>,
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let length = self.source.advance()?;
        Some(Run { start: Dims::from_slice(self.source.start()), length })
    }
}

/// A source of the runs of elements of a selection. `advance` returns the length of the next run,
/// and `start` the coordinates of its first element.
#[derive(Debug, Clone)]
pub(crate) enum Source<'a> {
    Empty,
    Regular(RegularRuns),
    Blocks(BlockRuns<'a>),
    Points(PointRuns<'a>),
}

impl Source<'_> {
    pub(crate) fn advance(&mut self) -> Option<u64> {
        match self {
            Self::Empty => None,
            Self::Regular(runs) => runs.advance(),
            Self::Blocks(runs) => runs.advance(),
            Self::Points(runs) => runs.advance(),
        }
    }

    pub(crate) fn start(&self) -> &[u64] {
        match self {
            Self::Empty => &[],
            Self::Regular(runs) => &runs.start,
            Self::Blocks(runs) => runs.start(),
            Self::Points(runs) => runs.start,
        }
    }
}

/// The state of an iteration over the runs of elements of a regular hyperslab.
#[derive(Debug, Clone)]
pub(crate) struct RegularRuns {
    slow: SmallVec<[Slow; 3]>,
    /// The fastest dimension; [`None`] in a dataspace without dimensions.
    fast: Option<Axis>,
    /// The number of the next block in the fastest dimension.
    next: u64,
    start: Dims,
    done: bool,
}

/// The current coordinate, in a slower dimension, of an iteration over a regular hyperslab: the
/// block, and the offset within the block.
#[derive(Debug, Clone)]
struct Slow {
    axis: Axis,
    block: u64,
    within: u64,
}

impl RegularRuns {
    pub(crate) fn new(axes: &Axes) -> Self {
        let done = axes.iter().any(Axis::is_empty);
        let start = axes.iter().map(|axis| axis.block_start(0)).collect();
        let (fast, slow) = axes.split_last().map_or((None, &[][..]), |(fast, slow)| (Some(*fast), slow));
        let slow = slow.iter().map(|axis| Slow { axis: *axis, block: 0, within: 0 }).collect();
        Self { slow, fast, next: 0, start, done }
    }

    /// Returns the selected coordinates of each dimension of a regular hyperslab, slowest-varying
    /// dimension first.
    pub(crate) fn axes(&self) -> impl DoubleEndedIterator<Item = &Axis> {
        self.slow.iter().map(|slow| &slow.axis).chain(&self.fast)
    }

    fn advance(&mut self) -> Option<u64> {
        if self.done {
            return None;
        }
        let Some(fast) = self.fast else {
            self.done = true;
            return Some(1);
        };
        if self.next == fast.block_count() {
            self.next = 0;
            self.next_row()?;
        }
        let block = self.next;
        self.next += 1;
        if let Some(last) = self.start.last_mut() {
            *last = fast.block_start(block);
        }
        Some(fast.block_length(block))
    }

    /// Skips the remaining rows of the current block of a regular hyperslab in the second-fastest
    /// dimension. Returns the number of these rows and their length. Returns [`None`] if a row has
    /// several runs.
    pub(crate) fn take_rows(&mut self) -> Option<(u64, u64)> {
        let fast = self.fast.filter(|fast| fast.block_count() == 1)?;
        let slow = self.slow.last_mut()?;
        let rows = slow.axis.block_length(slow.block) - slow.within - 1;
        slow.within += rows;
        let at = self.start.len().checked_sub(2).and_then(|at| self.start.get_mut(at))?;
        *at += rows;
        Some((rows, fast.block_length(0)))
    }

    fn next_row(&mut self) -> Option<()> {
        for (slow, at) in self.slow.iter_mut().zip(&mut self.start).rev() {
            if slow.advance() {
                *at = slow.axis.block_start(slow.block) + slow.within;
                return Some(());
            }
            *at = slow.axis.block_start(0);
        }
        self.done = true;
        None
    }
}

impl Slow {
    /// Advances a slower dimension of a regular hyperslab to its next selected coordinate and
    /// returns true. After the last coordinate, goes back to the first one and returns false.
    fn advance(&mut self) -> bool {
        self.within += 1;
        if self.within < self.axis.block_length(self.block) {
            return true;
        }
        self.within = 0;
        self.block += 1;
        if self.block < self.axis.block_count() {
            return true;
        }
        self.block = 0;
        false
    }
}

/// The state of an iteration over a point selection, in list order. The iteration returns runs:
/// points that ascend by 1 along the fastest dimension form one run.
#[derive(Debug, Clone)]
pub(crate) struct PointRuns<'a> {
    rest: &'a [u64],
    rank: usize,
    start: &'a [u64],
}

impl<'a> PointRuns<'a> {
    pub(crate) fn new(points: &'a Points) -> Self {
        Self { rest: &points.coordinates, rank: points.rank, start: &[] }
    }

    fn take(&mut self) -> Option<&'a [u64]> {
        let (point, rest) = self.rest.split_at_checked(self.rank)?;
        self.rest = rest;
        (!point.is_empty()).then_some(point)
    }

    fn advance(&mut self) -> Option<u64> {
        self.start = self.take()?;
        let (first, row) = self.start.split_last()?;
        let mut length = 1_u64;
        while let Some((next, next_row)) = self.rest.get(..self.rank).and_then(<[u64]>::split_last) {
            if next_row != row || first.checked_add(length) != Some(*next) {
                break;
            }
            self.take();
            length += 1;
        }
        Some(length)
    }
}
