//! The opening of a file.

use std::sync::Arc;

use hyperslab_format::message::FileSpaceInfo;
use hyperslab_format::superblock::Superblock;
use hyperslab_vfd::Driver;
use parking_lot::RwLock;

use super::Store;
use super::backing::Backing;
use super::caches::Caches;
use super::journal::Journal;
use super::left_journal::{JournalOutcome, LeftJournal};
use super::locking::FileLock;
use super::options::StoreOptions;
use super::salvage::{Damage, Salvaging};
use super::sharing::Sharing;
use super::space::{MessageLocation, Rules, Space, SpaceRecord, StoredSpace};
use super::superblock::{
    address_limit, check_length, check_status_flags, check_widths, find_superblock, guess_superblock,
    has_swmr_writer, stated_end,
};
use super::swmr_reader::with_retries;
use super::write_state::{WriteState, Writing};
use crate::error::{Error, Result};

impl Store {
    /// Opens the store of the HDF5 file that `driver` stores.
    pub fn open(driver: Arc<dyn Driver>, options: StoreOptions) -> Result<Self> {
        let unknown = |source| Error::Io { action: "cannot learn the length of the file".into(), source };
        if options.write.is_some() && driver.is_read_only() {
            return Err(Error::Misuse(format!("the driver of `{}` is read-only", driver.name())));
        }
        let lock = FileLock::take(&driver, options.write.is_some(), options.locking)?;
        let (driver, mut journal) = LeftJournal::recover(driver, &options)?;
        let length = driver.len().map_err(unknown)?;
        let stored = driver.stored_len().map_err(unknown)?;
        let find = || {
            let (base, superblock) = find_superblock(&*driver, length)?;
            check_widths(&superblock)?;
            Ok((base, superblock))
        };
        let (base, superblock) = match with_retries(options.swmr_read, find) {
            Err(error) if options.salvage => {
                let guessed = guess_superblock(&*driver, length);
                let mut store = Self::assemble(driver, lock, guessed, 0, (length, stored), options);
                store.journal_outcome = journal.finish()?;
                if let Some(salvaging) = &store.salvaging {
                    salvaging.note(Damage::of(&error));
                }
                return Ok(store);
            }
            found => found.map_err(|error| journal.explain(error))?,
        };
        if !options.ignore_status_flags && !options.salvage {
            check_status_flags(&superblock, options.swmr_read).map_err(|error| journal.explain(error))?;
            // A SWMR writer may state an end that the file has not reached yet.
            if !(options.swmr_read && has_swmr_writer(&superblock)) {
                check_length(&*driver, &superblock, base, length).map_err(|error| journal.explain(error))?;
            }
        }
        if options.swmr_read {
            // A lock that stays would prevent the next writer from opening the file.
            lock.release()?;
        }
        let mut store = Self::assemble(driver, lock, superblock, base, (length, stored), options);
        journal.hand_over(&store.write_state.journal, length);
        store.journal_outcome = journal.finish()?;
        store.spread_over_members()?;
        Ok(store)
    }

    /// Returns the action that the opening of the file took on the journal beside the file, if the
    /// journal had a complete commit.
    pub fn journal_outcome(&self) -> Option<&JournalOutcome> {
        self.journal_outcome.as_ref()
    }

    /// Creates the store of an open file with the given file length and number of stored bytes.
    pub(super) fn assemble(
        driver: Arc<dyn Driver>,
        lock: FileLock,
        superblock: Superblock,
        base: u64,
        (length, stored): (u64, u64),
        options: StoreOptions,
    ) -> Self {
        let StoreOptions {
            limits,
            filters,
            write,
            page_buffer,
            buffer_raw_data: buffers_raw_data,
            uncommitted: dirty_limit,
            placement,
            durability,
            journal,
            swmr_read,
            salvage,
            ..
        } = options;
        let is_swmr_reader = swmr_read && write.is_none();
        let by_members = driver.kind().has_member_ends();
        let params = superblock.params;
        let end = stated_end(&superblock, base).unwrap_or(length) - base;
        let writing = write.map(|bounds| Writing {
            space: Space::new(Rules::new(&FileSpaceInfo::DEFAULT, placement, address_limit(params)), end),
            bounds,
            superblock_changed: false,
            record: None,
            stated_members: None,
        });
        // A journal cannot record the ends of several members.
        let journal = Journal::new(journal.filter(|_| !by_members), durability);
        Self {
            superblock: RwLock::new(superblock),
            params,
            limits,
            filters: RwLock::new(filters),
            buffers_raw_data,
            backing: Backing::new(driver, base, length, stored),
            caches: Caches::new(page_buffer, dirty_limit),
            write_state: WriteState::new(writing, journal, base + end, dirty_limit, placement),
            sharing: Sharing::new(lock, is_swmr_reader),
            salvaging: Salvaging::new(salvage),
            journal_outcome: None,
        }
    }
}

impl Store {
    /// Applies the file space info message of the file: takes over its rules and the stored free
    /// space. `location` is the location of the message. Must be called before any change of the
    /// file.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the stored free space is damaged, and I/O errors.
    pub(crate) fn manage_space(&self, info: FileSpaceInfo, location: MessageLocation) -> Result<()> {
        let state = &self.write_state;
        if !state.is_writable {
            return Ok(());
        }
        let rules = Rules::new(&info, state.placement, address_limit(self.params));
        let mut writing = state.writing.write();
        let Some(writing) = writing.as_mut() else { return Ok(()) };
        let end = writing.space.end();
        let stored = StoredSpace::load(self, &info, &rules, writing.space.furthest())?;
        let before = std::mem::replace(&mut writing.space, Space::new(rules, end));
        writing.space.spread_as(&before);
        *state.fresh.write() = writing.space.fresh();
        if !before.has_members() {
            writing.space.adopt(&stored);
        }
        writing.record = Some(SpaceRecord { info, location, blocks: stored.blocks });
        Ok(())
    }
}
