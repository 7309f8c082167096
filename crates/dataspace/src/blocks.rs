//! Runs of a union of blocks, found by a sweep.
//!
//! In the slowest dimension the blocks' edges cut the extent into slabs; along a slab, the blocks that take
//! part are the same. Each slab is swept in the next dimension with these blocks alone, and so on, down to
//! the fastest dimension, where they are intervals. Only the slabs in hand are in memory.

use std::borrow::Cow;

use crate::{Block, Dims};

/// The runs of a union of blocks, in C order. Blocks may touch and overlap.
#[derive(Debug, Clone)]
pub(crate) struct BlockRuns<'a> {
    blocks: Cow<'a, [Block]>,
    /// One per dimension, but for the fastest.
    levels: Vec<Level>,
    /// Runs of the row in hand: first and last coordinate.
    intervals: Vec<(u64, u64)>,
    /// The next one.
    next: usize,
    start: Dims,
}

/// The sweep along one dimension.
#[derive(Debug, Clone, Default)]
struct Level {
    /// The blocks that take part, by ascending start.
    members: Vec<usize>,
    /// Members that the sweep has met.
    met: usize,
    /// Those of them that it has not left.
    active: Vec<usize>,
    /// First, present and last coordinate of the slab in hand.
    slab: Option<(u64, u64, u64)>,
    /// Slabs so far.
    slabs: usize,
}

impl<'a> BlockRuns<'a> {
    /// The runs of blocks of the rank `rank`, which is at least 1; `start` is not behind `end` in any block.
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

    fn span(&self, block: usize, dimension: usize) -> (u64, u64) {
        let span = |block: &Block| Some((*block.start.get(dimension)?, *block.end.get(dimension)?));
        self.blocks.get(block).and_then(span).unwrap_or_default()
    }

    /// Begins the sweep of a dimension with these blocks.
    fn enter(&mut self, dimension: usize, mut members: Vec<usize>) {
        members.sort_unstable_by_key(|block| self.span(*block, dimension));
        if let Some(level) = self.levels.get_mut(dimension) {
            *level = Level { members, ..Level::default() };
            self.next_slab(dimension);
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

    /// Begins the same sweep anew.
    fn restart(&mut self, dimension: usize) {
        let Some(level) = self.levels.get_mut(dimension) else {
            self.next = 0;
            return;
        };
        if let (Some((first, at, _)), 1) = (&mut level.slab, level.slabs) {
            // The only slab: whatever was found below it still stands.
            *at = *first;
            self.show(dimension);
            self.restart(dimension + 1);
        } else {
            let members = std::mem::take(&mut level.members);
            *level = Level { members, ..Level::default() };
            self.next_slab(dimension);
        }
    }

    /// Goes on by one step, in the fastest dimension that has one left.
    fn next_row(&mut self) -> bool {
        for dimension in (0..self.levels.len()).rev() {
            let slab = self.levels.get_mut(dimension).and_then(|level| level.slab.as_mut());
            if let Some((_, at, last)) = slab
                && *at < *last
            {
                *at += 1;
                self.show(dimension);
                self.restart(dimension + 1);
                return true;
            }
            if self.next_slab(dimension) {
                return true;
            }
        }
        false
    }

    /// Finds the next slab of a dimension and sweeps into it.
    fn next_slab(&mut self, dimension: usize) -> bool {
        let Some(mut level) = self.levels.get_mut(dimension).map(std::mem::take) else { return false };
        let found = self.find_slab(dimension, &mut level);
        let active = level.active.clone();
        if let Some(place) = self.levels.get_mut(dimension) {
            *place = level;
        }
        if found {
            self.show(dimension);
            self.enter(dimension + 1, active);
        }
        found
    }

    fn find_slab(&self, dimension: usize, level: &mut Level) -> bool {
        let upcoming =
            |level: &Level| level.members.get(level.met).map(|block| self.span(*block, dimension).0);
        // A slab that ends at the largest coordinate is the last.
        let after = level.slab.map_or(Some(0), |(_, _, last)| last.checked_add(1));
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
        level.slab = Some((first, first, last));
        level.slabs += 1;
        true
    }

    /// Puts the present coordinate of a dimension where runs take it from.
    fn show(&mut self, dimension: usize) {
        let slab = self.levels.get(dimension).and_then(|level| level.slab);
        if let (Some((_, at, _)), Some(place)) = (slab, self.start.get_mut(dimension)) {
            *place = at;
        }
    }
}
