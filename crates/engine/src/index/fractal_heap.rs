//! Objects of a fractal heap by their IDs: links, attributes, shared messages.

use std::sync::Arc;

use hyperslab_filter::{ChunkTarget, FilterId, Pipeline, Stage};
use hyperslab_format::btree_v2::records::{BTreeV2Record as _, HugeObjectFiltered, HugeObjectRecord};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::{
    DoublingTable, FractalHeapDirectBlock, FractalHeapDirectContext, FractalHeapHeader,
    FractalHeapIndirectBlock, HeapId, HeapIdLayout,
};
use hyperslab_format::message::{Filter, FilterPipeline, Message as _};

use super::btree_v2::BTreeV2;
use crate::error::{Error, Result};
use crate::store::{Bytes, Store, at};

/// About what a header takes, without filters.
const HEADER_BYTES: u64 = 146;

/// A fractal heap, by its header.
#[derive(Debug)]
pub struct FractalHeap {
    address: Address,
    header: FractalHeapHeader,
    table: DoublingTable,
    ids: HeapIdLayout,
    pipeline: Pipeline,
}

#[derive(Debug)]
struct DirectBlock {
    block: FractalHeapDirectBlock,
    context: FractalHeapDirectContext,
}

/// Where a direct block lies in the file.
struct Place {
    address: Address,
    offset: u64,
    size: u64,
    /// Stored bytes and skipped filters, in a heap with filters.
    filtered: Option<(u64, u32)>,
}

impl FractalHeap {
    /// Reads the header at `address`.
    pub fn open(store: &Store, address: Address) -> Result<Arc<Self>> {
        store.keep(address, &(), HEADER_BYTES, || Self::read_header(store, address))
    }

    fn read_header(store: &Store, address: Address) -> Result<Self> {
        let params = store.params();
        let prefix = store.read(address, FractalHeapHeader::PREFIX_SIZE as u64, FractalHeapHeader::NAME)?;
        let context = at(FractalHeapHeader::stored_context(&prefix, params), address)?;
        let header: FractalHeapHeader = store.get(address, &context)?;
        let table = at(DoublingTable::new(&header), address)?;
        let ids = at(HeapIdLayout::new(&header, params), address)?;
        let pipeline = match &header.filters {
            Some(filters) => pipeline(&at(FilterPipeline::decode(&filters.pipeline, params), address)?)?,
            None => Pipeline::default(),
        };
        Ok(Self { address, header, table, ids, pipeline })
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
                let block = self.block(store, offset)?;
                let object = at(block.block.object(offset, length, &block.context), self.address)?;
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

    /// The direct block that holds `offset` of the heap's address space.
    fn block(&self, store: &Store, offset: u64) -> Result<Arc<DirectBlock>> {
        let place = self.find_block(store, offset)?;
        let context = (self.address, place.offset, place.size, place.filtered);
        store.keep(place.address, &context, place.size, || self.read_block(store, &place))
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
            let below = self.table.rows_for(entry.block_size);
            if below >= rows {
                return Err(Error::corrupt(
                    "fractal heap indirect block",
                    "rows",
                    format!("less than {rows}"),
                    below,
                )
                .at(child));
            }
            rows = below;
            address = child;
        }
    }

    fn read_block(&self, store: &Store, place: &Place) -> Result<DirectBlock> {
        let context = at(self.table.direct_block(store.params(), self.address, place.size), self.address)?;
        let stored = place.filtered.map_or(place.size, |(size, _)| size);
        let bytes = store.read(place.address, stored, FractalHeapDirectBlock::NAME)?;
        let block = match place.filtered {
            Some((_, mask)) => {
                let bytes = self.unfilter(store, &bytes, place.address, mask, place.size)?;
                at(FractalHeapDirectBlock::decode(&bytes, &context), place.address)?
            }
            None => at(FractalHeapDirectBlock::decode(&bytes, &context), place.address)?,
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
        Ok(DirectBlock { block, context })
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
    let stage = |filter: &Filter| Stage {
        id: FilterId(filter.id),
        flags: filter.flags,
        name: (!filter.name.is_empty()).then(|| String::from_utf8_lossy(&filter.name).into_owned()),
        client_data: filter.client_data.to_vec(),
    };
    Ok(Pipeline::new(filters.iter().map(stage).collect()))
}
