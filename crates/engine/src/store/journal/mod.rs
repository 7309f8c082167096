//! The journal of a file that is open for writing. A commit writes its in-place changes to the
//! journal before it writes them to the file.
//!
//! `docs/journal.md` lists the order of all writes, and argues why no committed state can be lost
//! at any instant.

mod batch;
mod contents;
mod errors;
mod extents;
mod known;
mod new_space;
mod overlay;
mod recover;
mod state;
mod verdict;
mod walk;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::journal::{JournalChain, JournalExtent, JournalHeader};
use hyperslab_vfd::{Driver, DriverError, SideFile};
use parking_lot::{Mutex, RwLock};

use super::options::Durability;
use super::page::{PAGE, PAGE_BYTES};
use crate::error::{Error, Result};
use batch::Batch;
use errors::{unreadable, unwritable};
use extents::Extents;
pub(super) use extents::WrittenSectors;
use known::KnownBytes;
pub(super) use recover::{
    FoundJournal, KeptJournal, RecoverFor, Recovered, discard, is_journal, read_report, recover,
    replay_into_copy,
};
use state::{JournalState, Phase};
pub use verdict::{JournalComparison, JournalReport, JournalVerdict};

/// The largest size in bytes of a small commit: the changed pages and the growth of the file. The
/// journal holds all bytes of a small commit, including its new space.
pub(super) const MAX_SMALL_COMMIT_BYTES: u64 = 1 << 20;

/// Largest length of a journal to which commits are appended. A longer journal is truncated first.
const MAX_APPENDED_BYTES: u64 = 4 << 20;

/// The reason that errors state after a failed sync. All later writes are then refused.
const SYNC_FAILED: &str = "an earlier sync of the file failed, so that the contents of its disk are unknown";

/// A change of the file for the journal: the bytes before the change and the bytes after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'a> {
    pub(super) offset: u64,
    /// The present bytes.
    pub(super) old: &'a [u8],
    pub(super) new: &'a [u8],
}

/// A commit for the journal: the changes and the new space of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Commit<'a> {
    /// In-place changes.
    pub(super) changes: &'a [Change<'a>],
    /// The length of the file after the commit, in bytes.
    pub(super) file_length: u64,
    /// Addresses of objects without links that handles keep alive.
    pub(super) unlinked: &'a [u64],
    /// True if the commit may be appended to the commits of the journal.
    pub(super) append: bool,
}

/// The journal of an open file. Without a side file that stores it, the journal is never enabled.
#[derive(Debug)]
pub(crate) struct Journal {
    side: Option<Arc<dyn SideFile>>,
    durability: Durability,
    state: Mutex<JournalState>,
    /// The new space that was written since the last commit.
    extents: Mutex<Extents>,
    /// The bytes that the commits of the journal change or rely on.
    known: KnownBytes,
    /// Dirty pages that were spilled to the journal before their commit, by page number: the offset
    /// in the journal, and the number of bytes.
    spilled: RwLock<BTreeMap<u64, (u64, usize)>>,
    spilled_count: AtomicUsize,
    /// True if bytes that the journal does not hold were written into the file since its last sync.
    has_unjournaled: AtomicBool,
    /// True if bytes that the journal holds were written into the file since its last sync.
    has_journaled: AtomicBool,
    /// True if the last commit is in the journal but not in the file.
    is_unapplied: AtomicBool,
    is_disabled: AtomicBool,
}

impl Journal {
    /// Creates the journal of a file. The side file `side` stores the bytes of the journal.
    pub(super) fn new(side: Option<Arc<dyn SideFile>>, durability: Durability) -> Self {
        // The sequence number is random, because it must differ from the number of an earlier
        // journal in `side`.
        let sequence = RandomState::new().hash_one(0_u8);
        let chain = JournalChain::new(JournalHeader::new(sequence));
        let state = JournalState {
            file: None,
            sequence,
            chain,
            end: 0,
            commits: 0,
            synced_length: 0,
            phase: Phase::Empty,
            is_building: false,
            is_first: true,
            lists_unlinked: false,
            refusal: None,
        };
        Self {
            side,
            durability,
            state: Mutex::new(state),
            extents: Mutex::default(),
            known: KnownBytes::default(),
            spilled: RwLock::default(),
            spilled_count: AtomicUsize::new(0),
            // The writes of an earlier writer may not have reached the disk.
            has_unjournaled: AtomicBool::new(true),
            has_journaled: AtomicBool::new(false),
            is_unapplied: AtomicBool::new(false),
            is_disabled: AtomicBool::new(false),
        }
    }

