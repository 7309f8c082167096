//! The records of a journal, from the first one to the last commit.

use hyperslab_exact::to_usize;
use hyperslab_format::journal::{
    JournalBody, JournalChain, JournalExtent, JournalHeader, JournalRecord, JournalRecordKind,
};
use hyperslab_vfd::{Driver, DriverError};

/// A journal record that a walk over a journal returns. The walk has verified the record.
pub(super) enum JournalStep {
    /// A change of the file.
    Bytes {
        /// The offset of the change in the file.
        offset: u64,
        /// The sum of each sector before the change.
        sums: Vec<u64>,
        /// The new bytes.
        bytes: Vec<u8>,
        /// The offset of the new bytes in the journal.
        journal_offset: u64,
    },
    /// New space that a commit relies on.
    Extents {
        /// The length of the file when it was last synced, in bytes.
        synced_length: u64,
        extents: Vec<JournalExtent>,
    },
    /// Addresses of object headers without links.
    Unlinked(Vec<u64>),
    /// The end of a commit.
    Commit {
        /// The length of the file after the commit, in bytes.
        file_length: u64,
        is_last: bool,
    },
}

/// The state of a file after the last commit of its journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastCommit {
    /// The offset of the next record in the journal.
    pub(super) end: u64,
    /// The checksum chain after the commit.
    pub(super) chain: JournalChain,
    /// The length of the file after the commit, in bytes.
    pub(super) file_length: u64,
    /// The number of commits in the journal.
    pub(super) count: u64,
}

/// A cursor that walks over the records of a journal.
struct JournalWalk<'j> {
    journal: &'j dyn Driver,
    length: u64,
    /// The offset of the next record.
    at: u64,
    chain: JournalChain,
}

impl<'j> JournalWalk<'j> {
    /// Returns a cursor at the first record of a journal, or `None` if the journal has no valid
    /// header.
    fn new(journal: &'j dyn Driver) -> Result<Option<Self>, DriverError> {
        let Some(header) = header(journal)? else { return Ok(None) };
        let (length, chain) = (journal.len()?, JournalChain::new(header));
        Ok(Some(Self { journal, length, at: JournalHeader::SIZE as u64, chain }))
    }

    /// Returns the next record of the journal with its kind, or `None` if no valid record follows.
    fn next(&mut self) -> Result<Option<(JournalRecordKind, JournalStep)>, DriverError> {
        let mut head = [0; JournalRecord::SIZE];
        let body_start = self.at + head.len() as u64;
        if body_start > self.length {
            return Ok(None);
        }
        self.journal.read_at(self.at, &mut head)?;
        let Ok(record) = JournalRecord::decode(&head) else { return Ok(None) };
        let end = body_start.checked_add(record.body_size()).filter(|end| *end <= self.length);
        let Some(end) = end else { return Ok(None) };
        let mut rest = vec![0; to_usize(record.body_size())?];
        self.journal.read_at(body_start, &mut rest)?;
        let Ok(body) = self.chain.accept(&record, &head, &rest) else { return Ok(None) };
        let journal_offset = body_start + record.sums_size();
        let step = match (record.kind, body) {
            (JournalRecordKind::Bytes { offset, .. }, JournalBody::Bytes { sums, bytes }) => {
                // No writer writes past the largest offset.
                if offset.checked_add(bytes.len() as u64).is_none() {
                    return Ok(None);
                }
                JournalStep::Bytes { offset, sums, bytes: bytes.to_vec(), journal_offset }
            }
            (JournalRecordKind::Extents { synced_length, .. }, JournalBody::Extents(extents)) => {
                if extents.iter().any(|extent| extent.offset.checked_add(extent.length).is_none()) {
                    return Ok(None);
                }
                JournalStep::Extents { synced_length, extents }
            }
            (_, JournalBody::Unlinked(addresses)) => JournalStep::Unlinked(addresses),
            (kind, _) => {
                let file_length = match kind {
                    JournalRecordKind::Commit { file_length, .. } => file_length,
                    _ => 0,
                };
                JournalStep::Commit { file_length, is_last: false }
            }
        };
        self.at = end;
        Ok(Some((record.kind, step)))
    }
}

/// Returns the header of a journal, or `None` if `journal` has no valid header.
pub(super) fn header(journal: &dyn Driver) -> Result<Option<JournalHeader>, DriverError> {
    if journal.len()? < JournalHeader::SIZE as u64 {
        return Ok(None);
    }
    let mut head = [0; JournalHeader::SIZE];
    journal.read_at(0, &mut head)?;
    Ok(JournalHeader::decode(&head).ok())
}

/// Returns the last commit of a journal, or `None` if the journal has no complete commit.
pub(super) fn last_commit(journal: &dyn Driver) -> Result<Option<LastCommit>, DriverError> {
    let Some(mut walk) = JournalWalk::new(journal)? else { return Ok(None) };
    let (mut last, mut count) = (None, 0_u64);
    while let Some((kind, _)) = walk.next()? {
        if let JournalRecordKind::Commit { file_length, .. } = kind {
            count += 1;
            last = Some(LastCommit { end: walk.at, chain: walk.chain, file_length, count });
        }
    }
    Ok(last)
}

/// Calls `visit` with each record of a journal up to the last commit, and returns the last commit.
/// Returns `None` without a call if the journal has no complete commit.
pub(super) fn for_each(
    journal: &dyn Driver,
    mut visit: impl FnMut(JournalStep) -> Result<(), DriverError>,
) -> Result<Option<LastCommit>, DriverError> {
    let Some(last) = last_commit(journal)? else { return Ok(None) };
    let Some(mut walk) = JournalWalk::new(journal)? else { return Ok(None) };
    while walk.at < last.end {
        match walk.next()? {
            Some((_, JournalStep::Commit { file_length, .. })) => {
                visit(JournalStep::Commit { file_length, is_last: walk.at == last.end })?;
            }
            Some((_, step)) => visit(step)?,
            None => return Ok(None),
        }
    }
    Ok(Some(last))
}
