//! Creation and deletion of fractal heaps.

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, FileParams, Structure as _};
use hyperslab_format::fractal_heap::{
    FractalHeapFilters, FractalHeapFlags, FractalHeapHeader, FractalHeapIndirectBlock,
};

use super::FractalHeap;
use super::change::free_manager;
use super::managed::{DIRECT_SPACE, INDIRECT_SPACE};
use crate::error::{Error, Result};
use crate::index::VisitedBlocks;
use crate::store::{Edit, SpaceKind};

/// File-space kind of fractal heap headers. A file can manage the free space of each kind
/// separately.
pub(super) const HEADER_SPACE: SpaceKind = SpaceKind::ObjectHeader;

/// The parameters of a new fractal heap. The parameters never change later. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FractalHeapCreation {
    /// Length of a heap ID.
    pub id_length: u16,
    /// Number of columns of the doubling table: a power of two.
    pub table_width: u16,
    /// Size of the blocks in the first two rows: a power of two.
    pub starting_block_size: u64,
    /// Size of the largest direct block: a power of two.
    pub max_direct_size: u64,
    /// Number of bits of an offset in the heap's address space.
    pub max_heap_bits: u16,
    /// Size of the largest managed object. Larger objects are huge objects, outside the heap's
    /// blocks.
    pub max_managed_size: u32,
    /// Number of rows of a new root indirect block; 0 for the largest possible number.
    pub starting_rows: u16,
    /// True if direct blocks have checksums.
    pub checksums: bool,
    /// Filter pipeline message for direct blocks and huge objects; empty for none.
    pub filters: Vec<u8>,
}

impl FractalHeapCreation {
    /// The fractal heap parameters of libhdf5 for the links of a group.
    pub const LINKS: Self = Self {
        id_length: 7,
        table_width: 4,
        starting_block_size: 512,
        max_direct_size: 64 << 10,
        max_heap_bits: 32,
        max_managed_size: 4 << 10,
        starting_rows: 1,
        checksums: true,
        filters: Vec::new(),
    };

    /// The fractal heap parameters of libhdf5 for the attributes of an object.
    pub const ATTRIBUTES: Self = Self {
        id_length: 8,
        table_width: 4,
        starting_block_size: 1024,
        max_direct_size: 64 << 10,
        max_heap_bits: 40,
        max_managed_size: 4 << 10,
        starting_rows: 1,
        checksums: true,
        filters: Vec::new(),
    };

    /// The fractal heap parameters of libhdf5 for the shared messages of a file.
    pub const SHARED_MESSAGES: Self = Self::ATTRIBUTES;

    /// Returns the header of an empty fractal heap. The length fields of the file limit the sizes
    /// of the heap.
    pub(super) fn header(&self, params: FileParams) -> FractalHeapHeader {
        let bits = (u16::from(params.size_of_lengths) * 8).clamp(1, 64) - 1;
        let largest = 1_u64 << bits;
        let mut flags = FractalHeapFlags::empty();
        flags.set(FractalHeapFlags::CHECKSUM_DIRECT_BLOCKS, self.checksums);
        let pipeline = self.filters.clone();
        FractalHeapHeader {
            id_length: self.id_length,
            flags,
            max_managed_size: self.max_managed_size,
            next_huge_id: 0,
            huge_btree: Address::UNDEFINED,
            free_space: 0,
            free_space_manager: Address::UNDEFINED,
            managed_size: 0,
            allocated_size: 0,
            iterator_offset: 0,
            managed_objects: 0,
            huge_size: 0,
            huge_objects: 0,
            tiny_size: 0,
            tiny_objects: 0,
            table_width: self.table_width,
            starting_block_size: self.starting_block_size,
            max_direct_size: self.max_direct_size.min(largest),
            max_heap_bits: self.max_heap_bits.min(bits),
            starting_rows: self.starting_rows,
            root: Address::UNDEFINED,
            root_rows: 0,
            filters: (!pipeline.is_empty()).then_some(FractalHeapFilters {
                root_size: 0,
                root_mask: 0,
                pipeline,
            }),
        }
    }
}

impl FractalHeap {
    /// Creates a fractal heap without objects. Returns the address of the heap's header.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the parameters contradict each other, and the errors of
    /// [`Edit::allocate`].
    pub fn create(edit: &mut Edit<'_>, creation: &FractalHeapCreation) -> Result<Address> {
        let params = edit.params();
        let header = creation.header(params);
        let cannot = |error| Error::Misuse(format!("the parameters of a fractal heap are invalid: {error}"));
        let context = header.context(params).map_err(cannot)?;
        let length = to_u64(FractalHeapHeader::size(&context));
        let heap = Self::with_header(header, Address::new(0), params).map_err(cannot)?;
        let address = edit.allocate(HEADER_SPACE, length)?;
        let heap = Self { address, ..heap };
        edit.put(address, &heap.changed_context(params)?, heap);
        Ok(address)
    }

    /// Frees the fractal heap at `address` and all its heap objects.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn delete(edit: &mut Edit<'_>, address: Address) -> Result<()> {
        let mut heap = Self::clone(&*Self::open(edit.store(), address)?);
        heap.delete_huge(edit)?;
        if let Some(root) = heap.root_block() {
            edit.free(DIRECT_SPACE, root.address, root.stored_size())?;
        } else if heap.header.root.is_defined() {
            let mut walk = VisitedBlocks::new(edit.store(), FractalHeapIndirectBlock::NAME);
            heap.delete_indirect(edit, &mut walk, heap.header.root, heap.header.root_rows.into())?;
        }
        free_manager(edit, &mut heap)?;
        let length = FractalHeapHeader::size(&heap.changed_context(edit.params())?.header);
        edit.free(HEADER_SPACE, address, to_u64(length))
    }

    fn delete_indirect(
        &self,
        edit: &mut Edit<'_>,
        walk: &mut VisitedBlocks,
        address: Address,
        rows: u32,
    ) -> Result<()> {
        walk.enter(address)?;
        let context = self.indirect_context(edit.store(), rows);
        let node: FractalHeapIndirectBlock = edit.take(address, &context)?;
        for (number, child) in node.children.iter().enumerate().filter(|(_, child)| child.is_defined()) {
            let entry = self.table.entry(number);
            if entry.direct {
                let stored = node.filtered.get(number).map_or(entry.block_size, |block| block.size);
                edit.free(DIRECT_SPACE, *child, stored)?;
            } else {
                let below = self.rows_below(entry.block_size, rows, *child)?;
                self.delete_indirect(edit, walk, *child, below)?;
            }
        }
        edit.free(INDIRECT_SPACE, address, to_u64(FractalHeapIndirectBlock::size(&context)))
    }
}
