//! The right to change a file: one thread at a time has it, and its changes stay in memory until a
//! commit.

use std::sync::Arc;

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::{Address, FileParams, Structure};
use hyperslab_format::superblock::Superblock;
use parking_lot::{RwLockReadGuard, RwLockWriteGuard};

use super::Store;
use super::bytes::Bytes;
use super::dirty_blocks::DirtyBlock;
use super::space::{MIN_PENDING_BYTES, MIN_SYNCED_PENDING_BYTES, SpaceKind, SpaceUsage};
use super::write_state::Writing;
use crate::error::{Error, Result};
use crate::versions::LibverBounds;

/// Largest number of zero bytes in one write to the file.
const MAX_ZERO_BYTES: u64 = 1 << 20;

/// An edit: the exclusive right to change a file. While an `Edit` exists, no other thread reads the
/// structure of the file. Changes stay in memory until [`commit`](Self::commit). Dropping an `Edit`
/// does not undo its changes.
#[derive(Debug)]
pub struct Edit<'a> {
    store: &'a Store,
    writing: RwLockWriteGuard<'a, Option<Writing>>,
}

/// The right to read the structure of a file. While a `Reading` exists, no thread changes the
/// structure.
#[derive(Debug)]
pub struct Reading<'a>(
    #[expect(dead_code, reason = "held, not looked at")] Option<RwLockReadGuard<'a, Option<Writing>>>,
);

impl Store {
    /// Waits until no thread changes the structure of the file, and returns the right to read the
    /// structure. One thread may hold several `Reading`s, but not together with an [`Edit`].
    pub fn reading(&self) -> Reading<'_> {
        let state = &self.write_state;
        Reading(state.is_writable.then(|| state.writing.read_recursive()))
    }

    /// Returns whether the open file may be changed.
    pub fn is_writable(&self) -> bool {
        self.write_state.is_writable
    }

    /// Waits until no other thread reads or changes the file, and returns an `Edit`: the exclusive
    /// right to change the file.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the file is open for reading only, or was closed, or if this
    /// thread runs a callback.
    pub fn edit(&self) -> Result<Edit<'_>> {
        self.check_not_closed()?;
        self.check_no_callback()?;
        let writing = self.write_state.writing.write();
        // Another thread may have closed the file during the wait.
        self.check_not_closed()?;
        if writing.is_none() {
            return Err(Error::Misuse(format!("the file `{}` is open for reading only", self.name())));
        }
        self.write_state.next_generation();
        Ok(Edit { store: self, writing })
    }

    fn check_not_closed(&self) -> Result<()> {
        match self.is_closed() {
            true => Err(Error::Misuse(format!("the file `{}` was closed", self.name()))),
            false => Ok(()),
        }
    }

    /// Returns the generation of the file's contents, a number that each edit of the file
    /// increases.
    pub fn generation(&self) -> u64 {
        self.write_state.generation()
    }
}

