//! Recovery: a journal that a writer left beside a file is read, compared with the file, and
//! replayed.

use std::sync::Arc;

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::FormatError;
use hyperslab_format::journal::{JournalChain, JournalHeader};
use hyperslab_vfd::{Driver, DriverError, SideAccess, SideFile};

use super::errors::{unreadable, unwritable};
use super::overlay::Overlay;
use super::verdict::{JournalReport, JournalVerdict, compare};
use super::walk::{JournalStep, LastCommit, for_each, header, last_commit};
use crate::error::{Error, Result};
use crate::store::bytes::count_before;

/// Number of bytes in one read of a journal during a recovery.
const READ_BYTES: usize = 1 << 20;

/// The result of a search for a journal beside a file: no journal, an empty or damaged journal,
/// another file, or a journal with its comparison with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FoundJournal {
    /// No file has the name of a journal.
    Absent,
    /// A journal without a complete commit.
    Empty,
    /// A journal that was compared with the file.
    Compared(JournalReport),
    /// A journal with a damaged header.
    Damaged,
    /// A file that is not a journal.
    Unrelated,
}

/// The kind of contents in a file that has the name of a journal: a journal, a damaged journal,
/// zeros only, or other contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// A file of zeros: a journal that was emptied, or that lost its bytes with a loss of power.
    Blank,
    Journal,
    /// A journal without a valid header.
    Damaged,
    Other,
}

/// Returns the kind of contents in a file that has the name of a journal.
///
/// # Errors
/// Returns [`Error::Unsupported`] if the file is a journal of an unknown version, and I/O errors.
fn kind_of(file: &dyn Driver) -> Result<FileKind> {
    let length = file.len().map_err(unreadable)?;
    let mut head = [0; JournalHeader::SIZE];
    let inside = count_before(length, 0, head.len());
    file.read_at(0, head.split_at_mut(inside).0).map_err(unreadable)?;
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

/// Returns whether a file with the name of a journal is a journal, or can be the remains of a
/// journal after a loss of power.
pub(crate) fn is_journal(file: &dyn Driver) -> Result<bool> {
    Ok(kind_of(file)? != FileKind::Other)
}

/// Writes the changes of all commits of a journal to the file. Does not write bytes after the end
/// that the file has at the last commit, because the file would be extended and then truncated
/// again.
pub(super) fn replay(journal: &dyn Driver, file: &dyn Driver) -> Result<()> {
    let failed = |source| Error::Io { action: "cannot replay the journal into the file".into(), source };
    let Some(LastCommit { file_length: length, .. }) = last_commit(journal).map_err(failed)? else {
        return Err(Error::corrupt("journal", "last record", "a commit", "none"));
    };
    let write = |step| match step {
        JournalStep::Bytes { offset, bytes, .. } => {
            let inside = count_before(length, offset, bytes.len());
            let bytes = bytes.split_at(inside).0;
            if bytes.is_empty() { Ok(()) } else { file.write_at(offset, bytes) }
        }
        _ => Ok(()),
    };
    for_each(journal, write).map_err(failed)?;
    if file.len().map_err(failed)? != length {
        file.set_len(length).map_err(failed)?;
    }
    file.flush().map_err(failed)
}

/// Applies the changes of the journal in the side file `side` to `copy`, a copy of the HDF5 file.
/// Does so even if the journal does not match the HDF5 file.
///
/// # Errors
/// Returns [`Error::Misuse`] if there is no journal, [`Error::Corrupt`] if the journal holds no
/// complete commit, and I/O errors.
pub(crate) fn replay_into_copy(side: &dyn SideFile, copy: &dyn Driver) -> Result<()> {
    let journal = side.open(SideAccess::Read).map_err(unreadable)?;
    let journal = journal.ok_or_else(|| Error::Misuse(format!("there is no journal `{}`", side.name())))?;
    replay(&*journal, copy)?;
    copy.sync_data().map_err(|source| Error::Io { action: "cannot sync the copy".into(), source })
}

/// Reads the journal in the side file `side` and compares it with the file `file` beside it.
/// Changes nothing.
pub(crate) fn read_report(side: &dyn SideFile, file: &dyn Driver) -> Result<FoundJournal> {
    match side.open(SideAccess::Read).map_err(unreadable)? {
        Some(journal) => judge(&*journal, side.name(), file),
        None => Ok(FoundJournal::Absent),
    }
}

fn judge(journal: &dyn Driver, name: &str, file: &dyn Driver) -> Result<FoundJournal> {
    match kind_of(journal)? {
        FileKind::Blank => return Ok(FoundJournal::Empty),
        FileKind::Damaged => return Ok(FoundJournal::Damaged),
        FileKind::Other => return Ok(FoundJournal::Unrelated),
        FileKind::Journal => {}
    }
    let report = compare(journal, name, file).map_err(unreadable)?;
    Ok(report.map_or(FoundJournal::Empty, FoundJournal::Compared))
}

/// The purpose for which a file is opened and recovered from the journal beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecoverFor {
    /// The file is opened for reading. Nothing is changed on disk.
    Reading,
    /// The file is opened for writing without a journal.
    Writing,
    /// The file is opened for writing with the same journal. A journal that lists unlinked objects
    /// is not removed.
    Journaling,
}

