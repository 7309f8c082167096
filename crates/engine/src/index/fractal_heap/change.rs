//! Changes of a fractal heap: objects are inserted, replaced and removed.
//!
//! Each operation computes the header's new counters before it changes anything, so that an error
//! because of a counter leaves the heap as it was.

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::HeapId;
use hyperslab_format::free_space::{FreeSpaceClient, FreeSpaceHeader, FreeSpaceSectionsContext};

use super::free_sections::{FreeSections, FreeSectionsContext};
use super::{FractalHeap, counter};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store, at};

/// Number of section classes (types of free sections) in free-space managers of fractal heaps.
const SECTION_CLASSES: u16 = 4;
/// Shrink percentage that hyperslab writes into the free-space manager headers of fractal heaps.
const SHRINK_PERCENT: u16 = 80;
/// Expand percentage that hyperslab writes into the free-space manager headers of fractal heaps.
const EXPAND_PERCENT: u16 = 120;
/// File-space kind of the headers of fractal heaps' free-space managers. A file can manage the free
/// space of each kind separately.
const MANAGER_SPACE: SpaceKind = SpaceKind::ObjectHeader;
/// File-space kind of the section lists of fractal heaps' free-space managers. A file can manage
/// the free space of each kind separately.
const LIST_SPACE: SpaceKind = SpaceKind::LocalHeap;

/// A fractal heap and its free sections while an operation changes the heap.
#[derive(Debug)]
pub(super) struct HeapChange<'e, 's> {
    pub(super) edit: &'e mut Edit<'s>,
    pub(super) heap: FractalHeap,
    pub(super) free: FreeSections,
}

impl FractalHeap {
    /// Adds an object to the fractal heap at `address` and returns the heap ID of the new object.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] for an object without bytes, [`Error::Limit`] if the heap is full,
    /// [`Error::Corrupt`] if a counter of the header cannot be right, and read errors.
    pub fn insert(edit: &mut Edit<'_>, address: Address, bytes: &[u8]) -> Result<Vec<u8>> {
        change(edit, address, |change| change.insert(bytes))
    }

    /// Adds objects to the fractal heap at `address`, in order, and returns the heap IDs of the
    /// objects.
    ///
    /// # Errors
    /// Returns the same errors as [`insert`](Self::insert). The heap keeps the objects before the
    /// object that fails.
    pub fn insert_many<'b>(
        edit: &mut Edit<'_>,
        address: Address,
        objects: impl Iterator<Item = &'b [u8]>,
    ) -> Result<Vec<Vec<u8>>> {
        change(edit, address, |change| {
            let mut objects = objects.peekable();
            let mut ids = Vec::new();
            while let Some(object) = objects.peek() {
                if change.is_managed(object) {
                    change.insert_run(&mut objects, &mut ids)?;
                } else {
                    ids.push(change.insert(object)?);
                    objects.next();
                }
            }
            Ok(ids)
        })
    }

    /// Replaces the bytes of an object in a fractal heap and returns the heap ID. If the object is
    /// a managed object and keeps its length, the heap ID stays the same; otherwise, it is new.
    ///
    /// # Errors
    /// Returns the same errors as [`insert`](Self::insert) and [`remove`](Self::remove).
    pub fn update(edit: &mut Edit<'_>, address: Address, id: &[u8], bytes: &[u8]) -> Result<Vec<u8>> {
        let heap = Self::open(edit.store(), address)?;
        match at(heap.ids.decode(id), address)? {
            HeapId::Managed { offset, length } if length == to_u64(bytes.len()) => {
                drop(heap);
                change(edit, address, |change| change.overwrite_managed(offset, bytes))?;
                Ok(id.to_vec())
            }
            _ => {
                drop(heap);
                let new = Self::insert(edit, address, bytes)?;
                Self::remove(edit, address, id)?;
                Ok(new)
            }
        }
    }

    /// Removes an object from a fractal heap. Later heap objects can take the space of the removed
    /// object. If no object remains, all blocks of the heap are freed.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] if there is no managed or huge object with this ID,
    /// [`Error::Corrupt`] if a counter of the header cannot be right, and read errors.
    pub fn remove(edit: &mut Edit<'_>, address: Address, id: &[u8]) -> Result<()> {
        change(edit, address, |change| match at(change.heap.ids.decode(id), address)? {
            HeapId::Managed { offset, length } => change.remove_managed(offset, length),
            HeapId::Tiny { data } => change.remove_tiny(&data),
            huge => change.remove_huge(&huge),
        })
    }

    pub(super) fn encode_id(&self, id: &HeapId) -> Result<Vec<u8>> {
        at(self.ids.encode(id), self.address)
    }
}

