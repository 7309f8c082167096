//! Fractal heaps, which store objects by heap ID. Such objects are links, attributes and shared
//! messages.

mod blocks;
mod change;
mod create;
mod filtered;
mod free_sections;
mod huge;
mod managed;
mod many;
mod shape;
mod size;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_counters;

use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_filter::{ChunkTarget, FilterId, Pipeline, Stage};
use hyperslab_format::btree_v2::records::{BTreeV2Record as _, HugeObjectFiltered, HugeObjectRecord};
use hyperslab_format::codec::{Address, FileParams, FormatError, Structure};
use hyperslab_format::fractal_heap::{
    DoublingTable, FractalHeapDirectBlock, FractalHeapDirectContext, FractalHeapHeader,
    FractalHeapHeaderContext, FractalHeapIndirectBlock, HeapId, HeapIdLayout,
};
use hyperslab_format::message::{FilterDescription, FilterPipeline, Message as _};

use self::shape::Shape;
use super::btree_v2::BTreeV2;
use crate::error::{Error, Result};
use crate::store::{Bytes, Store, at};

/// Size in bytes with which a fractal heap header counts toward the limit of the metadata cache. It
/// is the size of a header without filters.
const HEADER_BYTES: u64 = 146;

pub use create::FractalHeapCreation;
pub use many::{HeapObject, HeapObjects};

/// A fractal heap that is open for reading: its header, and values derived from the header.
#[derive(Debug, Clone)]
pub struct FractalHeap {
    address: Address,
    header: FractalHeapHeader,
    table: DoublingTable,
    shape: Shape,
    ids: HeapIdLayout,
    pipeline: Pipeline,
}

/// The location of a direct block of a fractal heap: in the heap's address space and in the file.
#[derive(Debug, Clone, Copy)]
struct DirectBlock {
    address: Address,
    /// Offset in the heap's address space.
    offset: u64,
    /// Size in bytes, decoded.
    size: u64,
    /// Encoded size in bytes and filter mask, in a heap with filters.
    filtered: Option<(u64, u32)>,
}

impl DirectBlock {
    /// Returns the size of the fractal heap's direct block in the file, in bytes.
    fn stored_size(&self) -> u64 {
        self.filtered.map_or(self.size, |(size, _)| size)
    }
}

/// The parameters for encoding the header of a changed fractal heap in the cache of dirty blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedHeader {
    address: Address,
    header: FractalHeapHeaderContext,
}

impl Structure for FractalHeap {
    const NAME: &'static str = FractalHeapHeader::NAME;
    type Context = ChangedHeader;

    fn size(context: &ChangedHeader) -> usize {
        FractalHeapHeader::size(&context.header)
    }

    fn decode(bytes: &[u8], context: &ChangedHeader) -> Result<Self, FormatError> {
        let header = FractalHeapHeader::decode(bytes, &context.header)?;
        Self::with_header(header, context.address, context.header.params)
    }

    fn encode(&self, context: &ChangedHeader) -> Result<Vec<u8>, FormatError> {
        self.header.encode(&context.header)
    }
}

/// Names of the header's counters, for errors.
mod counter {
    pub(super) const FREE_SPACE: &str = "free space in managed blocks";
    pub(super) const ALLOCATED: &str = "allocated managed space";
    pub(super) const MANAGED_OBJECTS: &str = "number of managed objects";
    pub(super) const HUGE_OBJECTS: &str = "number of huge objects";
    pub(super) const HUGE_SIZE: &str = "size of huge objects";
    pub(super) const TINY_OBJECTS: &str = "number of tiny objects";
    pub(super) const TINY_SIZE: &str = "size of tiny objects";
}

impl FractalHeap {
    /// Opens the fractal heap with the header at `address` for reading.
    pub fn open(store: &Store, address: Address) -> Result<Arc<Self>> {
        if let Some(changed) = store.changed::<Self>(address) {
            return Ok(changed);
        }
        store.keep(address, &(), HEADER_BYTES, || Self::read_header(store, address))
    }

    fn read_header(store: &Store, address: Address) -> Result<Self> {
        let params = store.params();
        let prefix = store.read(address, to_u64(FractalHeapHeader::PREFIX_SIZE), FractalHeapHeader::NAME)?;
        let context = at(FractalHeapHeader::stored_context(&prefix, params), address)?;
        store.get(address, &ChangedHeader { address, header: context })
    }

