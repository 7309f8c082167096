//! The journal of a file that is written: the in-place changes of a commit stand there before they stand in the file.
//!
//! `docs/journal.md` lists the order of all writes, and argues why no committed state can be lost at any instant.

mod batch;
mod extents;
mod known;
mod overlay;
mod recover;
mod state;
mod verdict;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::journal::{JournalChain, JournalExtent, JournalHeader};
use hyperslab_vfd::{Driver, DriverError, SideFile};
use parking_lot::{Mutex, RwLock};

use super::open::Durability;
use super::pages::{PAGE, PAGE_BYTES};
use crate::error::{Error, Result};
use batch::Batch;
use extents::Extents;
pub(super) use extents::Written;
use known::KnownBytes;
pub(super) use recover::{
    Found, KeptJournal, SettleFor, Settled, apply_to_copy, discard, is_journal, read_report, settle,
};
use state::{Phase, State};
pub use verdict::{JournalComparison, JournalReport, JournalVerdict};

/// A commit that changes no more pages than this, and makes the file no longer, is written to the journal wholly.
pub(super) const LITTLE: u64 = 1 << 20;

/// Commits do not follow one another in a journal that is longer, and it is cut before it is used again.
const LONG: u64 = 4 << 20;

/// Why nothing is written after a sync that failed.
const UNSYNCED: &str = "a sync of the file failed before, so that nobody knows what its disk holds";

/// Bytes that are to stand at an offset of the file, and those that stand there now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'a> {
    pub(super) offset: u64,
    pub(super) old: &'a [u8],
    pub(super) new: &'a [u8],
}

/// A commit on its way into the journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Commit<'a> {
    /// Changes of bytes in place.
    pub(super) changes: &'a [Change<'a>],
    /// Bytes of the file after the commit.
    pub(super) file_length: u64,
    /// Addresses of objects without links that handles keep alive.
    pub(super) unlinked: &'a [u64],
    /// True if the commit may stand behind those that the journal has.
    pub(super) go_on: bool,
}

/// The journal of an open file. A journal without a side file is never on.
#[derive(Debug)]
pub(crate) struct Journal {
    side: Option<Arc<dyn SideFile>>,
    durability: Durability,
    state: Mutex<State>,
    /// What was written into new space since the last commit.
    extents: Mutex<Extents>,
    /// The bytes that the commits of the journal change or rely on.
    known: KnownBytes,
    /// Pages whose changed bytes wait in the journal for the commit: where they stand there, and how many.
    moved: RwLock<BTreeMap<u64, (u64, usize)>>,
    moved_count: AtomicUsize,
    /// True if something was written into the file, since it was synced, that the journal does not hold.
    dirty: AtomicBool,
    /// The same of what the journal holds.
    covered: AtomicBool,
    /// True if a commit has happened that does not stand in the file.
    pending: AtomicBool,
    /// It is not used any more.
    stopped: AtomicBool,
}

impl Journal {
    /// A journal that lies in `side`.
    pub(super) fn new(side: Option<Arc<dyn SideFile>>, durability: Durability) -> Self {
        // A journal that was left there before shall not have the same number.
        let sequence = RandomState::new().hash_one(0_u8);
        let chain = JournalChain::new(JournalHeader::new(sequence));
        let state = State {
            file: None,
            sequence,
            chain,
            end: 0,
            commits: 0,
            synced_length: 0,
            phase: Phase::Empty,
            building: false,
            is_first: true,
            lists_unlinked: false,
            broken: None,
        };
        Self {
            side,
            durability,
            state: Mutex::new(state),
            extents: Mutex::default(),
            known: KnownBytes::default(),
            moved: RwLock::default(),
            moved_count: AtomicUsize::new(0),
            // What a writer before this one wrote may not have reached the disk.
            dirty: AtomicBool::new(true),
            covered: AtomicBool::new(false),
            pending: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        }
    }

    /// Returns whether changes in place go through it.
    pub(super) fn is_on(&self) -> bool {
        self.side.is_some() && self.durability != Durability::None && !self.stopped.load(Ordering::Acquire)
    }

    /// From now on changes in place do not go through it.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Returns whether a commit waits for the disk.
    pub(super) fn waits(&self) -> bool {
        self.durability == Durability::Full
    }

    /// Records that the file was changed.
    pub(super) fn note_write(&self) {
        self.dirty.store(true, Ordering::Release);
    }

