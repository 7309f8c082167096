//! Commits. The last commit of a file also stores its free space for the next program that opens
//! it.

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, FileParams, Structure as _};
use hyperslab_format::free_space::FreeSpaceHeader;
use hyperslab_format::message::{FreeSpaceManagers, Message as _};
use hyperslab_format::object_header::replace_body;

use super::backing::write_failed;
use super::edit::Edit;
use super::space::{Class, ReservedManager, SpaceKind, SpaceRecord, SpaceUsage, set_manager};
use super::superblock::{stated_length, stored_end};
use super::{Store, at};
use crate::error::Result;

/// Largest number of attempts of a commit to reserve space for the section lists of free-space
/// managers. Each attempt can change the lists.
const MAX_ROUNDS: usize = 16;

impl Edit<'_> {
    /// Commits all changes of the file. Afterwards, the file on disk has the state of the file in
    /// memory, and new blocks can use the file space that was freed before the commit.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn commit(&mut self) -> Result<()> {
        self.disown_managers()?;
        self.write_out()
    }

    /// Frees the file space that is kept for new small blocks.
    ///
    /// # Errors
    /// Returns an error if the file is not open for writing.
    pub fn release_unused_space(&mut self) -> Result<()> {
        self.writing()?.space.release_blocks();
        Ok(())
    }

    /// Commits all changes of the file for the last time and removes the journal. Truncates the
    /// file as far as possible. If the creation options require it, also stores the free space.
    /// Returns the numbers of bytes by state: allocated, free, pending (free after the next commit)
    /// and lost (freed, but not tracked).
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn close(mut self) -> Result<SpaceUsage> {
        self.writing()?.space.release_blocks();
        self.commit()?;
        if self.is_swmr_writer() {
            self.end_swmr_write()?;
            self.store().write_state.close();
            return Ok(self.usage());
        }
        let writing = self.writing()?;
        if writing.space.has_changed()
            && !writing.space.has_members()
            && writing.record.as_ref().is_some_and(|record| record.info.managers.is_some())
        {
            self.store_managers()?;
        }
        let end = self.writing()?.space.furthest();
        if self.writing()?.space.has_changed() && self.store().length() != self.store().base() + end {
            // This is a separate commit, because space that becomes free in a commit cannot be
            // truncated in the same commit.
            self.write_out()?;
        }
        let store = self.store();
        store.write_state.journal.close(&*store.backing.driver)?;
        store.write_state.close();
        Ok(self.usage())
    }

    fn write_out(&mut self) -> Result<()> {
        let store = self.store();
        store.encode_dirty_blocks()?;
        let superblock = store.superblock();
        let before = stated_length(&superblock);
        let mut end = self.writing()?.space.stated_end(before);
        let mut furthest = self.writing()?.space.furthest();
        if store.write_state.journal.must_append() {
            // A later commit makes the file shorter.
            end = end.max(before.unwrap_or(0));
            furthest = furthest.max(end);
        }
        self.write_members()?;
        self.write_superblock(end)?;
        if self.is_unchanged()? {
            return store.sync_unchanged();
        }
        let file_end = store.base() + furthest;
        if store.is_swmr_writer() {
            store.publish_in_order(file_end)?;
        } else if self.writing()?.space.has_members() {
            store.publish_members(&self.writing()?.space.member_ends())?;
        } else {
            store.publish(file_end)?;
        }
        // Old bytes after the end must not appear again when the file grows.
        if self.writing()?.space.has_members() {
            store.caches.pages.evict(0, u64::MAX);
        } else {
            let last = store.length().max(file_end);
            store.caches.pages.evict(file_end, last - file_end + 1);
        }
        store.backing.set_end(file_end);
        let writing = self.writing()?;
        writing.space.commit();
        let committed = writing.space.committed_end();
        store.write_state.set_new_from(store.base() + committed);
        Ok(())
    }

    /// Returns whether the file has no changes for a commit to write. A file that is only opened
    /// and closed keeps all its bytes.
    fn is_unchanged(&mut self) -> Result<bool> {
        let store = self.store();
        let changed = self.writing()?.space.has_changed() || self.writing()?.superblock_changed;
        Ok(!changed && !store.is_swmr_writer() && store.is_as_committed())
    }

    fn write_superblock(&mut self, end: u64) -> Result<()> {
        let store = self.store();
        {
            let mut superblock = store.superblock.write();
            let stated = stored_end(&superblock, end)?;
            if superblock.end_of_file == stated && !self.writing()?.superblock_changed {
                return Ok(());
            }
            superblock.end_of_file = stated;
        }
        let bytes = store.superblock.read().encode()?;
        self.write(Address::new(0), &bytes, "superblock")?;
        self.writing()?.superblock_changed = false;
        Ok(())
    }

    /// Removes the free-space managers from the file and frees their space. After an allocation or
    /// a release of file space, the contents of the managers are out of date.
    fn disown_managers(&mut self) -> Result<()> {
        let writing = self.writing()?;
        if !writing.space.has_changed() {
            return Ok(());
        }
        let Some(record) = &mut writing.record else { return Ok(()) };
        let named = record.info.managers.is_some_and(|managers| managers != FreeSpaceManagers::NONE);
        if !named && record.blocks.is_empty() {
            return Ok(());
        }
        record.info.managers = Some(FreeSpaceManagers::NONE);
        record.info.end_before_managers = Address::UNDEFINED;
        let blocks = std::mem::take(&mut record.blocks);
        for (kind, address, length) in blocks {
            self.free(kind, address, length)?;
        }
        self.write_record()
    }

    /// Removes the stored free space from the file before SWMR writing. During SWMR writing, the
    /// free space changes, but the file space info message must not change.
    pub(super) fn drop_stored_free_space(&mut self) -> Result<()> {
        self.writing()?.space.release_blocks();
        if self.writing()?.record.as_ref().is_some_and(|record| !record.blocks.is_empty()) {
            self.writing()?.space.mark_not_stored();
        }
        self.disown_managers()
    }

    /// Writes the file space info message, which describes the management of the file's space, into
    /// the superblock extension.
    fn write_record(&mut self) -> Result<()> {
        let params = self.params();
        let Some(SpaceRecord { info, location, .. }) = &self.writing()?.record else { return Ok(()) };
        let (body, location) = (info.to_bytes(params)?, *location);
        let chunk = self.store().read(location.chunk, location.length, "superblock extension")?;
        let chunk = at(replace_body(&chunk, location.sealed, location.skip, &body), location.chunk)?;
        self.write(location.chunk, &chunk, "superblock extension")
    }

    /// Stores the free space of the file in free-space managers. The space of the managers is
    /// itself not free. This space must therefore be reserved before its size is known.
    fn store_managers(&mut self) -> Result<()> {
        let params = self.params();
        let header_size = to_u64(FreeSpaceHeader::size(&params));
        let mut reserved = self.reserve_managers()?;
        if let Some(page) = self.writing()?.space.page()
            && !self.is_exact(&reserved)?
        {
            // No reservation in the free sections works, because each reservation changes the
            // lists. The managers get separate pages.
            for manager in reserved {
                self.free(SpaceKind::ObjectHeader, manager.header, header_size)?;
                self.free(SpaceKind::LocalHeap, manager.list, manager.allocated)?;
            }
            reserved = self.writing()?.space.place_managers(page, params)?;
            if reserved.is_empty() {
                // No exact reservation exists. A part of the free space is lost.
                reserved = self.reserve_managers()?;
            }
            let store = self.store();
            store.backing.extend_to(&self.writing()?.space);
        }
        let mut managers = FreeSpaceManagers::NONE;
        let mut blocks = Vec::new();
        for manager in reserved {
            let (mut header, list, context) =
                self.writing()?.space.manager(manager.class, manager.header, params)?;
            if manager.list.is_defined() && (list.sections.is_empty() || header.list_used > manager.allocated)
            {
                // The reserved list cannot be used: it is too short, or it is empty, and libhdf5
                // refuses an empty list with allocated space.
                continue;
            }
            header.list = manager.list;
            // libhdf5 cannot change a list with unused space after it. The unused space is lost.
            header.list_allocated = header.list_used;
            if manager.list.is_defined() {
                self.write(manager.list, &list.encode(&context)?, "free-space section list")?;
                blocks.push((SpaceKind::LocalHeap, manager.list, header.list_used));
            } else {
                // The header took the last free section of its class. The manager stays, so that
                // the space of its header is not lost.
                (header.list_used, header.list_allocated) = (0, 0);
            }
            self.write(manager.header, &header.encode(&params)?, FreeSpaceHeader::NAME)?;
            set_manager(&mut managers, manager.class, manager.header);
            blocks.push((SpaceKind::ObjectHeader, manager.header, header_size));
        }
        let writing = self.writing()?;
        let end = writing.space.end();
        if let Some(record) = &mut writing.record {
            record.info.managers = Some(managers);
            if record.info.version > 0 {
                record.info.end_before_managers = Address::new(end);
            }
            record.blocks = blocks;
        }
        self.write_record()?;
        self.write_out()?;
        self.writing()?.space.mark_stored();
        Ok(())
    }

    /// Returns whether the free-space managers of the file are exact. Each necessary manager must
    /// exist, and its section list must have exactly the file space that the list needs.
    fn is_exact(&mut self, reserved: &[ReservedManager]) -> Result<bool> {
        let params = self.params();
        let space = &self.writing()?.space;
        for class in Class::ALL {
            let manager = reserved.iter().find(|manager| manager.class == class);
            let needed = match space.has_sections(class) {
                true => Some(space.manager(class, Address::new(0), params)?.0.list_used),
                false => None,
            };
            if manager.map(|manager| manager.allocated) != needed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn reserve_managers(&mut self) -> Result<Vec<ReservedManager>> {
        let params = self.params();
        let mut managers: Vec<ReservedManager> = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let mut enough = true;
            for class in Class::ALL {
                let known = managers.iter().any(|manager| manager.class == class);
                if !known && self.writing()?.space.has_sections(class) {
                    let length = to_u64(FreeSpaceHeader::size(&params));
                    let header = self.allocate_last(SpaceKind::ObjectHeader, length)?;
                    managers.push(ReservedManager { class, header, list: Address::UNDEFINED, allocated: 0 });
                    enough = false;
                }
            }
            for manager in &mut managers {
                enough &= self.reserve_list(manager, params)?;
            }
            if enough {
                break;
            }
        }
        Ok(managers)
    }

    /// Reserves file space for the section list of a free-space manager. Returns whether the
    /// previous reservation had the right size.
    fn reserve_list(&mut self, manager: &mut ReservedManager, params: FileParams) -> Result<bool> {
        let (header, ..) = self.writing()?.space.manager(manager.class, manager.header, params)?;
        if header.sections == 0 || header.list_used == manager.allocated {
            return Ok(true);
        }
        if manager.allocated > 0 {
            self.free(SpaceKind::LocalHeap, manager.list, manager.allocated)?;
        }
        manager.allocated = header.list_used;
        manager.list = self.allocate_last(SpaceKind::LocalHeap, manager.allocated)?;
        Ok(false)
    }

    fn allocate_last(&mut self, kind: SpaceKind, length: u64) -> Result<Address> {
        let store = self.store();
        let writing = self.writing()?;
        let start = writing.space.allocate_last(kind, length)?;
        store.backing.extend_to(&writing.space);
        Ok(Address::new(start))
    }
}

