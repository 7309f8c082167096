//! The repair of a file whose writer ended before it closed the file: its journal, its status
//! flags, and its stated end.

use std::fmt;
use std::sync::Arc;

use hyperslab_format::superblock::ConsistencyFlags;
use hyperslab_vfd::{Driver, DriverError, SideAccess, SideFile};

use super::journal::{self, FoundJournal, JournalReport, JournalVerdict};
use super::superblock::{find_superblock, stated_end, stored_end};
use crate::error::{Error, Result};

/// The options of a repair of a file, which permit or limit single corrections of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RepairOptions {
    /// True to remove a journal without reading it.
    pub discard_journal: bool,
    /// True to state the length of the file as its end, if the file is shorter than stated. This
    /// option must only be used for files without blocks after their end.
    pub cut_end: bool,
    /// True to keep the status flags of a writer.
    pub keep_status_flags: bool,
    /// True to keep the stated end if the file is longer.
    pub keep_end: bool,
    /// A number of bytes by which the file is extended, after its end and after the stated end.
    pub increment: Option<u64>,
}

/// The result of a repair of a file: the corrections of three things, namely the journal, the
/// status flags and the stated end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Repaired {
    /// The journal beside the file, if there was one.
    pub journal: Option<JournalRepair>,
    /// The status flags of a writer, if they were cleared.
    pub status_flags: Option<StatusFlagsRepair>,
    /// The difference between the stated end and the length of the file, if there is one.
    pub end: Option<EndRepair>,
}

/// The action of a repair on the journal beside the repaired file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalRepair {
    /// The journal was replayed into the file.
    Replayed,
    /// The journal held nothing that was not in the file, and was removed.
    Removed,
    /// The journal was removed unread.
    Discarded,
    /// The journal does not belong to the file and was renamed.
    SetAside {
        /// The new path of the journal.
        name: String,
        /// The comparison with the file, unless the journal's header is damaged.
        report: Option<JournalReport>,
    },
}

/// The status flags that an interrupted writer left in a file, and their repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StatusFlagsRepair {
    /// True if the writer was a SWMR writer.
    pub swmr: bool,
}

/// The end of a file that its superblock states, the actual end, and the repair of the stated end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EndRepair {
    /// The end that the superblock states, as an offset in the file; `None` if it states none.
    pub stated: Option<u64>,
    /// The length of the file in bytes.
    pub length: u64,
    /// True if the superblock was corrected to state the length.
    pub corrected: bool,
}

impl EndRepair {
    /// Returns whether the file is shorter than its superblock states.
    pub fn is_truncated(&self) -> bool {
        self.stated.is_some_and(|stated| stated > self.length)
    }
}

impl Repaired {
    /// Returns whether the repair found any fault in the repaired file.
    pub fn found_anything(&self) -> bool {
        *self != Self::default()
    }
}

/// Writes one line for each fault, with its repair.
impl fmt::Display for Repaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        lines.extend(self.journal.as_ref().map(|journal| match journal {
            JournalRepair::Replayed => {
                "a journal with commits that had not reached the file: replayed".to_owned()
            }
            JournalRepair::Removed => "a journal whose commits are all in the file: removed".to_owned(),
            JournalRepair::Discarded => "a journal: discarded".to_owned(),
            JournalRepair::SetAside { name, report } => {
                let story = report
                    .as_ref()
                    .map_or_else(|| "a journal with a damaged header".to_owned(), ToString::to_string);
                format!("{story}: set aside as `{name}`")
            }
        }));
        lines.extend(self.status_flags.map(|flags| {
            let writer = if flags.swmr { "a SWMR writer" } else { "a writer" };
            format!("marked as open for {writer}: cleared")
        }));
        lines.extend(self.end.map(|end| {
            let stated = end.stated.map_or_else(|| "no end".to_owned(), |stated| format!("{stated} bytes"));
            let done = match (end.corrected, end.is_truncated()) {
                (true, _) => "corrected",
                (false, true) => "left as it is, because bytes are missing",
                (false, false) => "left as it is",
            };
            format!("the file has {} bytes, and the superblock states {stated}: {done}", end.length)
        }));
        f.write_str(if lines.is_empty() { "nothing to repair" } else { "" })?;
        f.write_str(&lines.join("\n"))
    }
}