    /// Returns whether changes of existing file bytes are written through the journal.
    pub(super) fn is_enabled(&self) -> bool {
        self.side.is_some()
            && self.durability != Durability::None
            && !self.is_disabled.load(Ordering::Acquire)
    }

    /// Disables the journal. Later changes of existing file bytes are not written to the journal.
    pub(super) fn disable(&self) {
        self.is_disabled.store(true, Ordering::Release);
    }

    /// Returns whether a commit to the journal waits until the disk has the bytes of the commit.
    pub(super) fn waits_for_disk(&self) -> bool {
        self.durability == Durability::Full
    }

    /// Records in the journal's state that the file on disk was changed and needs a sync.
    pub(super) fn note_write(&self) {
        self.has_unjournaled.store(true, Ordering::Release);
    }

    /// Records in the journal's state that bytes were written into new space (space that no commit
    /// contains). The next commit relies on these bytes.
    pub(super) fn note_new(&self, offset: u64, bytes: &[u8]) {
        self.note_write();
        if self.is_enabled() && !bytes.is_empty() {
            self.add_extent(&WrittenSectors::new(offset, bytes));
        }
    }

    /// Records that an extent of new space was written to the file, for the next commit.
    pub(super) fn add_extent(&self, written: &WrittenSectors) {
        self.extents.lock().add(written);
    }

    /// Returns the file offsets of all bytes that the commits of the journal change or rely on.
    pub(super) fn known(&self) -> &KnownBytes {
        &self.known
    }

    /// Records a write to the file whose bytes are also in the journal.
    pub(super) fn note_journaled_write(&self) {
        self.has_journaled.store(true, Ordering::Release);
    }

    /// Returns whether the next commit may be appended to the commits of the journal. It may if the
    /// journal holds all bytes that were written to the file since its last sync. The file then
    /// needs no sync before the commit.
    pub(super) fn can_append(&self) -> bool {
        let state = self.state.lock();
        let is_short = state.end <= MAX_APPENDED_BYTES && !state.is_building;
        self.waits_for_disk() && is_short && !self.has_unjournaled.load(Ordering::Acquire)
    }

    /// Adopts a journal that was found beside the file. The next commits are appended to it.
    pub(super) fn adopt(&self, kept: KeptJournal, synced_length: u64) {
        let mut state = self.state.lock();
        let state = &mut *state;
        for (start, end) in kept.known {
            self.known.add(start, end);
        }
        state.file = Some(kept.file);
        (state.sequence, state.chain) = (kept.sequence, kept.chain);
        (state.end, state.commits) = (kept.end, kept.commits);
        state.synced_length = synced_length;
        (state.phase, state.is_first, state.lists_unlinked) = (Phase::Applied, false, true);
    }

    /// Returns whether the next commit must be appended to the commits of the journal. It must if
    /// the commits list unlinked objects, because this list must survive a crash. Such a commit
    /// must not make the file shorter.
    pub(super) fn must_append(&self) -> bool {
        self.is_enabled() && self.state.lock().must_append()
    }

    /// Checks that the journal still permits writes to the file. Some failures end this permission.
    pub(super) fn check(&self) -> Result<()> {
        let Some(why) = self.state.lock().refusal else { return Ok(()) };
        Err(Error::Misuse(format!(
            "{why}: the file refuses further writes; open it again to see which changes it kept"
        )))
    }

    /// Makes the journal refuse all further writes to the file, with a reason.
    pub(super) fn refuse_writes(&self, why: &'static str) {
        self.state.lock().refusal.get_or_insert(why);
    }

