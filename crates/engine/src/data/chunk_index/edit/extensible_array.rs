//! Changes of a chunk index that is an extensible array. Each block is created with its first
//! chunk, and the header counts the blocks.

use std::sync::Arc;

use hyperslab_exact::to_usize;
use hyperslab_format::chunk_index::{
    ArrayPage, ElementLocation, ExtensibleArrayBlockContext, ExtensibleArrayDataBlock,
    ExtensibleArrayGeometry, ExtensibleArrayHeader, ExtensibleArrayIndexBlock, ExtensibleArraySecondaryBlock,
    SecondaryBlockShape,
};
use hyperslab_format::codec::{Address, FileParams, Structure as _};
use hyperslab_format::message::ExtensibleArrayParameters;

use super::super::element::Elements;
use super::super::extensible_array::{ExtensibleArrayIndex, address_at};
use super::super::order::ArrayOrder;
use super::super::{AtChunk, ChunkBox, ChunkIndex as _, Entry};
use super::array::{ArrayBlock, BlockForm, ChunkArray, Lookup, new_elements};
use crate::error::{Error, Result};
use crate::index::VisitedBlocks;
use crate::store::{Edit, SpaceKind, Store, at};

/// The extent in the file of one block of an extensible array: the kind of file space, the address,
/// and the number of bytes.
type Extent = (SpaceKind, Address, u64);

/// An editor of an extensible array of chunk entries. The array may not exist yet.
#[derive(Debug)]
pub(super) struct ExtensibleArray<E: Entry> {
    params: FileParams,
    new: ExtensibleArrayHeader,
    rules: E::Rules,
    made: Option<Made<E>>,
}

/// An extensible array of chunk entries that was already made in the file: its address, its header,
/// and the encoder of its elements.
#[derive(Debug)]
struct Made<E: Entry> {
    params: FileParams,
    address: Address,
    header: ExtensibleArrayHeader,
    geometry: ExtensibleArrayGeometry,
    elements: Elements<E>,
    /// True if the header is dirty.
    changed: bool,
}

impl<E: Entry> ExtensibleArray<E> {
    /// Creates the editor of an extensible array of chunk entries that does not exist yet, from the
    /// array's parameters.
    pub(super) fn new(
        params: FileParams,
        parameters: ExtensibleArrayParameters,
        rules: E::Rules,
    ) -> Result<Self> {
        let (client, element_size) = new_elements::<E>(params, &rules)?;
        let new = ExtensibleArrayHeader {
            version: E::ARRAY_VERSION,
            client,
            element_size,
            max_elements_bits: parameters.max_bits,
            index_block_elements: parameters.index_elements,
            min_data_block_elements: parameters.min_elements,
            min_secondary_block_pointers: parameters.min_pointers,
            page_bits: parameters.page_bits,
            secondary_blocks: 0,
            secondary_block_size: 0,
            data_blocks: 0,
            data_block_size: 0,
            max_index_set: 0,
            elements: 0,
            index_block: Address::UNDEFINED,
        };
        Ok(Self { params, new, rules, made: None })
    }

    /// Opens the existing extensible array at `address`: reads its header into the editor. Does
    /// nothing if the address is undefined.
    pub(super) fn open(mut self, store: &Store, address: Address) -> Result<Self> {
        if address.is_defined() {
            let header: Arc<ExtensibleArrayHeader> = store.shared(address, &self.params)?;
            self.made = Some(Made::new((*header).clone(), address, self.params, self.rules)?);
        }
        Ok(self)
    }
}

impl<E: Entry> Made<E> {
    fn new(
        header: ExtensibleArrayHeader,
        address: Address,
        params: FileParams,
        rules: E::Rules,
    ) -> Result<Self> {
        let geometry = at(ExtensibleArrayGeometry::new(&header), address)?;
        let elements = Elements::new(params, header.client, header.element_size, rules, address)?;
        Ok(Self { params, address, header, geometry, elements, changed: false })
    }

    fn index_context(&self) -> ExtensibleArrayBlockContext {
        ExtensibleArrayBlockContext::index_block(&self.header, &self.geometry, self.address, self.params)
    }

    fn secondary_context(&self, shape: &SecondaryBlockShape) -> ExtensibleArrayBlockContext {
        let (header, geometry) = (&self.header, &self.geometry);
        ExtensibleArrayBlockContext::secondary_block(header, geometry, shape, self.address, self.params)
    }

    fn data_context(&self, elements: u64) -> ExtensibleArrayBlockContext {
        let (header, geometry) = (&self.header, &self.geometry);
        ExtensibleArrayBlockContext::data_block(header, geometry, elements, self.address, self.params)
    }

