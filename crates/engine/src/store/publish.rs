//! The publication of a commit. The order in which changes are written to the file preserves the
//! last committed state at every instant.

use std::sync::Arc;

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::Address;
use hyperslab_format::journal::{SECTOR, SECTOR_BYTES};
use hyperslab_format::superblock::ConsistencyFlags;
use hyperslab_vfd::WriteRequest;

use super::Store;
use super::backing::write_failed;
use super::bytes::{count_before, part};
use super::journal::{Change, Commit, MAX_SMALL_COMMIT_BYTES};
use crate::error::Result;

/// A run of neighbouring sectors on one page of the file that a commit changes in place.
struct InPlace {
    page: Arc<[u8]>,
    old: Arc<[u8]>,
    /// The offset of the page in the file.
    offset: u64,
    /// The changed bytes of the page: start and end.
    from: usize,
    to: usize,
}

impl InPlace {
    fn start(&self) -> u64 {
        self.offset + to_u64(self.from)
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

/// Returns the byte ranges of a page of the file in which `old` and `new` have differing sectors.
/// Neighbouring sectors share a range. The sector at `single` has a separate range.
fn differing(old: &[u8], new: &[u8], single: Option<usize>) -> Vec<(usize, usize)> {
    let sector = SECTOR_BYTES;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (number, (old, new)) in old.chunks(sector).zip(new.chunks(sector)).enumerate() {
        if old == new {
            continue;
        }
        let from = number * sector;
        let to = from + new.len();
        match runs.last_mut() {
            Some(last) if last.1 == from && Some(from) != single && Some(last.0) != single => last.1 = to,
            _ => runs.push((from, to)),
        }
    }
    runs
}

impl Store {
    /// Writes dirty pages to the file at a commit and sets the length of the file to `file_end`.
    pub(super) fn publish(&self, file_end: u64) -> Result<()> {
        let _exclusive = self.write_state.gate.write();
        let journal = &self.write_state.journal;
        journal.check()?;
        if !journal.is_enabled() {
            self.publish_plainly(file_end)?;
        } else if self.write_state.new_from() == 0 {
            self.publish_first(file_end)?;
        } else {
            // The journal does not contain the writes of a failed publication.
            self.publish_safely(file_end).inspect_err(|_| journal.note_write())?;
        }
        self.caches.pages.make_all_clean();
        Ok(())
    }

    /// Writes the changes of a commit to the file without a journal. If a crash interrupts the
    /// write, the file may be damaged.
    fn publish_plainly(&self, file_end: u64) -> Result<()> {
        let (driver, journal) = (&*self.backing.driver, &self.write_state.journal);
        let written = self.caches.pages.write_from(driver, 0, file_end, &(0..0), |_, _| {});
        if written.map_err(write_failed)? {
            journal.note_write();
        }
        let length = driver.len().map_err(write_failed)?;
        if length > file_end {
            // The superblock with the smaller end is written before the truncation, so that at no
            // instant the file is shorter than its superblock states.
            driver.flush().map_err(write_failed)?;
        }
        if length != file_end {
            journal.note_write();
            driver.set_len(file_end).map_err(write_failed)?;
        }
        driver.flush().map_err(write_failed)?;
        journal.sync(driver)
    }

    /// Writes the first commit of a new file. The superblock is written last, after a sync, so that
    /// the file is not an HDF5 file before the commit is complete.
    fn publish_first(&self, file_end: u64) -> Result<()> {
        let (driver, journal) = (&*self.backing.driver, &self.write_state.journal);
        let pages = &self.caches.pages;
        let superblock = self.base()..self.base() + SECTOR;
        journal.note_write();
        pages.write_from(driver, 0, file_end, &superblock, |_, _| {}).map_err(write_failed)?;
        driver.set_len(file_end).map_err(write_failed)?;
        driver.flush().map_err(write_failed)?;
        journal.sync(driver)?;
        journal.note_write();
        let end = superblock.end.min(file_end);
        pages.write_from(driver, self.base(), end, &(0..0), |_, _| {}).map_err(write_failed)?;
        driver.flush().map_err(write_failed)?;
        journal.sync(driver)?;
        journal.clear_extents();
        let unlinked = self.unlinked_addresses();
        if !unlinked.is_empty() {
            // A journal without changes holds the list of unlinked objects.
            let commit = Commit { changes: &[], file_length: file_end, unlinked: &unlinked, append: false };
            journal.commit(driver, &commit)?;
            journal.note_applied();
        }
        Ok(())
    }

    /// Publishes a commit that is not the first commit of a file, so that a crash cannot damage the
    /// file. Writes the new space (space that no earlier commit contains) and syncs the file. Then
    /// writes the changes of existing bytes to the journal and to the file.
    fn publish_safely(&self, file_end: u64) -> Result<()> {
        let (driver, journal) = (&*self.backing.driver, &self.write_state.journal);
        let pages = &self.caches.pages;
        journal.complete(driver)?;
        let new_from = self.write_state.direct_from();
        let before = driver.len().map_err(write_failed)?;
        // A small commit goes into the journal as a whole, so that one sync is enough. A commit
        // that truncates the file is no small commit, because bytes that the earlier commits rely
        // on may lie after the new end.
        let grows_little = file_end <= new_from || file_end - new_from <= MAX_SMALL_COMMIT_BYTES;
        let is_small = journal.can_append()
            && pages.dirty_bytes() <= MAX_SMALL_COMMIT_BYTES
            && grows_little
            && before <= file_end;
        let lists_unlinked = journal.must_append();
        let append = is_small || lists_unlinked;
        let border = if is_small { file_end } else { new_from.min(file_end) };
        let changes = self.changes_before(border)?;
        let seam = self.seam(new_from, file_end)?;
        let note = |offset, bytes: &[u8]| match is_small {
            true => journal.note_journaled_write(),
            false => journal.note_new(offset, bytes),
        };
        // Readers do not use bytes after the end of the committed file, so new space can be written
        // before the commit.
        if seam.before != seam.after {
            // The write is a whole sector, so that the journal knows the sector's contents.
            note(new_from, seam.new_bytes());
            driver.write_at(seam.start, &seam.after).map_err(write_failed)?;
        }
        pages.write_from(driver, seam.start + SECTOR, file_end, &(0..0), note).map_err(write_failed)?;
        let length = driver.len().map_err(write_failed)?;
        if length < file_end {
            note(length, &[]);
            driver.set_len(file_end).map_err(write_failed)?;
        }
        self.backing.note_written(file_end);
        driver.flush().map_err(write_failed)?;
        if !is_small {
            journal.sync(driver)?;
        }
        // A commit without in-place changes still replaces a list of unlinked objects.
        if changes.is_empty() && !journal.has_spilled() && length <= file_end && !lists_unlinked {
            return Ok(());
        }
        if let [only] = changes.as_slice()
            && to_u64(only.to - only.from) <= SECTOR
            && journal.is_empty()
            && self.unlinked_objects().is_empty()
            && !is_small
            && length <= file_end
        {
            return self.publish_sector(only);
        }
        self.publish_through_journal(changes, &seam, border, file_end, CommitForm { is_small, append })
    }

    /// Writes a commit that changes a single sector of the file, without the journal. A disk writes
    /// a sector as a whole or not at all.
    fn publish_sector(&self, only: &InPlace) -> Result<()> {
        let (driver, journal) = (&*self.backing.driver, &self.write_state.journal);
        journal.note_write();
        driver.write_at(only.start(), only.new_bytes()).map_err(write_failed)?;
        driver.flush().map_err(write_failed)?;
        journal.sync(driver)?;
        journal.clear_extents();
        Ok(())
    }

    /// Returns the changes of existing bytes in dirty pages before the file offset `border`, in
    /// ascending order. The sector of the superblock is a separate change.
    fn changes_before(&self, border: u64) -> Result<Vec<InPlace>> {
        let mut changes = Vec::new();
        for (offset, page) in self.caches.pages.dirty_before(border) {
            let length = count_before(border, offset, page.len());
            let mut old = vec![0; length];
            self.source().read(offset, &mut old).map_err(write_failed)?;
            let superblock = self.base().checked_sub(offset).and_then(|at| usize::try_from(at).ok());
            let superblock = superblock.filter(|at| *at < length);
            let runs = differing(&old, page.split_at(length).0, superblock);
            let old: Arc<[u8]> = old.into();
            for (from, to) in runs {
                changes.push(InPlace { page: Arc::clone(&page), old: Arc::clone(&old), offset, from, to });
            }
        }
        Ok(changes)
    }

    /// Returns the seam between old and new bytes: the file sector in which the committed file ends
    /// and new space begins.
    fn seam(&self, new_from: u64, file_end: u64) -> Result<Seam> {
        let start = new_from - new_from % SECTOR;
        // A file that is truncated may end before its new space began.
        let mut before = vec![0; count_before(file_end, start, SECTOR_BYTES)];
        // Spilled pages are not committed yet.
        self.backing.source().read(start, &mut before).map_err(write_failed)?;
        let mut after = before.clone();
        let new_at = count_before(new_from, start, after.len());
        self.caches.pages.overlay_dirty(new_from, after.split_at_mut(new_at).1);
        Ok(Seam { start, before, after, new_at })
    }

    fn unlinked_addresses(&self) -> Vec<u64> {
        self.unlinked_objects().into_iter().map(Address::raw).collect()
    }

    /// Writes a commit's changes before the file offset `border` to the journal, then to the file.
    fn publish_through_journal(
        &self,
        changes: Vec<InPlace>,
        seam: &Seam,
        border: u64,
        file_end: u64,
        form: CommitForm,
    ) -> Result<()> {
        let (driver, journal) = (&*self.backing.driver, &self.write_state.journal);
        let start = self.base();
        // The sector of the superblock is written separately.
        let sector = self.superblock_sector(border)?;
        let others: Vec<InPlace> = changes.into_iter().filter(|change| change.start() != start).collect();
        let mut records = vec![Change { offset: start, old: &sector.before, new: &sector.flagged }];
        if form.is_small && seam.before != seam.after {
            records.insert(0, Change { offset: seam.start, old: &seam.before, new: &seam.after });
        }
        records.extend(others.iter().map(InPlace::change));
        let end = self.end_sector(file_end)?;
        if let Some(EndSector { start, old, new }) = &end {
            records.push(Change { offset: *start, old, new });
        }
        records.push(Change { offset: start, old: &sector.flagged, new: &sector.after });
        let unlinked = self.unlinked_addresses();
        let commit =
            Commit { changes: &records, file_length: file_end, unlinked: &unlinked, append: form.append };
        journal.commit(driver, &commit)?;
        journal.note_journaled_write();
        // From here on, the commit has happened. The next commit, or the next opening of the file,
        // completes a write that fails.
        driver.write_at(start, &sector.flagged).map_err(write_failed)?;
        journal.for_each_spilled(|offset, bytes| {
            let end = (offset + to_u64(bytes.len())).min(file_end);
            for (from, to) in [(offset, end.min(start)), (offset.max(start + SECTOR), end)] {
                if from < to {
                    driver.write_at(from, part(bytes, offset, from..to)?).map_err(write_failed)?;
                }
            }
            Ok(())
        })?;
        let requests: Vec<WriteRequest<'_>> = others.iter().map(InPlace::request).collect();
        driver.write_many(&requests).map_err(write_failed)?;
        driver.write_at(start, &sector.after).map_err(write_failed)?;
        if driver.len().map_err(write_failed)? != file_end {
            driver.set_len(file_end).map_err(write_failed)?;
            // If the file grows again, the truncated bytes are zeros, which no journal records. No
            // commit may be appended to this journal.
            journal.note_write();
        }
        driver.flush().map_err(write_failed)?;
        journal.note_applied();
        Ok(())
    }

    /// Returns the last sector of a file before and after a commit, if the commit truncates the
    /// file inside of this sector. The journal records the sector, because its checksum must not
    /// depend on the truncated bytes.
    fn end_sector(&self, file_end: u64) -> Result<Option<EndSector>> {
        let start = file_end - file_end % SECTOR;
        let length = self.backing.driver.len().map_err(write_failed)?;
        if start == file_end || start == self.base() || length <= file_end {
            return Ok(None);
        }
        let length = to_usize(file_end - start)?;
        let (mut old, mut new) = (vec![0; length], vec![0; length]);
        self.backing.source().read(start, &mut old).map_err(write_failed)?;
        self.source().read(start, &mut new).map_err(write_failed)?;
        self.caches.pages.overlay_dirty(start, &mut new);
        Ok(Some(EndSector { start, old, new }))
    }

    /// Returns three versions of the file sector of the superblock: before the commit, during the
    /// commit (with the status flag of a writer), and after the commit.
    fn superblock_sector(&self, border: u64) -> Result<SuperblockSector> {
        let length = count_before(border, self.base(), SECTOR_BYTES);
        let mut before = vec![0; length];
        self.source().read(self.base(), &mut before).map_err(write_failed)?;
        let mut after = before.clone();
        self.caches.pages.overlay_dirty(self.base(), &mut after);
        let mut flagged = before.clone();
        let mut superblock = self.superblock();
        if superblock.version_number() >= 3 {
            superblock.consistency.insert(ConsistencyFlags::WRITE_ACCESS);
            let bytes = superblock.encode()?;
            if let Some(start) = flagged.get_mut(..bytes.len()) {
                start.copy_from_slice(&bytes);
            }
        }
        Ok(SuperblockSector { before, flagged, after })
    }
}

/// The form of a commit in the journal: whether the journal also holds the new space of the commit
/// (space that no earlier commit contains), and whether the commit is appended to earlier commits.
#[derive(Debug, Clone, Copy)]
struct CommitForm {
    /// True if the journal also holds the new space of the commit.
    is_small: bool,
    /// True if the commit is appended to the commits of the journal.
    append: bool,
}

/// The seam between old and new bytes: the file sector in which the committed file ends and new
/// space begins. It has two versions: before the commit, and with the new bytes. The new bytes are
/// written before the commit.
struct Seam {
    start: u64,
    before: Vec<u8>,
    after: Vec<u8>,
    /// The index of the first new byte.
    new_at: usize,
}

/// The last sector of a file before and after a commit that truncates the file inside of this
/// sector.
struct EndSector {
    start: u64,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Seam {
    /// Returns the new bytes in the seam of a commit, which is the file sector in which the
    /// committed file ends. They follow the committed bytes of this sector.
    fn new_bytes(&self) -> &[u8] {
        self.after.split_at(self.new_at).1
    }
}

struct SuperblockSector {
    before: Vec<u8>,
    flagged: Vec<u8>,
    after: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_the_sectors_that_differ() {
        let old = vec![0; 3000];
        let with = |positions: &[usize]| {
            let mut new = old.clone();
            positions.iter().for_each(|position| new[*position] = 1);
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
