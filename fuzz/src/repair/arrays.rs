//! Fixed and extensible arrays.

use hyperslab_format::chunk_index::{
    ArrayPage, ExtensibleArrayBlockContext as BlockContext, ExtensibleArrayDataBlock,
    ExtensibleArrayGeometry, ExtensibleArrayHeader, ExtensibleArrayIndexBlock, ExtensibleArraySecondaryBlock,
    FixedArrayDataBlock, FixedArrayHeader, FixedArrayLayout, SecondaryBlockShape,
};
use hyperslab_format::codec::{Address, Structure};

use super::{Kind, Repair};

/// An extensible array.
struct Extensible {
    header: ExtensibleArrayHeader,
    geometry: ExtensibleArrayGeometry,
    address: Address,
}

impl Repair<'_> {
    pub(super) fn fixed_array(&mut self, start: usize) -> Option<()> {
        let header: FixedArrayHeader = self.block(Kind::FixedHeader, start, &{ self.params })?;
        let layout = FixedArrayLayout::new(&header, self.address(start), self.params).ok()?;
        let start = self.place(header.data_block)?;
        let block: FixedArrayDataBlock = self.block(Kind::FixedData, start, &layout)?;
        for page in (0..layout.pages()).filter(|page| block.is_initialised(*page)) {
            let place = start.checked_add(layout.page_offset(page))?;
            self.seal(Kind::FixedPage, place, ArrayPage::size(&layout.page(page)?));
        }
        Some(())
    }

    pub(super) fn extensible_array(&mut self, start: usize) -> Option<()> {
        let header: ExtensibleArrayHeader = self.block(Kind::ExtensibleHeader, start, &{ self.params })?;
        let geometry = ExtensibleArrayGeometry::new(&header).ok()?;
        let array = Extensible { header, geometry, address: self.address(start) };
        let context = BlockContext::index_block(&array.header, &array.geometry, array.address, self.params);
        let index_block = self.place(array.header.index_block)?;
        let index: ExtensibleArrayIndexBlock = self.block(Kind::ExtensibleIndex, index_block, &context)?;
        let first = geometry.first_secondary_block();
        let inline = (0..first).flat_map(|number| {
            let shape = geometry.secondary_block(number);
            (0..shape.data_blocks).map(move |_| shape.data_block_elements)
        });
        for (address, elements) in index.data_blocks.iter().zip(inline) {
            let _ = self.data_block(&array, *address, elements, |_| false);
        }
        for (number, address) in (first..).zip(&index.secondary_blocks) {
            let _ = self.secondary_block(&array, &geometry.secondary_block(number), *address);
        }
        Some(())
    }

    fn secondary_block(
        &mut self,
        array: &Extensible,
        shape: &SecondaryBlockShape,
        address: Address,
    ) -> Option<()> {
        let start = self.place(address)?;
        let context =
            BlockContext::secondary_block(&array.header, &array.geometry, shape, array.address, self.params);
        let block: ExtensibleArraySecondaryBlock = self.block(Kind::ExtensibleSecondary, start, &context)?;
        for (number, address) in block.data_blocks.iter().enumerate() {
            let has = |page| block.is_initialised(number, page, &context);
            let _ = self.data_block(array, *address, shape.data_block_elements, has);
        }
        Some(())
    }

    fn data_block(
        &mut self,
        array: &Extensible,
        address: Address,
        elements: u64,
        has_page: impl Fn(usize) -> bool,
    ) -> Option<()> {
        let start = self.place(address)?;
        let context =
            BlockContext::data_block(&array.header, &array.geometry, elements, array.address, self.params);
        let _: ExtensibleArrayDataBlock = self.block(Kind::ExtensibleData, start, &context)?;
        let maximum = self.file.len();
        for page in (0..context.pages().min(maximum)).filter(|page| has_page(*page)) {
            let place = start.checked_add(context.page_offset(page))?;
            self.seal(Kind::ExtensiblePage, place, ArrayPage::size(&context.page()));
        }
        Some(())
    }
}
