//! Traces of a writer that ended before it closed its file, put right in place: a journal, marks, the stated end.

use std::fmt;
use std::sync::Arc;

use hyperslab_format::superblock::ConsistencyFlags;
use hyperslab_vfd::{Driver, DriverError, SideAccess, SideFile};

use super::journal::{self, FoundJournal, JournalReport, JournalVerdict};
use super::superblock::{find_superblock, stated_end, stored_end};
use crate::error::{Error, Result};

/// What may be done to a file in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RepairOptions {
    /// A journal is removed, whatever it says.
    pub discard_journal: bool,
    /// The end that the superblock states becomes that of the file, if the file is shorter: to be used where nothing lies
    /// behind it.
    pub cut_end: bool,
    /// The marks of a writer stay.
    pub keep_marks: bool,
    /// The end that the superblock states stays, also if the file is longer.
    pub keep_end: bool,
    /// The file gets so many bytes behind both ends, and its superblock says so.
    pub room: Option<u64>,
}

/// What was found, and done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Repaired {
    /// The journal beside the file, if there was one.
    pub journal: Option<JournalRepair>,
    /// Marks of a writer that were cleared.
    pub marks: Option<MarksRepair>,
    /// How the end that the superblock states differs from that of the file, if it does.
    pub end: Option<EndRepair>,
}

/// The fate of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalRepair {
    /// Its commits were brought into the file.
    Replayed,
    /// It held nothing that was not in the file, and was removed.
    Removed,
    /// It was removed unread.
    Discarded,
    /// It does not belong to the file as that is, and has another name now.
    SetAside {
        /// The new path of the journal.
        name: String,
        /// The comparison with the file, unless the journal's header is damaged.
        report: Option<JournalReport>,
    },
}

/// The marks that a writer had left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MarksRepair {
    /// It was a SWMR writer.
    pub swmr: bool,
}

/// Where a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EndRepair {
    /// By its superblock, in bytes from the start of the file; `None` if that says nothing.
    pub stated: Option<u64>,
    /// In truth.
    pub length: u64,
    /// True if the superblock says so now.
    pub corrected: bool,
}

impl EndRepair {
    /// Returns whether bytes are missing that the superblock speaks of.
    pub fn is_truncated(&self) -> bool {
        self.stated.is_some_and(|stated| stated > self.length)
    }
}

impl Repaired {
    /// Returns whether there was anything to be put right.
    pub fn found_anything(&self) -> bool {
        *self != Self::default()
    }
}

/// One line for each thing that was found, with what was done.
impl fmt::Display for Repaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        lines.extend(self.journal.as_ref().map(|journal| match journal {
            JournalRepair::Replayed => {
                "the journal of a commit that had stopped half-way: replayed".to_owned()
            }
            JournalRepair::Removed => "a journal with nothing that is not in the file: removed".to_owned(),
            JournalRepair::Discarded => "a journal: discarded".to_owned(),
            JournalRepair::SetAside { name, report } => {
                let story = report
                    .as_ref()
                    .map_or_else(|| "a journal with a damaged header".to_owned(), ToString::to_string);
                format!("{story}: set aside as `{name}`")
            }
        }));
        lines.extend(self.marks.map(|marks| {
            let who = if marks.swmr { "a SWMR writer" } else { "a writer" };
            format!("marked as open for {who}: cleared")
        }));
        lines.extend(self.end.map(|end| {
            let stated = end.stated.map_or_else(|| "no end".to_owned(), |stated| format!("{stated} bytes"));
            let done = match (end.corrected, end.is_truncated()) {
                (true, _) => "corrected",
                (false, true) => "left as it is, for bytes are missing",
                (false, false) => "left as it is",
            };
            format!("{} bytes, where the superblock says {stated}: {done}", end.length)
        }));
        f.write_str(if lines.is_empty() { "nothing to be put right" } else { "" })?;
        f.write_str(&lines.join("\n"))
    }
}

