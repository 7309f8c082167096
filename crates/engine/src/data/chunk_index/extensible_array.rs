//! Chunks in an extensible array: a dataset with one unlimited dimension.

use hyperslab_format::chunk_index::{
    ArrayPage, ElementPlace, ExtensibleArrayBlockContext, ExtensibleArrayDataBlock, ExtensibleArrayGeometry,
    ExtensibleArrayHeader, ExtensibleArrayIndexBlock, ExtensibleArraySecondaryBlock,
};
use hyperslab_format::codec::Address;

use super::element::{Elements, Latest};
use super::order::ArrayOrder;
use super::{AtChunk, ChunkBox, ChunkIndex, ChunkIndexKind, ChunkLocation};
use crate::error::Result;
use crate::store::{Store, at};

/// The array by its header; blocks are read when first asked for.
#[derive(Debug)]
pub(super) struct ExtensibleArrayIndex {
    address: Address,
    header: ExtensibleArrayHeader,
    geometry: ExtensibleArrayGeometry,
    elements: Elements,
    order: ArrayOrder,
    index_block: Latest<ExtensibleArrayIndexBlock>,
    secondary_block: Latest<ExtensibleArraySecondaryBlock>,
    data_block: Latest<ExtensibleArrayDataBlock>,
    page: Latest<ArrayPage>,
}

impl ExtensibleArrayIndex {
    pub(super) fn open(store: &Store, address: Address, chunk_bytes: u64, order: ArrayOrder) -> Result<Self> {
        let header: ExtensibleArrayHeader = store.get(address, &store.params())?;
        let geometry = at(ExtensibleArrayGeometry::new(&header), address)?;
        let elements = Elements::new(store, header.client, header.element_size, chunk_bytes, address)?;
        Ok(Self {
            address,
            header,
            geometry,
            elements,
            order,
            index_block: Latest::new(),
            secondary_block: Latest::new(),
            data_block: Latest::new(),
            page: Latest::new(),
        })
    }

    /// An element of a data block that has no pages.
    fn in_data_block(
        &self,
        store: &Store,
        address: Address,
        elements: u64,
        block_offset: [u64; 2],
        element: u64,
    ) -> Result<Option<ChunkLocation>> {
        if !address.is_defined() {
            return Ok(None);
        }
        let context = self.data_block_context(store, elements);
        let block = self.data_block.get(address, || {
            let block: ExtensibleArrayDataBlock = store.get(address, &context)?;
            let [expected, first] = block_offset;
            at(block.check_offset(expected, first), address)?;
            Ok(block)
        })?;
        self.elements.location(&block.elements, element)
    }

    fn data_block_context(&self, store: &Store, elements: u64) -> ExtensibleArrayBlockContext {
        ExtensibleArrayBlockContext::data_block(
            &self.header,
            &self.geometry,
            elements,
            self.address,
            store.params(),
        )
    }
}

impl ChunkIndex for ExtensibleArrayIndex {
    fn kind(&self) -> ChunkIndexKind {
        ChunkIndexKind::ExtensibleArray
    }

    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        let root = self.header.index_block;
        let number = self.order.number(scaled);
        if !root.is_defined() || number >= self.header.max_index_set {
            return Ok(None);
        }
        let Some(place) = self.geometry.locate(number) else { return Ok(None) };
        // Block offsets count elements without those of the index block.
        let outside = number.saturating_sub(geometry_elements(&self.geometry));
        let (params, header, geometry) = (store.params(), &self.header, &self.geometry);
        let index = self.index_block.get(root, || {
            store.get(root, &ExtensibleArrayBlockContext::index_block(header, geometry, self.address, params))
        })?;
        match place {
            ElementPlace::IndexBlock { element } => self.elements.location(&index.elements, element),
            ElementPlace::DataBlock { data_block, element, elements, block_offset } => {
                let block = address_at(&index.data_blocks, data_block);
                let first = outside.saturating_sub(element);
                self.in_data_block(store, block, elements, [block_offset, first], element)
            }
            ElementPlace::SecondaryBlock {
                secondary_block,
                pointer,
                data_block,
                element,
                block_offset,
                page,
            } => {
                let address = address_at(&index.secondary_blocks, u64::from(pointer));
                if !address.is_defined() {
                    return Ok(None);
                }
                let shape = geometry.secondary_block(secondary_block);
                let context = ExtensibleArrayBlockContext::secondary_block(
                    header,
                    geometry,
                    &shape,
                    self.address,
                    params,
                );
                let secondary = self.secondary_block.get(address, || store.get(address, &context))?;
                let block = address_at(&secondary.data_blocks, data_block);
                let Some(page) = page else {
                    let offsets = [block_offset, outside.saturating_sub(element)];
                    return self.in_data_block(store, block, shape.data_block_elements, offsets, element);
                };
                let (data_block, page) = (to_usize(data_block), to_usize(page));
                if !block.is_defined() || !secondary.is_initialised(data_block, page, &context) {
                    return Ok(None);
                }
                let paged = self.data_block_context(store, shape.data_block_elements);
                let start = block.checked_add(paged.page_offset(page) as u64).unwrap_or(Address::UNDEFINED);
                let page = self.page.get(start, || store.get(start, &paged.page()))?;
                let in_page = element.checked_rem(geometry.page_elements()).unwrap_or(0);
                self.elements.location(&page.elements, in_page)
            }
        }
    }

    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        for scaled in ArrayOrder::coordinates(chunks) {
            if let Some(location) = self.get(store, &scaled)? {
                visit(&scaled, location)?;
            }
        }
        Ok(())
    }
}

fn geometry_elements(geometry: &ExtensibleArrayGeometry) -> u64 {
    geometry.index_block_elements() as u64
}

fn address_at(addresses: &[Address], number: u64) -> Address {
    addresses.get(to_usize(number)).copied().unwrap_or(Address::UNDEFINED)
}

fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
