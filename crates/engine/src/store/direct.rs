//! Bytes that are written to their place at once: new space, which no commit has and no journal knows.

use std::sync::atomic::Ordering;

use hyperslab_vfd::DriverError;
use parking_lot::Mutex;
use smallvec::{SmallVec, smallvec};

use super::Store;
use super::journal::{LITTLE, Written};
use crate::error::Result;

/// From so many bytes on, another thread computes the sums while the bytes are written.
const SHARED_SUM_BYTES: usize = 256 << 10;

impl Store {
    /// Returns a range of the file in pieces, each with whether it can be written at once: it is not part of the file as committed, and
    /// the journal does not know it.
    pub(super) fn pieces(&self, start: u64, end: u64) -> Result<SmallVec<[(u64, u64, bool); 3]>> {
        if !self.journal.is_on() || start >= self.direct_from() {
            return Ok(smallvec![(start, end, true)]);
        }
        let known = self.journal.known().parts(start, end);
        let known_bytes: u64 = known.iter().map(|(from, to)| to - from).sum();
        if known_bytes > LITTLE && !self.journal.must_go_on() {
            self.journal.retire(&*self.driver)?;
        }
        let border = self.direct_from();
        let base = self.base;
        let fresh = self.fresh.read().pieces(start - base, end.min(border) - base);
        let mut pieces: SmallVec<[(u64, u64, bool); 3]> = fresh
            .into_iter()
            .map(|(from, to, fresh)| (from + base, to + base, fresh))
            // The journal must not bring back what stood there.
            .map(|(from, to, fresh)| (from, to, fresh && !self.journal.has_moved_of(from, to)))
            .flat_map(|piece| self.without_known(piece))
            .collect();
        if end > border {
            pieces.push((border.max(start), end, true));
        }
        Ok(pieces)
    }

    /// Returns a piece in parts that the journal knows, which go through it, and others.
    fn without_known(&self, (start, end, is_new): (u64, u64, bool)) -> SmallVec<[(u64, u64, bool); 3]> {
        let mut parts = SmallVec::new();
        let mut at = start;
        for (from, to) in if is_new { self.journal.known().parts(start, end) } else { Vec::new() } {
            if at < from {
                parts.push((at, from, true));
            }
            parts.push((from, to, false));
            at = to;
        }
        if at < end {
            parts.push((at, end, is_new));
        }
        parts
    }

    /// Returns the offset from which on bytes are written without a journal: no commit has them, and no journal knows them.
    pub(super) fn direct_from(&self) -> u64 {
        match self.new_from.load(Ordering::Acquire) {
            0 => 0,
            new_from => new_from.max(self.journal.known().end()),
        }
    }

    /// Records that bytes were written into new space. The first commit of a new file relies on no journal.
    pub(super) fn note_new(&self, offset: u64, bytes: &[u8]) {
        match self.new_from.load(Ordering::Acquire) {
            0 => self.journal.note_write(),
            _ => self.journal.note_new(offset, bytes),
        }
    }

    /// Writes bytes to their place.
    pub(super) fn write_through(&self, start: u64, bytes: &[u8]) -> std::result::Result<(), DriverError> {
        let _writing = self.gate.read();
        self.journal.note_write();
        self.write_and_sum(start, bytes)?;
        let end = start + bytes.len() as u64;
        self.touched.fetch_max(end, Ordering::AcqRel);
        self.written.fetch_max(end, Ordering::AcqRel);
        self.pages.written_through(start, bytes);
        Ok(())
    }

    /// Writes bytes and, where a commit will rely on them, computes their sums.
    fn write_and_sum(&self, start: u64, bytes: &[u8]) -> std::result::Result<(), DriverError> {
        // The first commit of a new file relies on no journal.
        if self.new_from.load(Ordering::Acquire) == 0 || !self.journal.is_on() {
            return self.driver.write_at(start, bytes);
        }
        let shared = bytes.len() >= SHARED_SUM_BYTES && self.may_share();
        let (outcome, written) = if shared {
            let sums = Mutex::new(None);
            let outcome = self.share_in_place(|scope| {
                scope.spawn(|_| *sums.lock() = Some(Written::new(start, bytes)));
                self.driver.write_at(start, bytes)
            });
            (outcome, sums.into_inner())
        } else {
            (self.driver.write_at(start, bytes), Some(Written::new(start, bytes)))
        };
        // Nobody knows what a failed write leaves.
        let written = written.filter(|_| outcome.is_ok());
        self.journal.add_extent(&written.unwrap_or_else(|| Written::unknown(start, bytes.len() as u64)));
        outcome
    }
}
