//! Changes of a chunk index that is a fixed array. The data block is created with the first chunk
//! of the array, and each page with the first chunk of the page.

use std::sync::Arc;

use hyperslab_format::chunk_index::{ArrayPage, FixedArrayDataBlock, FixedArrayHeader, FixedArrayLayout};
use hyperslab_format::codec::{Address, FileParams, Structure as _};
use hyperslab_format::message::FixedArrayParameters;

use super::super::element::Elements;
use super::super::fixed_array::FixedArrayIndex;
use super::super::order::ArrayOrder;
use super::super::{AtChunk, ChunkBox, ChunkIndex as _, Entry};
use super::array::{ArrayBlock, BlockForm, ChunkArray, Lookup, new_elements};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store, at};

/// An editor of a fixed array of chunk entries. The array may not exist yet.
#[derive(Debug)]
pub(super) struct FixedArray<E: Entry> {
    params: FileParams,
    new: FixedArrayHeader,
    rules: E::Rules,
    made: Option<Made<E>>,
}

/// A fixed array of chunk entries that was already made in the file: its address, its header, and
/// the encoder of its elements.
#[derive(Debug)]
struct Made<E: Entry> {
    address: Address,
    header: FixedArrayHeader,
    layout: FixedArrayLayout,
    elements: Elements<E>,
}

impl<E: Entry> FixedArray<E> {
    /// Creates the editor of a fixed array of chunk entries that does not exist yet, from the
    /// array's parameters.
    pub(super) fn new(
        params: FileParams,
        parameters: FixedArrayParameters,
        order: &ArrayOrder,
        rules: E::Rules,
    ) -> Result<Self> {
        let (client, element_size) = new_elements::<E>(params, &rules)?;
        let new = FixedArrayHeader {
            version: E::ARRAY_VERSION,
            client,
            element_size,
            page_bits: parameters.page_bits,
            elements: order.count(),
            data_block: Address::UNDEFINED,
        };
        Ok(Self { params, new, rules, made: None })
    }

    /// Opens the existing fixed array at `address`: reads its header into the editor. Does nothing
    /// if the address is undefined.
    pub(super) fn open(mut self, store: &Store, address: Address) -> Result<Self> {
        if address.is_defined() {
            let header: Arc<FixedArrayHeader> = store.shared(address, &self.params)?;
            self.made = Some(Made::new((*header).clone(), address, self.params, self.rules)?);
        }
        Ok(self)
    }
}

impl<E: Entry> Made<E> {
    fn new(header: FixedArrayHeader, address: Address, params: FileParams, rules: E::Rules) -> Result<Self> {
        let layout = at(FixedArrayLayout::new(&header, address, params), address)?;
        let elements = Elements::new(params, header.client, header.element_size, rules, address)?;
        Ok(Self { address, header, layout, elements })
    }

    /// Converts the number of a fixed array element to `usize`. Returns `None` if the fixed array
    /// does not have the element.
    fn element(&self, number: u64) -> Option<usize> {
        usize::try_from(number).ok().filter(|element| *element < self.layout.elements())
    }

    fn page(&self, page: usize) -> Result<Address> {
        let start = self.header.data_block.checked_add(self.layout.page_offset(page) as u64);
        start.ok_or_else(|| {
            let expected = "pages inside the file";
            Error::corrupt(FixedArrayHeader::NAME, "data block address", expected, self.header.data_block)
        })
    }

    /// Returns the block or page of the fixed array that holds an array element. If it is a page
    /// that was never written, also returns the number of the page.
    fn locate(&self, store: &Store, element: usize) -> Result<(ArrayBlock, Option<usize>)> {
        let (page, index) = self.layout.locate(element);
        let first = (element - index) as u64;
        let numbers = |count: usize| first..first + count as u64;
        let Some(context) = self.layout.page(page) else {
            let form = BlockForm::Fixed(self.layout);
            let numbers = numbers(self.layout.elements());
            return Ok((ArrayBlock { address: self.header.data_block, form, numbers }, None));
        };
        let block: Arc<FixedArrayDataBlock> = store.shared(self.header.data_block, &self.layout)?;
        let missing = (!block.is_initialised(page)).then_some(page);
        let (form, numbers) = (BlockForm::Page(context), numbers(context.elements));
        Ok((ArrayBlock { address: self.page(page)?, form, numbers }, missing))
    }
}

