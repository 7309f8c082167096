//! Contents of variable length on their way into the global heap of the file that is copied to.

use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::{GlobalHeapCollection, GlobalHeapContext, GlobalHeapId};

use crate::error::Result;
use crate::store::{Edit, SpaceKind};

/// Bytes of a collection for many small objects.
const COLLECTION: usize = 64 << 10;

/// The first collections are small: most files have little of variable length.
const FIRST: usize = 4096;

/// Puts objects into collections, one after the other.
#[derive(Debug, Default)]
pub(super) struct HeapWriter {
    open: Option<(Address, GlobalHeapCollection)>,
    next: usize,
}

impl HeapWriter {
    /// Stores an object.
    pub(super) fn put(&mut self, edit: &mut Edit<'_>, object: &[u8]) -> Result<GlobalHeapId> {
        if let Some((collection, heap)) = &mut self.open
            && let Some(index) = heap.insert(object)?
        {
            return Ok(GlobalHeapId { collection: *collection, index: u32::from(index) });
        }
        let params = edit.params();
        let needed = GlobalHeapCollection::size_for(object.len(), params);
        let wanted = self.next.clamp(FIRST, COLLECTION);
        let size = needed.max(wanted);
        let mut heap = GlobalHeapCollection::new(size, params)?;
        let collection = edit.allocate(SpaceKind::GlobalHeap, size as u64)?;
        let index = heap.insert(object)?.unwrap_or_default();
        if needed >= wanted {
            // There is room for nothing else: the one that is open stays so.
            edit.put(collection, &GlobalHeapContext { params, size }, heap);
        } else {
            self.close(edit);
            self.next = wanted.saturating_mul(2);
            self.open = Some((collection, heap));
        }
        Ok(GlobalHeapId { collection, index: u32::from(index) })
    }

    /// Writes the collection that is open.
    pub(super) fn close(&mut self, edit: &mut Edit<'_>) {
        if let Some((collection, heap)) = self.open.take() {
            let context = GlobalHeapContext { params: edit.params(), size: heap.len() };
            edit.put(collection, &context, heap);
        }
    }
}
