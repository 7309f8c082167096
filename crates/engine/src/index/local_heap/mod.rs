//! Local heaps: the names of links in symbol tables, and of external files.

mod edit;
mod free_blocks;

use std::sync::Arc;

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::codec::{Address, FileParams, FormatError, Structure};
use hyperslab_format::local_heap::{LocalHeapHeader, name_at, write_free_blocks};

use self::free_blocks::FreeBlocks;
use crate::error::Result;
use crate::store::{Store, at};

/// A local heap of a group, with its data segment.
#[derive(Debug, Clone)]
pub struct LocalHeap {
    address: Address,
    segment: Arc<LocalHeapSegment>,
}

/// The data segment of a local heap, which holds names and free blocks.
#[derive(Debug, Clone)]
pub struct LocalHeapSegment {
    bytes: Vec<u8>,
    /// The free blocks. They are read from the file only if the heap is changed.
    free: Option<FreeBlocks>,
}

/// The parameters that determine the layout of a local heap's data segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalHeapSegmentContext {
    params: FileParams,
    size: usize,
}

impl Structure for LocalHeapSegment {
    const NAME: &'static str = "local heap data segment";
    type Context = LocalHeapSegmentContext;

    fn size(context: &LocalHeapSegmentContext) -> usize {
        context.size
    }

    fn decode(bytes: &[u8], _: &LocalHeapSegmentContext) -> Result<Self, FormatError> {
        Ok(Self { bytes: bytes.to_vec(), free: None })
    }

    fn encode(&self, context: &LocalHeapSegmentContext) -> Result<Vec<u8>, FormatError> {
        let mut bytes = self.bytes.clone();
        if let Some(free) = &self.free {
            write_free_blocks(&mut bytes, &free.listed(), context.params)?;
        }
        Ok(bytes)
    }
}

impl LocalHeapSegmentContext {
    fn new(header: &LocalHeapHeader, params: FileParams) -> Result<Self> {
        Ok(Self { params, size: to_usize(header.segment_size)? })
    }
}

impl LocalHeap {
    /// Reads the local heap at `address`, with its data segment.
    pub fn load(store: &Store, address: Address) -> Result<Self> {
        let params = store.params();
        let header = store.shared::<LocalHeapHeader>(address, &params)?;
        let segment = store.shared(header.segment, &LocalHeapSegmentContext::new(&header, params)?)?;
        Ok(Self { address, segment })
    }

    /// Returns the size of the data segment in bytes.
    pub fn size(&self) -> u64 {
        to_u64(self.segment.bytes.len())
    }

    /// Returns the size of the local heap in the file in bytes: its header and its data segment.
    pub fn bytes(&self, store: &Store) -> u64 {
        to_u64(LocalHeapHeader::size(&store.params())) + self.size()
    }

    /// Returns the name at `offset` of the local heap's data segment, without the zero byte at its
    /// end.
    pub fn name(&self, offset: u64) -> Result<&[u8]> {
        at(name_at(&self.segment.bytes, offset), self.address)
    }
}
