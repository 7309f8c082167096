//! Names of an old-style group.

use std::sync::Arc;

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::local_heap::{LocalHeapHeader, name_at};

use crate::error::Result;
use crate::store::{Bytes, Store, at};

/// A local heap with its data segment.
#[derive(Debug)]
pub struct LocalHeap {
    address: Address,
    segment: Bytes,
}

impl LocalHeap {
    /// Reads the heap at `address`.
    pub fn load(store: &Store, address: Address) -> Result<Arc<Self>> {
        let header: LocalHeapHeader = store.get(address, &store.params())?;
        store.keep(address, &header, header.segment_size, || {
            let segment = store.read(header.segment, header.segment_size, LocalHeapHeader::NAME)?;
            Ok(Self { address, segment })
        })
    }

    /// The text that starts at `offset` of the data segment and ends before a zero byte.
    pub fn name(&self, offset: u64) -> Result<&[u8]> {
        at(name_at(&self.segment, offset), self.address)
    }
}