    fn with_header(
        header: FractalHeapHeader,
        address: Address,
        params: FileParams,
    ) -> Result<Self, FormatError> {
        let table = DoublingTable::new(&header)?;
        let ids = HeapIdLayout::new(&header, params)?;
        let pipeline = match &header.filters {
            Some(filters) => pipeline(&FilterPipeline::decode(&filters.pipeline, params)?)
                .map_err(|error| FormatError::unsupported(FractalHeapHeader::NAME, error.to_string()))?,
            None => Pipeline::default(),
        };
        let smallest = table.direct_block(params, address, header.starting_block_size)?;
        let prefix = to_u64(smallest.prefix_size());
        if header.starting_block_size <= prefix {
            let (expected, got) = (format!("more than {prefix} bytes"), header.starting_block_size);
            return Err(FormatError::corrupt(FractalHeapHeader::NAME, "starting block size", expected, got));
        }
        let shape = Shape { table, prefix };
        Ok(Self { address, header, table, shape, ids, pipeline })
    }

    fn changed_context(&self, params: FileParams) -> Result<ChangedHeader> {
        let header = at(self.header.context(params), self.address)?;
        Ok(ChangedHeader { address: self.address, header })
    }

    /// Returns the address of the fractal heap's header.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Returns the header of the fractal heap.
    pub fn header(&self) -> &FractalHeapHeader {
        &self.header
    }

    /// Returns the sum of `counter` and `more`. `counter` is the value of the fractal heap header
    /// field `field`.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the sum does not fit in 64 bits.
    fn increased(&self, field: &'static str, counter: u64, more: u64) -> Result<u64> {
        counter.checked_add(more).ok_or_else(|| {
            let expected = format!("at most {}", u64::MAX - more);
            Error::corrupt(FractalHeapHeader::NAME, field, expected, counter).at(self.address)
        })
    }

    /// Returns `counter` minus `less`. `counter` is the free space or the allocated space in a
    /// fractal heap header, in bytes.
    ///
    /// libhdf5 states both wrong after an indirect root becomes a direct block again: the allocated
    /// space is 0, and all bytes of the block are free. The counters are statistics, and nothing is
    /// found by them. Therefore a counter that is too small becomes 0 and is no error.
    fn less_space(counter: u64, less: u64) -> u64 {
        counter.saturating_sub(less)
    }

    /// Returns `counter` minus `less`. `counter` is the value of the fractal heap header field
    /// `field`.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if `counter` is smaller.
    fn decreased(&self, field: &'static str, counter: u64, less: u64) -> Result<u64> {
        counter.checked_sub(less).ok_or_else(|| {
            let expected = format!("at least {less}");
            Error::corrupt(FractalHeapHeader::NAME, field, expected, counter).at(self.address)
        })
    }

    /// Returns the bytes of the fractal heap object with the heap ID `id`.
    pub fn get(&self, store: &Store, id: &[u8]) -> Result<Bytes> {
        match at(self.ids.decode(id), self.address)? {
            HeapId::Managed { offset, length } => {
                let location = self.find_block(store, offset)?;
                let block = self.block(store, &location)?;
                let context = self.direct_context(store, location.size)?;
                let object = at(block.object(offset, length, &context), self.address)?;
                Ok(object.into())
            }
            HeapId::Tiny { data } => Ok(data.into()),
            HeapId::HugeDirect { address, length, filtered } => self.huge(store, address, length, filtered),
            HeapId::HugeIndirect { key } => {
                let context = self.ids.huge_records();
                let tree = BTreeV2::open(store, self.header.huge_btree)?;
                let record = tree
                    .find(store, &mut |record| Ok(HugeObjectRecord::decode(record, context)?.id.cmp(&key)))?;
                let Some(record) = record else {
                    return Err(Error::corrupt(
                        "fractal heap",
                        "huge object",
                        format!("a record with key {key}"),
                        "no such record",
                    )
                    .at(self.address));
                };
                let record = at(HugeObjectRecord::decode(&record, context), self.header.huge_btree)?;
                self.huge(store, record.address, record.length, record.filtered)
            }
        }
    }

    fn huge(
        &self,
        store: &Store,
        address: Address,
        length: u64,
        filtered: Option<HugeObjectFiltered>,
    ) -> Result<Bytes> {
        let stored = store.read(address, length, "huge object of a fractal heap")?;
        match filtered {
            Some(filtered) => {
                let memory_size = filtered.memory_size;
                self.unfilter(store, &stored, address, filtered.filter_mask, memory_size).map(Bytes::from)
            }
            None => Ok(stored),
        }
    }

    fn direct_context(&self, store: &Store, size: u64) -> Result<FractalHeapDirectContext> {
        at(self.table.direct_block(store.params(), self.address, size), self.address)
    }

    /// Returns the decoded direct block of a fractal heap at a location.
    fn block(&self, store: &Store, location: &DirectBlock) -> Result<Arc<FractalHeapDirectBlock>> {
        let block = if location.filtered.is_some() {
            let context = (self.address, location.offset, location.size, location.filtered);
            store.keep(location.address, &context, location.size, || self.read_filtered(store, location))?
        } else {
            store.shared(location.address, &self.direct_context(store, location.size)?)?
        };
        if block.block_offset != location.offset {
            let expected = location.offset.to_string();
            return Err(Error::corrupt(
                FractalHeapDirectBlock::NAME,
                "block offset",
                expected,
                block.block_offset,
            )
            .at(location.address));
        }
        Ok(block)
    }

