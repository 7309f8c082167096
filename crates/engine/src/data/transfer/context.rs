//! The resources that all raw data reads and writes of one file share.

use std::sync::{Arc, Mutex, PoisonError};

use hyperslab_dataspace::TileScratch;
use hyperslab_filter::Scratch;

use super::{ChunkCache, DefinedChunk};
use crate::error::Result;
use crate::memory::lengthen;
use crate::store::Store;

/// Largest number of sets of read buffers (each for one thread) that a file keeps in memory for
/// later operations.
const MAX_KEPT_BUFFERS: usize = 64;
/// Largest capacity in bytes of a read buffer that a file keeps for later operations.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// The resources that all reads and writes of raw data in one file share: caches of decoded chunks,
/// and buffers.
#[derive(Debug)]
pub struct Resources {
    /// Decoded chunks.
    pub chunks: ChunkCache,
    /// Decoded structured chunks.
    pub structured: ChunkCache<Arc<DefinedChunk>>,
    /// True if chunks that were read whole stay in the cache. Otherwise only the chunks stay of
    /// which a read left elements for later reads.
    keeps_whole: bool,
    buffers: Mutex<Vec<Buffers>>,
}

/// The buffers that one thread uses to read, decode and convert elements.
#[derive(Debug, Default)]
pub(in crate::data) struct Buffers {
    /// Bytes as the file stores them.
    pub(in crate::data) fetched: Vec<u8>,
    /// A decoded chunk.
    pub(in crate::data) decoded: Vec<u8>,
    /// Buffers of filters.
    pub(in crate::data) filters: Scratch,
    /// Buffers of conversions.
    pub(in crate::data) tiles: TileScratch,
}

/// The file from which a read of raw data takes elements, and the shared resources of the file.
#[derive(Debug, Clone, Copy)]
pub struct ReadContext<'a> {
    /// The bytes of the file.
    pub store: &'a Store,
    /// The resources of the file.
    pub resources: &'a Resources,
}

impl Resources {
    /// Creates the shared raw data resources of a file, with empty caches for decoded chunks.
    /// Ordinary chunks and structured chunks have separate caches, of up to `chunk_cache_bytes`
    /// bytes each.
    pub fn new(chunk_cache_bytes: u64) -> Self {
        Self {
            chunks: ChunkCache::new(chunk_cache_bytes),
            structured: ChunkCache::new(chunk_cache_bytes),
            keeps_whole: false,
            buffers: Mutex::default(),
        }
    }

    /// Sets whether chunks that were read whole stay in the cache.
    #[must_use]
    pub fn keep_whole_chunks(self, keeps_whole: bool) -> Self {
        Self { keeps_whole, ..self }
    }

    /// Returns whether a chunk of which `is_whole` states that all elements were read may stay in
    /// the cache.
    pub(in crate::data) fn keeps(&self, is_whole: bool) -> bool {
        self.keeps_whole || !is_whole
    }
}

impl ReadContext<'_> {
    /// Calls `work` with a set of read buffers that no other thread uses during the call.
    pub(in crate::data) fn with_buffers<T>(&self, work: impl FnOnce(&mut Buffers) -> T) -> T {
        let kept = || self.resources.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let reused = kept().pop();
        // Without kept buffers, the thread begins with empty ones.
        let mut buffers = reused.unwrap_or_default();
        let outcome = work(&mut buffers);
        for buffer in [&mut buffers.fetched, &mut buffers.decoded] {
            if buffer.capacity() > MAX_KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
        buffers.filters.trim(MAX_KEPT_BYTES);
        let mut kept = kept();
        if kept.len() < MAX_KEPT_BUFFERS {
            kept.push(buffers);
        }
        outcome
    }
}

/// Returns the first `length` bytes of a byte buffer. Lengthens the buffer if necessary. The values
/// of the bytes are not defined.
///
/// # Errors
/// Returns [`Error::Memory`](crate::Error::Memory) if the allocation fails.
pub(in crate::data) fn sized_buffer(buffer: &mut Vec<u8>, length: usize) -> Result<&mut [u8]> {
    lengthen(buffer, length, "chunk")?;
    Ok(buffer.split_at_mut(length).0)
}