/// Repairs an HDF5 file in place, as far as that is safe, and returns a report. No other program
/// may have the file open.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the superblock is damaged, and I/O errors.
pub fn repair(driver: &Arc<dyn Driver>, side: &dyn SideFile, options: RepairOptions) -> Result<Repaired> {
    let journal = repair_journal(driver, side, options)?;
    let failed = |source| Error::Io { action: "cannot repair the file".into(), source };
    let length = length_of_first(&**driver).map_err(failed)?;
    let (base, mut superblock) = find_superblock(&**driver, length)?;
    let before = superblock.clone();
    let mut repaired = Repaired { journal, ..Repaired::default() };
    let open_flags = ConsistencyFlags::WRITE_ACCESS | ConsistencyFlags::SWMR_ACCESS;
    // The flags have no meaning in earlier versions.
    let is_open = superblock.version_number() >= 2 && superblock.consistency.intersects(open_flags);
    if is_open && !options.keep_status_flags {
        let swmr = superblock.consistency.contains(ConsistencyFlags::SWMR_ACCESS);
        repaired.status_flags = Some(StatusFlagsRepair { swmr });
        superblock.consistency.remove(open_flags);
    }
    let stated = stated_end(&superblock, base);
    if let Some(increment) = options.increment {
        let length =
            stated.unwrap_or(0).max(length).checked_add(increment).filter(|length| *length < u64::MAX);
        let length =
            length.ok_or_else(|| Error::Misuse(format!("the file cannot grow by {increment} bytes")))?;
        if driver.kind().has_member_ends() {
            return Err(Error::unsupported(format!("extending the members of a {} file", driver.kind())));
        }
        superblock.end_of_file = stored_end(&superblock, length - base)?;
        driver.set_len(length).map_err(failed)?;
        repaired.end = Some(EndRepair { stated, length, corrected: true });
    } else if stated != Some(length) {
        // Space after the stated end belongs to no block. If the superblock states the whole
        // length, blocks that a writer stored there can be read.
        let is_longer = stated.is_none_or(|stated| stated < length);
        let corrected = options.cut_end || (is_longer && !options.keep_end);
        repaired.end = Some(EndRepair { stated, length, corrected });
        if corrected {
            superblock.end_of_file = stored_end(&superblock, length - base)?;
        }
    }
    if superblock != before {
        driver.write_at(base, &superblock.encode()?).map_err(failed)?;
        driver.sync_data().map_err(failed)?;
    }
    Ok(repaired)
}

/// Returns two ends of a file, without a change of the file: the end that the superblock states,
/// and the length of the file. Ignores a journal.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the file has no superblock, and I/O errors.
pub fn ends(driver: &dyn Driver) -> Result<EndRepair> {
    let unknown = |source| Error::Io { action: "cannot learn the length of the file".into(), source };
    let length = length_of_first(driver).map_err(unknown)?;
    let (base, superblock) = find_superblock(driver, length)?;
    Ok(EndRepair { stated: stated_end(&superblock, base), length, corrected: false })
}

/// Returns the length of the file. If the members of the file have their own ends, returns the
/// length of the first member, because the superblock then states the end of this member.
fn length_of_first(driver: &dyn Driver) -> std::result::Result<u64, DriverError> {
    match driver.member_ranges()?.first() {
        Some(first) => Ok(first.end),
        None => driver.len(),
    }
}

