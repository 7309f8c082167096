//! The resources that the reads and writes of one file share.

use std::sync::{Arc, Mutex, PoisonError};

use hyperslab_dataspace::TileScratch;
use hyperslab_filter::Scratch;

use super::{ChunkCache, DefinedChunk};
use crate::error::Result;
use crate::memory::lengthen;
use crate::store::Store;

/// Buffers that are kept for the next read, and bytes up to which one is.
const KEPT_BUFFERS: usize = 64;
const KEPT_BYTES: usize = 4 << 20;

/// The resources that the reads and writes of one file share: decoded chunks, and buffers.
#[derive(Debug)]
pub struct Resources {
    /// Decoded chunks.
    pub chunks: ChunkCache,
    /// Decoded structured chunks.
    pub structured: ChunkCache<Arc<DefinedChunk>>,
    rooms: Mutex<Vec<Room>>,
}

/// The buffers of one thread that fetches, decodes and converts.
#[derive(Debug, Default)]
pub(in crate::data) struct Room {
    /// Bytes as they come from the file.
    pub(in crate::data) fetched: Vec<u8>,
    /// A decoded chunk.
    pub(in crate::data) decoded: Vec<u8>,
    /// Buffers of filters.
    pub(in crate::data) filters: Scratch,
    /// Buffers of conversions.
    pub(in crate::data) tiles: TileScratch,
}

/// The file of one read.
#[derive(Debug, Clone, Copy)]
pub struct ReadContext<'a> {
    /// Its bytes.
    pub store: &'a Store,
    /// The resources of the file.
    pub resources: &'a Resources,
}

impl Resources {
    /// Returns empty chunk caches of that many bytes: one for flat chunks, one for structured ones.
    pub fn new(chunk_cache_bytes: u64) -> Self {
        Self {
            chunks: ChunkCache::new(chunk_cache_bytes),
            structured: ChunkCache::new(chunk_cache_bytes),
            rooms: Mutex::default(),
        }
    }
}

impl ReadContext<'_> {
    /// Calls `work` with buffers that no other thread uses meanwhile.
    pub(in crate::data) fn in_room<T>(&self, work: impl FnOnce(&mut Room) -> T) -> T {
        let rooms = || self.resources.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let known = rooms().pop();
        let mut room = known.unwrap_or_default();
        let outcome = work(&mut room);
        for buffer in [&mut room.fetched, &mut room.decoded] {
            if buffer.capacity() > KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
        room.filters.trim(KEPT_BYTES);
        let mut rooms = rooms();
        if rooms.len() < KEPT_BUFFERS {
            rooms.push(room);
        }
        outcome
    }
}

/// The first `length` bytes of a buffer that is made longer if need be. What they hold is not defined.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if memory has no room for them.
pub(in crate::data) fn room_of(buffer: &mut Vec<u8>, length: usize) -> Result<&mut [u8]> {
    lengthen(buffer, length, "chunk")?;
    Ok(buffer.split_at_mut(length).0)
}
