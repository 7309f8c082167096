//! Chunks side by side, all allocated when the dataset was made.

use hyperslab_format::codec::Address;

use super::order::ArrayOrder;
use super::{AtChunk, ChunkBox, ChunkIndex, ChunkIndexKind, ChunkLocation};
use crate::error::{Error, Result};
use crate::store::Store;

/// The first chunk, and how many bytes each takes.
#[derive(Debug)]
pub(super) struct ImplicitIndex {
    pub(super) first: Address,
    pub(super) chunk_bytes: u64,
    pub(super) order: ArrayOrder,
}

impl ChunkIndex for ImplicitIndex {
    fn kind(&self) -> ChunkIndexKind {
        ChunkIndexKind::Implicit
    }

    fn get(&self, _store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        let offset = self.order.number(scaled).saturating_mul(self.chunk_bytes);
        let address = self.first.checked_add(offset).ok_or_else(|| {
            Error::corrupt("data layout message", "address", "chunks inside the file", self.first)
        })?;
        Ok(Some(ChunkLocation { address, size: self.chunk_bytes, filter_mask: 0 }))
    }

    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        for scaled in ArrayOrder::coordinates(chunks) {
            if let Some(location) = self.get(store, &scaled)? {
                visit(&scaled, location)?;
            }
        }
        Ok(())
    }
}
