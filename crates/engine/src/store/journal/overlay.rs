//! A read-only view of a file as it is after the replay of its journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_vfd::{Driver, DriverError, DriverKind, FileIdentity, LockKind};

use super::MAX_SMALL_COMMIT_BYTES;
use super::walk::{JournalStep, for_each};
use crate::store::bytes::count_before;

/// A view of a file and the changes of its journal. In reads, the changes replace the bytes of the
/// file.
#[derive(Debug)]
pub(super) struct Overlay {
    file: Arc<dyn Driver>,
    journal: Arc<dyn Driver>,
    /// Changed ranges by their offset in the file: the length, and the offset in the journal.
    runs: BTreeMap<u64, (u64, u64)>,
    length: u64,
    /// An upper bound of the number of stored bytes. It includes the bytes of the file, and new
    /// space that small commits hold in the journal and that the file may lack. The new space of
    /// other commits was synced.
    stored: u64,
}

type Result<T, E = DriverError> = std::result::Result<T, E>;

impl Overlay {
    /// Creates the view of a file with the changes of all complete commits of its journal.
    pub(super) fn new(file: Arc<dyn Driver>, journal: Arc<dyn Driver>) -> Result<Self> {
        let mut runs = BTreeMap::new();
        let last = for_each(&*journal, |step| {
            if let JournalStep::Bytes { offset, bytes, journal_offset, .. } = step {
                put(&mut runs, offset, to_u64(bytes.len()), journal_offset);
            }
            Ok(())
        })?;
        let (length, commits) = match last {
            Some(last) => (last.file_length, last.count),
            None => (file.len()?, 0),
        };
        let new = commits.checked_mul(MAX_SMALL_COMMIT_BYTES);
        let stored = file.stored_len()?;
        let stored = new.and_then(|new| stored.checked_add(new)).map_or(length, |stored| stored.min(length));
        Ok(Self { file, journal, runs, length, stored })
    }
}

/// Adds a run of changed bytes to the view of a file with its journal. The run replaces the covered
/// parts of earlier runs.
fn put(runs: &mut BTreeMap<u64, (u64, u64)>, start: u64, length: u64, journal_offset: u64) {
    let end = start + length;
    while let Some((&other, &(other_length, other_offset))) = runs.range(..end).next_back() {
        let other_end = other + other_length;
        if other_end <= start {
            break;
        }
        runs.remove(&other);
        if other_end > end {
            let skipped = end - other;
            runs.insert(end, (other_end - end, other_offset + skipped));
        }
        if other < start {
            runs.insert(other, (start - other, other_offset));
        }
    }
    runs.insert(start, (length, journal_offset));
}

impl Driver for Overlay {
    fn name(&self) -> &str {
        self.file.name()
    }

    fn kind(&self) -> DriverKind {
        self.file.kind()
    }

    fn identity(&self) -> Option<FileIdentity> {
        self.file.identity()
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn len(&self) -> Result<u64> {
        Ok(self.length)
    }

    fn stored_len(&self) -> Result<u64> {
        Ok(self.stored)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        if buf.is_empty() {
            return Ok(());
        }
        let length = to_u64(buf.len());
        let Some(end) = offset.checked_add(length).filter(|end| *end <= self.length) else {
            let name = self.name().to_owned();
            return Err(DriverError::PastEnd { name, offset, length, end: self.length });
        };
        // The overlay may be longer than the file.
        let inside = count_before(self.file.len()?, offset, buf.len());
        let (inside, outside) = buf.split_at_mut(inside);
        outside.fill(0);
        self.file.read_at(offset, inside)?;
        let first = self.runs.range(..=offset).next_back().map_or(offset, |(start, _)| *start);
        for (start, (length, journal_offset)) in self.runs.range(first..end) {
            let (from, to) = (offset.max(*start), end.min(start + length));
            if from < to {
                let part =
                    buf.split_at_mut(to_usize(to - offset)?).0.split_at_mut(to_usize(from - offset)?).1;
                self.journal.read_at(journal_offset + (from - start), part)?;
            }
        }
        Ok(())
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> Result<()> {
        Err(DriverError::ReadOnly { name: self.name().to_owned() })
    }

    fn set_len(&self, _len: u64) -> Result<()> {
        Err(DriverError::ReadOnly { name: self.name().to_owned() })
    }

    fn sync_data(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        self.file.lock(kind)
    }

    fn unlock(&self) -> Result<()> {
        self.file.unlock()
    }
}
