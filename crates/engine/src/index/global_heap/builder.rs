//! Filling collections in memory, at addresses that were set aside for them.

use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::global_heap::{GLOBAL_HEAP_MIN_SIZE, GlobalHeapCollection, GlobalHeapId};

use crate::error::Result;

/// The largest collection that is made for more than one object, as in libhdf5.
pub(super) const LARGEST: usize = 64 << 10;

/// The size of the next collection where that many bytes went into others before: small heaps stay small, large
/// ones have few collections.
pub(super) fn next_size(written: u64) -> usize {
    let share = usize::try_from(written / 4).unwrap_or(LARGEST);
    (share - share % GLOBAL_HEAP_MIN_SIZE).clamp(GLOBAL_HEAP_MIN_SIZE, LARGEST)
}

/// Collections that are being filled.
#[derive(Debug, Clone)]
pub(super) struct Builder {
    params: FileParams,
    /// Set aside, and not yet a collection.
    pub(super) start: u64,
    pub(super) end: u64,
    /// Bytes that went into collections, to choose the sizes of the next ones.
    pub(super) written: u64,
    /// Bytes that were missing at the end of what is set aside.
    pub(super) wanted: u64,
    pub(super) full: Vec<(Address, GlobalHeapCollection)>,
    pub(super) current: Option<(Address, GlobalHeapCollection)>,
    /// A collection that was there before.
    old: Option<Address>,
    /// Bytes of a page, in a file in which blocks keep to pages.
    page: Option<u64>,
    /// What was skipped of what is set aside, up to the next page.
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

    /// Where a collection of that size may begin, from `start` on: in a file of pages, on one page if it is shorter than one,
    /// else at the beginning of one.
    fn place_for(&self, size: u64) -> Option<u64> {
        let Some(page) = self.page else { return Some(self.start) };
        let on_page = self.start.checked_rem(page)?;
        if on_page == 0 || (size < page && on_page.checked_add(size)? <= page) {
            return Some(self.start);
        }
        self.start.checked_next_multiple_of(page)
    }

    /// Goes on with a collection that is there.
    pub(super) fn with(mut self, address: Address, collection: GlobalHeapCollection) -> Self {
        self.old = Some(address);
        self.current = Some((address, collection));
        self
    }

    /// Returns whether the collection at `address` is one that was made here.
    pub(super) fn is_new(&self, address: Address) -> bool {
        self.old != Some(address)
    }

    /// Puts an object into the current collection, or into a new one. `None` if nothing is set aside for that.
    pub(super) fn insert(&mut self, bytes: &[u8]) -> Result<Option<GlobalHeapId>> {
        if let Some((address, collection)) = &mut self.current
            && let Some(index) = collection.insert(bytes)?
        {
            return Ok(Some(GlobalHeapId { collection: *address, index: index.into() }));
        }
        let least = GlobalHeapCollection::size_for(bytes.len(), self.params);
        let size = least.max(next_size(self.written));
        let start = self.place_for(size as u64);
        let end = start.and_then(|start| start.checked_add(size as u64)).filter(|end| *end <= self.end);
        let (Some(start), Some(end)) = (start, end) else {
            self.wanted = size as u64;
            return Ok(None);
        };
        let mut collection = GlobalHeapCollection::new(size, self.params)?;
        let Some(index) = collection.insert(bytes)? else { return Ok(None) };
        if self.start < start {
            self.skipped.push((self.start, start.saturating_sub(self.start)));
        }
        let address = Address::new(start);
        (self.start, self.written) = (end, self.written.saturating_add(size as u64));
        // What has more room stays open: a large object fills a collection of its own.
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

    /// All collections there are.
    pub(super) fn take_all(&mut self) -> Vec<(Address, GlobalHeapCollection)> {
        let mut all = std::mem::take(&mut self.full);
        all.extend(self.current.take());
        all
    }
}
