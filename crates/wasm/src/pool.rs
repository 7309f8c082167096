//! The bytes of all sources that are in memory, and notes of the missing ones.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyperslab_exact::{to_u64, to_usize};

/// The size of a block: the smallest number of bytes that is fetched.
pub(crate) const BLOCK_BYTES: u64 = 64 << 10;

/// A block of a source: the number of the source, and the number of the block.
type Key = (u32, u64);

/// The blocks of all sources that are in memory.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    blocks: HashMap<Key, Block>,
    /// The blocks by their last use.
    by_use: BTreeMap<u64, Key>,
    clock: u64,
    bytes: u64,
    missing: BTreeSet<Key>,
    has_failed: bool,
    /// True if the attempt repeats one that missed bytes.
    is_repeated: bool,
}

#[derive(Debug)]
struct Block {
    bytes: Box<[u8]>,
    used: u64,
}

/// The blocks that an attempt did not find.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    /// The numbers of sources, and ranges of their bytes, joined where they touch. The last range
    /// of a source may reach beyond its end.
    pub(crate) ranges: Vec<(u32, Range<u64>)>,
    /// True if a read has failed, so that the answer is not complete.
    pub(crate) has_failed: bool,
}

impl State {
    fn touch(&mut self, key: Key) {
        let Some(block) = self.blocks.get_mut(&key) else { return };
        self.by_use.remove(&block.used);
        self.clock += 1;
        block.used = self.clock;
        self.by_use.insert(self.clock, key);
    }

    fn remove(&mut self, key: Key) {
        if let Some(block) = self.blocks.remove(&key) {
            self.by_use.remove(&block.used);
            self.bytes -= to_u64(block.bytes.len());
        }
    }
}

/// Returns the numbers of the blocks with the bytes of a range.
fn numbers(range: &Range<u64>) -> Range<u64> {
    range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES)
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an attempt, without missing blocks.
    pub(crate) fn begin(&self) {
        let mut state = self.state();
        state.missing.clear();
        state.is_repeated = std::mem::take(&mut state.has_failed);
    }

    /// Returns true if the attempt repeats one that missed bytes.
    pub(crate) fn is_repeated(&self) -> bool {
        self.state().is_repeated
    }

    /// Ends the attempt, and returns what it did not find.
    pub(crate) fn end(&self) -> Missing {
        let mut state = self.state();
        let mut ranges: Vec<(u32, Range<u64>)> = Vec::new();
        for (source, number) in std::mem::take(&mut state.missing) {
            let start = number * BLOCK_BYTES;
            match ranges.last_mut().filter(|(last, range)| *last == source && range.end == start) {
                Some((_, range)) => range.end = start + BLOCK_BYTES,
                None => ranges.push((source, start..start + BLOCK_BYTES)),
            }
        }
        Missing { ranges, has_failed: state.has_failed }
    }

    /// Notes the blocks of a range that are not in memory. Returns true if there are any.
    pub(crate) fn note(&self, source: u32, range: &Range<u64>) -> bool {
        let mut state = self.state();
        let mut any = false;
        for number in numbers(range) {
            if !state.blocks.contains_key(&(source, number)) {
                state.missing.insert((source, number));
                any = true;
            }
        }
        any
    }

    /// Fills a buffer with the bytes of a source from `offset` on. Returns false and notes the
    /// missing blocks if they are not all in memory.
    pub(crate) fn read(&self, source: u32, offset: u64, buffer: &mut [u8]) -> bool {
        let range = offset..offset + to_u64(buffer.len());
        if self.note(source, &range) {
            self.state().has_failed = true;
            return false;
        }
        let mut state = self.state();
        let mut rest = buffer;
        for number in numbers(&range) {
            let key = (source, number);
            state.touch(key);
            let start = range.start.max(number * BLOCK_BYTES) - number * BLOCK_BYTES;
            let Some(block) = state.blocks.get(&key) else { return false };
            let Some(bytes) = usize::try_from(start).ok().and_then(|start| block.bytes.get(start..)) else {
                return false;
            };
            let count = bytes.len().min(rest.len());
            let (Some(from), Some((to, after))) = (bytes.get(..count), rest.split_at_mut_checked(count))
            else {
                return false;
            };
            to.copy_from_slice(from);
            rest = after;
        }
        rest.is_empty()
    }

    /// Puts bytes of a source into memory. `offset` is the start of a block, and `bytes` end at the
    /// end of a block or of the source.
    pub(crate) fn insert(&self, source: u32, offset: u64, bytes: &[u8]) {
        let Ok(length) = to_usize(BLOCK_BYTES) else { return };
        let mut state = self.state();
        for (number, part) in (offset / BLOCK_BYTES..).zip(bytes.chunks(length)) {
            let key = (source, number);
            state.remove(key);
            state.bytes += to_u64(part.len());
            state.blocks.insert(key, Block { bytes: part.into(), used: 0 });
            state.touch(key);
        }
    }

    /// Returns the number of bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.state().bytes
    }

    /// Removes the blocks that were not used for the longest time, until at most `capacity` bytes
    /// are in memory.
    pub(crate) fn shrink(&self, capacity: u64) {
        let mut state = self.state();
        while state.bytes > capacity {
            let Some((_, key)) = state.by_use.first_key_value() else { break };
            let key = *key;
            state.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_across_blocks() {
        let bytes: Vec<u8> = (0..3 * BLOCK_BYTES - 10).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let pool = Pool::default();
        pool.begin();
        let mut buffer = [0; 100];
        assert!(!pool.read(1, BLOCK_BYTES - 50, &mut buffer));
        let missing = pool.end();
        assert_eq!((missing.ranges, missing.has_failed), (vec![(1, 0..2 * BLOCK_BYTES)], true));
        pool.insert(1, 0, &bytes);
        pool.begin();
        assert!(pool.read(1, BLOCK_BYTES - 50, &mut buffer));
        assert_eq!(buffer[..], bytes[65536 - 50..65536 + 50]);
        assert!(pool.read(1, 3 * BLOCK_BYTES - 20, &mut buffer[..10]));
        assert_eq!(buffer[..10], bytes[bytes.len() - 10..]);
        assert!(!pool.read(1, 3 * BLOCK_BYTES - 20, &mut buffer[..11]), "after the end of the source");
        assert!(!pool.read(0, 0, &mut buffer[..1]), "another source");
        assert_eq!(pool.end().ranges, [(0, 0..BLOCK_BYTES)]);
    }

    #[test]
    fn blocks_that_were_not_used_for_long_leave_first() {
        let pool = Pool::default();
        for number in 0..4 {
            pool.insert(0, number * BLOCK_BYTES, &[7; BLOCK_BYTES as usize]);
        }
        let mut buffer = [0; 1];
        assert!(pool.read(0, 5, &mut buffer));
        pool.shrink(2 * BLOCK_BYTES);
        assert_eq!(pool.bytes(), 2 * BLOCK_BYTES);
        assert!(pool.read(0, 5, &mut buffer) && pool.read(0, 3 * BLOCK_BYTES, &mut buffer));
        assert!(!pool.read(0, BLOCK_BYTES, &mut buffer));
    }
}
