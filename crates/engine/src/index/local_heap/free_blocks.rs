//! Free blocks of a local heap's data segment.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_format::local_heap::LocalHeapFreeBlock;

/// The free blocks of a local heap's data segment, by offset and by size. All blocks end below
/// 2^64.
#[derive(Debug, Clone, Default)]
pub(super) struct FreeBlocks {
    by_offset: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    /// Size of an entry of the free list in bytes. Smaller blocks are not in the list, and stay
    /// unused until an adjacent name is removed.
    least: u64,
}

impl FreeBlocks {
    /// Creates an empty set of free blocks of a local heap. Blocks of fewer than `least` bytes are
    /// too small for the heap's free list.
    pub(super) fn new(least: u64) -> Self {
        Self { least, ..Self::default() }
    }

    /// Returns the blocks in the free list of the local heap's data segment.
    pub(super) fn listed(&self) -> Vec<LocalHeapFreeBlock> {
        let listed = self.by_offset.iter().filter(|(_, size)| **size >= self.least);
        listed.map(|(&offset, &size)| LocalHeapFreeBlock { offset, size }).collect()
    }

    /// Returns the offset of the first block in the local heap's free list.
    pub(super) fn first(&self) -> Option<u64> {
        self.by_offset.iter().find(|(_, size)| **size >= self.least).map(|(offset, _)| *offset)
    }

    /// Removes `length` bytes from a local heap's free blocks and returns their offset. Takes a
    /// block of this size or, without such a block, the start of the smallest block whose remainder
    /// is large enough for the free list.
    pub(super) fn take(&mut self, length: u64) -> Option<u64> {
        let exact = self.by_size.range((length, 0)..).next().copied().filter(|(size, _)| *size == length);
        let larger = || self.by_size.range((length.checked_add(self.least)?, 0)..).next().copied();
        let (size, offset) = exact.or_else(larger)?;
        self.remove(offset, size);
        if size > length {
            self.insert(offset + length, size - length);
        }
        Some(offset)
    }

    /// Adds a free block to a local heap's free blocks, and joins it with adjacent free blocks. If
    /// some bytes of the block are already free, or if the block ends beyond 2^64, returns `false`
    /// and changes nothing.
    pub(super) fn add(&mut self, offset: u64, size: u64) -> bool {
        let Some(mut end) = offset.checked_add(size) else { return false };
        let mut start = offset;
        let before = self.by_offset.range(..end).next_back().map(|(offset, size)| (*offset, *size));
        if let Some((other, length)) = before {
            let other_end = other + length;
            if other_end > start {
                return false;
            }
            if other_end == start {
                self.remove(other, length);
                start = other;
            }
        }
        if let Some(&length) = self.by_offset.get(&end) {
            self.remove(end, length);
            end += length;
        }
        self.insert(start, end - start);
        true
    }

    /// Returns the size of the local heap's free block that ends at the offset `end`, or 0 if no
    /// free block ends there.
    pub(super) fn tail(&self, end: u64) -> u64 {
        let last = self.by_offset.iter().next_back();
        last.filter(|(offset, size)| **offset + **size == end).map_or(0, |(_, size)| *size)
    }

    /// Cuts bytes off the end of a local heap's free block. The block ends at the offset `end`
    /// before the call, and at `new_end` after it.
    pub(super) fn cut_tail(&mut self, end: u64, new_end: u64) {
        let size = self.tail(end);
        // The block ends at `end`, so it is not longer than `end`.
        let offset = end - size;
        if size > 0 && offset <= new_end {
            self.remove(offset, size);
            self.insert(offset, new_end - offset);
        }
    }

    fn insert(&mut self, offset: u64, size: u64) {
        if size > 0 {
            self.by_offset.insert(offset, size);
            self.by_size.insert((size, offset));
        }
    }

    fn remove(&mut self, offset: u64, size: u64) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(size, offset));
    }
}