    /// Records that bytes were written into new space of the file: the next commit relies on them.
    pub(super) fn note_new(&self, offset: u64, bytes: &[u8]) {
        self.note_write();
        if self.is_on() && !bytes.is_empty() {
            self.add_extent(&Written::new(offset, bytes));
        }
    }

    /// Records new space that was written: the next commit relies on it.
    pub(super) fn add_extent(&self, written: &Written) {
        self.extents.lock().add(written);
    }

    /// Returns the bytes that the commits of the journal change or rely on.
    pub(super) fn known(&self) -> &KnownBytes {
        &self.known
    }

    /// Takes note that bytes were written into the file which the journal holds, too.
    pub(super) fn note_covered(&self) {
        self.covered.store(true, Ordering::Release);
    }

    /// Returns whether the next commit may go behind those that the journal has: then the file need not be synced before it. All that was
    /// written into the file since it was synced must be in the journal for that.
    pub(super) fn can_go_on(&self) -> bool {
        let state = self.state.lock();
        let short = state.end <= LONG && !state.building;
        self.waits() && short && !self.dirty.load(Ordering::Acquire)
    }

    /// Continues a journal that was found beside the file: the next commits follow those that it holds.
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

    /// Returns whether the next commit must follow those that the journal holds: they list unlinked objects, and no crash may lose the
    /// list. The file must not become shorter with such a commit.
    pub(super) fn must_go_on(&self) -> bool {
        self.is_on() && self.state.lock().must_go_on()
    }

    /// Returns an error if nothing more is to be written.
    pub(super) fn check(&self) -> Result<()> {
        let Some(why) = self.state.lock().broken else { return Ok(()) };
        Err(Error::Misuse(format!(
            "{why}: nothing more is written; open the file again to see what was kept"
        )))
    }

    /// From now on nothing is written.
    pub(super) fn give_up(&self, why: &'static str) {
        self.state.lock().broken.get_or_insert(why);
    }

    /// Waits until the disk has what was written into the file, if commits do.
    pub(super) fn sync(&self, driver: &dyn Driver) -> Result<()> {
        self.sync_in(&mut self.state.lock(), driver)
    }

    fn sync_in(&self, state: &mut State, driver: &dyn Driver) -> Result<()> {
        let unsynced = self.dirty.swap(false, Ordering::AcqRel) | self.covered.swap(false, Ordering::AcqRel);
        if !unsynced {
            return Ok(());
        }
        let unknown = |source| Error::Io { action: "cannot learn the length of the file".into(), source };
        let length = driver.len().map_err(unknown)?;
        if self.waits() {
            driver.sync_data().map_err(|source| {
                state.broken = Some(UNSYNCED);
                Error::Io { action: "cannot sync the file".into(), source }
            })?;
        }
        state.synced_length = length;
        Ok(())
    }

    /// Returns whether some changed pages wait in the journal.
    pub(super) fn has_moved(&self) -> bool {
        self.moved_count.load(Ordering::Acquire) != 0
    }

    /// Returns whether one of the pages that some bytes lie on waits in the journal.
    pub(super) fn has_moved_of(&self, start: u64, end: u64) -> bool {
        self.has_moved() && self.moved.read().range(start / PAGE..=(end - 1) / PAGE).next().is_some()
    }

    /// Puts what waits in the journal over bytes that the file gave.
    pub(super) fn amend(&self, start: u64, buffer: &mut [u8]) -> Result<(), DriverError> {
        if !self.has_moved() || buffer.is_empty() {
            return Ok(());
        }
        let Some(file) = self.state.lock().file.clone() else { return Ok(()) };
        let last = (start + buffer.len() as u64 - 1) / PAGE;
        for (number, (at, length)) in self.moved.read().range(start / PAGE..=last) {
            let page = number * PAGE;
            let end = start + to_u64(buffer.len());
            let (from, to) = (start.max(page), end.min(page + to_u64(*length)));
            if from < to {
                let part =
                    buffer.split_at_mut(to_usize(to - start)?).0.split_at_mut(to_usize(from - start)?).1;
                file.read_at(at + (from - page), part)?;
            }
        }
        Ok(())
    }

