//! Bringing what was changed into the file, so that at no instant the file as it was committed last is lost.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyperslab_format::codec::Address;
use hyperslab_format::journal::{SECTOR, SECTOR_BYTES};
use hyperslab_format::superblock::ConsistencyFlags;
use hyperslab_vfd::{DriverError, WriteRequest};

use super::journal::{Change, Commit, LITTLE};
use super::pages::Medium;
use super::{Store, to_usize};
use crate::error::{Error, Result};

/// Neighbouring sectors of a page that change.
struct InPlace {
    page: Arc<[u8]>,
    old: Arc<[u8]>,
    /// Where the page begins, and what of it has changed.
    offset: u64,
    from: usize,
    to: usize,
}

impl InPlace {
    fn start(&self) -> u64 {
        self.offset + self.from as u64
    }

    fn new_bytes(&self) -> &[u8] {
        self.page.split_at(self.to).0.split_at(self.from).1
    }

    fn change(&self) -> Change<'_> {
        let old = self.old.split_at(self.to).0.split_at(self.from).1;
        Change { offset: self.start(), old, new: self.new_bytes() }
    }

    fn request(&self) -> WriteRequest<'_> {
        WriteRequest { offset: self.start(), bytes: self.new_bytes() }
    }
}

/// The ranges of a page in which sectors differ. The sector at `alone` is a range of its own.
fn differing(old: &[u8], new: &[u8], alone: Option<usize>) -> Vec<(usize, usize)> {
    let sector = SECTOR_BYTES;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (number, (old, new)) in old.chunks(sector).zip(new.chunks(sector)).enumerate() {
        if old == new {
            continue;
        }
        let from = number * sector;
        let to = from + new.len();
        match runs.last_mut() {
            Some(last) if last.1 == from && Some(from) != alone && Some(last.0) != alone => last.1 = to,
            _ => runs.push((from, to)),
        }
    }
    runs
}

/// Returns the part of `bytes`, which begin at the offset `start`, in a range of offsets.
pub(super) fn part(bytes: &[u8], start: u64, range: Range<u64>) -> Result<&[u8]> {
    let index = |offset: u64| usize::try_from(offset.checked_sub(start)?).ok();
    let part = index(range.start).zip(index(range.end)).and_then(|(from, to)| bytes.get(from..to));
    let invariant = "a part that is written lies in the bytes at hand";
    part.ok_or(Error::Internal { structure: "file", invariant })
}

fn io(source: DriverError) -> Error {
    Error::Io { action: "cannot write the file".into(), source }
}

impl Store {
    /// Lets the file be what it is in memory, and so long.
    pub(super) fn publish(&self, file_end: u64) -> Result<()> {
        let _alone = self.gate.write();
        self.journal.check()?;
        let new_from = self.new_from.load(Ordering::Acquire);
        if !self.journal.is_on() {
            self.publish_plainly(file_end)?;
        } else if new_from == 0 {
            self.publish_first(file_end)?;
        } else {
            // What was written meanwhile is in no journal.
            self.publish_safely(file_end).inspect_err(|_| self.journal.note_write())?;
        }
        self.pages.all_written();
        Ok(())
    }

    /// Without a journal: an end on the way may leave anything.
    fn publish_plainly(&self, file_end: u64) -> Result<()> {
        let driver = &*self.driver;
        if self.pages.write_from(driver, 0, file_end, &(0..0), |_, _| {}).map_err(io)? {
            self.journal.note_write();
        }
        let length = driver.len().map_err(io)?;
        if length > file_end {
            // The file must not be shorter than its superblock says, whenever the power fails.
            driver.flush().map_err(io)?;
        }
        if length != file_end {
            self.journal.note_write();
            driver.set_len(file_end).map_err(io)?;
        }
        driver.flush().map_err(io)?;
        self.journal.sync(driver)
    }

    /// A new file: it is one when its superblock is there, which comes last.
    fn publish_first(&self, file_end: u64) -> Result<()> {
        let driver = &*self.driver;
        let superblock = self.base..self.base + SECTOR;
        self.journal.note_write();
        self.pages.write_from(driver, 0, file_end, &superblock, |_, _| {}).map_err(io)?;
        driver.set_len(file_end).map_err(io)?;
        driver.flush().map_err(io)?;
        self.journal.sync(driver)?;
        self.journal.note_write();
        let end = superblock.end.min(file_end);
        self.pages.write_from(driver, self.base, end, &(0..0), |_, _| {}).map_err(io)?;
        driver.flush().map_err(io)?;
        self.journal.sync(driver)?;
        self.journal.forget_extents();
        let unlinked = self.unlinked_addresses();
        if !unlinked.is_empty() {
            // A journal that changes nothing, for the sake of its list.
            let commit = Commit { changes: &[], file_length: file_end, unlinked: &unlinked, go_on: false };
            self.journal.commit(driver, &commit)?;
            self.journal.note_applied();
        }
        Ok(())
    }

