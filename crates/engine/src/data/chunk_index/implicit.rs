//! The implicit chunk index: contiguous chunks that were allocated when the dataset was created.

use hyperslab_format::codec::Address;

use super::element::{Cursor, ElementLookup};
use super::order::ArrayOrder;
use super::{AtChunk, ChunkBox, ChunkIndex, ChunkIndexKind, ChunkLocation};
use crate::error::{Error, Result};
use crate::store::Store;

/// An implicit chunk index: the address of the first chunk, and the number of bytes of each chunk.
#[derive(Debug)]
pub(super) struct ImplicitIndex {
    pub(super) first: Address,
    pub(super) chunk_bytes: u64,
    pub(super) order: ArrayOrder,
}

impl ImplicitIndex {
    fn at(&self, store: &Store, number: Option<u64>) -> Result<ChunkLocation> {
        let offset = number.and_then(|number| number.checked_mul(self.chunk_bytes));
        let address = offset.and_then(|offset| self.first.checked_add(offset)).ok_or_else(|| {
            Error::corrupt("data layout message", "address", "chunks inside the file", self.first)
        })?;
        // All chunks were allocated with the dataset, so the file's length bounds any walk.
        store.check_inside(address, self.chunk_bytes, "chunk")?;
        Ok(ChunkLocation { address, size: self.chunk_bytes, filter_mask: 0 })
    }
}

impl ChunkIndex for ImplicitIndex {
    fn kind(&self) -> ChunkIndexKind {
        ChunkIndexKind::Implicit
    }

    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        self.at(store, self.order.number(scaled)).map(Some)
    }

    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        let look = |number, _: &mut Cursor| self.at(store, Some(number)).map(ElementLookup::Chunk);
        self.order.for_each_in(store, chunks, u64::MAX, None, look, visit)
    }

    fn bytes(&self, _store: &Store) -> Result<u64> {
        Ok(0)
    }
}
