//! A way through the elements of a set that skips what is not asked for.

use super::store::{Offset, Run, gallop, length};

/// The offset of a cursor behind all elements. No element has it.
pub(super) const END: u64 = u64::MAX;

/// A place among the elements of a set.
pub(super) trait Cursor {
    /// The offset of the element in hand, or [`END`].
    fn at(&self) -> u64;

    /// Elements before the one in hand.
    fn position(&self) -> u64;

    /// An offset such that from the one in hand up to it every element is in the set.
    fn run_end(&self) -> u64;

    /// Goes on to the first element whose offset is at least this.
    fn seek(&mut self, offset: u64);
}

/// Through offsets.
#[derive(Debug)]
pub(super) struct OffsetCursor<'a, T> {
    offsets: &'a [T],
    index: usize,
    at: u64,
}

impl<'a, T: Offset> OffsetCursor<'a, T> {
    pub(super) fn new(offsets: &'a [T]) -> Self {
        Self { offsets, index: 0, at: offsets.first().map_or(END, |offset| offset.get()) }
    }
}

impl<T: Offset> Cursor for OffsetCursor<'_, T> {
    #[inline]
    fn at(&self) -> u64 {
        self.at
    }

    #[inline]
    fn position(&self) -> u64 {
        super::store::count(self.index)
    }

    #[inline]
    fn run_end(&self) -> u64 {
        // Saturates: no run ends behind `END`.
        self.at.saturating_add(1)
    }

    #[inline]
    fn seek(&mut self, offset: u64) {
        if self.at >= offset {
            return;
        }
        self.index = gallop(self.offsets, self.index + 1, |at| at.get() < offset).min(self.offsets.len());
        self.at = self.offsets.get(self.index).map_or(END, |offset| offset.get());
    }
}

/// Through runs.
#[derive(Debug)]
pub(super) struct RunCursor<'a> {
    runs: &'a [Run],
    index: usize,
    at: u64,
}

impl<'a> RunCursor<'a> {
    pub(super) fn new(runs: &'a [Run]) -> Self {
        Self { runs, index: 0, at: runs.first().map_or(END, |run| run.start) }
    }
}

impl Cursor for RunCursor<'_> {
    #[inline]
    fn at(&self) -> u64 {
        self.at
    }

    #[inline]
    fn position(&self) -> u64 {
        match self.runs.get(self.index) {
            Some(run) => run.position + (self.at - run.start),
            None => length(self.runs),
        }
    }

    #[inline]
    fn run_end(&self) -> u64 {
        self.runs.get(self.index).map_or(END, |run| run.end)
    }

    #[inline]
    fn seek(&mut self, offset: u64) {
        if self.at >= offset {
            return;
        }
        self.index = gallop(self.runs, self.index, |run| run.end <= offset);
        self.at = self.runs.get(self.index).map_or(END, |run| run.start.max(offset));
    }
}
