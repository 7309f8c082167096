//! Changing the global heap: objects in, objects out, collections that come and go with them.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::{GlobalHeapCollection, GlobalHeapContext, GlobalHeapId};

use super::GlobalHeap;
use super::builder::{Builder, LARGEST, next_size};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind};

/// What collections are to the file's space.
pub(super) const SPACE: SpaceKind = SpaceKind::GlobalHeap;
/// Collections that are remembered for the room in them.
const REMEMBERED: usize = 16;
/// Less room is not worth it.
const WORTH: usize = 32;

/// Collections with room for more.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// Address and free bytes; the last one was changed last.
    collections: Vec<(Address, usize)>,
    /// Bytes of collections made since the file was opened.
    pub(super) made: u64,
}

impl Open {
    pub(super) fn note(&mut self, address: Address, free: usize) {
        self.forget(address);
        if free < WORTH {
            return;
        }
        if self.collections.len() >= REMEMBERED {
            // The one with the least room is given up.
            let least = self.collections.iter().enumerate().min_by_key(|(_, (_, free))| *free);
            if let Some((place, _)) = least {
                self.collections.remove(place);
            }
        }
        self.collections.push((address, free));
    }

    fn forget(&mut self, address: Address) {
        self.collections.retain(|(other, _)| *other != address);
    }

    fn with_room(&self, bytes: usize) -> Option<Address> {
        self.collections.iter().rev().find(|(_, free)| *free >= bytes).map(|(address, _)| *address)
    }
}

/// Gives back what was set aside and is not used.
pub(super) fn free_rest(edit: &mut Edit<'_>, builder: &mut Builder) -> Result<()> {
    for (start, length) in std::mem::take(&mut builder.skipped) {
        edit.free(SPACE, Address::new(start), length)?;
    }
    // What is left of a page is room for small blocks, what is behind it for others.
    let page_end = edit.page().and_then(|page| builder.start.checked_next_multiple_of(page));
    let border = page_end.unwrap_or(builder.start).min(builder.end);
    for (start, end) in [(builder.start, border), (border, builder.end)] {
        if start < end {
            edit.free(SPACE, Address::new(start), end.saturating_sub(start))?;
        }
    }
    builder.end = builder.start;
    Ok(())
}

impl GlobalHeap {
    /// Adds an object.
    ///
    /// # Errors
    /// As [`Edit::allocate`]; [`Error::Misuse`] if the file's lengths cannot say how long it is.
    pub fn insert(&self, edit: &mut Edit<'_>, bytes: &[u8]) -> Result<GlobalHeapId> {
        let params = edit.params();
        let need = GlobalHeapCollection::object_size(bytes.len(), params);
        let room = self.open.lock().with_room(need);
        if let Some(address) = room {
            let mut collection = self.take(edit, address)?;
            let index = collection.insert(bytes);
            let no_number = matches!(index, Ok(None));
            self.put(edit, address, collection);
            if let Some(index) = index? {
                return Ok(GlobalHeapId { collection: address, index: index.into() });
            }
            if no_number {
                self.open.lock().forget(address);
            }
        }
        let size = GlobalHeapCollection::size_for(bytes.len(), params).max(next_size(self.open.lock().made));
        let mut collection = GlobalHeapCollection::new(size, params)?;
        let index = collection.insert(bytes)?.unwrap_or(0);
        let address = edit.allocate(SPACE, size as u64)?;
        self.open.lock().made += size as u64;
        self.put(edit, address, collection);
        Ok(GlobalHeapId { collection: address, index: index.into() })
    }