impl HeapChange<'_, '_> {
    fn insert(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        if bytes.is_empty() {
            return Err(Error::Misuse("an object of a fractal heap must have at least one byte".into()));
        }
        if self.is_managed(bytes) {
            self.insert_managed(bytes)
        } else if bytes.len() <= self.heap.ids.max_tiny_size() {
            self.insert_tiny(bytes)
        } else {
            self.insert_huge(bytes)
        }
    }

    /// Returns whether a fractal heap stores the given bytes as a managed object. A managed object
    /// is too long to be stored in its heap ID, but short enough for a direct block.
    pub(super) fn is_managed(&self, bytes: &[u8]) -> bool {
        let maximum = self.heap.shape.max_object_bytes().min(self.heap.header.max_managed_size.into());
        bytes.len() > self.heap.ids.max_tiny_size() && to_u64(bytes.len()) <= maximum
    }

    fn insert_tiny(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let id = self.heap.encode_id(&HeapId::Tiny { data: bytes.to_vec() })?;
        let (heap, header) = (&self.heap, &self.heap.header);
        let objects = heap.increased(counter::TINY_OBJECTS, header.tiny_objects, 1)?;
        let size = heap.increased(counter::TINY_SIZE, header.tiny_size, to_u64(bytes.len()))?;
        (self.heap.header.tiny_objects, self.heap.header.tiny_size) = (objects, size);
        Ok(id)
    }

    fn remove_tiny(&mut self, bytes: &[u8]) -> Result<()> {
        let (heap, header) = (&self.heap, &self.heap.header);
        let objects = heap.decreased(counter::TINY_OBJECTS, header.tiny_objects, 1)?;
        let size = heap.decreased(counter::TINY_SIZE, header.tiny_size, to_u64(bytes.len()))?;
        (self.heap.header.tiny_objects, self.heap.header.tiny_size) = (objects, size);
        Ok(())
    }
}

/// Changes the fractal heap at `address` and the heap's free sections with the function `with`.
pub(super) fn change<R>(
    edit: &mut Edit<'_>,
    address: Address,
    with: impl FnOnce(&mut HeapChange<'_, '_>) -> Result<R>,
) -> Result<R> {
    let heap = FractalHeap::open(edit.store(), address)?;
    let free = take_free(edit, &heap)?;
    let mut change = HeapChange { edit, heap: FractalHeap::clone(&heap), free };
    let result = with(&mut change);
    let HeapChange { edit, mut heap, free } = change;
    let stored = put_free(edit, &mut heap, free);
    let context = heap.changed_context(edit.params())?;
    edit.put(address, &context, heap);
    let result = result?;
    stored.map(|()| result)
}

/// Returns the parameters for decoding the section list of a fractal heap's free-space manager, or
/// `None` if the manager has no list.
fn list_context(
    heap: &FractalHeap,
    manager: &FreeSpaceHeader,
    store: &Store,
) -> Result<Option<FreeSectionsContext>> {
    if !manager.list.is_defined() || manager.serialized_sections == 0 {
        return Ok(None);
    }
    let address = heap.header.free_space_manager;
    if manager.client != FreeSpaceClient::FRACTAL_HEAP {
        let got = manager.client.0;
        return Err(Error::corrupt(FreeSpaceHeader::NAME, "client ID", "0 (fractal heap)", got).at(address));
    }
    let width = heap.table.offset_width();
    let list = at(FreeSpaceSectionsContext::new(manager, address, width, store.params()), address)?;
    Ok(Some(FreeSectionsContext { list, shape: heap.shape }))
}

