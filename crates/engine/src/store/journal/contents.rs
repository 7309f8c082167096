//! The contents of a journal in the form that the comparison with the file needs.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_format::journal::{JournalExtent, JournalHeader, SectorSums, sectors};
use smallvec::SmallVec;

use super::walk::JournalStep;

/// The checksum of one version of a file sector that a journal states. The version is the sector
/// before or after a change.
#[derive(Debug, Clone, Copy)]
pub(super) struct SectorVersion {
    /// The number of bytes that the change covers, counted from the key of the sector.
    pub(super) length: usize,
    pub(super) sum: u64,
    /// The offset of the bytes in the journal; `None` for the version before a change.
    pub(super) journal_offset: Option<u64>,
}

/// The versions of one file sector that a journal states, in the order of the changes.
pub(super) type SectorVersions = SmallVec<[SectorVersion; 4]>;

/// The contents of a journal: changed sectors of the file, extents of new space (which no earlier
/// commit contains), and lengths.
#[derive(Debug)]
pub(super) struct JournalContents {
    pub(super) sums: SectorSums,
    /// The versions of each sector that the journal changes, by the offset of the change in the
    /// file.
    pub(super) sectors: BTreeMap<u64, SectorVersions>,
    pub(super) extents: Vec<JournalExtent>,
    pub(super) synced_length: u64,
    pub(super) unlinked: Vec<u64>,
    /// Lengths that the file had at commits.
    pub(super) lengths: BTreeSet<u64>,
}

impl JournalContents {
    /// Creates the decoded contents of a journal without records.
    pub(super) fn new(header: JournalHeader) -> Self {
        Self {
            sums: header.sums(),
            sectors: BTreeMap::new(),
            extents: Vec::new(),
            synced_length: 0,
            unlinked: Vec::new(),
            lengths: BTreeSet::new(),
        }
    }

    /// Adds the next journal record to the decoded contents of a journal.
    pub(super) fn add(&mut self, step: JournalStep) {
        match step {
            JournalStep::Bytes { offset, sums, bytes, journal_offset } => {
                let (mut at, mut journal_offset) = (offset, journal_offset);
                for (old, bytes) in sums.iter().zip(sectors(offset, &bytes)) {
                    let (length, sum) = (bytes.len(), self.sums.of(at, bytes));
                    self.sectors.entry(at).or_default().extend([
                        SectorVersion { length, sum: *old, journal_offset: None },
                        SectorVersion { length, sum, journal_offset: Some(journal_offset) },
                    ]);
                    at += length as u64;
                    journal_offset += length as u64;
                }
            }
            JournalStep::Extents { synced_length, extents } => {
                self.synced_length = synced_length;
                self.lengths.insert(synced_length);
                self.extents.extend(extents);
            }
            JournalStep::Unlinked(addresses) => self.unlinked.extend(addresses),
            JournalStep::Commit { file_length, is_last } => {
                self.lengths.insert(file_length);
                if !is_last {
                    self.unlinked.clear();
                }
            }
        }
    }

    /// Returns the sectors that a journal changes between the file offsets `start` and `end`.
    pub(super) fn changed(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &SectorVersions)> {
        self.sectors.range(start..end.max(start)).map(|(at, versions)| (*at, versions))
    }
}