impl<'a> Edit<'a> {
    /// Converts the right to change the file to a `Reading`, the right to read the file. While the
    /// returned `Reading` exists, no other thread changes the file.
    pub fn into_reading(self) -> Reading<'a> {
        Reading(Some(RwLockWriteGuard::downgrade(self.writing)))
    }

    /// Returns the store of the edited file (the access to its bytes), for reads. The reads see the
    /// changes of this edit.
    pub fn store(&self) -> &'a Store {
        self.store
    }

    /// Returns the widths of addresses and lengths in the edited file.
    pub fn params(&self) -> FileParams {
        self.store.params()
    }

    /// Returns the version bounds of the file: the versions of the library that must be able to
    /// read the written structures.
    pub fn bounds(&self) -> LibverBounds {
        self.writing.as_ref().map_or(LibverBounds::DEFAULT, |writing| writing.bounds)
    }

    /// Sets the version bounds of the file. All structures that are written from now on can be read
    /// by the versions of the library within these bounds.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the file is open for reading only.
    pub fn set_bounds(&mut self, bounds: LibverBounds) -> Result<()> {
        self.writing()?.bounds = bounds;
        Ok(())
    }

    pub(super) fn writing(&mut self) -> Result<&mut Writing> {
        let store = self.store;
        self.writing
            .as_mut()
            .ok_or_else(|| Error::Misuse(format!("the file `{}` is not open for writing", store.name())))
    }

    /// Allocates `length` bytes of the file for a block of the kind `kind`. The contents of the
    /// bytes are undefined.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the file would exceed the addresses that its offsets can
    /// express.
    pub fn allocate(&mut self, kind: SpaceKind, length: u64) -> Result<Address> {
        if self.store.caches.dirty_blocks.bytes() > self.store.write_state.dirty_limit {
            self.store.encode_dirty_blocks()?;
        }
        let store = self.store;
        let writing = self.writing()?;
        let address = writing.space.allocate(kind, length)?;
        store.backing.extend_to(&writing.space);
        self.note_new(address, length);
        Ok(address)
    }

    /// Extends the block of `old` bytes at `address` of the file by `more` bytes, if the adjacent
    /// bytes are free. Returns whether the block was extended.
    ///
    /// # Errors
    /// Returns the same errors as [`allocate`](Self::allocate).
    pub fn try_extend(&mut self, kind: SpaceKind, address: Address, old: u64, more: u64) -> Result<bool> {
        if self.is_swmr_writer() {
            return Ok(false);
        }
        let store = self.store;
        let writing = self.writing()?;
        let extended = writing.space.try_extend(kind, address, old, more)?;
        store.backing.extend_to(&writing.space);
        Ok(extended)
    }

    /// Shrinks the block at `address` of the file from `old` to `new` bytes and frees the bytes
    /// after it. If this is impossible, returns false and changes nothing: with paged allocation, a
    /// short block cannot stay at the address of a long block.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the file is not open for writing.
    pub fn try_shrink(&mut self, kind: SpaceKind, address: Address, old: u64, new: u64) -> Result<bool> {
        if self.is_swmr_writer() {
            return Ok(false);
        }
        Ok(self.writing()?.space.try_shrink(kind, address, old, new))
    }

    /// Returns the page size in bytes if the edited file has paged allocation, and `None`
    /// otherwise.
    pub fn page(&self) -> Option<u64> {
        self.writing.as_ref().and_then(|writing| writing.space.page())
    }

    /// Returns the numbers of bytes of the file by state: allocated, free, pending (free after the
    /// next commit) and lost (freed, but not tracked).
    pub fn usage(&self) -> SpaceUsage {
        self.writing.as_ref().map_or(SpaceUsage::default(), |writing| writing.space.usage())
    }

    /// Allocates bytes of the file like [`allocate`](Self::allocate), and sets the bytes to zero.
    /// Does not write zeros after the last byte of the file that was ever written.
    ///
    /// # Errors
    /// Returns the errors of [`allocate`](Self::allocate) and [`Store::write_raw`].
    pub fn allocate_zeroed(&mut self, kind: SpaceKind, length: u64) -> Result<Address> {
        let address = self.allocate(kind, length)?;
        self.clear(address, length)?;
        Ok(address)
    }

    /// Allocates blocks of the file like [`allocate_blocks`](Self::allocate_blocks), and sets their
    /// bytes to zero.
    ///
    /// # Errors
    /// Returns the same errors as [`allocate_zeroed`](Self::allocate_zeroed).
    pub fn allocate_zeroed_blocks(
        &mut self,
        kind: SpaceKind,
        length: u64,
        count: usize,
    ) -> Result<Vec<Address>> {
        let blocks = self.allocate_blocks(kind, length, count)?;
        blocks.iter().try_for_each(|address| self.clear(*address, length))?;
        Ok(blocks)
    }

    /// Writes zeros to newly allocated bytes of the file that may hold other values.
    fn clear(&self, address: Address, length: u64) -> Result<()> {
        let store = self.store;
        // Bytes after the end of all writes are already zeros. In a new file, nothing was written
        // yet, not even the user block.
        let Some(touched) = store.backing.touched() else { return Ok(()) };
        let mut at = address.raw();
        let end = (at + length).min(touched);
        let Some(dirty) = end.checked_sub(at) else { return Ok(()) };
        let zeros = vec![0; to_usize(dirty.min(MAX_ZERO_BYTES))?];
        while at < end {
            let count = (end - at).min(to_u64(zeros.len()));
            store.write_raw(Address::new(at), zeros.split_at(to_usize(count)?).0)?;
            at += count;
        }
        Ok(())
    }

    /// Allocates `count` blocks of `length` bytes in the file, contiguous if possible. Each block
    /// is freed separately.
    ///
    /// # Errors
    /// Returns the same errors as [`allocate`](Self::allocate).
    pub fn allocate_blocks(&mut self, kind: SpaceKind, length: u64, count: usize) -> Result<Vec<Address>> {
        if self.writing()?.space.is_paged() {
            return (0..count).map(|_| self.allocate(kind, length)).collect();
        }
        let all = length.checked_mul(to_u64(count));
        let all = all.ok_or_else(|| Error::Misuse("the blocks would have more than 2^64 bytes".into()))?;
        let first = self.allocate(kind, all)?;
        let invariant = "space that was allocated has addresses";
        let block = |at: Option<Address>| at.ok_or(Error::Internal { structure: "blocks", invariant });
        (0..to_u64(count)).map(|number| block(first.checked_add(number * length))).collect()
    }

    /// Frees `length` bytes of the file at `address`, and removes the dirty block at this address
    /// from memory.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the file is not open for writing.
    pub fn free(&mut self, kind: SpaceKind, address: Address, length: u64) -> Result<()> {
        self.store.caches.remove(address);
        if !self.retire(address, length) {
            self.writing()?.space.free(kind, address, length);
        }
        Ok(())
    }

    /// Forgets the dirty or decoded metadata block at `address`: removes the block from memory. The
    /// block lies inside a larger block, which the caller frees with [`free`](Self::free).
    pub fn forget(&mut self, address: Address) {
        self.store.caches.remove(address);
    }

    /// Adds a block of metadata at `address` of the file, or replaces the block there. The block is
    /// encoded when its bytes are needed.
    pub fn put<T>(&mut self, address: Address, context: &T::Context, value: T)
    where
        T: Structure + Send + Sync + 'static,
        T::Context: Send + Sync + 'static,
    {
        self.store.caches.decoded.remove(address);
        self.store.caches.dirty_blocks.insert(address, DirtyBlock::new(Arc::new(value), context));
    }

    /// Allocates file space for a block of metadata, adds the block there, and returns its address.
    ///
    /// # Errors
    /// Returns the same errors as [`allocate`](Self::allocate).
    pub fn add<T>(&mut self, kind: SpaceKind, context: &T::Context, value: T) -> Result<Address>
    where
        T: Structure + Send + Sync + 'static,
        T::Context: Send + Sync + 'static,
    {
        let address = self.allocate(kind, to_u64(T::size(context)))?;
        self.put(address, context, value);
        Ok(address)
    }

    /// Takes the block of metadata at `address` out of the cache for a change, and returns the
    /// block. The caller later puts the block back with [`put`](Self::put), possibly at another
    /// address. Until then, only the returned value has earlier changes of the block.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::get`].
    pub fn take<T>(&mut self, address: Address, context: &T::Context) -> Result<T>
    where
        T: Structure + Clone + Send + Sync + 'static,
        T::Context: PartialEq + Send + Sync + 'static,
    {
        let value: Arc<T> = self.store.shared(address, context)?;
        // The value is copied only if a reader still holds it. The reader keeps the old value.
        self.store.caches.remove(address);
        Ok(Arc::unwrap_or_clone(value))
    }

    /// Changes the block of metadata at `address` in memory with the function `change`.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::get`]; the block is unchanged then.
    pub fn modify<T, R>(
        &mut self,
        address: Address,
        context: &T::Context,
        change: impl FnOnce(&mut T) -> R,
    ) -> Result<R>
    where
        T: Structure + Clone + Send + Sync + 'static,
        T::Context: PartialEq + Send + Sync + 'static,
    {
        let mut value = self.take(address, context)?;
        let result = change(&mut value);
        self.put(address, context, value);
        Ok(result)
    }

    /// Writes bytes of metadata at an address of the file.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the bytes do not lie in the file, and I/O errors.
    pub fn write(&mut self, address: Address, bytes: &[u8], structure: &'static str) -> Result<()> {
        let store = self.store;
        store.caches.remove(address);
        let start = store.locate(address, to_u64(bytes.len()), structure)?;
        store.note_block(start, bytes, structure);
        store.change(start, bytes).map_err(|source| Error::Io {
            action: format!("cannot change the {structure} at {address}"),
            source,
        })?;
        if let Err(error) = store.spill() {
            // Nothing is lost: the pages stay dirty, and the commit reports an error if it cannot
            // write them.
            tracing::debug!(%error, "changed pages stay in memory");
        }
        Ok(())
    }

    /// Writes raw data to allocated file space. If the driver cannot write the raw data, keeps it
    /// in memory until the commit.
    ///
    /// # Errors
    /// Returns the errors of [`Store::write_raw`], except I/O errors of the write.
    pub fn write_raw_or_buffer(&mut self, address: Address, bytes: &[u8]) -> Result<()> {
        let store = self.store;
        match store.write_raw(address, bytes) {
            Err(Error::Io { source, .. }) => {
                tracing::debug!(%source, "raw data stay in memory");
                let start = store.locate(address, to_u64(bytes.len()), "raw data")?;
                let action = format!("cannot write raw data at {address}");
                store.change(start, bytes).map_err(|source| Error::Io { action, source })
            }
            written => written,
        }
    }

    /// Returns bytes of metadata at an address of the file, including the changes of this edit.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::read`].
    pub fn read(&self, address: Address, length: u64, structure: &'static str) -> Result<Bytes> {
        self.store.read(address, length, structure)
    }

    /// Changes the superblock of the edited file with the function `change`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the file is not open for writing.
    pub fn change_superblock(&mut self, change: impl FnOnce(&mut Superblock)) -> Result<()> {
        self.writing()?.superblock_changed = true;
        change(&mut self.store.superblock.write());
        Ok(())
    }

    /// Returns whether a limit makes a commit of the file due after the present operation. One
    /// limit is for dirty data. The other limit is for freed space, which only a commit makes
    /// available.
    pub fn is_over_limit(&self) -> bool {
        let state = &self.store.write_state;
        let waits_for_disk = state.journal.is_enabled() && state.journal.waits_for_disk();
        let min_pending = if waits_for_disk { MIN_SYNCED_PENDING_BYTES } else { MIN_PENDING_BYTES };
        let wants = self.writing.as_ref().is_some_and(|writing| writing.space.wants_commit(min_pending));
        self.store.caches.dirty_bytes() > state.dirty_limit || wants
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::global_heap::{GlobalHeapCollection, GlobalHeapContext};
    use hyperslab_vfd::{Core, Driver};

    use super::super::{CreateOptions, StoreOptions};
    use super::*;
    use crate::error::ErrorKind;

    fn new_file(driver: &Arc<Core>, create: &CreateOptions, bounds: LibverBounds) -> Store {
        let options = StoreOptions { write: Some(bounds), ..StoreOptions::default() };
        Store::create(Arc::clone(driver) as _, create, options).unwrap()
    }

    fn reopen(driver: &Arc<Core>) -> Store {
        Store::open(Arc::clone(driver) as _, StoreOptions::default()).unwrap()
    }

    #[test]
    fn what_is_committed_is_there_when_the_file_is_opened_again() {
        for bounds in [LibverBounds::EARLIEST, LibverBounds::DEFAULT, LibverBounds::LATEST] {
            for user_block in [0, 512, 2048] {
                let driver = Arc::new(Core::from_vec("new", vec![1; 10]));
                let store =
                    new_file(&driver, &CreateOptions { user_block, ..CreateOptions::default() }, bounds);
                let mut edit = store.edit().unwrap();
                let address = edit.allocate(SpaceKind::ObjectHeader, 5).unwrap();
                edit.write(address, b"hello", "test").unwrap();
                let raw = edit.allocate(SpaceKind::RawData, 100_000).unwrap();
                store.write_raw(raw, &vec![7; 100_000]).unwrap();
                assert_eq!(&*store.read(address, 5, "test").unwrap(), b"hello");
                edit.commit().unwrap();
                let again = reopen(&driver);
                assert_eq!(again.base(), user_block);
                assert_eq!(&*again.read(address, 5, "test").unwrap(), b"hello");
                assert_eq!(again.read_raw_vec(raw, 100_000).unwrap(), vec![7; 100_000]);
                assert_eq!(driver.len().unwrap(), user_block + raw.raw() + 100_000);
            }
        }
    }

    #[test]
    fn readers_at_once_find_a_changed_block() {
        let driver = Arc::new(Core::from_vec("new", Vec::new()));
        let store = new_file(&driver, &CreateOptions::default(), LibverBounds::DEFAULT);
        let context = GlobalHeapContext { params: store.params(), size: 4096 };
        for _ in 0..200 {
            let mut edit = store.edit().unwrap();
            let collection = GlobalHeapCollection::new(4096, store.params()).unwrap();
            let address = edit.add(SpaceKind::GlobalHeap, &context, collection).unwrap();
            drop(edit);
            let start = std::sync::Barrier::new(4);
            let read = || {
                start.wait();
                assert!(store.read(address, 4, "test").unwrap().starts_with(b"GCOL"));
            };
            std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(read))));
        }
    }

    #[test]
    fn blocks_become_bytes_when_they_are_needed() {
        let driver = Arc::new(Core::from_vec("new", Vec::new()));
        let store = new_file(&driver, &CreateOptions::default(), LibverBounds::DEFAULT);
        let context = GlobalHeapContext { params: store.params(), size: 4096 };
        let mut collection = GlobalHeapCollection::new(4096, store.params()).unwrap();
        let mut edit = store.edit().unwrap();
        let address = edit.add(SpaceKind::GlobalHeap, &context, collection).unwrap();
        assert!(store.read(address, 4, "test").unwrap().starts_with(b"GCOL"));
        collection = edit.take(address, &context).unwrap();
        collection.insert(b"one").unwrap();
        edit.put(address, &context, collection);
        let insert = |collection: &mut GlobalHeapCollection| collection.insert(b"two").unwrap();
        assert_eq!(edit.modify(address, &context, insert).unwrap(), Some(2));
        edit.commit().unwrap();
        let again = reopen(&driver);
        let collection = again.get::<GlobalHeapCollection>(address, &context).unwrap();
        assert_eq!((collection.get(1), collection.get(2)), (Some(&b"one"[..]), Some(&b"two"[..])));
    }

    #[test]
    fn what_was_freed_at_the_end_does_not_come_back() {
        let driver = Arc::new(Core::from_vec("new", Vec::new()));
        let store = new_file(&driver, &CreateOptions::default(), LibverBounds::DEFAULT);
        for length in [3000, 100_000] {
            for committed in [false, true] {
                let mut edit = store.edit().unwrap();
                let before = edit.allocate(SpaceKind::RawData, length).unwrap();
                store.write_raw(before, &vec![7; usize::try_from(length).unwrap()]).unwrap();
                if committed {
                    edit.commit().unwrap();
                }
                edit.free(SpaceKind::RawData, before, length).unwrap();
                edit.commit().unwrap();
                let after = edit.allocate_zeroed(SpaceKind::RawData, 2 * length).unwrap();
                assert!(after <= before && after.raw() + 2 * length > before.raw());
                edit.commit().unwrap();
                let read = reopen(&driver).read_raw_vec(after, 2 * length).unwrap();
                assert!(read.iter().all(|byte| *byte == 0));
                edit.free(SpaceKind::RawData, after, 2 * length).unwrap();
                edit.commit().unwrap();
            }
        }
    }

    #[test]
    fn a_file_that_is_open_for_reading_is_not_changed() {
        let driver = Arc::new(Core::from_vec("new", Vec::new()));
        let mut edit_options = CreateOptions::default();
        let store = new_file(&driver, &edit_options, LibverBounds::DEFAULT);
        store.edit().unwrap().commit().unwrap();
        let again = reopen(&driver);
        assert_eq!(again.edit().unwrap_err().kind(), ErrorKind::Misuse);
        assert_eq!(again.write_raw(Address::new(0), b"x").unwrap_err().kind(), ErrorKind::Misuse);
        for wrong in [100, 513, 1000] {
            edit_options.user_block = wrong;
            let made = Store::create(Arc::clone(&driver) as _, &edit_options, StoreOptions::default());
            assert_eq!(made.unwrap_err().kind(), ErrorKind::Misuse);
        }
    }
}
