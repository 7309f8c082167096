//! A file that is read as its journal says it shall be.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_exact::to_usize;
use hyperslab_vfd::{Driver, DriverError, DriverKind, FileIdentity, LockKind};

use super::LITTLE;
use super::recover::{Step, for_each};

/// A file, some bytes of which are taken from a journal. It is only read.
#[derive(Debug)]
pub(super) struct Overlay {
    file: Arc<dyn Driver>,
    journal: Arc<dyn Driver>,
    /// Bytes of the file by where they begin: how many, and where they stand in the journal.
    runs: BTreeMap<u64, (u64, u64)>,
    length: u64,
    /// Bytes that are there: those of the file, and of new space that it may have lost, zeros of which no journal has.
    stored: u64,
}

type Result<T, E = DriverError> = std::result::Result<T, E>;

impl Overlay {
    /// The file as a whole journal says.
    pub(super) fn new(file: Arc<dyn Driver>, journal: Arc<dyn Driver>) -> Result<Self> {
        let mut runs = BTreeMap::new();
        let last = for_each(&*journal, |step| {
            if let Step::Bytes { offset, bytes, place, .. } = step {
                put(&mut runs, offset, bytes.len() as u64, place);
            }
            Ok(())
        })?;
        let (length, commits) = match last {
            Some(last) => (last.file_length, last.count),
            None => (file.len()?, 0),
        };
        // The length of the file bounds the bytes of any number of commits.
        let stored = file.stored_len()?.saturating_add(commits.saturating_mul(LITTLE)).min(length);
        Ok(Self { file, journal, runs, length, stored })
    }
}

/// Lets a run stand in place of whatever stood there.
fn put(runs: &mut BTreeMap<u64, (u64, u64)>, start: u64, length: u64, place: u64) {
    let end = start + length;
    while let Some((&other, &(other_length, other_place))) = runs.range(..end).next_back() {
        let other_end = other + other_length;
        if other_end <= start {
            break;
        }
        runs.remove(&other);
        if other_end > end {
            let skipped = end - other;
            runs.insert(end, (other_end - end, other_place + skipped));
        }
        if other < start {
            runs.insert(other, (start - other, other_place));
        }
    }
    runs.insert(start, (length, place));
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
        let end = offset.saturating_add(buf.len() as u64);
        if end > self.length && !buf.is_empty() {
            let length = buf.len() as u64;
            return Err(DriverError::PastEnd {
                name: self.name().to_owned(),
                offset,
                length,
                end: self.length,
            });
        }
        // The overlay may be longer than the file.
        let there = self.file.len()?.saturating_sub(offset).min(buf.len() as u64);
        let (inside, outside) = buf.split_at_mut(to_usize(there)?);
        outside.fill(0);
        self.file.read_at(offset, inside)?;
        let first = self.runs.range(..=offset).next_back().map_or(offset, |(start, _)| *start);
        for (start, (length, place)) in self.runs.range(first..end.max(first)) {
            let (from, to) = (offset.max(*start), end.min(start + length));
            if from < to {
                let part =
                    buf.split_at_mut(to_usize(to - offset)?).0.split_at_mut(to_usize(from - offset)?).1;
                self.journal.read_at(place + (from - start), part)?;
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
