//! What a journal says that was left beside a file, and whether it belongs there.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_format::journal::{
    JournalChain, JournalHeader, JournalRecord, JournalRecordKind, SECTOR, sectors, sum,
};
use hyperslab_vfd::{Boot, Driver, DriverError, SideAccess, SideFile};

use super::overlay::Overlay;
use super::{to_usize, unreadable, unwritable};
use crate::error::{Error, Result};

/// What to do with a journal that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// There is none, or it never became whole, or all that it says is in the file.
    Nothing,
    /// The commit was under way: what the journal says is to be brought into the file.
    Commit,
    /// The file was changed by somebody else since.
    Foreign,
}

/// Each record of a whole journal, with the offset of its bytes in it.
struct Walk<'j> {
    journal: &'j dyn Driver,
    length: u64,
    at: u64,
    chain: JournalChain,
}

/// A record of the journal.
pub(super) struct Step {
    pub(super) offset: u64,
    sums: Vec<u64>,
    pub(super) bytes: Vec<u8>,
    /// Where the bytes stand in the journal.
    pub(super) place: u64,
}

impl<'j> Walk<'j> {
    /// The records of a journal, if it begins like one.
    fn new(journal: &'j dyn Driver) -> Result<Option<(JournalHeader, Self)>, DriverError> {
        let length = journal.len()?;
        if length < JournalHeader::SIZE as u64 {
            return Ok(None);
        }
        let mut head = [0; JournalHeader::SIZE];
        journal.read_at(0, &mut head)?;
        let Ok(header) = JournalHeader::decode(&head) else { return Ok(None) };
        let chain = JournalChain::new(header.sequence);
        Ok(Some((header, Self { journal, length, at: JournalHeader::SIZE as u64, chain })))
    }

    /// The next record: `Ok(Err(length))` is a commit with the length of the file then; `None` if what follows is none.
    fn next(&mut self) -> Result<Option<std::result::Result<Step, u64>>, DriverError> {
        let mut head = [0; JournalRecord::SIZE];
        let behind = self.at.saturating_add(head.len() as u64);
        if behind > self.length {
            return Ok(None);
        }
        self.journal.read_at(self.at, &mut head)?;
        let Ok(record) = JournalRecord::decode(&head) else { return Ok(None) };
        let end = behind.saturating_add(record.rest());
        if end > self.length {
            return Ok(None);
        }
        let mut rest = vec![0; to_usize(record.rest())];
        self.journal.read_at(behind, &mut rest)?;
        let Ok((sums, bytes)) = self.chain.accept(&record, &head, &rest) else { return Ok(None) };
        let place = behind.saturating_add(record.bytes_of_sums());
        self.at = end;
        Ok(Some(match record.kind {
            JournalRecordKind::Bytes { offset, .. } => {
                Ok(Step { offset, sums, bytes: bytes.to_vec(), place })
            }
            JournalRecordKind::Commit { file_length, .. } => Err(file_length),
        }))
    }
}

/// The last commit of a journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastCommit {
    sequence: u64,
    boot: [u8; 16],
    /// Where the last commit ends of those that stand in the file.
    applied: u64,
    /// Where it ends.
    end: u64,
    /// Bytes of the file then.
    pub(super) file_length: u64,
    /// How many commits there are up to it.
    pub(super) count: u64,
}

