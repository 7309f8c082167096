//! Changing a heap: inserting, replacing and removing objects.

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::HeapId;
use hyperslab_format::free_space::{FreeSpaceClient, FreeSpaceHeader, FreeSpaceSectionsContext};

use super::FractalHeap;
use super::free_sections::{FreeSections, FreeSectionsContext};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store, at};

/// Kinds of sections that heaps have.
const SECTION_CLASSES: u16 = 4;
/// What manager headers of heaps say of how section lists shrink and grow.
const SHRINK_PERCENT: u16 = 80;
const EXPAND_PERCENT: u16 = 120;
/// What manager headers are to the file's space.
const MANAGER_SPACE: SpaceKind = SpaceKind::ObjectHeader;
/// What section lists are to the file's space.
const LIST_SPACE: SpaceKind = SpaceKind::LocalHeap;

/// A heap and its free sections, taken out of the file to be changed.
#[derive(Debug)]
pub(super) struct Change<'e, 's> {
    pub(super) edit: &'e mut Edit<'s>,
    pub(super) heap: FractalHeap,
    pub(super) free: FreeSections,
}

impl FractalHeap {
    /// Adds an object to the heap at `address` and gives its ID.
    ///
    /// # Errors
    /// [`Error::Misuse`] for an object without bytes, [`Error::Limit`] if the heap is full, [`Error::Corrupt`] and
    /// [`Error::Io`] of what has to be read.
    pub fn insert(edit: &mut Edit<'_>, address: Address, bytes: &[u8]) -> Result<Vec<u8>> {
        change(edit, address, |change| change.insert(bytes))
    }

    /// Adds objects in their order and gives their IDs.
    ///
    /// # Errors
    /// As [`insert`](Self::insert); those before the one that fails are in the heap.
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

    /// Puts other bytes in place of an object, and gives its ID, which is another one unless the object is as long as
    /// that before and lies in the heap's blocks.
    ///
    /// # Errors
    /// As [`insert`](Self::insert) and [`remove`](Self::remove).
    pub fn update(edit: &mut Edit<'_>, address: Address, id: &[u8], bytes: &[u8]) -> Result<Vec<u8>> {
        let heap = Self::open(edit.store(), address)?;
        match at(heap.ids.decode(id), address)? {
            HeapId::Managed { offset, length } if length == bytes.len() as u64 => {
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

    /// Removes an object. Its space is used again; with the last one the heap gives up all its blocks.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no object with that ID, as far as that can be seen; [`Error::Corrupt`] and
    /// [`Error::Io`] of what has to be read.
    pub fn remove(edit: &mut Edit<'_>, address: Address, id: &[u8]) -> Result<()> {
        change(edit, address, |change| match at(change.heap.ids.decode(id), address)? {
            HeapId::Managed { offset, length } => change.remove_managed(offset, length),
            HeapId::Tiny { data } => {
                let header = &mut change.heap.header;
                header.tiny_objects = header.tiny_objects.saturating_sub(1);
                header.tiny_size = header.tiny_size.saturating_sub(data.len() as u64);
                Ok(())
            }
            huge => change.remove_huge(&huge),
        })
    }

    pub(super) fn encode_id(&self, id: &HeapId) -> Result<Vec<u8>> {
        at(self.ids.encode(id), self.address)
    }
}

impl Change<'_, '_> {
    fn insert(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        if bytes.is_empty() {
            return Err(Error::Misuse("an object of a fractal heap has one byte at least".into()));
        }
        if self.is_managed(bytes) {
            self.insert_managed(bytes)
        } else if bytes.len() <= self.heap.ids.max_tiny_size() {
            self.insert_tiny(bytes)
        } else {
            self.insert_huge(bytes)
        }
    }

    /// Returns whether an object belongs into a direct block: it is too long for an ID, and not too long for a block.
    pub(super) fn is_managed(&self, bytes: &[u8]) -> bool {
        let most = self.heap.shape.largest_room().min(self.heap.header.max_managed_size.into());
        bytes.len() > self.heap.ids.max_tiny_size() && bytes.len() as u64 <= most
    }

    fn insert_tiny(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let id = self.heap.encode_id(&HeapId::Tiny { data: bytes.to_vec() })?;
        let header = &mut self.heap.header;
        header.tiny_objects = header.tiny_objects.saturating_add(1);
        header.tiny_size = header.tiny_size.saturating_add(bytes.len() as u64);
        Ok(id)
    }
}

/// Takes the heap out of the file, changes it and puts it back.
pub(super) fn change<R>(
    edit: &mut Edit<'_>,
    address: Address,
    with: impl FnOnce(&mut Change<'_, '_>) -> Result<R>,
) -> Result<R> {
    let heap = FractalHeap::open(edit.store(), address)?;
    let free = take_free(edit, &heap)?;
    let mut change = Change { edit, heap: FractalHeap::clone(&heap), free };
    let result = with(&mut change);
    let Change { edit, mut heap, free } = change;
    let stored = put_free(edit, &mut heap, free);
    let context = heap.changed_context(edit.params())?;
    edit.put(address, &context, heap);
    let result = result?;
    stored.map(|()| result)
}

/// The context of the section list that the manager with that header has; `None` if it has none.
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
        return Err(Error::corrupt(FreeSpaceHeader::NAME, "client ID", "that of a heap", got).at(address));
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

/// Frees the manager of a heap, and its section list.
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
    edit.free(MANAGER_SPACE, address, FreeSpaceHeader::size(&params) as u64)?;
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

/// Puts the sections back, with a manager as long as there are any.
fn put_free(edit: &mut Edit<'_>, heap: &mut FractalHeap, free: FreeSections) -> Result<()> {
    if free.is_empty() {
        return free_manager(edit, heap);
    }
    let params = edit.params();
    let mut manager = if heap.header.free_space_manager.is_defined() {
        FreeSpaceHeader::clone(&*edit.store().shared(heap.header.free_space_manager, &params)?)
    } else {
        heap.header.free_space_manager =
            edit.allocate(MANAGER_SPACE, FreeSpaceHeader::size(&params) as u64)?;
        new_manager(heap)
    };
    let totals = free.totals();
    manager.total_space = totals.space;
    manager.sections = totals.stored.saturating_add(totals.derived);
    manager.serialized_sections = totals.stored;
    manager.unserialized_sections = totals.derived;
    let used = manager.list_size(totals.sizes, totals.runs, heap.table.offset_width(), params);
    manager.list_used = used;
    if !manager.list.is_defined() || used != manager.list_allocated {
        // libhdf5 cannot change a list that has more room than it needs ("size of entry changed").
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
