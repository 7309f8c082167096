//! Chunk indexes that are fixed arrays, for datasets with fixed maximum sizes.

use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::chunk_index::{ArrayPage, FixedArrayDataBlock, FixedArrayHeader, FixedArrayLayout};
use hyperslab_format::codec::{Address, Structure as _};

use super::element::{BlockSlots, Cursor, ElementBlock, ElementLookup, Elements, OnceBlock};
use super::order::ArrayOrder;
use super::{AtChunk, ChunkBox, ChunkIndex, ChunkIndexKind, Entry};
use crate::error::{Error, Result};
use crate::store::{Store, at};

/// A chunk index that is a fixed array. The array's data block is read at the first access.
#[derive(Debug)]
pub(super) struct FixedArrayIndex<E: Entry> {
    header: Arc<FixedArrayHeader>,
    layout: FixedArrayLayout,
    elements: Elements<E>,
    order: ArrayOrder,
    block: OnceBlock<FixedArrayDataBlock>,
    pages: BlockSlots<ArrayPage>,
}

impl<E: Entry> FixedArrayIndex<E> {
    pub(super) fn open(store: &Store, address: Address, rules: E::Rules, order: ArrayOrder) -> Result<Self> {
        let header: Arc<FixedArrayHeader> = store.shared(address, &store.params())?;
        let layout = at(FixedArrayLayout::new(&header, address, store.params()), address)?;
        let elements = Elements::new(store.params(), header.client, header.element_size, rules, address)?;
        Ok(Self { header, layout, elements, order, block: OnceBlock::new(), pages: BlockSlots::new() })
    }
}

impl<E: Entry> FixedArrayIndex<E> {
    /// Looks up the chunk entry with the element number `number` in the fixed array.
    fn look(&self, store: &Store, number: u64, cursor: &mut Cursor) -> Result<ElementLookup<E>> {
        if let Some(found) = cursor.look(&self.elements, number) {
            return found;
        }
        let address = self.header.data_block;
        if !address.is_defined() {
            return Ok(ElementLookup::Nothing { until: u64::MAX });
        }
        let element = usize::try_from(number).ok().filter(|element| *element < self.layout.elements());
        let Some(element) = element else {
            let expected = format!("more than {number}");
            let got = self.layout.elements();
            let beyond =
                Error::corrupt("fixed array header", "number of elements", expected, got).at(address);
            // After the end of the array there are no chunks, even if the extent is larger.
            return store
                .forgive(Err(beyond))
                .map(|_: Option<()>| ElementLookup::Nothing { until: u64::MAX });
        };
        let block = self.block.get(|| store.shared(address, &self.layout));
        let Some(block) = store.forgive(block)? else {
            return Ok(ElementLookup::Nothing { until: u64::MAX });
        };
        let (page, element) = self.layout.locate(element);
        let Some(context) = self.layout.page(page) else {
            let location = self.elements.location(&block.elements, element as u64)?;
            return Ok(ElementLookup::or_next(location, number));
        };
        // The first element after the page.
        let until = number + (context.elements - element) as u64;
        if !block.is_initialised(page) {
            return Ok(ElementLookup::Nothing { until });
        }
        let start = address.checked_add(self.layout.page_offset(page) as u64).unwrap_or(Address::UNDEFINED);
        let load = || store.shared::<ArrayPage>(start, &context);
        let numbers = [page as u64, context.elements as u64];
        let page = store.forgive(self.pages.get(store, numbers, start, load))?;
        let Some(page) = page else { return Ok(ElementLookup::Nothing { until }) };
        let numbers = [number, element as u64];
        cursor.enter(ElementBlock::Page(page), context.elements as u64, numbers, &self.elements)
    }
}

impl<E: Entry> ChunkIndex<E> for FixedArrayIndex<E> {
    fn kind(&self) -> ChunkIndexKind {
        ChunkIndexKind::FixedArray
    }

    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>> {
        let Some(number) = self.order.number(scaled) else { return Ok(None) };
        self.look(store, number, &mut Cursor::default()).map(ElementLookup::chunk)
    }

    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()> {
        let look = |number, cursor: &mut Cursor| self.look(store, number, cursor);
        self.order.for_each_in(store, chunks, u64::MAX, Some(&self.elements), look, visit)
    }

    fn bytes(&self, store: &Store) -> Result<u64> {
        let block = if self.header.data_block.is_defined() { self.layout.total_size() } else { 0 };
        Ok(to_u64(FixedArrayHeader::size(&store.params()) + block))
    }
}