    fn index(&self, store: &Store) -> Result<Arc<ExtensibleArrayIndexBlock>> {
        store.shared(self.header.index_block, &self.index_context())
    }

    /// Returns the description of a data block without pages of the extensible array of chunk
    /// entries.
    fn data(&self, address: Address, elements: u64, [number, element]: [u64; 2]) -> ArrayBlock {
        let first = number - element;
        let form = BlockForm::Data(self.data_context(elements));
        ArrayBlock { address, form, numbers: first..first + elements }
    }

    fn page(&self, data_block: Address, elements: u64, [number, element]: [u64; 2]) -> Result<ArrayBlock> {
        let (context, count) = (self.data_context(elements), self.geometry.page_elements());
        let page = element.checked_div(count).unwrap_or(0);
        let address = data_block.checked_add(context.page_offset(to_usize(page)?) as u64);
        let address = address.ok_or_else(|| {
            let block = ExtensibleArrayDataBlock::NAME;
            Error::corrupt(block, "address", "pages inside the file", data_block)
        })?;
        let first = number - element.checked_rem(count).unwrap_or(0);
        let numbers = first..first + count;
        Ok(ArrayBlock { address, form: BlockForm::Page(context.page()), numbers })
    }

    /// Returns the index block of the extensible array of chunk entries. Creates the index block if
    /// necessary.
    fn make_index(&mut self, edit: &mut Edit<'_>) -> Result<Arc<ExtensibleArrayIndexBlock>> {
        if !self.header.index_block.is_defined() {
            let context = self.index_context();
            let block = ExtensibleArrayIndexBlock {
                version: self.header.version,
                elements: self.elements.unset(self.geometry.index_block_elements()),
                data_blocks: vec![Address::UNDEFINED; self.geometry.index_block_data_blocks()],
                secondary_blocks: vec![Address::UNDEFINED; self.geometry.index_block_secondary_blocks()],
            };
            self.header.index_block = edit.add(SpaceKind::ObjectHeader, &context, block)?;
            let elements = self.geometry.index_block_elements() as u64;
            count(&mut self.header.elements, elements)?;
            self.changed = true;
        }
        self.index(edit.store())
    }

    /// Creates a data block of the extensible array in the file, and returns the address of the
    /// data block.
    fn make_data(&mut self, edit: &mut Edit<'_>, elements: u64, block_offset: u64) -> Result<Address> {
        let context = self.data_context(elements);
        let size = context.total_size() as u64;
        let address = edit.allocate(SpaceKind::LocalHeap, size)?;
        let paged = context.pages() > 0;
        let block = ExtensibleArrayDataBlock {
            version: self.header.version,
            block_offset,
            elements: if paged { Vec::new() } else { self.elements.unset(to_usize(elements)?) },
        };
        edit.put(address, &context, block);
        count(&mut self.header.data_blocks, 1)?;
        count(&mut self.header.data_block_size, size)?;
        count(&mut self.header.elements, elements)?;
        self.changed = true;
        Ok(address)
    }

    fn make_secondary(&mut self, edit: &mut Edit<'_>, shape: &SecondaryBlockShape) -> Result<Address> {
        let context = self.secondary_context(shape);
        let block = ExtensibleArraySecondaryBlock::new(self.header.version, shape.first_element, &context);
        let address = edit.add(SpaceKind::BTree, &context, block)?;
        let size = ExtensibleArraySecondaryBlock::size(&context) as u64;
        count(&mut self.header.secondary_blocks, 1)?;
        count(&mut self.header.secondary_block_size, size)?;
        self.changed = true;
        Ok(address)
    }

    fn make_in_secondary(
        &mut self,
        edit: &mut Edit<'_>,
        location: ElementLocation,
        number: u64,
    ) -> Result<ArrayBlock> {
        let ElementLocation::SecondaryBlock {
            secondary_block,
            pointer,
            data_block,
            element,
            block_offset,
            page,
        } = location
        else {
            return Err(beyond(number));
        };
        let index = self.make_index(edit)?;
        let shape = self.geometry.secondary_block(secondary_block);
        let context = self.secondary_context(&shape);
        let mut address = address_at(&index.secondary_blocks, pointer.into());
        if !address.is_defined() {
            address = self.make_secondary(edit, &shape)?;
            let index_context = self.index_context();
            edit.modify(
                self.header.index_block,
                &index_context,
                |index: &mut ExtensibleArrayIndexBlock| {
                    set_address(&mut index.secondary_blocks, pointer.into(), address)
                },
            )??;
        }
        let elements = shape.data_block_elements;
        let secondary: Arc<ExtensibleArraySecondaryBlock> = edit.store().shared(address, &context)?;
        let mut block = address_at(&secondary.data_blocks, data_block);
        let data_number = to_usize(data_block)?;
        let page = page.map(to_usize).transpose()?;
        let fresh = page.is_some_and(|page| !secondary.is_initialised(data_number, page, &context));
        drop(secondary);
        if !block.is_defined() {
            block = self.make_data(edit, elements, block_offset)?;
            edit.modify(address, &context, |secondary: &mut ExtensibleArraySecondaryBlock| {
                set_address(&mut secondary.data_blocks, data_block, block)
            })??;
        }
        let Some(page) = page else { return Ok(self.data(block, elements, [number, element])) };
        let location = self.page(block, elements, [number, element])?;
        if let (true, BlockForm::Page(form)) = (fresh, location.form) {
            edit.put(location.address, &form, ArrayPage { elements: self.elements.unset(form.elements) });
            edit.modify(address, &context, |secondary: &mut ExtensibleArraySecondaryBlock| {
                secondary.set_initialised(data_number, page, &context);
            })?;
        }
        Ok(location)
    }

