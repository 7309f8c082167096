//! Chunk indexes that are extensible arrays, for datasets with one unlimited dimension.

use std::sync::Arc;

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::chunk_index::{
    ArrayPage, ElementLocation, ExtensibleArrayBlockContext, ExtensibleArrayDataBlock,
    ExtensibleArrayGeometry, ExtensibleArrayHeader, ExtensibleArrayIndexBlock, ExtensibleArraySecondaryBlock,
};
use hyperslab_format::codec::{Address, Structure as _};

use super::element::{BlockSlots, Cursor, ElementBlock, ElementLookup, Elements, OnceBlock};
use super::order::ArrayOrder;
use super::{AtChunk, ChunkBox, ChunkIndex, ChunkIndexKind, Entry};
use crate::error::{Error, Result};
use crate::store::{Store, at};

/// A chunk index that is an extensible array. The array's blocks are read at the first access.
#[derive(Debug)]
pub(super) struct ExtensibleArrayIndex<E: Entry> {
    address: Address,
    header: Arc<ExtensibleArrayHeader>,
    geometry: ExtensibleArrayGeometry,
    elements: Elements<E>,
    order: ArrayOrder,
    index_block: OnceBlock<ExtensibleArrayIndexBlock>,
    secondary_blocks: BlockSlots<ExtensibleArraySecondaryBlock>,
    data_blocks: BlockSlots<ExtensibleArrayDataBlock>,
    pages: BlockSlots<ArrayPage>,
}

impl<E: Entry> ExtensibleArrayIndex<E> {
    pub(super) fn open(store: &Store, address: Address, rules: E::Rules, order: ArrayOrder) -> Result<Self> {
        let header: Arc<ExtensibleArrayHeader> = store.shared(address, &store.params())?;
        let geometry = at(ExtensibleArrayGeometry::new(&header), address)?;
        let elements = Elements::new(store.params(), header.client, header.element_size, rules, address)?;
        Ok(Self {
            address,
            header,
            geometry,
            elements,
            order,
            index_block: OnceBlock::new(),
            secondary_blocks: BlockSlots::new(),
            data_blocks: BlockSlots::new(),
            pages: BlockSlots::new(),
        })
    }

    /// Looks up a chunk entry in a data block without pages of an extensible array. `block` and
    /// `elements` are the number of the data block and its number of elements. `element` and
    /// `number` are the index of the entry in the data block and in the whole array.
    fn in_data_block(
        &self,
        store: &Store,
        address: Address,
        [block, elements]: [u64; 2],
        block_offset: u64,
        [number, element]: [u64; 2],
        cursor: &mut Cursor,
    ) -> Result<ElementLookup<E>> {
        if !address.is_defined() {
            let remaining = elements - element;
            return Ok(ElementLookup::Nothing { until: number + remaining });
        }
        let context = self.data_block_context(store, elements);
        // Block offsets do not count the elements of the index block.
        let outside = number - self.geometry.index_block_elements() as u64;
        let first = outside - element;
        let block = self.data_block(store, address, [block, elements], &context, [block_offset, first]);
        let Some(block) = store.forgive(block)? else {
            let remaining = elements - element;
            return Ok(ElementLookup::Nothing { until: number + remaining });
        };
        cursor.enter(ElementBlock::Data(block), elements, [number, element], &self.elements)
    }

