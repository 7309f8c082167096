//! Changes of the global heap: objects are inserted and removed, collections are created and freed.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::{GlobalHeapCollection, GlobalHeapContext, GlobalHeapId};

use super::GlobalHeap;
use super::builder::{Builder, MAX_SHARED_BYTES, does_not_fit, next_size};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind};

/// File-space kind of global heap collections. A file can manage the free space of each kind
/// separately.
pub(super) const SPACE: SpaceKind = SpaceKind::GlobalHeap;
/// Largest number of global heap collections with free space that stay in memory.
const MAX_OPEN_COLLECTIONS: usize = 16;
/// Smallest free space in bytes that a global heap collection needs to stay open for new objects.
const MIN_FREE_BYTES: usize = 32;

/// The global heap collections that have free space for new objects.
#[derive(Debug, Default)]
pub(super) struct OpenCollections {
    /// Addresses and free bytes, in the order of the last changes.
    collections: Vec<(Address, usize)>,
    /// Total size in bytes of the collections that were created since the file was opened.
    pub(super) made: u64,
}

impl OpenCollections {
    pub(super) fn note(&mut self, address: Address, free: usize) {
        self.forget(address);
        if free < MIN_FREE_BYTES {
            return;
        }
        if self.collections.len() >= MAX_OPEN_COLLECTIONS {
            // Remove the collection with the least free space.
            let least = self.collections.iter().enumerate().min_by_key(|(_, (_, free))| *free);
            if let Some((position, _)) = least {
                self.collections.remove(position);
            }
        }
        self.collections.push((address, free));
    }

    fn forget(&mut self, address: Address) {
        self.collections.retain(|(other, _)| *other != address);
    }

    fn with_free(&self, bytes: usize) -> Option<Address> {
        self.collections.iter().rev().find(|(_, free)| *free >= bytes).map(|(address, _)| *address)
    }
}

/// Frees the file space that a builder of global heap collections has allocated and not used.
pub(super) fn free_rest(edit: &mut Edit<'_>, builder: &mut Builder) -> Result<()> {
    for (start, length) in std::mem::take(&mut builder.skipped) {
        edit.free(SPACE, Address::new(start), length)?;
    }
    // The rest of a page becomes free space for small blocks, the following pages for large blocks.
    let page_end = edit.page().and_then(|page| builder.start.checked_next_multiple_of(page));
    let border = page_end.unwrap_or(builder.start).min(builder.end);
    for (start, end) in [(builder.start, border), (border, builder.end)] {
        if start < end {
            edit.free(SPACE, Address::new(start), end - start)?;
        }
    }
    builder.end = builder.start;
    Ok(())
}

impl GlobalHeap {
    /// Adds an object to the global heap and returns its global heap ID.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the object is too long for the length fields of the file, and
    /// the errors of [`Edit::allocate`].
    pub fn insert(&self, edit: &mut Edit<'_>, bytes: &[u8]) -> Result<GlobalHeapId> {
        let params = edit.params();
        let need = GlobalHeapCollection::object_size(bytes.len(), params);
        let open = self.open.lock().with_free(need);
        if let Some(address) = open {
            let mut collection = self.take(edit, address)?;
            let index = collection.insert(bytes);
            let all_numbers_used = matches!(index, Ok(None));
            self.put(edit, address, collection);
            if let Some(index) = index? {
                return Ok(GlobalHeapId { collection: address, index: index.into() });
            }
            if all_numbers_used {
                self.open.lock().forget(address);
            }
        }
        let made = self.open.lock().made;
        let size = GlobalHeapCollection::size_for(bytes.len(), params).max(next_size(made)?);
        let made = made.checked_add(to_u64(size)).ok_or_else(does_not_fit)?;
        let mut collection = GlobalHeapCollection::new(size, params)?;
        let index = collection.insert(bytes)?.ok_or_else(does_not_fit)?;
        let address = edit.allocate(SPACE, to_u64(size))?;
        self.open.lock().made = made;
        self.put(edit, address, collection);
        Ok(GlobalHeapId { collection: address, index: index.into() })
    }

    /// Adds objects to the global heap and returns their global heap IDs. Stores each collection
    /// once, after it is filled.
    ///
    /// # Errors
    /// Returns the same errors as [`insert`](Self::insert).
    pub fn insert_many<'a>(
        &self,
        edit: &mut Edit<'_>,
        objects: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Vec<GlobalHeapId>> {
        let mut builder = self.builder(edit)?;
        let mut ids = Vec::new();
        let insert = || -> Result<()> {
            for bytes in objects {
                let mut id = builder.insert(bytes)?;
                if id.is_none() {
                    let wanted = builder.wanted;
                    free_rest(edit, &mut builder)?;
                    builder.set_space(edit.allocate(SPACE, wanted)?, wanted)?;
                    id = builder.insert(bytes)?;
                }
                ids.push(id.ok_or_else(does_not_fit)?);
            }
            Ok(())
        };
        let result = insert();
        self.put_all(edit, &mut builder);
        result.map(|()| ids)
    }

    /// Returns a builder that adds objects to the global heap collection with the most free space,
    /// and then to new collections.
    fn builder(&self, edit: &mut Edit<'_>) -> Result<Builder> {
        let mut builder = Builder::new(edit.params(), self.open.lock().made, edit.page());
        if let Some(address) = self.most_free() {
            builder = builder.with(address, self.take(edit, address)?);
        }
        Ok(builder)
    }

