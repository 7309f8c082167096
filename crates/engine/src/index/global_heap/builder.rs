//! New global heap collections in memory, in file space that is allocated in advance.

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::global_heap::{GLOBAL_HEAP_MIN_SIZE, GlobalHeapCollection, GlobalHeapId};

use crate::error::{Error, Result};

/// Size in bytes of the largest global heap collection for more than one object, as in libhdf5.
pub(super) const MAX_SHARED_BYTES: usize = 64 << 10;

/// Returns the size in bytes of the next global heap collection after collections of `written`
/// bytes. Small heaps stay small, and large heaps have few collections.
pub(super) fn next_size(written: u64) -> Result<usize> {
    let share = to_usize((written / 4).min(to_u64(MAX_SHARED_BYTES)))?;
    Ok((share - share % GLOBAL_HEAP_MIN_SIZE).clamp(GLOBAL_HEAP_MIN_SIZE, MAX_SHARED_BYTES))
}

/// Creates an error about an object that does not fit even into a global heap collection without
/// other objects.
pub(super) fn does_not_fit() -> Error {
    Error::internal("global heap", "an object fits into a new collection")
}

/// A builder that creates collections of the global heap and fills them with objects.
#[derive(Debug, Clone)]
pub(super) struct Builder {
    params: FileParams,
    /// Start of the allocated space in which no collection lies yet.
    pub(super) start: u64,
    /// End of the allocated space.
    pub(super) end: u64,
    /// Total size of the new collections in bytes, which determines the size of the next
    /// collection.
    pub(super) written: u64,
    /// Size of the collection that did not fit into the allocated space, or 0.
    pub(super) wanted: u64,
    pub(super) full: Vec<(Address, GlobalHeapCollection)>,
    pub(super) current: Option<(Address, GlobalHeapCollection)>,
    /// The collection that existed before, to which the builder adds objects.
    old: Option<Address>,
    /// Size of a page in bytes, in a file with paged allocation.
    page: Option<u64>,
    /// Start and length of allocated space that was skipped up to the next page.
    pub(super) skipped: Vec<(u64, u64)>,
}

impl Builder {
    pub(super) fn new(params: FileParams, written: u64, page: Option<u64>) -> Self {
        Self {
            params,
            start: 0,
            end: 0,
            written,
            wanted: 0,
            full: Vec::new(),
            current: None,
            old: None,
            page: page.filter(|page| *page > 0),
            skipped: Vec::new(),
        }
    }

    /// Returns the first offset at or after the builder's offset at which a global heap collection
    /// of `size` bytes may begin. In a file with paged allocation, a collection smaller than a page
    /// must lie within a page, and a larger collection must begin at a page.
    fn start_for(&self, size: u64) -> Option<u64> {
        let Some(page) = self.page else { return Some(self.start) };
        let on_page = self.start.checked_rem(page)?;
        if on_page == 0 || (size < page && on_page.checked_add(size)? <= page) {
            return Some(self.start);
        }
        self.start.checked_next_multiple_of(page)
    }

    /// Sets the file space that the builder uses for new global heap collections: `length` bytes at
    /// `address`.
    pub(super) fn set_space(&mut self, address: Address, length: u64) -> Result<()> {
        let end = address.raw().checked_add(length);
        self.end = end.ok_or_else(|| Error::internal("global heap", "allocated space ends below 2^64"))?;
        self.start = address.raw();
        Ok(())
    }

    /// Adds an existing collection of the global heap to the builder, which fills this collection
    /// first.
    pub(super) fn with(mut self, address: Address, collection: GlobalHeapCollection) -> Self {
        self.old = Some(address);
        self.current = Some((address, collection));
        self
    }

    /// Returns whether this builder of global heap collections has created the collection at
    /// `address`.
    pub(super) fn is_new(&self, address: Address) -> bool {
        self.old != Some(address)
    }

    /// Inserts an object into the builder's current global heap collection or into a new one. If
    /// the allocated space is too small for a new collection, returns `None` and sets `wanted` to
    /// the size of this collection.
    pub(super) fn insert(&mut self, bytes: &[u8]) -> Result<Option<GlobalHeapId>> {
        if let Some((address, collection)) = &mut self.current
            && let Some(index) = collection.insert(bytes)?
        {
            return Ok(Some(GlobalHeapId { collection: *address, index: index.into() }));
        }
        let least = GlobalHeapCollection::size_for(bytes.len(), self.params);
        let size = least.max(next_size(self.written)?);
        let length = to_u64(size);
        let start = self.start_for(length);
        let end = start.and_then(|start| start.checked_add(length)).filter(|end| *end <= self.end);
        let (Some(start), Some(end)) = (start, end) else {
            self.wanted = length;
            return Ok(None);
        };
        let mut collection = GlobalHeapCollection::new(size, self.params)?;
        let index = collection.insert(bytes)?.ok_or_else(does_not_fit)?;
        let written = self.written.checked_add(length).ok_or_else(does_not_fit)?;
        if self.start < start {
            self.skipped.push((self.start, start - self.start));
        }
        let address = Address::new(start);
        (self.start, self.written) = (end, written);
        // Of the two collections, the collection with more free space stays open. A large object
        // fills a collection of its own.
        let before = self.current.replace((address, collection));
        self.full.extend(before);
        if let (Some((_, now)), Some((_, last))) = (&self.current, self.full.last())
            && last.free_space() > now.free_space()
            && let Some(last) = self.full.pop()
        {
            self.full.extend(self.current.replace(last));
        }
        Ok(Some(GlobalHeapId { collection: address, index: index.into() }))
    }

    /// Removes and returns all global heap collections of the builder.
    pub(super) fn take_all(&mut self) -> Vec<(Address, GlobalHeapCollection)> {
        let mut all = std::mem::take(&mut self.full);
        all.extend(self.current.take());
        all
    }
}
