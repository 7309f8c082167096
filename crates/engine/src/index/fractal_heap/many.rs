//! Access to many objects of a fractal heap. Reads each direct block once and copies no managed
//! object.

use std::sync::Arc;

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::fractal_heap::{
    FractalHeapDirectBlock, FractalHeapDirectContext, FractalHeapIndirectBlock, HeapId,
};

use super::FractalHeap;
use crate::error::{Error, Result};
use crate::store::{Bytes, Store, at};

/// A set of objects of one fractal heap, with the direct blocks that contain the objects.
#[derive(Debug)]
pub struct HeapObjects<'h> {
    heap: &'h FractalHeap,
    store: &'h Store,
    blocks: Vec<HeldBlock>,
    /// Offsets of the blocks in the heap's address space, ascending, with indices into `blocks`.
    starts: Vec<(u64, usize)>,
    /// Tiny objects, huge objects, and the objects of heaps with filters.
    owned: Vec<Bytes>,
}

/// An object of a fractal heap that [`HeapObjects::find`] has found.
#[derive(Debug, Clone, Copy)]
pub struct HeapObject(ObjectLocation);

#[derive(Debug, Clone, Copy)]
enum ObjectLocation {
    Block { number: usize, start: usize, length: usize },
    Owned(usize),
}

#[derive(Debug)]
struct HeldBlock {
    block: Arc<FractalHeapDirectBlock>,
    context: FractalHeapDirectContext,
}

/// Creates an error about a fractal heap object that is in none of the direct blocks that were read
/// for a set of heap objects.
fn not_found() -> Error {
    Error::internal("objects of a fractal heap", "a found object is in the blocks at hand")
}

impl FractalHeap {
    /// Creates an empty set of objects to read from this fractal heap.
    pub fn objects<'h>(&'h self, store: &'h Store) -> HeapObjects<'h> {
        HeapObjects { heap: self, store, blocks: Vec::new(), starts: Vec::new(), owned: Vec::new() }
    }

    /// Reads the root block of the fractal heap. For work in [`Store::read_ahead`]: an error is
    /// left to the read after it.
    pub fn touch_root(&self, store: &Store) {
        match self.header.root_rows {
            0 => drop(self.root_block().map(|root| self.block(store, &root))),
            rows => {
                let context = self.indirect_context(store, rows.into());
                drop(store.shared::<FractalHeapIndirectBlock>(self.header.root, &context));
            }
        }
    }
}

impl HeapObjects<'_> {
    /// Finds the fractal heap object with the heap ID `id` and adds it to the set of objects.
    ///
    /// # Errors
    /// Returns the same errors as [`FractalHeap::get`].
    pub fn find(&mut self, id: &[u8]) -> Result<HeapObject> {
        let heap = self.heap;
        match at(heap.ids.decode(id), heap.address)? {
            // The decoded blocks of heaps with filters can be larger than the file, so that holding
            // all of them could take too much memory.
            HeapId::Managed { offset, length } if heap.header.filters.is_none() => {
                let number = self.block(offset)?;
                let HeldBlock { block, context } = self.blocks.get(number).ok_or_else(not_found)?;
                at(block.object(offset, length, context), heap.address)?;
                let start = offset.checked_sub(block.block_offset).ok_or_else(not_found)?;
                let (start, length) = (to_usize(start)?, to_usize(length)?);
                Ok(HeapObject(ObjectLocation::Block { number, start, length }))
            }
            _ => {
                let number = self.owned.len();
                self.owned.push(heap.get(self.store, id)?);
                Ok(HeapObject(ObjectLocation::Owned(number)))
            }
        }
    }

    /// Returns the bytes of an object that [`find`](Self::find) has found in the fractal heap.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if other objects have found the object.
    pub fn bytes(&self, HeapObject(location): HeapObject) -> Result<&[u8]> {
        let bytes = match location {
            ObjectLocation::Block { number, start, length } => self
                .blocks
                .get(number)
                .and_then(|HeldBlock { block, .. }| block.bytes.get(start..start.checked_add(length)?)),
            ObjectLocation::Owned(number) => self.owned.get(number).map(|bytes| &**bytes),
        };
        bytes.ok_or_else(not_found)
    }

    /// Returns the bytes of an object that [`find`](Self::find) has found in the fractal heap, and
    /// that is not needed again.
    ///
    /// # Errors
    /// Returns the errors of [`bytes`](Self::bytes).
    pub fn take(&mut self, object: HeapObject) -> Result<Bytes> {
        match object.0 {
            // The object that was found last needs no place.
            ObjectLocation::Owned(number) if number.checked_add(1) == Some(self.owned.len()) => {
                self.owned.pop().ok_or_else(not_found)
            }
            ObjectLocation::Owned(number) => self.owned.get(number).cloned().ok_or_else(not_found),
            ObjectLocation::Block { .. } => Ok(Bytes::from(self.bytes(object)?)),
        }
    }

    /// Returns the index of a direct block in a set of direct blocks that were read for fractal
    /// heap objects. The direct block contains `offset` of the heap's address space. Reads the
    /// block if the set lacks it.
    fn block(&mut self, offset: u64) -> Result<usize> {
        let next = self.starts.partition_point(|(start, _)| *start <= offset);
        let before = next.checked_sub(1).and_then(|before| self.starts.get(before));
        if let Some((start, number)) = before.copied()
            && let Some(HeldBlock { block, .. }) = self.blocks.get(number)
            && offset - start < to_u64(block.bytes.len())
        {
            return Ok(number);
        }
        let location = self.heap.find_block(self.store, offset)?;
        let block = self.heap.block(self.store, &location)?;
        let context = self.heap.direct_context(self.store, location.size)?;
        let number = self.blocks.len();
        self.starts.insert(next, (location.offset, number));
        self.blocks.push(HeldBlock { block, context });
        Ok(number)
    }
}
