//! Extensible arrays: all blocks and pages, and the statistics of the header.

use hyperslab_format::chunk_index::{
    ArrayPage, ChunkIndexClient, ExtensibleArrayBlockContext, ExtensibleArrayDataBlock,
    ExtensibleArrayGeometry, ExtensibleArrayHeader, ExtensibleArrayIndexBlock, ExtensibleArraySecondaryBlock,
    SecondaryBlockShape,
};
use hyperslab_format::codec::{Address, Structure as _};

use crate::chunk_arrays::Elements;
use crate::chunks::Indexed;
use crate::extents::BlockKind;
use crate::file::{Checker, to_usize};
use crate::totals::end_of;

const HEADER: &str = ExtensibleArrayHeader::NAME;

/// Walks the extensible array that indexes the chunks of a dataset.
pub(crate) fn walk(checker: &mut Checker, indexed: &Indexed<'_>) -> Option<()> {
    let (params, address) = (checker.params, indexed.address);
    let header: ExtensibleArrayHeader = checker.block(address, &params, BlockKind::ChunkIndex)?;
    let geometry = checker.decoded(HEADER, address, ExtensibleArrayGeometry::new(&header))?;
    let form = (header.client, header.element_size);
    let elements = Elements::new(checker, indexed, form, HEADER, address)?;
    let mut array = Array { address, header, geometry, elements, found: Counts::default(), complete: true };
    if array.header.index_block.is_defined() {
        array.index_block(checker);
    }
    if array.complete {
        array.statistics(checker);
    }
    Some(())
}

/// The numbers of blocks and elements of an extensible array that the check has found. The check
/// compares them with the header of the array.
#[derive(Debug, Default)]
struct Counts {
    secondary_blocks: u64,
    secondary_block_size: u64,
    data_blocks: u64,
    data_block_size: u64,
    elements: u64,
}

struct Array<'a> {
    address: Address,
    header: ExtensibleArrayHeader,
    geometry: ExtensibleArrayGeometry,
    elements: Elements<'a>,
    found: Counts,
    complete: bool,
}