    fn publish_safely(&self, file_end: u64) -> Result<()> {
        let driver = &*self.driver;
        self.journal.complete(driver)?;
        let new_from = self.direct_from();
        let before = driver.len().map_err(io)?;
        // A little commit goes into the journal wholly, so that the disk is waited for once. One that cuts the file does not, for what
        // the commits before rely on may lie behind the new end.
        let grows = file_end.saturating_sub(new_from);
        let little = self.journal.can_go_on()
            && self.pages.changed_bytes() <= LITTLE
            && grows <= LITTLE
            && before <= file_end;
        let lists_unlinked = self.journal.must_go_on();
        let go_on = little || lists_unlinked;
        let border = if little { file_end } else { new_from.min(file_end) };
        let changes = self.changes_before(border)?;
        let seam = self.seam(new_from, file_end)?;
        let note = |offset, bytes: &[u8]| match little {
            true => self.journal.note_covered(),
            false => self.journal.note_new(offset, bytes),
        };
        // Nobody looks behind the end of the file as it was committed.
        if seam.before != seam.after {
            // Only whole sectors are written, so that each is one that the journal knows.
            note(new_from, seam.new_bytes(new_from));
            driver.write_at(seam.start, &seam.after).map_err(io)?;
        }
        self.pages.write_from(driver, seam.start + SECTOR, file_end, &(0..0), note).map_err(io)?;
        let length = driver.len().map_err(io)?;
        if length < file_end {
            note(length, &[]);
            driver.set_len(file_end).map_err(io)?;
        }
        self.written.fetch_max(file_end, Ordering::AcqRel);
        driver.flush().map_err(io)?;
        if !little {
            self.journal.sync(driver)?;
        }
        // A commit that changes nothing in place still has to replace a list of unlinked objects.
        if changes.is_empty() && !self.journal.has_moved() && length <= file_end && !lists_unlinked {
            return Ok(());
        }
        if let [only] = changes.as_slice()
            && (only.to - only.from) as u64 <= SECTOR
            && self.journal.is_empty()
            && self.unlinked_objects().is_empty()
            && !little
            && length <= file_end
        {
            return self.publish_sector(only);
        }
        self.publish_through_journal(changes, &seam, border, file_end, CommitForm { little, go_on })
    }

    /// Writes a single sector. A disk writes it wholly or not at all.
    fn publish_sector(&self, only: &InPlace) -> Result<()> {
        let driver = &*self.driver;
        self.journal.note_write();
        driver.write_at(only.start(), only.new_bytes()).map_err(io)?;
        driver.flush().map_err(io)?;
        self.journal.sync(driver)?;
        self.journal.forget_extents();
        Ok(())
    }

    /// What the changed pages change before `border`, ascending. What stands in the sector of the superblock is alone.
    fn changes_before(&self, border: u64) -> Result<Vec<InPlace>> {
        let mut changes = Vec::new();
        for (offset, page) in self.pages.before(border) {
            let length = to_usize((border - offset).min(page.len() as u64))?;
            let mut old = vec![0; length];
            self.medium().read(offset, &mut old).map_err(io)?;
            let alone = self.base.checked_sub(offset).and_then(|alone| usize::try_from(alone).ok());
            let runs = differing(&old, page.split_at(length).0, alone.filter(|alone| *alone < length));
            let old: Arc<[u8]> = old.into();
            for (from, to) in runs {
                changes.push(InPlace { page: Arc::clone(&page), old: Arc::clone(&old), offset, from, to });
            }
        }
        Ok(changes)
    }

    /// The sector in which new space begins.
    fn seam(&self, new_from: u64, file_end: u64) -> Result<Seam> {
        let start = new_from - new_from % SECTOR;
        // A file that is cut may end before its new space began.
        let length = file_end.saturating_sub(start).min(SECTOR);
        let mut before = vec![0; to_usize(length)?];
        // What waits in the journal is not committed yet.
        let medium = Medium { journal: None, ..self.medium() };
        medium.read(start, &mut before).map_err(io)?;
        let mut after = before.clone();
        if let Some(new) = after.get_mut(to_usize(new_from - start)?..) {
            self.pages.amend(new_from, new);
        }
        Ok(Seam { start, before, after })
    }

    fn unlinked_addresses(&self) -> Vec<u64> {
        self.unlinked_objects().into_iter().map(Address::raw).collect()
    }