impl<E: Entry> ChunkArray<E> for FixedArray<E> {
    fn elements(&self) -> Option<&Elements<E>> {
        self.made.as_ref().map(|made| &made.elements)
    }

    fn address(&self) -> Address {
        self.made.as_ref().map_or(Address::UNDEFINED, |made| made.address)
    }

    fn find(&self, store: &Store, number: u64) -> Result<Lookup> {
        let made = self.made.as_ref().filter(|made| made.header.data_block.is_defined());
        let Some((made, element)) = made.and_then(|made| Some((made, made.element(number)?))) else {
            return Ok(Lookup::Nothing { until: u64::MAX });
        };
        let (block, missing) = made.locate(store, element)?;
        Ok(if missing.is_none() {
            Lookup::ArrayBlock(block)
        } else {
            Lookup::Nothing { until: block.numbers.end }
        })
    }

    fn make(&mut self, edit: &mut Edit<'_>, number: u64) -> Result<ArrayBlock> {
        let beyond = || Error::Misuse(format!("the chunk {number} is outside the dataset's maximum shape"));
        let made = match &mut self.made {
            Some(made) => made,
            none => {
                if number >= self.new.elements {
                    return Err(beyond());
                }
                let header = self.new.clone();
                // Check the layout before allocating anything.
                at(FixedArrayLayout::new(&header, Address::UNDEFINED, self.params), Address::UNDEFINED)?;
                let address = edit.add(SpaceKind::ObjectHeader, &self.params, header.clone())?;
                none.insert(Made::new(header, address, self.params, self.rules)?)
            }
        };
        let element = made.element(number).ok_or_else(beyond)?;
        let pages = made.layout.pages();
        if !made.header.data_block.is_defined() {
            let data_block = edit.allocate(SpaceKind::LocalHeap, made.layout.total_size() as u64)?;
            let elements = if pages == 0 { made.elements.unset(made.layout.elements()) } else { Vec::new() };
            let page_bitmap = vec![0; pages.div_ceil(8)];
            let version = made.header.version;
            edit.put(data_block, &made.layout, FixedArrayDataBlock { version, page_bitmap, elements });
            made.header.data_block = data_block;
            edit.put(made.address, &self.params, made.header.clone());
        }
        let (block, missing) = made.locate(edit.store(), element)?;
        if let (Some(page), BlockForm::Page(context)) = (missing, block.form) {
            let elements = made.elements.unset(context.elements);
            edit.put(block.address, &context, ArrayPage { elements });
            edit.modify(made.header.data_block, &made.layout, |block: &mut FixedArrayDataBlock| {
                block.set_initialised(page);
            })?;
        }
        Ok(block)
    }

    fn save(&mut self, _edit: &mut Edit<'_>, _set: Option<u64>) {}

    fn for_each(
        &self,
        store: &Store,
        order: &ArrayOrder,
        chunks: &ChunkBox,
        visit: &mut AtChunk<'_, E>,
    ) -> Result<()> {
        let Some(made) = &self.made else { return Ok(()) };
        let index = FixedArrayIndex::open(store, made.address, self.rules, order.clone())?;
        index.for_each_in(store, chunks, visit)
    }

    fn free(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let Some(made) = &self.made else { return Ok(()) };
        if made.header.data_block.is_defined() {
            let block = made.header.data_block;
            // Discard the dirty pages: their space is about to be free.
            for page in 0..made.layout.pages() {
                edit.forget(made.page(page)?);
            }
            edit.free(SpaceKind::LocalHeap, block, made.layout.total_size() as u64)?;
        }
        edit.free(SpaceKind::ObjectHeader, made.address, FixedArrayHeader::size(&self.params) as u64)?;
        self.made = None;
        Ok(())
    }
}
