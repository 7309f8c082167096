//! Recovery: a journal that was left beside a file is read, judged, and brought into the file.

use std::sync::Arc;

use hyperslab_exact::to_usize;
use hyperslab_format::codec::FormatError;
use hyperslab_format::journal::{
    JournalBody, JournalChain, JournalExtent, JournalHeader, JournalRecord, JournalRecordKind,
};
use hyperslab_vfd::{Driver, DriverError, SideAccess, SideFile};

use super::overlay::Overlay;
use super::verdict::{JournalReport, JournalVerdict, compare};
use super::{unreadable, unwritable};
use crate::error::{Error, Result};

/// Bytes that are read at once.
const READ_BYTES: usize = 1 << 20;

/// A journal that was found beside a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// There is none.
    Nothing,
    /// There is one without a whole commit.
    Empty,
    /// There is one that was compared with the file.
    Journal(JournalReport),
    /// There is one whose header is damaged.
    Damaged,
    /// There is a file of that name that is no journal.
    Unrelated,
}

/// Each record of a journal, in turn.
struct Walk<'j> {
    journal: &'j dyn Driver,
    length: u64,
    at: u64,
    chain: JournalChain,
}

/// A record of a journal up to its last commit.
pub(super) enum Step {
    /// A change of the file.
    Bytes {
        /// The offset in the file.
        offset: u64,
        /// The sums of the sectors before the change.
        sums: Vec<u64>,
        bytes: Vec<u8>,
        /// The offset of the bytes in the journal.
        place: u64,
    },
    Extents {
        synced_length: u64,
        extents: Vec<JournalExtent>,
    },
    Unlinked(Vec<u64>),
    Commit {
        file_length: u64,
        is_last: bool,
    },
}

/// Returns the header of a journal, if it begins like one.
pub(super) fn header(journal: &dyn Driver) -> Result<Option<JournalHeader>, DriverError> {
    if journal.len()? < JournalHeader::SIZE as u64 {
        return Ok(None);
    }
    let mut head = [0; JournalHeader::SIZE];
    journal.read_at(0, &mut head)?;
    Ok(JournalHeader::decode(&head).ok())
}

/// The kind of a file that has the name of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// No bytes but zeros: a journal that was emptied, or that a loss of power took.
    Blank,
    Journal,
    /// A journal without its header.
    Damaged,
    Other,
}

/// Returns the kind of a file that has the name of a journal.
///
/// # Errors
/// [`Error::Unsupported`] if the file is a journal of an unknown version; [`Error::Io`].
fn kind_of(file: &dyn Driver) -> Result<FileKind> {
    let length = file.len().map_err(unreadable)?;
    let mut head = [0; JournalHeader::SIZE];
    let there = usize::try_from(length).map_or(head.len(), |length| length.min(head.len()));
    file.read_at(0, head.split_at_mut(there).0).map_err(unreadable)?;
    if head.starts_with(&JournalHeader::SIGNATURE) {
        return match JournalHeader::decode(&head) {
            Ok(_) => Ok(FileKind::Journal),
            Err(error @ FormatError::Unsupported { .. }) => Err(error.into()),
            Err(_) => Ok(FileKind::Damaged),
        };
    }
    if head != [0; JournalHeader::SIZE] {
        return Ok(FileKind::Other);
    }
    let mut at = head.len() as u64;
    let mut bytes = vec![0; READ_BYTES];
    while at < length {
        let count = to_usize((length - at).min(bytes.len() as u64))?;
        let part = bytes.split_at_mut(count).0;
        file.read_at(at, part).map_err(unreadable)?;
        if part.iter().any(|byte| *byte != 0) {
            return Ok(FileKind::Damaged);
        }
        at += count as u64;
    }
    Ok(FileKind::Blank)
}

/// Returns whether a file is a journal, or what a loss of power may leave of one.
pub(crate) fn is_journal(file: &dyn Driver) -> Result<bool> {
    Ok(kind_of(file)? != FileKind::Other)
}

impl<'j> Walk<'j> {
    /// Begins with the first record of a journal, if it begins like one.
    fn new(journal: &'j dyn Driver) -> Result<Option<Self>, DriverError> {
        let Some(header) = header(journal)? else { return Ok(None) };
        let (length, chain) = (journal.len()?, JournalChain::new(header));
        Ok(Some(Self { journal, length, at: JournalHeader::SIZE as u64, chain }))
    }