/// Puts a file right in place, as far as that is safe: nobody else may have it open.
///
/// # Errors
/// [`Error::Corrupt`] if the journal does not belong to what the file has become, or the superblock is damaged;
/// [`Error::Io`].
pub fn repair(driver: &Arc<dyn Driver>, side: &dyn SideFile, options: RepairOptions) -> Result<Repaired> {
    let journal = repair_journal(driver, side, options)?;
    let failed = |source| Error::Io { action: "cannot repair the file".into(), source };
    let length = length_of_first(&**driver).map_err(failed)?;
    let (base, mut superblock) = find_superblock(&**driver, length)?;
    let before = superblock.clone();
    let mut repaired = Repaired { journal, ..Repaired::default() };
    let marks = ConsistencyFlags::WRITE_ACCESS | ConsistencyFlags::SWMR_ACCESS;
    // In the versions before, the flags mean nothing.
    let marked = superblock.version_number() >= 2 && superblock.consistency.intersects(marks);
    if marked && !options.keep_marks {
        let swmr = superblock.consistency.contains(ConsistencyFlags::SWMR_ACCESS);
        repaired.marks = Some(MarksRepair { swmr });
        superblock.consistency.remove(marks);
    }
    let stated = stated_end(&superblock, base);
    if let Some(room) = options.room {
        let length = stated.unwrap_or(0).max(length).checked_add(room).filter(|length| *length < u64::MAX);
        let length =
            length.ok_or_else(|| Error::Misuse(format!("no file has {room} bytes more than this one")))?;
        if driver.kind().has_member_ends() {
            return Err(Error::unsupported(format!("more room in the members of a {} file", driver.kind())));
        }
        superblock.end_of_file = stored_end(&superblock, length - base)?;
        driver.set_len(length).map_err(failed)?;
        repaired.end = Some(EndRepair { stated, length, corrected: true });
    } else if stated != Some(length) {
        // Space behind the stated end belongs to no block; within it, blocks that a writer had put there can be read.
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

/// Where the file ends, by its superblock and in truth. Nothing is changed, and a journal is not looked at.
///
/// # Errors
/// [`Error::Corrupt`] if there is no superblock; [`Error::Io`].
pub fn ends(driver: &dyn Driver) -> Result<EndRepair> {
    let unknown = |source| Error::Io { action: "cannot learn the length of the file".into(), source };
    let length = length_of_first(driver).map_err(unknown)?;
    let (base, superblock) = find_superblock(driver, length)?;
    Ok(EndRepair { stated: stated_end(&superblock, base), length, corrected: false })
}

/// The length of the whole file; of its first member, where each has an end of its own: the superblock states that one.
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
        // Somebody else's file.
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

/// Compares the journal in `side` with the file beside it, and changes nothing. Returns `None` if there is no journal, or none with a
/// whole commit.
///
/// # Errors
/// [`Error::Corrupt`] if the header of the journal is damaged; [`Error::Misuse`] if the file of that name is no journal; [`Error::Io`].
pub fn journal_report(driver: &dyn Driver, side: &dyn SideFile) -> Result<Option<JournalReport>> {
    match journal::read_report(side, driver)? {
        FoundJournal::Absent | FoundJournal::Empty => Ok(None),
        FoundJournal::Compared(report) => Ok(Some(report)),
        FoundJournal::Damaged => {
            Err(Error::corrupt("journal header", "signature", "one of a journal", side.name()))
        }
        FoundJournal::Unrelated => Err(Error::Misuse(format!("`{}` is no journal", side.name()))),
    }
}

/// Writes the changes of the journal in `side` into a copy of its file, whatever their comparison says.
///
/// # Errors
/// [`Error::Misuse`] if there is no journal; [`Error::Corrupt`] if the journal holds no whole commit; [`Error::Io`].
pub fn replay_into_copy(side: &dyn SideFile, copy: &dyn Driver) -> Result<()> {
    journal::replay_into_copy(side, copy)
}
