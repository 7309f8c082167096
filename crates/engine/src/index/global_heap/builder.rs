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
}

impl Builder {
    pub(super) fn new(params: FileParams, written: u64) -> Self {
        Self { params, start: 0, end: 0, written, wanted: 0, full: Vec::new(), current: None, old: None }
    }

    /// Goes on with a collection that is there.
    pub(super) fn with(mut self, address: Address, collection: GlobalHeapCollection) -> Self {
        self.old = Some(address);
        self.current = Some((address, collection));
        self
    }

    /// Whether the collection at `address` is one that was made here.
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
        let end = self.start.checked_add(size as u64).filter(|end| *end <= self.end);
        let Some(end) = end else {
            self.wanted = size as u64;
            return Ok(None);
        };
        let mut collection = GlobalHeapCollection::new(size, self.params)?;
        let Some(index) = collection.insert(bytes)? else { return Ok(None) };
        let address = Address::new(self.start);
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