    /// Returns a builder that adds objects to a copy of the global heap collection with the most
    /// free space. Until the copy replaces the collection, the objects of the collection stay
    /// readable.
    pub(super) fn copying_builder(&self, edit: &Edit<'_>) -> Result<Builder> {
        let mut builder = Builder::new(edit.params(), self.open.lock().made, edit.page());
        if let Some(address) = self.most_free() {
            let collection = self.collection(edit.store(), address)?;
            builder = builder.with(address, GlobalHeapCollection::clone(&collection));
        }
        Ok(builder)
    }

    fn most_free(&self) -> Option<Address> {
        self.open.lock().collections.iter().max_by_key(|(_, free)| *free).map(|(address, _)| *address)
    }

    /// Stores all global heap collections of a builder in the cache of dirty blocks.
    pub(super) fn put_all(&self, edit: &mut Edit<'_>, builder: &mut Builder) {
        for (address, collection) in builder.take_all() {
            self.put(edit, address, collection);
        }
        self.open.lock().made = builder.written;
    }

    /// Stores the full global heap collections of a builder. Writes large new collections to the
    /// file immediately, without waiting for a commit.
    pub(super) fn put_full(&self, edit: &mut Edit<'_>, builder: &mut Builder) -> Result<()> {
        for (address, collection) in std::mem::take(&mut builder.full) {
            if collection.len() < MAX_SHARED_BYTES || !builder.is_new(address) {
                self.put(edit, address, collection);
                continue;
            }
            self.collections.remove(&address);
            self.open.lock().note(address, collection.free_space());
            edit.store().write_raw(address, collection.bytes())?;
        }
        Ok(())
    }

    /// Removes an object from the global heap. Frees a collection without remaining objects.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] if there is no such object, and read errors.
    pub fn remove(&self, edit: &mut Edit<'_>, id: GlobalHeapId) -> Result<()> {
        self.remove_many(edit, [id])
    }

    /// Removes objects from the global heap. Changes each collection once. Skips null global heap
    /// IDs.
    ///
    /// # Errors
    /// Returns the same errors as [`remove`](Self::remove). The objects of other collections may be
    /// removed then.
    pub fn remove_many(
        &self,
        edit: &mut Edit<'_>,
        ids: impl IntoIterator<Item = GlobalHeapId>,
    ) -> Result<()> {
        let mut by_collection: BTreeMap<Address, HashSet<u32>> = BTreeMap::new();
        for id in ids {
            if !id.is_null() {
                by_collection.entry(id.collection).or_default().insert(id.index);
            }
        }
        for (address, indexes) in by_collection {
            let mut collection = self.take(edit, address)?;
            let missing = indexes.iter().find(|index| collection.get(**index).is_none());
            if let Some(index) = missing {
                let name = format!("{index} of the global heap collection at {address}");
                self.put(edit, address, collection);
                return Err(Error::NotFound { subject: "object", name });
            }
            collection.retain(|index| !indexes.contains(&u32::from(index)))?;
            if collection.is_empty() {
                self.open.lock().forget(address);
                self.collections.remove(&address);
                edit.free(SPACE, address, to_u64(collection.len()))?;
            } else {
                self.put(edit, address, collection);
            }
        }
        Ok(())
    }

    /// Replaces the bytes of a global heap object and returns its global heap ID. The ID stays the
    /// same if the object keeps its length.
    ///
    /// # Errors
    /// Returns the same errors as [`insert`](Self::insert) and [`remove`](Self::remove).
    pub fn overwrite(&self, edit: &mut Edit<'_>, id: GlobalHeapId, bytes: &[u8]) -> Result<GlobalHeapId> {
        if id.is_null() {
            return self.insert(edit, bytes);
        }
        let mut collection = self.take(edit, id.collection)?;
        let old = collection.get_mut(id.index).filter(|object| object.len() == bytes.len());
        let same = old.map(|object| object.copy_from_slice(bytes)).is_some();
        self.put(edit, id.collection, collection);
        if same {
            return Ok(id);
        }
        self.remove(edit, id)?;
        self.insert(edit, bytes)
    }

    /// Removes a collection of the global heap from the caches for a change and returns the
    /// collection. The caller must later put it back with [`put`](Self::put).
    fn take(&self, edit: &mut Edit<'_>, address: Address) -> Result<GlobalHeapCollection> {
        let store = edit.store();
        let changed = store.changed::<GlobalHeapCollection>(address).map(|collection| collection.len());
        if let Some(size) = changed {
            return edit.take(address, &GlobalHeapContext { params: store.params(), size });
        }
        let collection = self.collection(store, address)?;
        self.collections.remove(&address);
        Ok(Arc::unwrap_or_clone(collection))
    }

    /// Stores a changed collection of the global heap in the cache of dirty blocks.
    pub(super) fn put(&self, edit: &mut Edit<'_>, address: Address, collection: GlobalHeapCollection) {
        self.collections.remove(&address);
        self.open.lock().note(address, collection.free_space());
        let context = GlobalHeapContext { params: edit.params(), size: collection.len() };
        edit.put(address, &context, collection);
    }
}