    /// Returns the next record with its kind, or `None` if no record follows.
    fn next(&mut self) -> Result<Option<(JournalRecordKind, Step)>, DriverError> {
        let mut head = [0; JournalRecord::SIZE];
        let behind = self.at + head.len() as u64;
        if behind > self.length {
            return Ok(None);
        }
        self.journal.read_at(self.at, &mut head)?;
        let Ok(record) = JournalRecord::decode(&head) else { return Ok(None) };
        let Some(end) = behind.checked_add(record.body_size()).filter(|end| *end <= self.length) else {
            return Ok(None);
        };
        let mut rest = vec![0; to_usize(record.body_size())?];
        self.journal.read_at(behind, &mut rest)?;
        let Ok(body) = self.chain.accept(&record, &head, &rest) else { return Ok(None) };
        let place = behind + record.sums_size();
        let step = match (record.kind, body) {
            (JournalRecordKind::Bytes { offset, .. }, JournalBody::Bytes { sums, bytes }) => {
                // No writer writes behind 64 bits.
                if offset.checked_add(bytes.len() as u64).is_none() {
                    return Ok(None);
                }
                Step::Bytes { offset, sums, bytes: bytes.to_vec(), place }
            }
            (JournalRecordKind::Extents { synced_length, .. }, JournalBody::Extents(extents)) => {
                if extents.iter().any(|extent| extent.offset.checked_add(extent.length).is_none()) {
                    return Ok(None);
                }
                Step::Extents { synced_length, extents }
            }
            (_, JournalBody::Unlinked(addresses)) => Step::Unlinked(addresses),
            (kind, _) => {
                let file_length = match kind {
                    JournalRecordKind::Commit { file_length, .. } => file_length,
                    _ => 0,
                };
                Step::Commit { file_length, is_last: false }
            }
        };
        self.at = end;
        Ok(Some((record.kind, step)))
    }
}

/// The last commit of a journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastCommit {
    /// The offset of the next record in the journal.
    end: u64,
    /// The state of the records up to the commit.
    chain: JournalChain,
    /// Bytes of the file after it.
    pub(super) file_length: u64,
    /// Number of commits up to it.
    pub(super) count: u64,
}

/// Returns the last commit of a journal, if there is one.
fn last_commit(journal: &dyn Driver) -> Result<Option<LastCommit>, DriverError> {
    let Some(mut walk) = Walk::new(journal)? else { return Ok(None) };
    let (mut last, mut count) = (None, 0_u64);
    while let Some((kind, _)) = walk.next()? {
        if let JournalRecordKind::Commit { file_length, .. } = kind {
            count += 1;
            last = Some(LastCommit { end: walk.at, chain: walk.chain, file_length, count });
        }
    }
    Ok(last)
}

/// Visits all records of a journal up to its last commit, and returns that; `None` if there is none.
pub(super) fn for_each(
    journal: &dyn Driver,
    mut visit: impl FnMut(Step) -> Result<(), DriverError>,
) -> Result<Option<LastCommit>, DriverError> {
    let Some(last) = last_commit(journal)? else { return Ok(None) };
    let Some(mut walk) = Walk::new(journal)? else { return Ok(None) };
    while walk.at < last.end {
        match walk.next()? {
            Some((_, Step::Commit { file_length, .. })) => {
                visit(Step::Commit { file_length, is_last: walk.at == last.end })?;
            }
            Some((_, step)) => visit(step)?,
            None => return Ok(None),
        }
    }
    Ok(Some(last))
}

/// Writes the changes of all commits of a journal into the file.
pub(super) fn apply(journal: &dyn Driver, file: &dyn Driver) -> Result<()> {
    let write = |step| match step {
        Step::Bytes { offset, bytes, .. } => file.write_at(offset, &bytes),
        _ => Ok(()),
    };
    let failed = |source| Error::Io { action: "cannot bring the journal into the file".into(), source };
    let length = for_each(journal, write).map_err(failed)?.map(|last| last.file_length);
    let Some(length) = length else {
        return Err(Error::corrupt("journal", "last record", "a commit", "none"));
    };
    if file.len().map_err(failed)? != length {
        file.set_len(length).map_err(failed)?;
    }
    file.flush().map_err(failed)
}

/// Writes the changes of the journal in `side` into a copy of its file, whatever the comparison says.
///
/// # Errors
/// [`Error::Misuse`] if there is no journal; [`Error::Corrupt`] if it holds no whole commit; [`Error::Io`].
pub(crate) fn apply_to_copy(side: &dyn SideFile, copy: &dyn Driver) -> Result<()> {
    let journal = side.open(SideAccess::Read).map_err(unreadable)?;
    let journal = journal.ok_or_else(|| Error::Misuse(format!("there is no journal `{}`", side.name())))?;
    apply(&*journal, copy)?;
    copy.sync_data().map_err(|source| Error::Io { action: "cannot sync the copy".into(), source })
}

/// Reads the journal in `side`, and compares it with the file beside it. Nothing is changed.
pub(crate) fn read_report(side: &dyn SideFile, file: &dyn Driver) -> Result<Found> {
    match side.open(SideAccess::Read).map_err(unreadable)? {
        Some(journal) => judge(&*journal, side.name(), file),
        None => Ok(Found::Nothing),
    }
}

