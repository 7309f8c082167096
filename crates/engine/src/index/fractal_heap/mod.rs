//! Objects of a fractal heap by their IDs: links, attributes, shared messages.

mod change;
mod create;
mod filtered;
mod free_sections;
mod huge;
mod managed;
mod many;
mod shape;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hyperslab_filter::{ChunkTarget, FilterId, Pipeline, Stage};
use hyperslab_format::btree_v2::records::{BTreeV2Record as _, HugeObjectFiltered, HugeObjectRecord};
use hyperslab_format::codec::{Address, FileParams, FormatError, Structure};
use hyperslab_format::fractal_heap::{
    DoublingTable, FractalHeapDirectBlock, FractalHeapDirectContext, FractalHeapHeader,
    FractalHeapHeaderContext, FractalHeapIndirectBlock, HeapId, HeapIdLayout,
};
use hyperslab_format::message::{Filter, FilterPipeline, Message as _};

use self::shape::Shape;
use super::btree_v2::BTreeV2;
use crate::error::{Error, Result};
use crate::store::{Bytes, Store, at};

/// About what a header takes, without filters.
const HEADER_BYTES: u64 = 146;

pub use create::FractalHeapCreation;
pub use many::{Found, Objects};

/// A fractal heap, by its header.
#[derive(Debug, Clone)]
pub struct FractalHeap {
    address: Address,
    header: FractalHeapHeader,
    table: DoublingTable,
    shape: Shape,
    ids: HeapIdLayout,
    pipeline: Pipeline,
}

/// Where a direct block lies in the file.
#[derive(Debug, Clone, Copy)]
struct Place {
    address: Address,
    offset: u64,
    size: u64,
    /// Stored bytes and skipped filters, in a heap with filters.
    filtered: Option<(u64, u32)>,
}

impl Place {
    /// Bytes in the file.
    fn stored_size(&self) -> u64 {
        self.filtered.map_or(self.size, |(size, _)| size)
    }
}

/// What a heap that was changed is kept under until it becomes bytes.
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

impl FractalHeap {
    /// Reads the header at `address`.
    pub fn open(store: &Store, address: Address) -> Result<Arc<Self>> {
        if let Some(changed) = store.changed::<Self>(address) {
            return Ok(changed);
        }
        store.keep(address, &(), HEADER_BYTES, || Self::read_header(store, address))
    }

    fn read_header(store: &Store, address: Address) -> Result<Self> {
        let params = store.params();
        let prefix = store.read(address, FractalHeapHeader::PREFIX_SIZE as u64, FractalHeapHeader::NAME)?;
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
        let shape = Shape { table, prefix: smallest.prefix_size() as u64 };
        Ok(Self { address, header, table, shape, ids, pipeline })
    }

    fn changed_context(&self, params: FileParams) -> Result<ChangedHeader> {
        let header = at(self.header.context(params), self.address)?;
        Ok(ChangedHeader { address: self.address, header })
    }

    /// Where the header lies.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The header.
    pub fn header(&self) -> &FractalHeapHeader {
        &self.header
    }