/// A kept journal: it still lists unlinked objects, although the file holds all its commits. The
/// next commits are appended to it, so that the list survives a crash at any moment.
#[derive(Debug)]
pub(crate) struct KeptJournal {
    pub(super) file: Arc<dyn Driver>,
    pub(super) sequence: u64,
    pub(super) chain: JournalChain,
    /// The offset of the next record.
    pub(super) end: u64,
    pub(super) commits: u64,
    /// The ranges of the file that the commits change or rely on: start and end of each range.
    pub(super) known: Vec<(u64, u64)>,
}

impl KeptJournal {
    /// Reads a journal that lists unlinked objects, up to its last commit.
    fn read(file: Arc<dyn Driver>) -> Result<Option<Self>, DriverError> {
        let Some(header) = header(&*file)? else { return Ok(None) };
        let mut known = Vec::new();
        let last = for_each(&*file, |step| {
            match step {
                JournalStep::Bytes { offset, bytes, .. } => {
                    known.push((offset, offset + to_u64(bytes.len())));
                }
                JournalStep::Extents { extents, .. } => {
                    known.extend(extents.iter().map(|extent| (extent.offset, extent.offset + extent.length)));
                }
                JournalStep::Unlinked(_) | JournalStep::Commit { .. } => {}
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

/// The result of a recovery from a journal: a file in the state of its last commit, and the journal
/// beside the file.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) found: FoundJournal,
    /// The journal, if the next commits must be appended to it.
    pub(crate) kept: Option<KeptJournal>,
}

/// Recovers a file from the journal that a writer left beside it: restores the state of the last
/// commit. If the file is opened for writing, changes the file on disk; otherwise, only the
/// returned driver shows the restored state. Does not change a journal that does not belong to the
/// file.
pub(crate) fn recover(
    driver: Arc<dyn Driver>,
    side: &dyn SideFile,
    purpose: RecoverFor,
) -> Result<Recovered> {
    let write = purpose != RecoverFor::Reading;
    let access = if write { SideAccess::Write } else { SideAccess::Read };
    let Some(journal) = side.open(access).map_err(unreadable)? else {
        return Ok(Recovered { driver, found: FoundJournal::Absent, kept: None });
    };
    let found = judge(&*journal, side.name(), &*driver)?;
    let (verdict, lists_unlinked) = match &found {
        FoundJournal::Absent | FoundJournal::Damaged | FoundJournal::Unrelated => {
            return Ok(Recovered { driver, found, kept: None });
        }
        FoundJournal::Empty => (JournalVerdict::Empty, false),
        FoundJournal::Compared(report) => (report.verdict, !report.unlinked.is_empty()),
    };
    match verdict {
        JournalVerdict::Foreign => return Ok(Recovered { driver, found, kept: None }),
        JournalVerdict::Pending if !write => {
            let driver = Arc::new(Overlay::new(driver, journal).map_err(unreadable)?);
            return Ok(Recovered { driver, found, kept: None });
        }
        JournalVerdict::Pending => {
            // The writer may have ended before the journal reached the disk. A replay that a loss
            // of power interrupts needs the journal again.
            journal.sync_data().map_err(unwritable)?;
            replay(&*journal, &*driver)?;
        }
        JournalVerdict::Empty | JournalVerdict::Applied => {}
    }
    if write {
        // The journal may be removed only after its changes in the file are on disk.
        driver.sync_data().map_err(|source| Error::Io { action: "cannot sync the file".into(), source })?;
        if purpose == RecoverFor::Journaling && lists_unlinked {
            let kept = KeptJournal::read(Arc::clone(&journal)).map_err(unreadable)?;
            if kept.is_some() {
                return Ok(Recovered { driver, found, kept });
            }
        }
        // After the next commit, a replay of this journal would undo that commit.
        discard(side, journal, true)?;
    }
    Ok(Recovered { driver, found, kept: None })
}

/// Discards the journal beside a file. If `is_whole` is true, the journal may hold complete
/// commits. It is then first emptied and synced, so that a loss of power does not bring the commits
/// back.
pub(crate) fn discard(side: &dyn SideFile, journal: Arc<dyn Driver>, is_whole: bool) -> Result<()> {
    journal.set_len(0).map_err(unwritable)?;
    if is_whole {
        journal.sync_data().map_err(unwritable)?;
    }
    drop(journal);
    side.remove().map_err(|source| Error::Io { action: "cannot remove the journal".into(), source })
}

#[cfg(test)]
mod tests {
    use hyperslab_vfd::Core;

    use super::*;

    #[test]
    fn a_replay_writes_nothing_past_the_committed_length() {
        let header = JournalHeader::new(7);
        let mut chain = JournalChain::new(header);
        let mut bytes = header.encode().unwrap();
        bytes.extend(chain.extents(0, &[]).unwrap());
        // The second change ends past the file, the third one begins where no memory is.
        for offset in [512, 1020, 1 << 60] {
            bytes.extend(chain.bytes(offset, &[1; 8], &[2; 8]).unwrap());
        }
        bytes.extend(chain.commit(1024).unwrap());
        let file = Core::from_vec("file", vec![1; 1024]);
        replay(&Core::from_vec("journal", bytes), &file).unwrap();
        let mut found = vec![0; 1024];
        file.read_at(0, &mut found).unwrap();
        assert_eq!(file.len().unwrap(), 1024);
        let changed: Vec<usize> = (0..1024).filter(|at| found[*at] == 2).collect();
        assert_eq!(changed, (512..520).chain(1020..1024).collect::<Vec<_>>());
    }
}