fn judge(journal: &dyn Driver, name: &str, file: &dyn Driver) -> Result<Found> {
    match kind_of(journal)? {
        FileKind::Blank => return Ok(Found::Empty),
        FileKind::Damaged => return Ok(Found::Damaged),
        FileKind::Other => return Ok(Found::Unrelated),
        FileKind::Journal => {}
    }
    Ok(compare(journal, name, file).map_err(unreadable)?.map_or(Found::Empty, Found::Journal))
}

/// The use of a file whose journal is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettleFor {
    /// The file is only read, and nothing is changed.
    Reading,
    /// The file is written without a journal.
    Writing,
    /// The file is written with the same journal, which stays if it lists unlinked objects.
    Journaling,
}

/// A journal whose commits the file holds, and which still lists unlinked objects. The next commits follow its last one, so that the list
/// is lost at no instant.
#[derive(Debug)]
pub(crate) struct KeptJournal {
    pub(super) file: Arc<dyn Driver>,
    pub(super) sequence: u64,
    pub(super) chain: JournalChain,
    /// The offset of the next record.
    pub(super) end: u64,
    pub(super) commits: u64,
    /// The bytes of the file that the commits change or rely on: start and end of each range.
    pub(super) known: Vec<(u64, u64)>,
}

impl KeptJournal {
    /// Reads a journal to its last commit.
    fn read(file: Arc<dyn Driver>) -> Result<Option<Self>, DriverError> {
        let Some(header) = header(&*file)? else { return Ok(None) };
        let mut known = Vec::new();
        let last = for_each(&*file, |step| {
            match step {
                Step::Bytes { offset, bytes, .. } => {
                    known.push((offset, offset + bytes.len() as u64));
                }
                Step::Extents { extents, .. } => {
                    known.extend(extents.iter().map(|extent| (extent.offset, extent.offset + extent.length)));
                }
                Step::Unlinked(_) | Step::Commit { .. } => {}
            }
            Ok(())
        })?;
        Ok(last.map(|LastCommit { end, chain, count, .. }| Self {
            file,
            sequence: header.sequence,
            chain,
            end,
            commits: count,
            known,
        }))
    }
}

/// A file as it was committed last, and the journal that was found beside it.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) found: Found,
    /// The journal, if the next commits are to follow those that it holds.
    pub(crate) kept: Option<KeptJournal>,
}

/// Reads the journal that a writer left beside a file, and brings the file to its last commit: on the medium if the file is written, else
/// in the driver that is returned. A journal that does not belong to the file stays as it is.
pub(crate) fn settle(driver: Arc<dyn Driver>, side: &dyn SideFile, purpose: SettleFor) -> Result<Settled> {
    let write = purpose != SettleFor::Reading;
    let access = if write { SideAccess::Write } else { SideAccess::Read };
    let Some(journal) = side.open(access).map_err(unreadable)? else {
        return Ok(Settled { driver, found: Found::Nothing, kept: None });
    };
    let found = judge(&*journal, side.name(), &*driver)?;
    let (verdict, lists_unlinked) = match &found {
        Found::Nothing | Found::Damaged | Found::Unrelated => {
            return Ok(Settled { driver, found, kept: None });
        }
        Found::Empty => (JournalVerdict::Empty, false),
        Found::Journal(report) => (report.verdict, !report.unlinked.is_empty()),
    };
    match verdict {
        JournalVerdict::Foreign => return Ok(Settled { driver, found, kept: None }),
        JournalVerdict::Pending if !write => {
            let driver = Arc::new(Overlay::new(driver, journal).map_err(unreadable)?);
            return Ok(Settled { driver, found, kept: None });
        }
        JournalVerdict::Pending => {
            // Its writer may have ended before the disk had the journal.
            journal.sync_data().map_err(unwritable)?;
            apply(&*journal, &*driver)?;
        }
        JournalVerdict::Empty | JournalVerdict::Applied => {}
    }
    if write {
        driver.sync_data().map_err(|source| Error::Io { action: "cannot sync the file".into(), source })?;
        if purpose == SettleFor::Journaling && lists_unlinked {
            let kept = KeptJournal::read(Arc::clone(&journal)).map_err(unreadable)?;
            if kept.is_some() {
                return Ok(Settled { driver, found, kept });
            }
        }
        // After the next commit, the journal must not be replayed again.
        discard(side, journal, true)?;
    }
    Ok(Settled { driver, found, kept: None })
}

/// Removes a journal. One that was `whole` does not come back after a loss of power.
pub(crate) fn discard(side: &dyn SideFile, journal: Arc<dyn Driver>, whole: bool) -> Result<()> {
    journal.set_len(0).map_err(unwritable)?;
    if whole {
        journal.sync_data().map_err(unwritable)?;
    }
    drop(journal);
    side.remove().map_err(|source| Error::Io { action: "cannot remove the journal".into(), source })
}
