//! Cursors over sets of defined elements. A cursor can skip many elements in one step.

use super::store::{Offset, OffsetRun, gallop, length};

/// The offset of a cursor that has passed the last element of a set of defined elements. No element
/// has this offset.
pub(super) const END: u64 = u64::MAX;

/// A cursor: a position in a set of defined elements that moves forward.
pub(super) trait Cursor {
    /// Returns the offset, in the chunk, of the defined element at the cursor, or [`END`].
    fn at(&self) -> u64;

    /// Returns the number of defined elements of the set before the element at the cursor.
    fn position(&self) -> u64;

    /// Returns the end (exclusive) of a run of defined elements that starts at the cursor. The end
    /// is an offset in the chunk. The set may continue after it.
    fn run_end(&self) -> u64;

    /// Advances the cursor to the first defined element with an offset of at least `offset`.
    fn seek(&mut self, offset: u64);
}

/// A cursor over a set of defined elements that stores single offsets.
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
        // Saturates: no run ends after `END`.
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

/// A cursor over a set of defined elements that stores runs.
#[derive(Debug)]
pub(super) struct RunCursor<'a> {
    runs: &'a [OffsetRun],
    index: usize,
    at: u64,
}

impl<'a> RunCursor<'a> {
    pub(super) fn new(runs: &'a [OffsetRun]) -> Self {
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