    /// Lets changed pages wait in the journal; each is read from there until the commit.
    pub(super) fn keep(&self, driver: &dyn Driver, pages: &[Change<'_>]) -> Result<()> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let file = self.begin(state, driver, state.must_go_on())?;
        let mut batch = Batch::new(state.chain, state.end, state.sequence)?;
        let mut places = Vec::with_capacity(pages.len());
        let written = pages.iter().try_for_each(|page| {
            places.push((page.offset / PAGE, (batch.add(&*file, page)?, page.new.len())));
            Ok(())
        });
        written.and_then(|()| batch.flush(&*file)).inspect_err(|_| give_room_back(&*file, state.end))?;
        (state.chain, state.end) = (batch.chain, batch.end());
        state.building = true;
        let mut moved = self.moved.write();
        moved.extend(places);
        self.moved_count.store(moved.len(), Ordering::Release);
        Ok(())
    }

    /// Writes a commit to the journal, behind the commits before if it may `go_on`. When this returns, the commit has happened, whatever
    /// fails later.
    pub(super) fn commit(&self, driver: &dyn Driver, commit: &Commit<'_>) -> Result<()> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let file = self.begin(state, driver, commit.go_on)?;
        let extents = self.list_extents(driver, commit.file_length)?;
        let synced_length = state.synced_length.min(commit.file_length);
        let mut batch = Batch::new(state.chain, state.end, state.sequence)?;
        let write = |batch: &mut Batch| {
            batch.add_extents(&*file, synced_length, &extents)?;
            batch.add_unlinked(&*file, commit.unlinked)?;
            commit.changes.iter().try_for_each(|change| batch.add(&*file, change).map(drop))?;
            batch.end_with(commit.file_length)?;
            batch.flush(&*file)
        };
        write(&mut batch).inspect_err(|_| give_room_back(&*file, state.end))?;
        if self.waits() {
            file.sync_data().map_err(|source| {
                state.broken = Some(UNSYNCED);
                Error::Io { action: "cannot sync the journal".into(), source }
            })?;
        }
        (state.chain, state.end) = (batch.chain, batch.end());
        state.building = false;
        state.commits += 1;
        state.phase = Phase::Committed;
        state.lists_unlinked = !commit.unlinked.is_empty();
        self.pending.store(true, Ordering::Release);
        if std::mem::take(&mut state.is_first) {
            self.known.clear();
        }
        self.learn_commit(commit, &extents);
        self.extents.lock().clear();
        Ok(())
    }

    /// Returns the new space that the commit relies on.
    fn list_extents(&self, driver: &dyn Driver, file_length: u64) -> Result<Vec<JournalExtent>> {
        let read = |offset: u64, buffer: &mut [u8]| driver.read_at(offset, buffer);
        let unreadable = |source| Error::Io { action: "cannot read new space of the file".into(), source };
        self.extents.lock().list(file_length, read).map_err(unreadable)
    }

    /// Records which bytes the journal changes or relies on since a commit.
    fn learn_commit(&self, commit: &Commit<'_>, extents: &[JournalExtent]) {
        for change in commit.changes {
            self.known.add(change.offset, change.offset + change.new.len() as u64);
        }
        for extent in extents {
            self.known.add(extent.offset, extent.offset + extent.length);
        }
        for (number, (_, length)) in self.moved.read().iter() {
            let offset = number * PAGE;
            self.known.add(offset, offset + *length as u64);
        }
    }

    /// Forgets the new space of a commit that needs no journal.
    pub(super) fn forget_extents(&self) {
        self.extents.lock().clear();
    }

    /// The pages that wait in the journal, to be written into the file: offset and bytes of each.
    pub(super) fn for_each_moved(&self, mut each: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let Some(file) = self.state.lock().file.clone() else { return Ok(()) };
        let mut bytes = vec![0; PAGE_BYTES];
        for (number, (at, length)) in self.moved.read().iter() {
            let page = bytes.split_at_mut(*length).0;
            file.read_at(*at, page).map_err(unreadable)?;
            each(number * PAGE, page)?;
        }
        Ok(())
    }

    /// Takes note that the commit stands in the file.
    pub(super) fn note_applied(&self) {
        self.note_applied_in(&mut self.state.lock());
    }

    fn note_applied_in(&self, state: &mut State) {
        state.phase = Phase::Applied;
        self.pending.store(false, Ordering::Release);
        self.moved.write().clear();
        self.moved_count.store(0, Ordering::Release);
    }

    /// Brings a commit into the file that could not be brought there at its time.
    pub(super) fn complete(&self, driver: &dyn Driver) -> Result<()> {
        if !self.pending.load(Ordering::Acquire) {
            return Ok(());
        }
        self.complete_in(&mut self.state.lock(), driver)
    }

    fn complete_in(&self, state: &mut State, driver: &dyn Driver) -> Result<()> {
        if state.phase != Phase::Committed {
            return Ok(());
        }
        let Some(file) = state.file.clone() else { return Ok(()) };
        // It may cut the file, as a commit may.
        self.note_write();
        recover::apply(&*file, driver)?;
        self.note_applied_in(state);
        Ok(())
    }

    /// Empties a journal whose commits stand in the file, so that any byte of new space can be written.
    pub(super) fn retire(&self, driver: &dyn Driver) -> Result<()> {
        self.complete(driver)?;
        let mut state = self.state.lock();
        let state = &mut *state;
        let is_old = matches!(state.phase, Phase::Applied | Phase::Begun) && !state.building;
        let Some(file) = state.file.clone().filter(|_| is_old) else { return Ok(()) };
        self.sync_in(state, driver)?;
        self.empty(state, &*file)
    }

    /// Lets the journal hold nothing, also after a loss of power.
    fn empty(&self, state: &mut State, file: &dyn Driver) -> Result<()> {
        file.set_len(0).map_err(unwritable)?;
        if self.waits() {
            file.sync_data().map_err(|source| {
                state.broken = Some(UNSYNCED);
                Error::Io { action: "cannot sync the journal".into(), source }
            })?;
        }
        (state.phase, state.commits, state.lists_unlinked) = (Phase::Empty, 0, false);
        self.known.clear();
        Ok(())
    }

    /// Returns whether the disk has no journal, so that what is written in place cannot be undone by one.
    pub(super) fn is_empty(&self) -> bool {
        self.state.lock().phase == Phase::Empty
    }

    /// Begins the records of the next commit, if that is not done: behind the commits before, or in their place.
    fn begin(&self, state: &mut State, driver: &dyn Driver, go_on: bool) -> Result<Arc<dyn Driver>> {
        self.complete_in(state, driver)?;
        if let Some(file) = &state.file
            && (state.building || (go_on && state.phase == Phase::Applied))
        {
            return Ok(Arc::clone(file));
        }
        // The commits before are needed until the disk has what they say.
        self.sync_in(state, driver)?;
        let file = match (&state.file, &self.side) {
            (Some(file), _) => Arc::clone(file),
            (None, Some(side)) => side.create().map_err(|source| Error::Io {
                action: "cannot make the journal beside the file (`Durability::None` writes without one)"
                    .into(),
                source,
            })?,
            (None, None) => return Err(Error::Misuse("there is no place for a journal".into())),
        };
        state.file = Some(Arc::clone(&file));
        if state.commits > 1 && self.waits() {
            // Half overwritten, the journal would end with an earlier one of its commits.
            self.empty(state, &*file)?;
        }
        // The disk may still have the commits of before, which the file holds by now.
        (state.phase, state.is_first, state.lists_unlinked) = (Phase::Begun, true, false);
        state.sequence = state.sequence.wrapping_add(1);
        let header = JournalHeader::new(state.sequence);
        state.chain = JournalChain::new(header);
        // The header is written with the first records, so that no loss of power takes it alone.
        state.end = 0;
        if file.len().map_err(unwritable)? > LONG {
            file.set_len(0).map_err(unwritable)?;
        }
        state.commits = 0;
        Ok(file)
    }

    /// Lets the journal be no more: all that it says is in the file.
    pub(super) fn end(&self, driver: &dyn Driver) -> Result<()> {
        self.check()?;
        let mut state = self.state.lock();
        let state = &mut *state;
        self.complete_in(state, driver)?;
        self.sync_in(state, driver)?;
        let (Some(side), Some(file)) = (&self.side, state.file.take()) else { return Ok(()) };
        let phase = std::mem::replace(&mut state.phase, Phase::Empty);
        (state.building, state.lists_unlinked) = (false, false);
        self.known.clear();
        discard(&**side, file, self.waits() && phase != Phase::Empty)
    }
}

/// Cuts off what a commit wrote that failed, so that the disk has room for others.
fn give_room_back(file: &dyn Driver, end: u64) {
    if let Err(error) = file.set_len(end) {
        tracing::warn!(%error, "the journal keeps its length");
    }
}

fn unwritable(source: DriverError) -> Error {
    Error::Io { action: "cannot write the journal".into(), source }
}

fn unreadable(source: DriverError) -> Error {
    Error::Io { action: "cannot read the journal".into(), source }
}
