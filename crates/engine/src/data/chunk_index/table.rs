//! The trait of chunk indexes that can be changed.

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;
use hyperslab_format::message::ChunkedLayout;

use super::{AtChunk, ChunkLocation};
use crate::error::Result;
use crate::store::{Edit, Store};

/// A trait of tables of a dataset's chunk locations that can be changed: a chunk index, or a buffer
/// of new entries for a chunk index.
pub trait ChunkTable: Send + std::fmt::Debug {
    /// Returns the location in the file of a chunk, or `None` if the chunk is not stored.
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>>;

    /// Returns whether the table of chunk locations holds no stored chunk.
    fn is_empty(&self) -> bool;

    /// Returns whether none of the given chunks is stored in the file. The chunks are in C order of
    /// their coordinates.
    fn has_none_of(&self, store: &Store, chunks: &[(Dims, ChunkLocation)]) -> Result<bool> {
        for (scaled, _) in chunks {
            if self.get(store, scaled)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Inserts or replaces locations in the table of chunk locations. The chunks are in C order of
    /// their coordinates.
    fn insert(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()>;

    /// Writes all dirty entries of the table of chunk locations into the chunk index.
    fn flush(&mut self, _edit: &mut Edit<'_>) -> Result<()> {
        Ok(())
    }

    /// Prepares the chunk index for changes while SWMR readers read it: copies the blocks that a
    /// reader may read, so that no change happens in place.
    ///
    /// # Errors
    /// Returns errors of reading the index and of allocating.
    fn republish(&mut self, _edit: &mut Edit<'_>) -> Result<()> {
        Ok(())
    }

    /// Returns whether the chunk index keeps its chunks in order. If it does, inserting many chunks
    /// in order is much faster than inserting each chunk separately.
    fn is_ordered(&self) -> bool {
        false
    }

    /// Returns whether the table of chunk locations has dirty entries. If it has,
    /// [`flush`](Self::flush) must be called.
    fn is_dirty(&self) -> bool {
        false
    }

    /// Removes a chunk from the table of chunk locations and returns its location. The caller frees
    /// the chunk's bytes.
    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<ChunkLocation>>;

    /// Allocates the file space of all possible chunks at once, if this kind of chunk index
    /// requires that and the space is not yet allocated. Returns the address and the number of
    /// bytes of the space. If `zeroed` is true, fills the space with zeros.
    fn reserve(&mut self, _edit: &mut Edit<'_>, _zeroed: bool) -> Result<Option<(Address, u64)>> {
        Ok(None)
    }

    /// Returns whether all chunks in this table of chunk locations keep their file space
    /// permanently. If they do, [`remove`](Self::remove) removes no chunk.
    fn keeps_all(&self) -> bool {
        false
    }

    /// Returns the current layout message of a chunked dataset, if the message differs from
    /// `before`.
    fn changed_layout(&self, before: &ChunkedLayout) -> Option<ChunkedLayout>;

    /// Frees the file space of all chunks of a dataset and of the chunk index.
    fn delete(&mut self, edit: &mut Edit<'_>) -> Result<()>;

    /// Adds `count` to the coordinates along dimension `axis` of all chunks in the table of chunk
    /// locations.
    fn shift(&mut self, edit: &mut Edit<'_>, axis: usize, count: i64) -> Result<()>;

    /// Calls a function for each chunk in the table of chunk locations, with the coordinates and
    /// the location of the chunk.
    fn for_each(&self, store: &Store, visit: &mut AtChunk<'_>) -> Result<()>;
}
