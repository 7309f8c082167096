//! The chunk index of a dataset with a single chunk, whose address is in the layout message.

use super::{AtChunk, ChunkBox, ChunkIndex, ChunkIndexKind, Entry};
use crate::error::Result;
use crate::store::Store;

/// The chunk index of a dataset with a single chunk: the location of this chunk, if it is stored.
#[derive(Debug)]
pub(super) struct SingleIndex<E> {
    pub(super) rank: usize,
    pub(super) location: Option<E>,
}

impl<E: Entry> ChunkIndex<E> for SingleIndex<E> {
    fn kind(&self) -> ChunkIndexKind {
        ChunkIndexKind::Single
    }

    fn get(&self, _store: &Store, scaled: &[u64]) -> Result<Option<E>> {
        Ok(self.location.filter(|_| scaled.iter().all(|at| *at == 0)))
    }

    fn for_each_in(&self, _store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()> {
        let scaled = vec![0; self.rank];
        match self.location {
            Some(location) if chunks.contains(&scaled) => visit(&scaled, location),
            _ => Ok(()),
        }
    }

    fn bytes(&self, _store: &Store) -> Result<u64> {
        Ok(0)
    }
}
