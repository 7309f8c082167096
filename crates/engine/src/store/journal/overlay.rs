//! A file that is read as its journal says it shall be.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_vfd::{Driver, DriverError, DriverKind, FileIdentity, LockKind};

use super::recover::{Step, for_each};
use super::{LITTLE, to_usize};

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
        let stored = file.stored_len()?.saturating_add(commits.saturating_mul(LITTLE)).min(length);
        Ok(Self { file, journal, runs, length, stored })
    }
}

/// Lets a run stand in place of whatever stood there.
fn put(runs: &mut BTreeMap<u64, (u64, u64)>, start: u64, length: u64, place: u64) {
    let end = start.saturating_add(length);
    while let Some((&other, &(other_length, other_place))) = runs.range(..end).next_back() {
        let other_end = other.saturating_add(other_length);
        if other_end <= start {
            break;
        }
        runs.remove(&other);
        if other_end > end {
            let skipped = end.saturating_sub(other);
            runs.insert(end, (other_end.saturating_sub(end), other_place.saturating_add(skipped)));
        }
        if other < start {
            runs.insert(other, (start.saturating_sub(other), other_place));
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
        let there = to_usize(self.file.len()?.saturating_sub(offset)).min(buf.len());
        if let Some((inside, outside)) = buf.split_at_mut_checked(there) {
            outside.fill(0);
            self.file.read_at(offset, inside)?;
        }
        let first = self.runs.range(..=offset).next_back().map_or(offset, |(start, _)| *start);
        for (start, (length, place)) in self.runs.range(first..end.max(first)) {
            let skip = offset.saturating_sub(*start);
            let to = buf.get_mut(to_usize(start.saturating_sub(offset))..).unwrap_or_default();
            let count = to_usize(length.saturating_sub(skip)).min(to.len());
            self.journal.read_at(place.saturating_add(skip), to.get_mut(..count).unwrap_or_default())?;
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