    /// Writes changes before `border` to the journal, then to the file.
    fn publish_through_journal(
        &self,
        changes: Vec<InPlace>,
        seam: &Seam,
        border: u64,
        file_end: u64,
        form: CommitForm,
    ) -> Result<()> {
        let driver = &*self.driver;
        // The sector of the superblock is written by itself.
        let sector = self.superblock_sector(border)?;
        let others: Vec<InPlace> = changes.into_iter().filter(|change| change.start() != self.base).collect();
        let start = self.base;
        let mut records = vec![Change { offset: start, old: &sector.now, new: &sector.marked }];
        if form.little && seam.before != seam.after {
            records.insert(0, Change { offset: seam.start, old: &seam.before, new: &seam.after });
        }
        records.extend(others.iter().map(InPlace::change));
        let end = self.end_sector(file_end)?;
        if let Some(EndSector { start, old, new }) = &end {
            records.push(Change { offset: *start, old, new });
        }
        records.push(Change { offset: start, old: &sector.marked, new: &sector.then });
        let unlinked = self.unlinked_addresses();
        let commit =
            Commit { changes: &records, file_length: file_end, unlinked: &unlinked, go_on: form.go_on };
        self.journal.commit(driver, &commit)?;
        self.journal.note_covered();
        // From here on, the commit has happened: what fails is made up for by the next one, or by who opens the file.
        driver.write_at(start, &sector.marked).map_err(io)?;
        self.journal.for_each_moved(|offset, bytes| {
            let end = (offset + bytes.len() as u64).min(file_end);
            for (from, to) in [(offset, end.min(start)), (offset.max(start + SECTOR), end)] {
                if from < to {
                    driver.write_at(from, part(bytes, offset, from..to)?).map_err(io)?;
                }
            }
            Ok(())
        })?;
        let requests: Vec<WriteRequest<'_>> = others.iter().map(InPlace::request).collect();
        driver.write_many(&requests).map_err(io)?;
        driver.write_at(start, &sector.then).map_err(io)?;
        if driver.len().map_err(io)? != file_end {
            driver.set_len(file_end).map_err(io)?;
            // What is cut off comes back as zeros, which no journal knows: this one ends here.
            self.journal.note_write();
        }
        driver.flush().map_err(io)?;
        self.journal.note_applied();
        Ok(())
    }

    /// Returns the sector in which the file will end, if the file is cut there, as it is and as it will be: its sum must not depend on what
    /// is cut off.
    fn end_sector(&self, file_end: u64) -> Result<Option<EndSector>> {
        let start = file_end - file_end % SECTOR;
        if start == file_end || start == self.base || self.driver.len().map_err(io)? <= file_end {
            return Ok(None);
        }
        let length = to_usize(file_end - start)?;
        let (mut old, mut new) = (vec![0; length], vec![0; length]);
        let medium = self.medium();
        Medium { journal: None, ..medium }.read(start, &mut old).map_err(io)?;
        medium.read(start, &mut new).map_err(io)?;
        self.pages.amend(start, &mut new);
        Ok(Some(EndSector { start, old, new }))
    }

    /// The sector with the superblock, as it is, as others shall see it while the file is changed, and as it will be.
    fn superblock_sector(&self, border: u64) -> Result<SuperblockSector> {
        let length = to_usize((border - self.base).min(SECTOR))?;
        let mut now = vec![0; length];
        self.medium().read(self.base, &mut now).map_err(io)?;
        let mut then = now.clone();
        self.pages.amend(self.base, &mut then);
        let mut marked = now.clone();
        let mut superblock = self.superblock();
        if superblock.version_number() >= 3 {
            superblock.consistency.insert(ConsistencyFlags::WRITE_ACCESS);
            let bytes = superblock.encode()?;
            if let Some(place) = marked.get_mut(..bytes.len()) {
                place.copy_from_slice(&bytes);
            }
        }
        Ok(SuperblockSector { now, marked, then })
    }
}

/// The form of a commit in the journal.
#[derive(Debug, Clone, Copy)]
struct CommitForm {
    /// The journal holds the new space of the commit, too.
    little: bool,
    /// The commit follows those that the journal holds.
    go_on: bool,
}

/// A sector in which the committed file ends: as it is, and with what is new in it, which is written first.
struct Seam {
    start: u64,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// The sector in which a file ends that is cut.
struct EndSector {
    start: u64,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Seam {
    /// Returns the bytes of the sector that are new.
    fn new_bytes(&self, new_from: u64) -> &[u8] {
        let from = usize::try_from(new_from - self.start).ok();
        // A file that is cut may end before its new space began.
        from.and_then(|from| self.after.get(from..)).unwrap_or_default()
    }
}

struct SuperblockSector {
    now: Vec<u8>,
    marked: Vec<u8>,
    then: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_that_differ_are_found() {
        let old = vec![0; 3000];
        let with = |places: &[usize]| {
            let mut new = old.clone();
            places.iter().for_each(|place| new[*place] = 1);
            new
        };
        assert_eq!(differing(&old, &with(&[]), None), []);
        assert_eq!(differing(&old, &with(&[0]), None), [(0, 512)]);
        assert_eq!(differing(&old, &with(&[511, 512, 2999]), None), [(0, 1024), (2560, 3000)]);
        assert_eq!(
            differing(&old, &with(&[511, 512, 1024]), Some(512)),
            [(0, 512), (512, 1024), (1024, 1536)]
        );
    }
}