    fn index_elements(&self) -> ArrayBlock {
        let numbers = 0..self.geometry.index_block_elements() as u64;
        ArrayBlock { address: self.header.index_block, form: BlockForm::Index(self.index_context()), numbers }
    }

    /// Returns the data blocks to which the index block of an extensible array points. Each data
    /// block is given by its address and its number of elements.
    fn data_blocks(&self, index: &ExtensibleArrayIndexBlock) -> Vec<(Address, u64)> {
        let inline = (0..self.geometry.first_secondary_block()).flat_map(|number| {
            let shape = self.geometry.secondary_block(number);
            (0..shape.data_blocks).map(move |_| shape.data_block_elements)
        });
        index.data_blocks.iter().copied().zip(inline).collect()
    }

    /// Returns two lists for the extensible array: the extents in the file of all blocks except the
    /// header, and all addresses at which a page may begin.
    fn blocks(&self, store: &Store) -> Result<(Vec<Extent>, Vec<Address>)> {
        let (mut blocks, mut pages) = (Vec::new(), Vec::new());
        if !self.header.index_block.is_defined() {
            return Ok((blocks, pages));
        }
        let mut guard = VisitedBlocks::new(store, "extensible array");
        let index = self.index(store)?;
        let size = ExtensibleArrayIndexBlock::size(&self.index_context()) as u64;
        blocks.push((SpaceKind::ObjectHeader, self.header.index_block, size));
        let mut data = self.data_blocks(&index);
        for (number, address) in (self.geometry.first_secondary_block()..).zip(&index.secondary_blocks) {
            if !address.is_defined() {
                continue;
            }
            let shape = self.geometry.secondary_block(number);
            let context = self.secondary_context(&shape);
            let secondary: Arc<ExtensibleArraySecondaryBlock> = store.shared(*address, &context)?;
            let size = ExtensibleArraySecondaryBlock::size(&context) as u64;
            blocks.push((SpaceKind::BTree, *address, size));
            data.extend(secondary.data_blocks.iter().map(|block| (*block, shape.data_block_elements)));
        }
        for (address, elements) in data.into_iter().filter(|(address, _)| address.is_defined()) {
            let context = self.data_context(elements);
            let size = context.total_size() as u64;
            store.check_inside(address, size, ExtensibleArrayDataBlock::NAME)?;
            blocks.push((SpaceKind::LocalHeap, address, size));
            pages.extend(
                (0..context.pages()).filter_map(|page| address.checked_add(context.page_offset(page) as u64)),
            );
        }
        blocks.iter().try_for_each(|(_, address, _)| guard.enter(*address))?;
        Ok((blocks, pages))
    }
}

impl<E: Entry> ChunkArray<E> for ExtensibleArray<E> {
    fn elements(&self) -> Option<&Elements<E>> {
        self.made.as_ref().map(|made| &made.elements)
    }

    fn address(&self) -> Address {
        self.made.as_ref().map_or(Address::UNDEFINED, |made| made.address)
    }

