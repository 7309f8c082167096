//! Direct writes to the driver, into new space: no commit contains this space, and the journal has
//! no record of it.

use hyperslab_exact::to_u64;
use hyperslab_vfd::DriverError;
use parking_lot::Mutex;
use smallvec::{SmallVec, smallvec};

use super::Store;
use super::journal::{MAX_SMALL_COMMIT_BYTES, WrittenSectors};
use super::write_state::FileRange;
use crate::error::Result;

/// Size in bytes of the smallest write to the file during which another thread computes the
/// checksums of the written bytes.
const MIN_SHARED_SUM_BYTES: usize = 256 << 10;

impl Store {
    /// Splits a range of the file into two kinds of parts: parts that may be written directly, and
    /// parts that must be written through the journal.
    pub(super) fn ranges(&self, start: u64, end: u64) -> Result<SmallVec<[FileRange; 3]>> {
        let state = &self.write_state;
        if !state.journal.is_enabled() || start >= state.direct_from() {
            return Ok(smallvec![FileRange { start, end, is_new: true }]);
        }
        let known = state.journal.known().parts(start, end);
        let known_bytes: u64 = known.iter().map(|(from, to)| to - from).sum();
        if known_bytes > MAX_SMALL_COMMIT_BYTES && !state.journal.must_append() {
            state.journal.empty_applied(&*self.backing.driver)?;
        }
        let border = state.direct_from();
        let base = self.base();
        let fresh = state.fresh.read().pieces(start - base, end.min(border) - base);
        let mut ranges: SmallVec<[FileRange; 3]> = fresh
            .into_iter()
            .map(|(from, to, is_fresh)| {
                let (start, end) = (from + base, to + base);
                // The replay of the journal must not restore the old bytes.
                FileRange { start, end, is_new: is_fresh && !state.journal.has_spilled_in(start, end) }
            })
            .flat_map(|range| state.without_known(range))
            .collect();
        if end > border {
            ranges.push(FileRange { start: border.max(start), end, is_new: true });
        }
        Ok(ranges)
    }

    /// Writes bytes directly to the driver of the file, at the offset `start`.
    pub(super) fn write_through(&self, start: u64, bytes: &[u8]) -> std::result::Result<(), DriverError> {
        let _writing = self.write_state.gate.read();
        self.write_state.journal.note_write();
        self.write_and_sum(start, bytes)?;
        let end = start + to_u64(bytes.len());
        self.backing.note_touched(end);
        self.backing.note_written(end);
        self.caches.pages.written_through(start, bytes);
        Ok(())
    }

    /// Writes bytes to the driver of the file at the offset `start`. If a commit will later rely on
    /// these bytes, also computes their checksums.
    fn write_and_sum(&self, start: u64, bytes: &[u8]) -> std::result::Result<(), DriverError> {
        let driver = &self.backing.driver;
        let journal = &self.write_state.journal;
        // The first commit of a new file does not rely on the journal.
        if self.write_state.new_from() == 0 || !journal.is_enabled() {
            return driver.write_at(start, bytes);
        }
        let is_shared = bytes.len() >= MIN_SHARED_SUM_BYTES && self.may_share();
        let (outcome, written) = if is_shared {
            let sums = Mutex::new(None);
            let outcome = self.share_in_place(|scope| {
                scope.spawn(|_| *sums.lock() = Some(WrittenSectors::new(start, bytes)));
                driver.write_at(start, bytes)
            });
            (outcome, sums.into_inner())
        } else {
            (driver.write_at(start, bytes), Some(WrittenSectors::new(start, bytes)))
        };
        // A failed write leaves unknown bytes.
        let written = written.filter(|_| outcome.is_ok());
        journal.add_extent(&written.unwrap_or_else(|| WrittenSectors::unknown(start, to_u64(bytes.len()))));
        outcome
    }
}