fn repair_journal(
    driver: &Arc<dyn Driver>,
    side: &dyn SideFile,
    options: RepairOptions,
) -> Result<Option<JournalRepair>> {
    let failed = |source| Error::Io { action: "cannot open the journal".into(), source };
    let Some(found) = side.open(SideAccess::Write).map_err(failed)? else { return Ok(None) };
    if !journal::is_journal(&*found)? {
        // The file belongs to another program.
        return Ok(None);
    }
    if options.discard_journal {
        journal::discard(side, found, true)?;
        return Ok(Some(JournalRepair::Discarded));
    }
    drop(found);
    let report = match journal::recover(Arc::clone(driver), side, journal::RecoverFor::Writing)?.found {
        FoundJournal::Absent | FoundJournal::Unrelated => return Ok(None),
        FoundJournal::Empty => return Ok(Some(JournalRepair::Removed)),
        FoundJournal::Compared(report) if report.verdict == JournalVerdict::Pending => {
            return Ok(Some(JournalRepair::Replayed));
        }
        FoundJournal::Compared(report) if report.verdict != JournalVerdict::Foreign => {
            return Ok(Some(JournalRepair::Removed));
        }
        FoundJournal::Compared(report) => Some(report),
        FoundJournal::Damaged => None,
    };
    let failed = |source| Error::Io { action: "cannot set the journal aside".into(), source };
    Ok(Some(JournalRepair::SetAside { name: side.set_aside().map_err(failed)?, report }))
}

/// Compares the journal in the side file `side` with the file beside it, without changes. Returns
/// `None` if no journal exists, or if the journal has no complete commit.
///
/// # Errors
/// Returns [`Error::Corrupt`] if the header of the journal is damaged, [`Error::Misuse`] if the
/// file of that name is no journal, and I/O errors.
pub fn journal_report(driver: &dyn Driver, side: &dyn SideFile) -> Result<Option<JournalReport>> {
    match journal::read_report(side, driver)? {
        FoundJournal::Absent | FoundJournal::Empty => Ok(None),
        FoundJournal::Compared(report) => Ok(Some(report)),
        FoundJournal::Damaged => {
            Err(Error::corrupt("journal header", "signature", "the signature of a journal", side.name()))
        }
        FoundJournal::Unrelated => Err(Error::Misuse(format!("the file `{}` is not a journal", side.name()))),
    }
}

/// Applies the changes of the journal in the side file `side` to `copy`, a copy of the HDF5 file.
/// Does so even if the journal does not match the HDF5 file.
///
/// # Errors
/// Returns [`Error::Misuse`] if there is no journal, [`Error::Corrupt`] if the journal holds no
/// complete commit, and I/O errors.
pub fn replay_into_copy(side: &dyn SideFile, copy: &dyn Driver) -> Result<()> {
    journal::replay_into_copy(side, copy)
}

#[cfg(test)]
mod tests {
    use hyperslab_format::codec::Address;
    use hyperslab_vfd::Core;

    use super::*;
    use crate::error::ErrorKind;
    use crate::store::image::new_file_to_reopen;
    use crate::versions::LibverBounds;

    /// A journal that does not exist.
    #[derive(Debug)]
    struct NoJournal;

    impl SideFile for NoJournal {
        fn name(&self) -> &str {
            "none"
        }

        fn open(&self, _: SideAccess) -> Result<Option<Arc<dyn Driver>>, DriverError> {
            Ok(None)
        }

        fn create(&self) -> Result<Arc<dyn Driver>, DriverError> {
            unreachable!()
        }

        fn remove(&self) -> Result<(), DriverError> {
            unreachable!()
        }

        fn set_aside(&self) -> Result<String, DriverError> {
            unreachable!()
        }
    }

    #[test]
    fn an_end_that_exceeds_64_bits_is_not_written() {
        let (store, reopen) = new_file_to_reopen(LibverBounds::LATEST);
        store.edit().unwrap().commit().unwrap();
        let mut superblock = reopen().superblock();
        superblock.base_address = u64::MAX - 10;
        superblock.end_of_file = Address::new(u64::MAX - 9);
        let mut bytes = superblock.encode().unwrap();
        bytes.resize(4096, 0);
        let driver: Arc<dyn Driver> = Arc::new(Core::from_vec("file", bytes.clone()));
        for options in [RepairOptions::default(), RepairOptions { increment: Some(10), ..Default::default() }]
        {
            let error = repair(&driver, &NoJournal, options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            let mut after = vec![0; bytes.len()];
            driver.read_at(0, &mut after).unwrap();
            assert!(after == bytes && driver.len().unwrap() == 4096);
        }
    }
}