    /// Waits until the disk has all bytes that were written into the file, if commits wait for the
    /// disk.
    pub(super) fn sync(&self, driver: &dyn Driver) -> Result<()> {
        self.sync_in(&mut self.state.lock(), driver)
    }

    fn sync_in(&self, state: &mut JournalState, driver: &dyn Driver) -> Result<()> {
        let unjournaled = self.has_unjournaled.swap(false, Ordering::AcqRel);
        let journaled = self.has_journaled.swap(false, Ordering::AcqRel);
        if !unjournaled && !journaled {
            return Ok(());
        }
        let unknown = |source| Error::Io { action: "cannot learn the length of the file".into(), source };
        let length = driver.len().map_err(unknown)?;
        if self.waits_for_disk() {
            driver.sync_data().map_err(|source| {
                state.refusal = Some(SYNC_FAILED);
                Error::Io { action: "cannot sync the file".into(), source }
            })?;
        }
        state.synced_length = length;
        Ok(())
    }

    /// Returns whether the journal holds spilled pages of the file, which no commit contains yet.
    pub(super) fn has_spilled(&self) -> bool {
        self.spilled_count.load(Ordering::Acquire) != 0
    }

    /// Returns whether the journal holds a spilled page with file bytes from `start` up to `end`.
    pub(super) fn has_spilled_in(&self, start: u64, end: u64) -> bool {
        self.has_spilled() && self.spilled.read().range(start / PAGE..=(end - 1) / PAGE).next().is_some()
    }

    /// Replaces bytes that were read from the file by the bytes of the journal's spilled pages.
    pub(super) fn overlay_spilled(&self, start: u64, buffer: &mut [u8]) -> Result<(), DriverError> {
        if !self.has_spilled() || buffer.is_empty() {
            return Ok(());
        }
        let Some(file) = self.state.lock().file.clone() else { return Ok(()) };
        let end = start + to_u64(buffer.len());
        for (number, (at, length)) in self.spilled.read().range(start / PAGE..=(end - 1) / PAGE) {
            let page = number * PAGE;
            let (from, to) = (start.max(page), end.min(page + to_u64(*length)));
            if from < to {
                let part =
                    buffer.split_at_mut(to_usize(to - start)?).0.split_at_mut(to_usize(from - start)?).1;
                file.read_at(at + (from - page), part)?;
            }
        }
        Ok(())
    }