    /// Adds objects: as [`insert`](Self::insert) of each, but collections are put into the file when they are full.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
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
                    builder.start = edit.allocate(SPACE, wanted)?.raw();
                    builder.end = builder.start.saturating_add(wanted);
                    id = builder.insert(bytes)?;
                }
                ids.extend(id);
            }
            Ok(())
        };
        let result = insert();
        self.put_all(edit, &mut builder);
        result.map(|()| ids)
    }

    /// A builder that goes on with the collection that has the most room.
    fn builder(&self, edit: &mut Edit<'_>) -> Result<Builder> {
        let mut builder = Builder::new(edit.params(), self.open.lock().made, edit.page());
        if let Some(address) = self.roomiest() {
            builder = builder.with(address, self.take(edit, address)?);
        }
        Ok(builder)
    }

    /// The same with a copy: the objects of the collection can be read until it is put in place of itself.
    pub(super) fn copying_builder(&self, edit: &Edit<'_>) -> Result<Builder> {
        let mut builder = Builder::new(edit.params(), self.open.lock().made, edit.page());
        if let Some(address) = self.roomiest() {
            let collection = self.collection(edit.store(), address)?;
            builder = builder.with(address, GlobalHeapCollection::clone(&collection));
        }
        Ok(builder)
    }

    fn roomiest(&self) -> Option<Address> {
        self.open.lock().collections.iter().max_by_key(|(_, free)| *free).map(|(address, _)| *address)
    }

    /// Puts the collections of a builder into the file.
    pub(super) fn put_all(&self, edit: &mut Edit<'_>, builder: &mut Builder) {
        for (address, collection) in builder.take_all() {
            self.put(edit, address, collection);
        }
        self.open.lock().made = builder.written;
    }

    /// Puts the full collections of a builder into the file: those that were not there before as bytes, which wait for
    /// no commit.
    pub(super) fn put_full(&self, edit: &mut Edit<'_>, builder: &mut Builder) -> Result<()> {
        for (address, collection) in std::mem::take(&mut builder.full) {
            if collection.len() < LARGEST || !builder.is_new(address) {
                self.put(edit, address, collection);
                continue;
            }
            self.collections.remove(&address);
            self.open.lock().note(address, collection.free_space());
            edit.store().write_raw(address, collection.bytes())?;
        }
        Ok(())
    }

    /// Removes an object. With the last one its collection goes.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such object; [`Error::Corrupt`] and [`Error::Io`] of its collection.
    pub fn remove(&self, edit: &mut Edit<'_>, id: GlobalHeapId) -> Result<()> {
        self.remove_many(edit, [id])
    }

    /// Removes objects, of which each collection is gone through once. IDs without an object are left out.
    ///
    /// # Errors
    /// As [`remove`](Self::remove). Objects of other collections may be gone then.
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
                return Err(Error::NotFound { what: "object", name });
            }
            collection.retain(|index| !indexes.contains(&u32::from(index)))?;
            if collection.is_empty() {
                self.open.lock().forget(address);
                self.collections.remove(&address);
                edit.free(SPACE, address, collection.len() as u64)?;
            } else {
                self.put(edit, address, collection);
            }
        }
        Ok(())
    }

    /// Puts other bytes in place of an object. Its ID stays the same if it is as long as before.
    ///
    /// # Errors
    /// As [`insert`](Self::insert) and [`remove`](Self::remove).
    pub fn overwrite(&self, edit: &mut Edit<'_>, id: GlobalHeapId, bytes: &[u8]) -> Result<GlobalHeapId> {
        if id.is_null() {
            return self.insert(edit, bytes);
        }
        let mut collection = self.take(edit, id.collection)?;
        let place = collection.get_mut(id.index).filter(|object| object.len() == bytes.len());
        let same = place.map(|object| object.copy_from_slice(bytes)).is_some();
        self.put(edit, id.collection, collection);
        if same {
            return Ok(id);
        }
        self.remove(edit, id)?;
        self.insert(edit, bytes)
    }

    /// Takes a collection out of the file to be changed.
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

    pub(super) fn put(&self, edit: &mut Edit<'_>, address: Address, collection: GlobalHeapCollection) {
        self.collections.remove(&address);
        self.open.lock().note(address, collection.free_space());
        let context = GlobalHeapContext { params: edit.params(), size: collection.len() };
        edit.put(address, &context, collection);
    }
}