fn take_free(edit: &mut Edit<'_>, heap: &FractalHeap) -> Result<FreeSections> {
    let address = heap.header.free_space_manager;
    if !address.is_defined() {
        return Ok(FreeSections::default());
    }
    let store = edit.store();
    let manager = store.shared::<FreeSpaceHeader>(address, &store.params())?;
    match list_context(heap, &manager, store)? {
        Some(context) => edit.take(manager.list, &context),
        None => Ok(FreeSections::default()),
    }
}

/// Frees the free-space manager of a fractal heap, and its section list.
pub(super) fn free_manager(edit: &mut Edit<'_>, heap: &mut FractalHeap) -> Result<()> {
    let address = heap.header.free_space_manager;
    if !address.is_defined() {
        return Ok(());
    }
    let params = edit.params();
    let manager = edit.store().shared::<FreeSpaceHeader>(address, &params)?;
    if manager.list.is_defined() {
        edit.free(LIST_SPACE, manager.list, manager.list_allocated)?;
    }
    edit.free(MANAGER_SPACE, address, to_u64(FreeSpaceHeader::size(&params)))?;
    heap.header.free_space_manager = Address::UNDEFINED;
    Ok(())
}

fn new_manager(heap: &FractalHeap) -> FreeSpaceHeader {
    FreeSpaceHeader {
        client: FreeSpaceClient::FRACTAL_HEAP,
        total_space: 0,
        sections: 0,
        serialized_sections: 0,
        unserialized_sections: 0,
        section_classes: SECTION_CLASSES,
        shrink_percent: SHRINK_PERCENT,
        expand_percent: EXPAND_PERCENT,
        address_bits: heap.header.max_heap_bits,
        max_section_size: heap.header.max_direct_size,
        list: Address::UNDEFINED,
        list_used: 0,
        list_allocated: 0,
    }
}

/// Stores the free sections of the fractal heap in its free-space manager. A heap without free
/// sections has no free-space manager.
fn put_free(edit: &mut Edit<'_>, heap: &mut FractalHeap, free: FreeSections) -> Result<()> {
    if free.is_empty() {
        return free_manager(edit, heap);
    }
    let params = edit.params();
    let mut manager = if heap.header.free_space_manager.is_defined() {
        FreeSpaceHeader::clone(&*edit.store().shared(heap.header.free_space_manager, &params)?)
    } else {
        heap.header.free_space_manager =
            edit.allocate(MANAGER_SPACE, to_u64(FreeSpaceHeader::size(&params)))?;
        new_manager(heap)
    };
    let totals = free.totals();
    manager.total_space = totals.space;
    let sections = totals.stored.checked_add(totals.derived);
    manager.sections = sections
        .ok_or_else(|| Error::internal(FreeSpaceHeader::NAME, "a heap has less than 2^64 sections"))?;
    manager.serialized_sections = totals.stored;
    manager.unserialized_sections = totals.derived;
    let used = manager.list_size(totals.sizes, totals.runs, heap.table.offset_width(), params);
    manager.list_used = used;
    if !manager.list.is_defined() || used != manager.list_allocated {
        // libhdf5 cannot change a list with unused bytes ("size of entry changed").
        if manager.list.is_defined() {
            edit.free(LIST_SPACE, manager.list, manager.list_allocated)?;
        }
        (manager.list, manager.list_allocated) = (edit.allocate(LIST_SPACE, used)?, used);
    }
    if let Some(context) = list_context(heap, &manager, edit.store())? {
        edit.put(manager.list, &context, free);
    }
    edit.put(heap.header.free_space_manager, &params, manager);
    Ok(())
}
