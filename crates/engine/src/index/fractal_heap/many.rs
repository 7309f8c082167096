//! Many objects at once, each block looked up once and no object copied.

use std::sync::Arc;

use hyperslab_format::fractal_heap::{FractalHeapDirectBlock, FractalHeapDirectContext, HeapId};

use super::FractalHeap;
use crate::error::Result;
use crate::store::{Bytes, Store, at};

/// Objects of a heap, and the blocks that they lie in.
#[derive(Debug)]
pub struct Objects<'h> {
    heap: &'h FractalHeap,
    store: &'h Store,
    blocks: Vec<Block>,
    /// Where blocks begin in the heap's address space, ascending, and their number.
    starts: Vec<(u64, usize)>,
    /// Objects that lie in no block, or in one that passed filters.
    apart: Vec<Bytes>,
}

/// An object that was found.
#[derive(Debug, Clone, Copy)]
pub struct Found(Place);

#[derive(Debug, Clone, Copy)]
enum Place {
    Block { number: usize, start: usize, length: usize },
    Apart(usize),
}

#[derive(Debug)]
struct Block {
    block: Arc<FractalHeapDirectBlock>,
    context: FractalHeapDirectContext,
}

impl FractalHeap {
    /// Objects of this heap, none of them found yet.
    pub fn objects<'h>(&'h self, store: &'h Store) -> Objects<'h> {
        Objects { heap: self, store, blocks: Vec::new(), starts: Vec::new(), apart: Vec::new() }
    }
}

impl Objects<'_> {
    /// Finds the object with that ID.
    ///
    /// # Errors
    /// As [`FractalHeap::get`].
    pub fn find(&mut self, id: &[u8]) -> Result<Found> {
        let heap = self.heap;
        match at(heap.ids.decode(id), heap.address)? {
            // Blocks that are kept as long as all objects are together must not be larger than the file.
            HeapId::Managed { offset, length } if heap.header.filters.is_none() => {
                let number = self.block(offset)?;
                let place = self.blocks.get(number).map(|Block { block, context }| {
                    at(block.object(offset, length, context), heap.address)?;
                    let start = usize::try_from(offset.saturating_sub(block.block_offset));
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    Ok(Found(Place::Block { number, start: start.unwrap_or(usize::MAX), length }))
                });
                place.unwrap_or(Ok(Found(Place::Apart(usize::MAX))))
            }
            _ => {
                self.apart.push(heap.get(self.store, id)?);
                Ok(Found(Place::Apart(self.apart.len().saturating_sub(1))))
            }
        }
    }

    /// The bytes of an object that was found here.
    pub fn bytes(&self, Found(place): Found) -> &[u8] {
        let bytes = match place {
            Place::Block { number, start, length } => self
                .blocks
                .get(number)
                .and_then(|Block { block, .. }| block.bytes.get(start..start.checked_add(length)?)),
            Place::Apart(number) => self.apart.get(number).map(|bytes| &**bytes),
        };
        bytes.unwrap_or_default()
    }

    /// The number of the block that holds `offset`.
    fn block(&mut self, offset: u64) -> Result<usize> {
        let behind = self.starts.partition_point(|(start, _)| *start <= offset);
        let before = behind.checked_sub(1).and_then(|before| self.starts.get(before));
        if let Some((start, number)) = before.copied()
            && let Some(Block { block, .. }) = self.blocks.get(number)
            && offset.saturating_sub(start) < block.bytes.len() as u64
        {
            return Ok(number);
        }
        let place = self.heap.find_block(self.store, offset)?;
        let block = self.heap.block(self.store, &place)?;
        let context = self.heap.direct_context(self.store, place.size)?;
        let number = self.blocks.len();
        self.starts.insert(behind, (place.offset, number));
        self.blocks.push(Block { block, context });
        Ok(number)
    }
}
