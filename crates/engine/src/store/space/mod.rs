//! Who has which bytes of the file: allocation, and reuse of what was freed.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_format::codec::Address;

use crate::error::{Error, Result};

/// What a block is for, in the order in which file space info messages list their managers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpaceKind {
    /// The superblock and its extension.
    Superblock,
    /// Nodes of B-trees, symbol tables, super blocks of extensible arrays.
    BTree,
    /// Elements of datasets, huge objects of fractal heaps.
    RawData,
    /// Collections of the global heap.
    GlobalHeap,
    /// Local heaps, direct blocks of fractal heaps, data blocks of arrays, sections of free space.
    LocalHeap,
    /// Object headers, and the headers and index blocks of heaps and arrays.
    ObjectHeader,
}

/// The space of one file. Addresses count from its base.
#[derive(Debug)]
pub(crate) struct Space {
    /// The first byte behind all that is allocated.
    end: u64,
    /// Free sections: start and length.
    free: BTreeMap<u64, u64>,
    /// The same by length.
    by_length: BTreeSet<(u64, u64)>,
    /// What was freed since the last commit and may be in the file as committed.
    pending: Vec<(u64, u64)>,
    /// The end at the last commit: blocks behind it are in no committed file.
    committed_end: u64,
    /// The highest address that the width of offsets can say, and one more.
    limit: u64,
}

impl Space {
    /// The space of a file whose bytes up to `end` are taken.
    pub(crate) fn new(end: u64, limit: u64) -> Self {
        let (free, by_length) = (BTreeMap::new(), BTreeSet::new());
        Self { end, free, by_length, pending: Vec::new(), committed_end: end, limit }
    }

    /// The first byte behind all that is allocated.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Gives away `length` bytes.
    pub(crate) fn allocate(&mut self, _kind: SpaceKind, length: u64) -> Result<Address> {
        if let Some(&(size, start)) = self.by_length.range((length, 0)..).next() {
            self.take(start, size);
            if size > length {
                self.put(start.saturating_add(length), size.saturating_sub(length));
            }
            return Ok(Address::new(start));
        }
        let start = self.end;
        let end = start.checked_add(length).filter(|end| *end < self.limit).ok_or_else(|| Error::Limit {
            what: "the size of the file".into(),
            got: start.saturating_add(length),
            limit: self.limit,
        })?;
        self.end = end;
        Ok(Address::new(start))
    }

    /// Takes bytes back.
    pub(crate) fn free(&mut self, _kind: SpaceKind, address: Address, length: u64) {
        let Some(start) = address.get().filter(|_| length > 0) else { return };
        if start >= self.committed_end {
            self.put(start, length);
        } else {
            self.pending.push((start, length));
        }
    }

    /// Lets what was freed be used again: the file as it is now is committed.
    pub(crate) fn settle(&mut self) {
        for (start, length) in std::mem::take(&mut self.pending) {
            self.put(start, length);
        }
        self.committed_end = self.end;
    }

    fn take(&mut self, start: u64, length: u64) {
        self.free.remove(&start);
        self.by_length.remove(&(length, start));
    }

    fn put(&mut self, start: u64, length: u64) {
        let (mut start, mut length) = (start, length);
        if let Some((&before, &size)) = self.free.range(..start).next_back()
            && before.saturating_add(size) == start
        {
            self.take(before, size);
            start = before;
            length = length.saturating_add(size);
        }
        if let Some(&size) = self.free.get(&start.saturating_add(length)) {
            self.take(start.saturating_add(length), size);
            length = length.saturating_add(size);
        }
        if start.saturating_add(length) == self.end {
            self.end = start;
            return;
        }
        self.free.insert(start, length);
        self.by_length.insert((length, start));
    }
}