    /// Returns a data block of the extensible array of chunk entries, or only the block's header if
    /// the data block has pages. Checks the offset that is stored in the block. The offset must be
    /// `offset` or the number of the block's first element.
    fn data_block(
        &self,
        store: &Store,
        address: Address,
        numbers: [u64; 2],
        context: &ExtensibleArrayBlockContext,
        [offset, first]: [u64; 2],
    ) -> Result<Arc<ExtensibleArrayDataBlock>> {
        let block = self.data_blocks.get(store, numbers, address, || store.shared(address, context))?;
        at(block.check_offset(offset, first), address)?;
        Ok(block)
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

    /// Looks up the chunk entry with the element number `number` in the extensible array.
    fn look(&self, store: &Store, number: u64, cursor: &mut Cursor) -> Result<ElementLookup<E>> {
        if let Some(found) = cursor.look(&self.elements, number) {
            return found;
        }
        let root = self.header.index_block;
        let location = self.geometry.locate(number).filter(|_| number < self.header.max_index_set);
        let Some(location) = location.filter(|_| root.is_defined()) else {
            return Ok(ElementLookup::Nothing { until: u64::MAX });
        };
        let (params, header, geometry) = (store.params(), &self.header, &self.geometry);
        let index = self.index_block.get(|| {
            let context = ExtensibleArrayBlockContext::index_block(header, geometry, self.address, params);
            store.shared(root, &context)
        });
        let Some(index) = store.forgive(index)? else {
            return Ok(ElementLookup::Nothing { until: u64::MAX });
        };
        match location {
            ElementLocation::IndexBlock { element } => {
                let count = geometry.index_block_elements() as u64;
                cursor.enter(ElementBlock::Index(Arc::clone(index)), count, [number, element], &self.elements)
            }
            ElementLocation::DataBlock { data_block, element, elements, block_offset } => {
                let block = address_at(&index.data_blocks, data_block);
                self.in_data_block(
                    store,
                    block,
                    [data_block, elements],
                    block_offset,
                    [number, element],
                    cursor,
                )
            }
            ElementLocation::SecondaryBlock { pointer, .. } => {
                let address = address_at(&index.secondary_blocks, u64::from(pointer));
                self.in_secondary_block(store, address, &location, number, cursor)
            }
        }
    }

    fn in_secondary_block(
        &self,
        store: &Store,
        address: Address,
        location: &ElementLocation,
        number: u64,
        cursor: &mut Cursor,
    ) -> Result<ElementLookup<E>> {
        let ElementLocation::SecondaryBlock {
            secondary_block, data_block, element, block_offset, page, ..
        } = *location
        else {
            return Ok(ElementLookup::or_next(None, number));
        };
        let (header, geometry) = (&self.header, &self.geometry);
        let shape = geometry.secondary_block(secondary_block);
        let elements = shape.data_block_elements;
        let nothing = || {
            // The last block may end after the largest number.
            let index_elements = to_u64(geometry.index_block_elements());
            let end = || {
                let in_block = shape.data_blocks.checked_mul(elements)?;
                in_block.checked_add(shape.first_element)?.checked_add(index_elements)
            };
            ElementLookup::Nothing { until: end().unwrap_or(u64::MAX) }
        };
        if !address.is_defined() {
            return Ok(nothing());
        }
        let context = ExtensibleArrayBlockContext::secondary_block(
            header,
            geometry,
            &shape,
            self.address,
            store.params(),
        );
        let load = || store.shared::<ExtensibleArraySecondaryBlock>(address, &context);
        let numbers = [secondary_block.into(), shape.data_blocks];
        let secondary = self.secondary_blocks.get(store, numbers, address, load);
        let Some(secondary) = store.forgive(secondary)? else { return Ok(nothing()) };
        if E::STRICT && secondary.block_offset != shape.first_element {
            let (expected, got) = (shape.first_element.to_string(), secondary.block_offset);
            let name = ExtensibleArraySecondaryBlock::NAME;
            return Err(Error::corrupt(name, "block offset", expected, got).at(address));
        }
        let block = address_at(&secondary.data_blocks, data_block);
        let Some(page) = page.filter(|_| block.is_defined()) else {
            let numbers = [shape.first_data_block + data_block, elements];
            return self.in_data_block(store, block, numbers, block_offset, [number, element], cursor);
        };
        let (data_block, page) = (to_usize(data_block)?, to_usize(page)?);
        let in_page = element.checked_rem(geometry.page_elements()).unwrap_or(0);
        let remaining = geometry.page_elements() - in_page;
        let rest = ElementLookup::Nothing { until: number + remaining };
        if !secondary.is_initialised(data_block, page, &context) {
            return Ok(rest);
        }
        let paged = self.data_block_context(store, elements);
        if E::STRICT {
            let first = number - geometry.index_block_elements() as u64 - element;
            self.data_block(store, block, [0, 0], &paged, [block_offset, first])?;
        }
        let start = block.checked_add(paged.page_offset(page) as u64).unwrap_or(Address::UNDEFINED);
        let load = || store.shared::<ArrayPage>(start, &paged.page());
        let page_number = number.checked_div(geometry.page_elements()).unwrap_or(0);
        let numbers = [page_number, geometry.page_elements()];
        let page = store.forgive(self.pages.get(store, numbers, start, load))?;
        let Some(page) = page else { return Ok(rest) };
        cursor.enter(ElementBlock::Page(page), geometry.page_elements(), [number, in_page], &self.elements)
    }
}

impl<E: Entry> ChunkIndex<E> for ExtensibleArrayIndex<E> {
    fn kind(&self) -> ChunkIndexKind {
        ChunkIndexKind::ExtensibleArray
    }

    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>> {
        let Some(number) = self.order.number(scaled) else { return Ok(None) };
        self.look(store, number, &mut Cursor::default()).map(ElementLookup::chunk)
    }

    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()> {
        let elements = self.header.max_index_set;
        let look = |number, cursor: &mut Cursor| self.look(store, number, cursor);
        self.order.for_each_in(store, chunks, elements, Some(&self.elements), look, visit)
    }

    fn bytes(&self, store: &Store) -> Result<u64> {
        let (params, header) = (store.params(), &self.header);
        let own = to_u64(ExtensibleArrayHeader::size(&params));
        if !header.index_block.is_defined() {
            return Ok(own);
        }
        let context = ExtensibleArrayBlockContext::index_block(header, &self.geometry, self.address, params);
        let parts = [
            to_u64(ExtensibleArrayIndexBlock::size(&context)),
            header.secondary_block_size,
            header.data_block_size,
        ];
        parts.into_iter().try_fold(own, u64::checked_add).ok_or_else(|| {
            let expected = "sizes of blocks inside the file";
            Error::corrupt(ExtensibleArrayHeader::NAME, "statistics", expected, header.data_block_size)
                .at(self.address)
        })
    }
}

pub(super) fn address_at(addresses: &[Address], number: u64) -> Address {
    let address = usize::try_from(number).ok().and_then(|number| addresses.get(number));
    address.copied().unwrap_or(Address::UNDEFINED)
}