    /// The object with that ID.
    pub fn get(&self, store: &Store, id: &[u8]) -> Result<Bytes> {
        match at(self.ids.decode(id), self.address)? {
            HeapId::Managed { offset, length } => {
                let place = self.find_block(store, offset)?;
                let block = self.block(store, &place)?;
                let context = self.direct_context(store, place.size)?;
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
                        format!("one with ID {key}"),
                        "none",
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

    /// The direct block at that place.
    fn block(&self, store: &Store, place: &Place) -> Result<Arc<FractalHeapDirectBlock>> {
        let block = if place.filtered.is_some() {
            let context = (self.address, place.offset, place.size, place.filtered);
            store.keep(place.address, &context, place.size, || self.read_filtered(store, place))?
        } else {
            store.shared(place.address, &self.direct_context(store, place.size)?)?
        };
        if block.block_offset != place.offset {
            let expected = place.offset.to_string();
            return Err(Error::corrupt(
                FractalHeapDirectBlock::NAME,
                "block offset",
                expected,
                block.block_offset,
            )
            .at(place.address));
        }
        Ok(block)
    }

    /// The root block, if it is a direct one.
    fn root_block(&self) -> Option<Place> {
        let filtered = self.header.filters.as_ref().map(|filters| (filters.root_size, filters.root_mask));
        let (address, size) = (self.header.root, self.header.starting_block_size);
        let exists = self.header.root_rows == 0 && address.is_defined();
        exists.then_some(Place { address, offset: 0, size, filtered })
    }

    /// Rows of the indirect block `child` that covers `size` bytes, below one of `rows` rows.
    fn rows_below(&self, size: u64, rows: u32, child: Address) -> Result<u32> {
        let below = self.table.rows_for(size);
        if below >= rows {
            let expected = format!("less than {rows}");
            return Err(Error::corrupt("fractal heap indirect block", "rows", expected, below).at(child));
        }
        Ok(below)
    }

    /// Goes down the doubling tables to the direct block that holds `offset`.
    fn find_block(&self, store: &Store, offset: u64) -> Result<Place> {
        let params = store.params();
        let mut address = self.header.root;
        if self.header.root_rows == 0 {
            let filtered = self.header.filters.as_ref().map(|filters| (filters.root_size, filters.root_mask));
            return Ok(Place { address, offset: 0, size: self.header.starting_block_size, filtered });
        }
        let mut rows = u32::from(self.header.root_rows);
        let mut start = 0_u64;
        loop {
            let context = self.table.indirect_block(params, self.address, rows);
            let node: Arc<FractalHeapIndirectBlock> = store.shared(address, &context)?;
            let entry = self.table.locate(offset.saturating_sub(start));
            let number = entry.number(&self.table);
            let child = node.children.get(number).copied().filter(|child| child.is_defined());
            let Some(child) = child.filter(|_| entry.row < rows) else {
                return Err(Error::corrupt(
                    "fractal heap",
                    "offset of an object",
                    "one inside a block",
                    offset,
                )
                .at(self.address));
            };
            start = start.saturating_add(entry.block_offset);
            if entry.direct {
                let filtered = node.filtered.get(number).map(|block| (block.size, block.filter_mask));
                return Ok(Place { address: child, offset: start, size: entry.block_size, filtered });
            }
            rows = self.rows_below(entry.block_size, rows, child)?;
            address = child;
        }
    }

    fn read_filtered(&self, store: &Store, place: &Place) -> Result<FractalHeapDirectBlock> {
        let context = self.direct_context(store, place.size)?;
        let bytes = store.read(place.address, place.stored_size(), FractalHeapDirectBlock::NAME)?;
        let mask = place.filtered.map_or(0, |(_, mask)| mask);
        let bytes = self.unfilter(store, &bytes, place.address, mask, place.size)?;
        at(FractalHeapDirectBlock::decode(&bytes, &context), place.address)
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
                let what = "fractal heap: bytes of one block".to_owned();
                return Err(Error::Limit { what, got: length, limit });
            }
        };
        self.pipeline
            .decode_chunk(store.filters(), mask, bytes, &target)
            .map_err(|source| Error::Filter { address, source })
    }
}

/// The filters that a pipeline message describes for ordinary chunks and heap blocks.
pub fn pipeline(message: &FilterPipeline) -> Result<Pipeline> {
    let Some(filters) = message.chunk() else {
        return Err(Error::unsupported("filters of structured chunks"));
    };
    Ok(stages(filters))
}

/// The same of the filters of one section of structured chunks.
pub fn stages(filters: &[Filter]) -> Pipeline {
    let stage = |filter: &Filter| Stage {
        id: FilterId(filter.id),
        flags: filter.flags,
        name: (!filter.name.is_empty()).then(|| String::from_utf8_lossy(&filter.name).into_owned()),
        client_data: filter.client_data.to_vec(),
    };
    Pipeline::new(filters.iter().map(stage).collect())
}
