//! The cache of decoded chunks: one for all datasets of a file.

use std::fmt;
use std::sync::{Arc, OnceLock};

use hyperslab_format::codec::Address;
use quick_cache::sync::Cache;

use crate::store::cache;

/// Bytes that an entry takes besides its chunk.
const OVERHEAD: u64 = 128;

/// The object header of a dataset, and the address of one of its chunks: in a damaged file two datasets may have the
/// same chunk and decode it in different ways.
pub(in crate::data) type ChunkKey = (Address, Address);

/// A decoded chunk that can be kept.
pub trait Kept: Clone + Send + Sync {
    /// Bytes that it takes.
    fn kept_bytes(&self) -> u64;
}

impl Kept for Arc<[u8]> {
    fn kept_bytes(&self) -> u64 {
        self.len() as u64
    }
}

/// Chunks by their addresses, at most so many bytes of them, in shards that do not wait for each other. A chunk
/// that was asked for once gives way before one that was asked for again, so that a walk over a whole dataset does
/// not drive out what others work with.
pub struct ChunkCache<C: Kept = Arc<[u8]>> {
    /// Made for the first chunk.
    chunks: OnceLock<Cache<ChunkKey, C, ByBytes>>,
    capacity: u64,
}

#[derive(Debug, Clone)]
struct ByBytes;

impl<C: Kept> quick_cache::Weighter<ChunkKey, C> for ByBytes {
    fn weight(&self, _: &ChunkKey, chunk: &C) -> u64 {
        chunk.kept_bytes() + OVERHEAD
    }
}

impl<C: Kept> ChunkCache<C> {
    /// A cache of at most `bytes` bytes; of none if that is 0.
    pub fn new(bytes: u64) -> Self {
        Self { chunks: OnceLock::new(), capacity: bytes }
    }

    /// The bytes that are kept at most.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The bytes that are kept now.
    pub fn bytes(&self) -> u64 {
        self.chunks.get().map_or(0, Cache::weight)
    }

    /// The chunk stored at an address, if it is kept.
    pub(in crate::data) fn get(&self, key: ChunkKey) -> Option<C> {
        self.chunks.get()?.get(&key)
    }

    /// Returns whether chunks of `bytes` bytes in all are worth keeping: if they leave room for others.
    pub(in crate::data) fn takes(&self, bytes: u64) -> bool {
        bytes <= self.capacity / 2
    }

    /// Forgets a chunk: its bytes in the file change.
    pub(in crate::data) fn remove(&self, key: ChunkKey) {
        if let Some(chunks) = self.chunks.get() {
            chunks.remove(&key);
        }
    }

    /// Forgets all chunks.
    pub fn clear(&self) {
        if let Some(chunks) = self.chunks.get() {
            chunks.clear();
        }
    }

    /// Keeps a decoded chunk.
    pub(in crate::data) fn insert(&self, key: ChunkKey, chunk: C) {
        if self.capacity == 0 {
            return;
        }
        // What the cache itself takes grows with the number of entries it is made for: chunks of 64 KiB.
        let entries = (self.capacity / (64 << 10)).clamp(16, 1 << 20);
        self.chunks.get_or_init(|| cache(entries as usize, self.capacity, ByBytes)).insert(key, chunk);
    }
}

impl<C: Kept> fmt::Debug for ChunkCache<C> {
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

    fn chunk(byte: u8) -> Arc<[u8]> {
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
        assert!(cache.takes(32 << 10) && !cache.takes(64 << 10));
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
        let left = (0..100).filter(|at| cache.get(key(*at)).is_some()).count();
        assert!(left > 90, "{left} of 100 are left");
    }
}
