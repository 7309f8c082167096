//! Unused parts of a local heap's data segment.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_format::local_heap::LocalHeapFreeBlock;

/// Unused parts by offset and by size.
#[derive(Debug, Clone, Default)]
pub(super) struct FreeBlocks {
    by_offset: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    /// Fewer bytes than this cannot stand in the list, and are lost unless their neighbours come free.
    least: u64,
}

impl FreeBlocks {
    /// No blocks; those of at least `least` bytes can be listed.
    pub(super) fn new(least: u64) -> Self {
        Self { least, ..Self::default() }
    }

    /// The blocks that the heap lists.
    pub(super) fn listed(&self) -> Vec<LocalHeapFreeBlock> {
        let listed = self.by_offset.iter().filter(|(_, size)| **size >= self.least);
        listed.map(|(&offset, &size)| LocalHeapFreeBlock { offset, size }).collect()
    }

    /// Where the first of them lies.
    pub(super) fn first(&self) -> Option<u64> {
        self.by_offset.iter().find(|(_, size)| **size >= self.least).map(|(offset, _)| *offset)
    }

    /// Takes `length` bytes of the block that is closest in size.
    pub(super) fn take(&mut self, length: u64) -> Option<u64> {
        let exact = self.by_size.range((length, 0)..).next().copied().filter(|(size, _)| *size == length);
        let larger = || self.by_size.range((length.checked_add(self.least)?, 0)..).next().copied();
        let (size, offset) = exact.or_else(larger)?;
        self.forget(offset, size);
        if size > length {
            self.note(offset.saturating_add(length), size.saturating_sub(length));
        }
        Some(offset)
    }

    /// Adds a block, joined with its neighbours; `false`, and nothing is changed, if some of it is free already.
    pub(super) fn add(&mut self, offset: u64, size: u64) -> bool {
        let (mut start, mut end) = (offset, offset.saturating_add(size));
        let before = self.by_offset.range(..end).next_back().map(|(offset, size)| (*offset, *size));
        if let Some((other, length)) = before {
            let other_end = other.saturating_add(length);
            if other_end > start {
                return false;
            }
            if other_end == start {
                self.forget(other, length);
                start = other;
            }
        }
        if let Some(&length) = self.by_offset.get(&end) {
            self.forget(end, length);
            end = end.saturating_add(length);
        }
        self.note(start, end.saturating_sub(start));
        true
    }

    /// Bytes of the block that ends at `end`, or 0.
    pub(super) fn tail(&self, end: u64) -> u64 {
        let last = self.by_offset.iter().next_back();
        last.filter(|(offset, size)| offset.saturating_add(**size) == end).map_or(0, |(_, size)| *size)
    }

    /// Cuts the block that ends at `end`, so that it ends at `new_end`.
    pub(super) fn cut_tail(&mut self, end: u64, new_end: u64) {
        let size = self.tail(end);
        let offset = end.saturating_sub(size);
        if size > 0 && offset <= new_end {
            self.forget(offset, size);
            self.note(offset, new_end.saturating_sub(offset));
        }
    }

    fn note(&mut self, offset: u64, size: u64) {
        if size > 0 {
            self.by_offset.insert(offset, size);
            self.by_size.insert((size, offset));
        }
    }

    fn forget(&mut self, offset: u64, size: u64) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(size, offset));
    }
}
