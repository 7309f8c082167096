//! The runs of elements in a union of blocks of a selection. An iteration along each dimension
//! finds them.
//!
//! In the slowest dimension, the edges of the blocks divide the extent into bands. All coordinates
//! of a band have the same active blocks. For each band, the iteration continues in the next
//! dimension, with the active blocks only. In the fastest dimension the blocks are intervals. Only
//! the current band of each dimension is in memory.

use std::borrow::Cow;

use crate::{Block, Dims};

/// An iterator over the runs of elements in a union of blocks of a selection, in C order. Blocks
/// may touch and overlap.
#[derive(Debug, Clone)]
pub(crate) struct BlockRuns<'a> {
    blocks: Cow<'a, [Block]>,
    /// The state of the sweep in each dimension except the fastest.
    levels: Vec<Level>,
    /// The runs of the current row: first and last coordinate.
    intervals: Vec<(u64, u64)>,
    /// The index of the next run in `intervals`.
    next: usize,
    start: Dims,
}

/// The state, in one dimension, of an iteration over a union of blocks of elements. The iteration
/// divides the dimension into bands: ranges of coordinates that lie in the same blocks.
#[derive(Debug, Clone, Default)]
struct Level {
    /// The blocks of this sweep, in ascending order of their first coordinates.
    members: Vec<usize>,
    /// The number of members that the sweep has reached.
    met: usize,
    /// The reached members that extend to the current band or beyond.
    active: Vec<usize>,
    /// The first, current and last coordinate of the current band.
    band: Option<(u64, u64, u64)>,
    /// The number of bands so far.
    bands: usize,
}

impl<'a> BlockRuns<'a> {
    /// Creates an iterator over the runs of elements in the union of `blocks`. `rank` is at least
    /// 1, and no block ends before it starts.
    pub(crate) fn new(rank: usize, blocks: Cow<'a, [Block]>) -> Self {
        let all: Vec<usize> = (0..blocks.len()).collect();
        let levels = vec![Level::default(); rank.max(1) - 1];
        let mut runs =
            Self { blocks, levels, intervals: Vec::new(), next: 0, start: Dims::from_elem(0, rank) };
        if !all.is_empty() {
            runs.enter(0, all);
        }
        runs
    }

    pub(crate) fn start(&self) -> &[u64] {
        &self.start
    }

    pub(crate) fn advance(&mut self) -> Option<u64> {
        loop {
            if let Some((first, last)) = self.intervals.get(self.next) {
                self.next += 1;
                if let Some(at) = self.start.last_mut() {
                    *at = *first;
                }
                return Some(last - first + 1);
            }
            if !self.next_row() {
                return None;
            }
        }
    }

    /// Returns the first and the last coordinate, in one dimension, of a block of selected
    /// elements.
    fn span(&self, block: usize, dimension: usize) -> (u64, u64) {
        let span = |block: &Block| Some((*block.start.get(dimension)?, *block.end.get(dimension)?));
        self.blocks.get(block).and_then(span).unwrap_or_default()
    }

    /// Starts the iteration along one dimension over blocks of selected elements. `members` are the
    /// numbers of the blocks.
    fn enter(&mut self, dimension: usize, mut members: Vec<usize>) {
        members.sort_unstable_by_key(|block| self.span(*block, dimension));
        if let Some(level) = self.levels.get_mut(dimension) {
            *level = Level { members, ..Level::default() };
            self.next_band(dimension);
        } else {
            self.intervals.clear();
            self.next = 0;
            for block in members {
                let (first, last) = self.span(block, dimension);
                match self.intervals.last_mut() {
                    Some((_, end)) if first.max(1) - 1 <= *end => *end = last.max(*end),
                    _ => self.intervals.push((first, last)),
                }
            }
        }
    }

    /// Restarts the iteration along one dimension over blocks of selected elements. The iteration
    /// keeps its blocks.
    fn restart(&mut self, dimension: usize) {
        let Some(level) = self.levels.get_mut(dimension) else {
            self.next = 0;
            return;
        };
        if let (Some((first, at, _)), 1) = (&mut level.band, level.bands) {
            // With a single band, the state of the faster dimensions is still valid.
            *at = *first;
            self.show(dimension);
            self.restart(dimension + 1);
        } else {
            let members = std::mem::take(&mut level.members);
            *level = Level { members, ..Level::default() };
            self.next_band(dimension);
        }
    }

    /// Advances an iterator over a union of blocks of elements to the next row. Adds 1 to the
    /// coordinate of the fastest dimension that has further coordinates.
    fn next_row(&mut self) -> bool {
        for dimension in (0..self.levels.len()).rev() {
            let band = self.levels.get_mut(dimension).and_then(|level| level.band.as_mut());
            if let Some((_, at, last)) = band
                && *at < *last
            {
                *at += 1;
                self.show(dimension);
                self.restart(dimension + 1);
                return true;
            }
            if self.next_band(dimension) {
                return true;
            }
        }
        false
    }

    /// Advances an iterator over a union of blocks of elements to the next band of one dimension. A
    /// band is a range of coordinates that lie in the same blocks. Then starts the iteration over
    /// the next faster dimension.
    fn next_band(&mut self, dimension: usize) -> bool {
        let Some(mut level) = self.levels.get_mut(dimension).map(std::mem::take) else { return false };
        let found = self.find_band(dimension, &mut level);
        let active = level.active.clone();
        if let Some(to) = self.levels.get_mut(dimension) {
            *to = level;
        }
        if found {
            self.show(dimension);
            self.enter(dimension + 1, active);
        }
        found
    }

    /// Finds the next band of one dimension in a union of blocks of elements, and the blocks of the
    /// band. A band is a range of coordinates that lie in the same blocks. Returns false after the
    /// last band.
    fn find_band(&self, dimension: usize, level: &mut Level) -> bool {
        let upcoming =
            |level: &Level| level.members.get(level.met).map(|block| self.span(*block, dimension).0);
        // No band follows a band that ends at the largest coordinate.
        let after = level.band.map_or(Some(0), |(_, _, last)| last.checked_add(1));
        let Some(after) = after else { return false };
        level.active.retain(|block| self.span(*block, dimension).1 >= after);
        let first = match upcoming(level) {
            _ if !level.active.is_empty() => after,
            Some(start) => start,
            None => return false,
        };
        while let Some(block) = level.members.get(level.met).filter(|_| upcoming(level) == Some(first)) {
            level.active.push(*block);
            level.met += 1;
        }
        let mut last = upcoming(level).map_or(u64::MAX, |start| start - 1);
        for block in &level.active {
            last = last.min(self.span(*block, dimension).1);
        }
        level.band = Some((first, first, last));
        level.bands += 1;
        true
    }

    /// Stores the current coordinate of one dimension in the run of elements that an iterator over
    /// a union of blocks returns next.
    fn show(&mut self, dimension: usize) {
        let band = self.levels.get(dimension).and_then(|level| level.band);
        if let (Some((_, at, _)), Some(to)) = (band, self.start.get_mut(dimension)) {
            *to = at;
        }
    }
}