impl Array<'_> {
    fn index_block(&mut self, checker: &mut Checker) {
        let (header, geometry) = (&self.header, self.geometry);
        let context =
            ExtensibleArrayBlockContext::index_block(header, &geometry, self.address, checker.params);
        let block =
            checker.block::<ExtensibleArrayIndexBlock>(header.index_block, &context, BlockKind::ChunkIndex);
        let Some(block) = block else {
            self.complete = false;
            return;
        };
        let base = geometry.index_block_elements() as u64;
        self.found.elements = base;
        self.elements.look(checker, &block.elements, 0);
        let mut inline = block.data_blocks.iter();
        for number in 0..geometry.first_secondary_block() {
            let shape = geometry.secondary_block(number);
            for (block, address) in (0..shape.data_blocks).zip(inline.by_ref()) {
                self.data_block(checker, *address, &shape, block, None);
            }
        }
        for (number, address) in (geometry.first_secondary_block()..).zip(&block.secondary_blocks) {
            if address.is_defined() {
                self.secondary_block(checker, *address, &geometry.secondary_block(number));
            }
        }
    }

    fn secondary_block(&mut self, checker: &mut Checker, address: Address, shape: &SecondaryBlockShape) {
        let name = ExtensibleArraySecondaryBlock::NAME;
        let (header, params) = (&self.header, checker.params);
        let context =
            ExtensibleArrayBlockContext::secondary_block(header, &self.geometry, shape, self.address, params);
        let Some(block) =
            checker.block::<ExtensibleArraySecondaryBlock>(address, &context, BlockKind::ChunkIndex)
        else {
            self.complete = false;
            return;
        };
        self.found.secondary_blocks += 1;
        let size = ExtensibleArraySecondaryBlock::size(&context) as u64;
        self.found.secondary_block_size += size;
        checker.same(name, address, "block offset", block.block_offset, shape.first_element);
        for (number, data) in (0_u64..).zip(&block.data_blocks) {
            self.data_block(checker, *data, shape, number, Some((&block, &context)));
        }
    }

    /// Checks one data block of an extensible array. `parent` is the secondary block that contains
    /// the block's address, or `None` if the index block contains it. `number` is the number of the
    /// data block within its secondary block.
    fn data_block(
        &mut self,
        checker: &mut Checker,
        address: Address,
        shape: &SecondaryBlockShape,
        number: u64,
        parent: Option<(&ExtensibleArraySecondaryBlock, &ExtensibleArrayBlockContext)>,
    ) {
        if !address.is_defined() {
            return;
        }
        let name = ExtensibleArrayDataBlock::NAME;
        let (params, count) = (checker.params, shape.data_block_elements);
        let context = ExtensibleArrayBlockContext::data_block(
            &self.header,
            &self.geometry,
            count,
            self.address,
            params,
        );
        let total = context.total_size() as u64;
        let entered = checker.enter(name, address, total, BlockKind::ChunkIndex);
        let block = entered.then(|| {
            let block = checker.store.get::<ExtensibleArrayDataBlock>(address, &context);
            checker.read_or_note(name, address, block)
        });
        let Some(block) = block.flatten() else {
            self.complete = false;
            return;
        };
        self.found.data_blocks += 1;
        self.found.data_block_size += total;
        self.found.elements += count;
        let first = shape.first_element + number * count;
        // libhdf5 numbers the data blocks of the index block consecutively, across secondary
        // blocks.
        let other = number + if parent.is_none() { shape.first_data_block } else { 0 };
        let other = shape.first_element + other * count;
        checker.decoded(name, address, block.check_offset(other, first));
        // The sum saturates: the last possible block ends beyond every dataset.
        let first = end_of(first, self.geometry.index_block_elements() as u64);
        self.elements.look(checker, &block.elements, first);
        let Some((parent, parent_context)) = parent else { return };
        for page in 0..context.pages() {
            let block = to_usize(number);
            if parent.is_initialised(block, page, parent_context) {
                self.page(checker, address, &context, page, first);
            }
        }
    }

    fn page(
        &mut self,
        checker: &mut Checker,
        block: Address,
        context: &ExtensibleArrayBlockContext,
        page: usize,
        first: u64,
    ) {
        let Some(start) = block.checked_add(context.page_offset(page) as u64) else { return };
        let found = checker.store.get::<ArrayPage>(start, &context.page());
        let Some(found) = checker.read_or_note(ArrayPage::NAME, start, found) else {
            self.complete = false;
            return;
        };
        let before = page as u64 * self.geometry.page_elements();
        // The sum saturates, as in `data_block`.
        self.elements.look(checker, &found.elements, end_of(first, before));
    }

    fn statistics(&self, checker: &mut Checker) {
        let (header, found, address) = (&self.header, &self.found, self.address);
        for (subject, stated, found) in [
            ("secondary blocks", header.secondary_blocks, found.secondary_blocks),
            ("bytes of secondary blocks", header.secondary_block_size, found.secondary_block_size),
            ("data blocks", header.data_blocks, found.data_blocks),
            ("bytes of data blocks", header.data_block_size, found.data_block_size),
        ] {
            checker.same(HEADER, address, subject, stated, found);
        }
        let subject = "elements with a block";
        let ordinary = matches!(header.client, ChunkIndexClient::CHUNKS | ChunkIndexClient::FILTERED);
        if ordinary {
            checker.same(HEADER, address, subject, header.elements, found.elements);
        } else if header.elements != found.elements {
            // Some writers of structured chunks count the elements that the blocks can hold, not
            // the elements that are set.
            let text = format!("{subject}: {} stated, {} found", header.elements, found.elements);
            checker.remark(HEADER, address, text);
        }
        if header.max_index_set < self.elements.end {
            let text = format!(
                "{} elements set, but element {} has a chunk",
                header.max_index_set,
                self.elements.end.saturating_sub(1)
            );
            checker.fault(HEADER, address, text);
        }
    }
}
