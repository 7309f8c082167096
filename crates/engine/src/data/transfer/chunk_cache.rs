//! The cache of decoded chunks: one for all datasets of a file.

use std::fmt;
use std::sync::{Arc, OnceLock};

use hyperslab_format::codec::Address;
use quick_cache::sync::Cache;

use crate::store::cache;

/// Estimated memory in bytes of an entry of the chunk cache, without the chunk.
const ENTRY_BYTES: u64 = 128;

/// The key of a chunk in the chunk cache: the addresses of the dataset's object header and of the
/// chunk. Both are necessary, because two datasets in a damaged file may share a chunk and decode
/// it differently.
pub(in crate::data) type ChunkKey = (Address, Address);

/// A trait of decoded chunks that the chunk cache ([`ChunkCache`]) can keep.
pub trait CachedChunk: Clone + Send + Sync {
    /// Returns the number of bytes that the decoded chunk takes in memory, which counts toward the
    /// limit of the chunk cache.
    fn weight_bytes(&self) -> u64;
}

impl CachedChunk for Arc<Vec<u8>> {
    fn weight_bytes(&self) -> u64 {
        self.len() as u64
    }
}

/// A cache of decoded chunks by their addresses, with a limit in bytes. Its shards (parts) have
/// separate locks. Chunks that were used only once are evicted first. A walk over a whole dataset
/// therefore does not evict the chunks that other readers use repeatedly.
pub struct ChunkCache<C: CachedChunk = Arc<Vec<u8>>> {
    /// The chunks. Created when the first chunk is inserted.
    chunks: OnceLock<Cache<ChunkKey, C, ByBytes>>,
    capacity: u64,
}

#[derive(Debug, Clone)]
struct ByBytes;

impl<C: CachedChunk> quick_cache::Weighter<ChunkKey, C> for ByBytes {
    fn weight(&self, _: &ChunkKey, chunk: &C) -> u64 {
        chunk.weight_bytes() + ENTRY_BYTES
    }
}

impl<C: CachedChunk> ChunkCache<C> {
    /// Creates a chunk cache of up to `bytes` bytes. With 0 bytes, the chunk cache keeps no chunks.
    pub fn new(bytes: u64) -> Self {
        Self { chunks: OnceLock::new(), capacity: bytes }
    }

    /// Returns the largest number of bytes that the chunk cache may hold.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the number of bytes that the chunk cache holds now.
    pub fn bytes(&self) -> u64 {
        self.chunks.get().map_or(0, Cache::weight)
    }

    /// Returns a decoded chunk, if the chunk cache holds it.
    pub(in crate::data) fn get(&self, key: ChunkKey) -> Option<C> {
        self.chunks.get()?.get(&key)
    }

    /// Removes a decoded chunk from the chunk cache, and returns the chunk if the cache held it. A
    /// caller that is about to change the chunk can then reuse its memory.
    pub(in crate::data) fn take(&self, key: ChunkKey) -> Option<C> {
        self.chunks.get()?.remove(&key).map(|(_, chunk)| chunk)
    }

    /// Returns whether the chunk cache accepts chunks of `bytes` bytes in total. The chunk cache
    /// refuses chunks that need more than half of its memory.
    pub(in crate::data) fn takes(&self, bytes: impl Into<u128>) -> bool {
        bytes.into() <= u128::from(self.capacity / 2)
    }

    /// Removes a chunk from the chunk cache, because the stored bytes of the chunk change.
    pub(in crate::data) fn remove(&self, key: ChunkKey) {
        if let Some(chunks) = self.chunks.get() {
            chunks.remove(&key);
        }
    }

    /// Removes all chunks from the chunk cache.
    pub fn clear(&self) {
        if let Some(chunks) = self.chunks.get() {
            chunks.clear();
        }
    }

    /// Inserts a decoded chunk into the chunk cache.
    pub(in crate::data) fn insert(&self, key: ChunkKey, chunk: C) {
        if self.capacity == 0 {
            return;
        }
        // The memory of an empty cache grows with the number of entries. The number assumes chunks
        // of 64 KiB.
        let entries = (self.capacity / (64 << 10)).clamp(16, 1 << 20);
        self.chunks.get_or_init(|| cache(entries as usize, self.capacity, ByBytes)).insert(key, chunk);
    }
}

impl<C: CachedChunk> fmt::Debug for ChunkCache<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkCache").field("bytes", &self.bytes()).field("capacity", &self.capacity).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(at: u64) -> ChunkKey {
        (Address::new(96), Address::new(at))
    }

    fn chunk(byte: u8) -> Arc<Vec<u8>> {
        vec![byte; 1000].into()
    }

    #[test]
    fn no_more_than_its_bytes_are_kept() {
        let cache: ChunkCache = ChunkCache::new(64 << 10);
        for at in 0..1000 {
            cache.insert(key(at), chunk(1));
            assert!(cache.bytes() <= 64 << 10);
        }
        assert!(cache.bytes() > 32 << 10);
        assert!(cache.takes(32_u64 << 10) && !cache.takes(64_u64 << 10));
        let none: ChunkCache = ChunkCache::new(0);
        none.insert(key(1), chunk(1));
        assert_eq!((none.bytes(), none.get(key(1))), (0, None));
    }

    #[test]
    fn a_walk_does_not_drive_out_what_is_used() {
        let cache: ChunkCache = ChunkCache::new(1 << 20);
        for at in 0..100 {
            cache.insert(key(at), chunk(7));
        }
        for _ in 0..3 {
            (0..100).for_each(|at| assert!(cache.get(key(at)).is_some()));
        }
        for at in 1000..20_000 {
            cache.insert(key(at), chunk(1));
        }
        let remaining = (0..100).filter(|at| cache.get(key(*at)).is_some()).count();
        assert!(remaining > 90, "{remaining} of 100 are left");
    }
}