    /// Returns the location of the root block of the fractal heap, if the root is a direct block.
    fn root_block(&self) -> Option<DirectBlock> {
        let filtered = self.header.filters.as_ref().map(|filters| (filters.root_size, filters.root_mask));
        let (address, size) = (self.header.root, self.header.starting_block_size);
        let exists = self.header.root_rows == 0 && address.is_defined();
        exists.then_some(DirectBlock { address, offset: 0, size, filtered })
    }

    /// Returns the number of rows of the fractal heap's indirect block at `child`, which covers
    /// `size` bytes. Checks that its parent has more rows: `rows`.
    fn rows_below(&self, size: u64, rows: u32, child: Address) -> Result<u32> {
        let below = self.table.rows_for(size);
        if below >= rows {
            let expected = format!("less than {rows}");
            return Err(Error::corrupt("fractal heap indirect block", "rows", expected, below).at(child));
        }
        Ok(below)
    }

    /// Returns the location of the direct block that contains `offset` of the fractal heap's
    /// address space.
    fn find_block(&self, store: &Store, offset: u64) -> Result<DirectBlock> {
        let params = store.params();
        let mut address = self.header.root;
        if self.header.root_rows == 0 {
            let filtered = self.header.filters.as_ref().map(|filters| (filters.root_size, filters.root_mask));
            return Ok(DirectBlock { address, offset: 0, size: self.header.starting_block_size, filtered });
        }
        let mut rows = u32::from(self.header.root_rows);
        let mut start = 0_u64;
        loop {
            let context = self.table.indirect_block(params, self.address, rows);
            let node: Arc<FractalHeapIndirectBlock> = store.shared(address, &context)?;
            // `start` is the offset of an entry that contains `offset`, so `start <= offset`.
            let entry = self.table.locate(offset - start);
            let number = entry.number(&self.table);
            let child = node.children.get(number).copied().filter(|child| child.is_defined());
            let Some(child) = child.filter(|_| entry.row < rows) else {
                return Err(Error::corrupt(
                    "fractal heap",
                    "offset of an object",
                    "an offset inside a direct block",
                    offset,
                )
                .at(self.address));
            };
            start += entry.block_offset;
            if entry.direct {
                let filtered = node.filtered.get(number).map(|block| (block.size, block.filter_mask));
                return Ok(DirectBlock { address: child, offset: start, size: entry.block_size, filtered });
            }
            rows = self.rows_below(entry.block_size, rows, child)?;
            address = child;
        }
    }

    fn read_filtered(&self, store: &Store, location: &DirectBlock) -> Result<FractalHeapDirectBlock> {
        let context = self.direct_context(store, location.size)?;
        let bytes = store.read(location.address, location.stored_size(), FractalHeapDirectBlock::NAME)?;
        let mask = location.filtered.map_or(0, |(_, mask)| mask);
        let bytes = self.unfilter(store, &bytes, location.address, mask, location.size)?;
        at(FractalHeapDirectBlock::decode(&bytes, &context), location.address)
    }

    fn unfilter(
        &self,
        store: &Store,
        bytes: &[u8],
        address: Address,
        mask: u32,
        length: u64,
    ) -> Result<Vec<u8>> {
        let limit = store.limits().metadata_block;
        let target = match usize::try_from(length) {
            Ok(target) if length <= limit => ChunkTarget::of_length(target),
            _ => {
                let subject = "fractal heap: bytes of one block".to_owned();
                return Err(Error::Limit { subject, got: length, limit });
            }
        };
        self.pipeline
            .decode_chunk(&store.filters(), mask, bytes, &target)
            .map_err(|source| Error::Filter { address, source })
    }
}

/// Converts a filter pipeline message to the filter pipeline of flat (not structured) chunks or of
/// the blocks of a fractal heap.
///
/// # Errors
/// Returns [`Error::Unsupported`] if the message describes the sections of structured chunks.
pub fn pipeline(message: &FilterPipeline) -> Result<Pipeline> {
    let Some(filters) = message.chunk() else {
        return Err(Error::unsupported("filters of structured chunks"));
    };
    Ok(stages(filters))
}

/// Converts the filter descriptions of a message to a filter pipeline with one stage for each
/// filter, for instance of one section of structured chunks.
pub fn stages(filters: &[FilterDescription]) -> Pipeline {
    let stage = |filter: &FilterDescription| Stage {
        id: FilterId(filter.id),
        flags: filter.flags,
        name: (!filter.name.is_empty()).then(|| String::from_utf8_lossy(&filter.name).into_owned()),
        client_data: filter.client_data.to_vec(),
    };
    Pipeline::new(filters.iter().map(stage).collect())
}