/// The last commit, if there is one.
fn last_commit(journal: &dyn Driver) -> Result<Option<LastCommit>, DriverError> {
    let Some((header, mut walk)) = Walk::new(journal)? else { return Ok(None) };
    let JournalHeader { sequence, boot, applied } = header;
    let (mut last, mut count) = (None, 0_u64);
    while let Some(step) = walk.next()? {
        if let Err(file_length) = step {
            count = count.saturating_add(1);
            last = Some(LastCommit { sequence, boot, applied, end: walk.at, file_length, count });
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
    let Some((_, mut walk)) = Walk::new(journal)? else { return Ok(None) };
    while walk.at < last.end {
        match walk.next()? {
            Some(Ok(step)) => visit(step)?,
            Some(Err(_)) => {}
            None => return Ok(None),
        }
    }
    Ok(Some(last))
}

/// What the sectors are that a journal speaks of.
#[derive(Debug, Default)]
struct Tally {
    /// As before the commit.
    old: bool,
    /// As the journal does not know them.
    foreign: bool,
}

/// Judges a whole journal by what stands in the file.
fn compare(journal: &dyn Driver, sequence: u64, file: &dyn Driver) -> Result<Tally, DriverError> {
    // A sector may be brought several times: any of those bytes, or what stood there first, may be found.
    let mut known = BTreeMap::<u64, Vec<(usize, u64)>>::new();
    let note = |step: Step| {
        let mut at = step.offset;
        for (old, bytes) in step.sums.iter().zip(sectors(step.offset, &step.bytes)) {
            let length = bytes.len();
            known.entry(at).or_default().extend([(length, *old), (length, sum(sequence, bytes))]);
            at = at.saturating_add(length as u64);
        }
        Ok(())
    };
    let then = for_each(journal, note)?.map_or(0, |last| last.file_length);
    let file_length = file.len()?;
    // A file that is shorter has not all of it.
    let mut tally = Tally { old: file_length < then, foreign: false };
    let mut torn = false;
    let mut sector = [0; to_usize(SECTOR)];
    for (at, sums) in known {
        if at >= then {
            // Cut off, or to be.
            continue;
        }
        let length = sums.iter().map(|(length, _)| *length).max().unwrap_or(0);
        // By the commit, or by a disk that has new bytes of the sector in which the file ended, and not its new length.
        let end = at.saturating_add(length as u64);
        let is_cut = end > then || (at < file_length && end > file_length);
        sector.fill(0);
        let there = to_usize(file_length.saturating_sub(at)).min(sector.len());
        file.read_at(at, sector.get_mut(..there).unwrap_or_default())?;
        let found = |length: usize| sum(sequence, sector.get(..length).unwrap_or_default());
        let last = sums.len().saturating_sub(1);
        match sums.iter().rposition(|(length, sum)| *sum == found(*length)) {
            Some(place) if place == last => {}
            Some(_) => tally.old = true,
            // Sums of more than what is there: it may be anything.
            None if is_cut => torn = true,
            None => tally.foreign = true,
        }
    }
    tally.old |= torn && !tally.foreign;
    Ok(tally)
}

/// What is to be done with the journal beside a file.
fn judge(journal: &dyn Driver, file: &dyn Driver, boot: Option<Boot>) -> Result<Found, DriverError> {
    let Some(last) = last_commit(journal)? else { return Ok(Found::Nothing) };
    let same_boot = boot.is_some_and(|boot| boot.id == last.boot);
    if same_boot && last.applied == last.end {
        // Only the program ended: the system still has all that it wrote.
        return Ok(Found::Nothing);
    }
    let untouched = boot.is_some_and(|boot| file.modified().is_some_and(|changed| changed < boot.began));
    if !same_boot && untouched {
        // The power was lost, and nobody has written since: whatever reached the disk, this is what was committed.
        return Ok(Found::Commit);
    }
    let tally = compare(journal, last.sequence, file)?;
    Ok(match (tally.old, tally.foreign) {
        (false, _) => Found::Nothing,
        (true, false) => Found::Commit,
        (true, true) => Found::Foreign,
    })
}

/// Brings what a whole journal says into the file.
pub(super) fn apply(journal: &dyn Driver, file: &dyn Driver) -> Result<()> {
    let write = |step: Step| file.write_at(step.offset, &step.bytes);
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

/// Looks for a journal that was left beside a file, and lets the file be as it was committed last: on the medium if it may
/// be written, else only for whoever reads through the driver that is returned. What was found is returned, too;
/// [`Found::Foreign`] leaves both as they are.
pub(crate) fn settle(
    driver: Arc<dyn Driver>,
    side: &dyn SideFile,
    write: bool,
) -> Result<(Arc<dyn Driver>, Found)> {
    let access = if write { SideAccess::Write } else { SideAccess::Read };
    let Some(journal) = side.open(access).map_err(unreadable)? else { return Ok((driver, Found::Nothing)) };
    let found = judge(&*journal, &*driver, side.boot()).map_err(unreadable)?;
    match found {
        Found::Foreign => return Ok((driver, found)),
        Found::Commit if !write => {
            let overlay = Overlay::new(driver, journal).map_err(unreadable)?;
            return Ok((Arc::new(overlay), found));
        }
        Found::Commit => {
            // Its writer may have ended before the disk had it.
            journal.sync_data().map_err(unwritable)?;
            apply(&*journal, &*driver)?;
        }
        Found::Nothing => {}
    }
    if write {
        driver.sync_data().map_err(|source| Error::Io { action: "cannot sync the file".into(), source })?;
        // One that was whole shall not be brought into the file again after the next commit.
        discard(side, journal, true)?;
    }
    Ok((driver, found))
}

/// Lets a journal be no more. It shall not come back after a loss of power if it was whole.
pub(crate) fn discard(side: &dyn SideFile, journal: Arc<dyn Driver>, whole: bool) -> Result<()> {
    journal.set_len(0).map_err(unwritable)?;
    if whole {
        journal.sync_data().map_err(unwritable)?;
    }
    drop(journal);
    side.remove().map_err(|source| Error::Io { action: "cannot remove the journal".into(), source })
}
