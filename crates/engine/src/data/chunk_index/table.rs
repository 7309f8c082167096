//! The trait of indexes that are changed.

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;
use hyperslab_format::message::ChunkedLayout;

use super::{AtChunk, ChunkLocation};
use crate::error::Result;
use crate::store::{Edit, Store};

/// Where the chunks of a dataset lie, to be changed.
pub trait ChunkTable: Send + std::fmt::Debug {
    /// The place of one chunk, or `None` if it is not stored.
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>>;

    /// Returns whether no chunk is stored.
    fn is_empty(&self) -> bool;

    /// Returns whether none of these chunks, in C order of their coordinates, is stored.
    fn has_none_of(&self, store: &Store, chunks: &[(Dims, ChunkLocation)]) -> Result<bool> {
        for (scaled, _) in chunks {
            if self.get(store, scaled)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts chunks to new places, in C order of their coordinates; what was known of them is replaced.
    fn insert(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()>;

    /// Puts all that waits for it into the index.
    fn flush(&mut self, _edit: &mut Edit<'_>) -> Result<()> {
        Ok(())
    }

    /// Lets nothing be changed in place that readers may be on the way to, if others read the file while it is written.
    ///
    /// # Errors
    /// The errors of reading the index and of allocating.
    fn republish(&mut self, _edit: &mut Edit<'_>) -> Result<()> {
        Ok(())
    }

    /// Returns whether the index keeps its chunks in order: many that come in order at once cost far less than each alone.
    fn is_ordered(&self) -> bool {
        false
    }

    /// Returns whether something waits for [`flush`](Self::flush).
    fn is_ahead(&self) -> bool {
        false
    }

    /// Forgets a chunk; gives where it was. Its bytes are the caller's to free.
    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<ChunkLocation>>;

    /// Gives all chunks that there may ever be their room at once, if the index wants that and they have none yet: first byte
    /// and bytes. They are zeros if `zeroed`.
    fn reserve(&mut self, _edit: &mut Edit<'_>, _zeroed: bool) -> Result<Option<(Address, u64)>> {
        Ok(None)
    }

    /// Returns whether chunks have their room for ever, so that [`remove`](Self::remove) takes none out.
    fn keeps_all(&self) -> bool {
        false
    }

    /// The layout message, if it is to say other than `before`.
    fn changed_layout(&self, before: &ChunkedLayout) -> Option<ChunkedLayout>;

    /// Gives the room of all chunks and of the index back.
    fn delete(&mut self, edit: &mut Edit<'_>) -> Result<()>;

    /// Gives all chunks coordinates that are greater by `count` along a dimension.
    fn shift(&mut self, edit: &mut Edit<'_>, axis: usize, count: i64) -> Result<()>;

    /// Visits all chunks.
    fn for_each(&self, store: &Store, visit: &mut AtChunk<'_>) -> Result<()>;
}