    /// Writes dirty pages to the journal before they are committed. Until then, reads of these
    /// pages use the journal.
    pub(super) fn spill(&self, driver: &dyn Driver, pages: &[Change<'_>]) -> Result<()> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let file = self.begin(state, driver, state.must_append())?;
        let mut batch = Batch::new(state.chain, state.end, state.sequence)?;
        let mut offsets = Vec::with_capacity(pages.len());
        let written = pages.iter().try_for_each(|page| {
            offsets.push((page.offset / PAGE, (batch.add(&*file, page)?, page.new.len())));
            Ok(())
        });
        written.and_then(|()| batch.flush(&*file)).inspect_err(|_| truncate(&*file, state.end))?;
        (state.chain, state.end) = (batch.chain, batch.end());
        state.is_building = true;
        let mut spilled = self.spilled.write();
        spilled.extend(offsets);
        self.spilled_count.store(spilled.len(), Ordering::Release);
        Ok(())
    }

    /// Writes a commit to the journal, after the earlier commits if it may be appended. If the
    /// result is `Ok`, the commit is durable, even if a later step fails.
    pub(super) fn commit(&self, driver: &dyn Driver, commit: &Commit<'_>) -> Result<()> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let file = self.begin(state, driver, commit.append)?;
        let extents = self.list_extents(driver, commit.file_length)?;
        let synced_length = state.synced_length.min(commit.file_length);
        let mut batch = Batch::new(state.chain, state.end, state.sequence)?;
        let write = |batch: &mut Batch| {
            batch.add_extents(&*file, synced_length, &extents)?;
            batch.add_unlinked(&*file, commit.unlinked)?;
            commit.changes.iter().try_for_each(|change| batch.add(&*file, change).map(drop))?;
            batch.add_commit(commit.file_length)?;
            batch.flush(&*file)
        };
        write(&mut batch).inspect_err(|_| truncate(&*file, state.end))?;
        if self.waits_for_disk() {
            file.sync_data().map_err(|source| {
                state.refusal = Some(SYNC_FAILED);
                Error::Io { action: "cannot sync the journal".into(), source }
            })?;
        }
        (state.chain, state.end) = (batch.chain, batch.end());
        state.is_building = false;
        state.commits += 1;
        state.phase = Phase::Committed;
        state.lists_unlinked = !commit.unlinked.is_empty();
        self.is_unapplied.store(true, Ordering::Release);
        if std::mem::take(&mut state.is_first) {
            self.known.clear();
        }
        self.add_known(commit, &extents);
        self.extents.lock().clear();
        Ok(())
    }

    /// Returns the extents that were allocated after the last commit. The next commit relies on
    /// them.
    fn list_extents(&self, driver: &dyn Driver, file_length: u64) -> Result<Vec<JournalExtent>> {
        let read = |offset: u64, buffer: &mut [u8]| driver.read_at(offset, buffer);
        let unreadable = |source| Error::Io { action: "cannot read new space of the file".into(), source };
        self.extents.lock().list(file_length, read).map_err(unreadable)
    }

    /// Adds all bytes that a commit changes or relies on to the known bytes of the journal.
    fn add_known(&self, commit: &Commit<'_>, extents: &[JournalExtent]) {
        for change in commit.changes {
            self.known.add(change.offset, change.offset + to_u64(change.new.len()));
        }
        for extent in extents {
            self.known.add(extent.offset, extent.offset + extent.length);
        }
        for (number, (_, length)) in self.spilled.read().iter() {
            let offset = number * PAGE;
            self.known.add(offset, offset + to_u64(*length));
        }
    }

    /// Removes the recorded extents of new space after a commit that does not use the journal.
    pub(super) fn clear_extents(&self) {
        self.extents.lock().clear();
    }

    /// Calls `each` with the file offset and the bytes of each page spilled to the journal.
    pub(super) fn for_each_spilled(&self, mut each: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let Some(file) = self.state.lock().file.clone() else { return Ok(()) };
        let mut bytes = vec![0; PAGE_BYTES];
        for (number, (at, length)) in self.spilled.read().iter() {
            let page = bytes.split_at_mut(*length).0;
            file.read_at(*at, page).map_err(unreadable)?;
            each(number * PAGE, page)?;
        }
        Ok(())
    }

    /// Records in the journal's state that the changes of the last commit are in the file.
    pub(super) fn note_applied(&self) {
        self.note_applied_in(&mut self.state.lock());
    }

    fn note_applied_in(&self, state: &mut JournalState) {
        state.phase = Phase::Applied;
        self.is_unapplied.store(false, Ordering::Release);
        self.spilled.write().clear();
        self.spilled_count.store(0, Ordering::Release);
    }

    /// Writes the changes of the journal's last commit to the file, if an earlier attempt failed.
    pub(super) fn complete(&self, driver: &dyn Driver) -> Result<()> {
        if !self.is_unapplied.load(Ordering::Acquire) {
            return Ok(());
        }
        self.complete_in(&mut self.state.lock(), driver)
    }

    fn complete_in(&self, state: &mut JournalState, driver: &dyn Driver) -> Result<()> {
        if state.phase != Phase::Committed {
            return Ok(());
        }
        let Some(file) = state.file.clone() else { return Ok(()) };
        // The replay may truncate the file, which the journal does not record.
        self.note_write();
        recover::replay(&*file, driver)?;
        self.note_applied_in(state);
        Ok(())
    }

    /// Empties a journal whose commits are in the file. Afterwards, new space can be written
    /// directly, because no commit of the journal changes its bytes.
    pub(super) fn empty_applied(&self, driver: &dyn Driver) -> Result<()> {
        self.complete(driver)?;
        let mut state = self.state.lock();
        let state = &mut *state;
        let is_old = matches!(state.phase, Phase::Applied | Phase::Begun) && !state.is_building;
        let Some(file) = state.file.clone().filter(|_| is_old) else { return Ok(()) };
        self.sync_in(state, driver)?;
        self.empty(state, &*file)
    }

    /// Truncates the journal to length 0 and syncs it. A loss of power cannot undo the truncation.
    fn empty(&self, state: &mut JournalState, file: &dyn Driver) -> Result<()> {
        file.set_len(0).map_err(unwritable)?;
        if self.waits_for_disk() {
            file.sync_data().map_err(|source| {
                state.refusal = Some(SYNC_FAILED);
                Error::Io { action: "cannot sync the journal".into(), source }
            })?;
        }
        (state.phase, state.commits, state.lists_unlinked) = (Phase::Empty, 0, false);
        self.known.clear();
        Ok(())
    }

    /// Returns whether the journal on disk is empty. If it is not, a replay of the journal could
    /// undo a direct write to existing file bytes.
    pub(super) fn is_empty(&self) -> bool {
        self.state.lock().phase == Phase::Empty
    }

    /// Begins the journal records of the next commit, if they have not begun yet. If `append` is
    /// true, the records follow the earlier commits; otherwise, they replace the earlier commits.
    fn begin(&self, state: &mut JournalState, driver: &dyn Driver, append: bool) -> Result<Arc<dyn Driver>> {
        self.complete_in(state, driver)?;
        if let Some(file) = &state.file
            && (state.is_building || (append && state.phase == Phase::Applied))
        {
            return Ok(Arc::clone(file));
        }
        // The earlier commits are needed until the disk has their changes.
        self.sync_in(state, driver)?;
        let file = match (&state.file, &self.side) {
            (Some(file), _) => Arc::clone(file),
            (None, Some(side)) => side.create().map_err(|source| Error::Io {
                action:
                    "cannot create the journal beside the file (`Durability::None` writes without a journal)"
                        .into(),
                source,
            })?,
            (None, None) => return Err(Error::Misuse("the file has no journal".into())),
        };
        state.file = Some(Arc::clone(&file));
        if state.commits > 1 && self.waits_for_disk() {
            // Without this step, a journal that is overwritten in part would end with one of its
            // earlier commits.
            self.empty(state, &*file)?;
        }
        // The disk may still have the earlier commits, which the file holds by now.
        (state.phase, state.is_first, state.lists_unlinked) = (Phase::Begun, true, false);
        state.sequence = state.sequence.wrapping_add(1);
        let header = JournalHeader::new(state.sequence);
        state.chain = JournalChain::new(header);
        // The header is written together with the first records, so that a loss of power cannot
        // destroy the header alone.
        state.end = 0;
        if file.len().map_err(unwritable)? > MAX_APPENDED_BYTES {
            file.set_len(0).map_err(unwritable)?;
        }
        state.commits = 0;
        Ok(file)
    }

    /// Completes the last commit in the file, syncs the file and removes the journal.
    pub(super) fn close(&self, driver: &dyn Driver) -> Result<()> {
        self.check()?;
        let mut state = self.state.lock();
        let state = &mut *state;
        self.complete_in(state, driver)?;
        self.sync_in(state, driver)?;
        let (Some(side), Some(file)) = (&self.side, state.file.take()) else { return Ok(()) };
        let phase = std::mem::replace(&mut state.phase, Phase::Empty);
        (state.is_building, state.lists_unlinked) = (false, false);
        self.known.clear();
        discard(&**side, file, self.waits_for_disk() && phase != Phase::Empty)
    }
}

/// Removes incomplete records from the journal after a failed write, to release disk space.
fn truncate(file: &dyn Driver, end: u64) {
    if let Err(error) = file.set_len(end) {
        tracing::warn!(%error, "cannot truncate the journal after a failed write");
    }
}