    fn find(&self, store: &Store, number: u64) -> Result<Lookup> {
        let Some(made) = self.made.as_ref().filter(|made| made.header.index_block.is_defined()) else {
            return Ok(Lookup::Nothing { until: u64::MAX });
        };
        let location = made.geometry.locate(number).filter(|_| number < made.header.max_index_set);
        let Some(location) = location else { return Ok(Lookup::Nothing { until: u64::MAX }) };
        let block = match location {
            ElementLocation::IndexBlock { .. } => return Ok(Lookup::ArrayBlock(made.index_elements())),
            ElementLocation::DataBlock { data_block, element, elements, .. } => {
                let address = address_at(&made.index(store)?.data_blocks, data_block);
                made.data(address, elements, [number, element])
            }
            ElementLocation::SecondaryBlock {
                secondary_block, pointer, data_block, element, page, ..
            } => {
                let address = address_at(&made.index(store)?.secondary_blocks, pointer.into());
                if !address.is_defined() {
                    return Ok(Lookup::nothing_at(number));
                }
                let shape = made.geometry.secondary_block(secondary_block);
                let (context, elements) = (made.secondary_context(&shape), shape.data_block_elements);
                let secondary: Arc<ExtensibleArraySecondaryBlock> = store.shared(address, &context)?;
                let block = address_at(&secondary.data_blocks, data_block);
                match page {
                    None => made.data(block, elements, [number, element]),
                    Some(page)
                        if block.is_defined()
                            && secondary.is_initialised(to_usize(data_block)?, to_usize(page)?, &context) =>
                    {
                        made.page(block, elements, [number, element])?
                    }
                    Some(_) => return Ok(Lookup::nothing_at(number)),
                }
            }
        };
        let exists = block.address.is_defined();
        Ok(if exists { Lookup::ArrayBlock(block) } else { Lookup::nothing_at(number) })
    }

    fn make(&mut self, edit: &mut Edit<'_>, number: u64) -> Result<ArrayBlock> {
        let made = match &mut self.made {
            Some(made) => made,
            none => {
                let header = self.new.clone();
                let geometry = at(ExtensibleArrayGeometry::new(&header), Address::UNDEFINED)?;
                geometry.locate(number).ok_or_else(|| beyond(number))?;
                let address = edit.add(SpaceKind::ObjectHeader, &self.params, header.clone())?;
                none.insert(Made::new(header, address, self.params, self.rules)?)
            }
        };
        let location = made.geometry.locate(number).ok_or_else(|| beyond(number))?;
        match location {
            ElementLocation::IndexBlock { .. } => {
                made.make_index(edit)?;
                Ok(made.index_elements())
            }
            ElementLocation::DataBlock { data_block, element, elements, block_offset } => {
                let mut address = address_at(&made.make_index(edit)?.data_blocks, data_block);
                if !address.is_defined() {
                    address = made.make_data(edit, elements, block_offset)?;
                    let context = made.index_context();
                    edit.modify(
                        made.header.index_block,
                        &context,
                        |index: &mut ExtensibleArrayIndexBlock| {
                            set_address(&mut index.data_blocks, data_block, address)
                        },
                    )??;
                }
                Ok(made.data(address, elements, [number, element]))
            }
            ElementLocation::SecondaryBlock { .. } => made.make_in_secondary(edit, location, number),
        }
    }

    fn save(&mut self, edit: &mut Edit<'_>, set: Option<u64>) {
        let Some(made) = &mut self.made else { return };
        let after = set.map_or(0, |number| number + 1);
        if after > made.header.max_index_set {
            made.header.max_index_set = after;
            made.changed = true;
        }
        if std::mem::take(&mut made.changed) {
            edit.put(made.address, &self.params, made.header.clone());
        }
    }

    fn for_each(
        &self,
        store: &Store,
        order: &ArrayOrder,
        chunks: &ChunkBox,
        visit: &mut AtChunk<'_, E>,
    ) -> Result<()> {
        let Some(made) = &self.made else { return Ok(()) };
        let index = ExtensibleArrayIndex::open(store, made.address, self.rules, order.clone())?;
        index.for_each_in(store, chunks, visit)
    }

    fn free(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let Some(made) = &self.made else { return Ok(()) };
        let (blocks, pages) = made.blocks(edit.store())?;
        // Discard the dirty pages: their space is about to be free.
        pages.into_iter().for_each(|page| edit.forget(page));
        for (kind, address, size) in blocks {
            edit.free(kind, address, size)?;
        }
        let size = ExtensibleArrayHeader::size(&self.params) as u64;
        edit.free(SpaceKind::ObjectHeader, made.address, size)?;
        self.made = None;
        Ok(())
    }
}

fn beyond(number: u64) -> Error {
    Error::Misuse(format!("the chunk {number} is outside the range that an extensible array can hold"))
}

fn set_address(addresses: &mut [Address], number: u64, address: Address) -> Result<()> {
    let slot = usize::try_from(number).ok().and_then(|number| addresses.get_mut(number));
    let invariant = "a block has an address for each of its blocks";
    *slot.ok_or(Error::Internal { structure: "extensible array of chunks", invariant })? = address;
    Ok(())
}

/// Adds `more` to a counter in the header of the extensible array, for example the number of its
/// data blocks.
fn count(field: &mut u64, more: u64) -> Result<()> {
    let maximum = || Error::corrupt("extensible array header", "statistics", "counts within 64 bits", *field);
    *field = field.checked_add(more).ok_or_else(maximum)?;
    Ok(())
}