impl Store {
    /// Encodes all dirty blocks of the file into pages in memory.
    pub(super) fn encode_dirty_blocks(&self) -> Result<()> {
        let addresses = self.caches.dirty_blocks.addresses();
        addresses.into_iter().try_for_each(|address| self.encode_dirty_block(address))
    }

    /// Commits a file that has no changes in memory. Waits until the disk has the bytes that were
    /// written to the file before the commit.
    fn sync_unchanged(&self) -> Result<()> {
        let _exclusive = self.write_state.gate.write();
        let (driver, journal) = (&*self.backing.driver, &self.write_state.journal);
        journal.check()?;
        driver.flush().map_err(write_failed)?;
        journal.sync(driver)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hyperslab_vfd::{Core, Driver as _};

    use super::*;
    use crate::store::{CreateOptions, StoreOptions};
    use crate::versions::LibverBounds;

    const MIB: u64 = 1 << 20;

    fn small_buffers() -> StoreOptions {
        let write = Some(LibverBounds::DEFAULT);
        StoreOptions { write, uncommitted: MIB, page_buffer: MIB, ..StoreOptions::default() }
    }

    /// Returns `length` bytes that differ from those of the previous number.
    fn piece(number: u64, length: usize) -> Vec<u8> {
        vec![u8::try_from(number % 251).unwrap(); length]
    }

    #[test]
    fn a_long_operation_takes_little_memory() {
        let driver = Arc::new(Core::from_vec("new", Vec::new()));
        let store =
            Store::create(Arc::clone(&driver) as _, &CreateOptions::default(), small_buffers()).unwrap();
        let mut edit = store.edit().unwrap();
        let mut pieces = Vec::new();
        for number in 0..4000_u64 {
            let kind = if number % 2 == 0 { SpaceKind::RawData } else { SpaceKind::BTree };
            let address = edit.allocate(kind, 5000).unwrap();
            if number % 2 == 0 {
                store.write_raw(address, &piece(number, 5000)).unwrap();
            } else {
                edit.write(address, &piece(number, 5000), "test").unwrap();
            }
            pieces.push(address);
            assert!(store.caches.pages.dirty_bytes() <= 3 * MIB, "{number}");
        }
        for (number, address) in (0..).zip(&pieces) {
            assert_eq!(store.read_raw_vec(*address, 5000).unwrap(), piece(number, 5000));
        }
        edit.commit().unwrap();
        let again = Store::open(driver, StoreOptions::default()).unwrap();
        for (number, address) in (0..).zip(&pieces) {
            assert_eq!(again.read_raw_vec(*address, 5000).unwrap(), piece(number, 5000));
        }
    }

    #[test]
    fn nothing_committed_changes_before_the_next_commit() {
        let driver = Arc::new(Core::from_vec("new", Vec::new()));
        let store =
            Store::create(Arc::clone(&driver) as _, &CreateOptions::default(), small_buffers()).unwrap();
        let mut edit = store.edit().unwrap();
        let blocks = edit.allocate_blocks(SpaceKind::BTree, 5000, 1000).unwrap();
        for (number, address) in (0..).zip(&blocks) {
            edit.write(*address, &piece(number, 5000), "test").unwrap();
        }
        edit.commit().unwrap();
        let length = driver.len().unwrap();
        let committed = |driver: &Core| {
            let mut bytes = vec![0; usize::try_from(length).unwrap()];
            driver.read_at(0, &mut bytes).unwrap();
            bytes
        };
        let before = committed(&driver);
        for (number, address) in (0..).zip(&blocks) {
            edit.write(*address, &piece(number + 7, 5000), "test").unwrap();
            if number % 3 == 0 {
                edit.free(SpaceKind::BTree, *address, 5000).unwrap();
            }
            let other = edit.allocate(SpaceKind::RawData, 7000).unwrap();
            store.write_raw(other, &piece(9, 7000)).unwrap();
        }
        assert!(driver.len().unwrap() > length, "new pages are written early");
        assert!(before == committed(&driver));
        edit.commit().unwrap();
        assert!(before != committed(&driver));
    }
}
