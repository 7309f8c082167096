//! Blocks of a fractal heap. New direct blocks enlarge the table of indirect blocks, and freed
//! direct blocks shrink it.

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::{FractalHeapDirectBlock, FractalHeapHeader, FractalHeapIndirectBlock};

use super::change::HeapChange;
use super::managed::{DIRECT_SPACE, INDIRECT_SPACE, Path, Step};
use super::{DirectBlock, FractalHeap, counter};
use crate::error::{Error, Result};
use crate::store::SpaceKind;

impl HeapChange<'_, '_> {
    /// Creates a direct block of the fractal heap that can hold a heap object of `length` bytes.
    /// Returns the offset and the size of the unused bytes in the block.
    pub(super) fn new_block_for(&mut self, length: u64) -> Result<(u64, u64)> {
        let shape = self.heap.shape;
        let full = || Error::Limit {
            subject: "a fractal heap: bytes of objects".into(),
            got: length,
            limit: shape.max_object_bytes(),
        };
        let least = shape.block_for(length).ok_or_else(full)?;
        if let Some((offset, size)) = self.free.fitting_block(&shape, least)? {
            self.create_block(offset, size)?;
            return self.new_single(offset, size);
        }
        let start = self.heap.header.starting_block_size;
        if !self.heap.header.root.is_defined() && least == start {
            self.create_root_block()?;
            return self.new_single(0, start);
        }
        let old = self.heap.header.iterator_offset;
        let direct_root = self.heap.header.root_rows == 0 && self.heap.header.root.is_defined();
        let before = if direct_root { start } else { old };
        let (offset, size) =
            shape.first_block(0, shape.table.max_root_rows(), before, least).ok_or_else(full)?;
        let end = self.heap.end(offset, size)?;
        let row = shape.table.locate(offset).row;
        self.raise_root(row)?;
        self.heap.header.iterator_offset = end;
        if let Err(error) = self.create_block(offset, size) {
            self.heap.header.iterator_offset = before;
            return Err(error);
        }
        if before > 0 && offset > before {
            self.update_missing(before - 1)?;
        }
        self.new_single(offset, size)
    }

    /// Creates a single free section of a fractal heap: the unused bytes of a new direct block.
    /// Returns the offset and the size of these bytes.
    fn new_single(&mut self, offset: u64, size: u64) -> Result<(u64, u64)> {
        let shape = self.heap.shape;
        let single = (self.heap.end(offset, shape.prefix)?, shape.object_bytes(size));
        self.free.add_single(single.0, single.1)?;
        Ok(single)
    }

    fn create_root_block(&mut self) -> Result<()> {
        let size = self.heap.header.starting_block_size;
        let (address, filtered) = self.add_direct_block(0, size)?;
        let free_space = self.heap.shape.object_bytes(size);
        let header = &mut self.heap.header;
        header.root = address;
        header.root_rows = 0;
        header.managed_size = size;
        header.allocated_size = size;
        header.iterator_offset = 0;
        header.free_space = free_space;
        set_root_filtered(header, filtered);
        Ok(())
    }

    /// Replaces the root block of the fractal heap by an indirect block with more than `row` rows.
    /// Does nothing if the root block already is such a block.
    fn raise_root(&mut self, row: u32) -> Result<()> {
        let (store, shape) = (self.edit.store(), self.heap.shape);
        let maximum = shape.table.max_root_rows();
        let before = u32::from(self.heap.header.root_rows);
        if before > row {
            return Ok(());
        }
        let starting = match u32::from(self.heap.header.starting_rows) {
            0 => maximum,
            rows => rows.min(maximum),
        };
        // `before` is a 16-bit number, and `row` is a row of the table.
        let wish = if before == 0 { starting } else { (2 * before).min(maximum) };
        let rows = wish.max(row + 1);
        let context = self.heap.indirect_context(store, rows);
        let mut node = FractalHeapIndirectBlock::new(0, &context);
        let old = self.heap.header.root;
        let mut capacity = shape.capacity(before)?;
        if before > 0 {
            let old_context = self.heap.indirect_context(store, before);
            let old_node = store.shared::<FractalHeapIndirectBlock>(old, &old_context)?;
            copy_children(&old_node, &mut node);
        } else if let Some(root) = self.heap.root_block() {
            set_child(&mut node, 0, root.address, root.filtered)?;
            capacity = shape.row_object_bytes(0);
        }
        let mut header = self.header_with_root(rows, capacity)?;
        header.root = self.edit.add(INDIRECT_SPACE, &context, node)?;
        self.heap.header = header;
        if before > 0 {
            let length = FractalHeapIndirectBlock::size(&self.heap.indirect_context(store, before));
            self.edit.free(INDIRECT_SPACE, old, to_u64(length))?;
        }
        Ok(())
    }

    /// Returns the header of a fractal heap whose root block becomes a block of `rows` rows. The
    /// header has no address of the root block yet. `before` is the capacity of the old root block.
    fn header_with_root(&self, rows: u32, before: u64) -> Result<FractalHeapHeader> {
        let shape = self.heap.shape;
        let mut header = self.heap.header.clone();
        let (covered, capacity) = match rows {
            0 => (header.starting_block_size, shape.row_object_bytes(0)),
            rows => (shape.covered(rows), shape.capacity(rows)?),
        };
        header.root_rows = u16::try_from(rows)
            .map_err(|_| Error::internal("fractal heap", "a root has less than 65536 rows"))?;
        header.managed_size = covered;
        header.free_space = match capacity.checked_sub(before) {
            Some(more) => self.heap.increased(counter::FREE_SPACE, header.free_space, more)?,
            None => FractalHeap::less_space(header.free_space, before - capacity),
        };
        set_root_filtered(&mut header, None);
        Ok(header)
    }

    /// Creates the direct block at `offset` of the fractal heap's address space, and missing
    /// indirect blocks above it.
    fn create_block(&mut self, offset: u64, size: u64) -> Result<()> {
        let mut path = self.heap.path(self.edit.store(), offset)?;
        let manager = self.heap.header.free_space_manager;
        let wrong = || {
            Error::corrupt("free-space section list", "section", "missing blocks of the heap", offset)
                .at(manager)
        };
        let Some(last) = path.steps.pop().filter(|_| path.block.is_none()) else { return Err(wrong()) };
        // The missing indirect blocks from the top down.
        let (mut missing, mut step) = (Vec::new(), last);
        loop {
            let entry = self.heap.table.entry(step.number);
            let start = self.heap.end(step.start, entry.block_offset)?;
            if entry.row >= step.rows || (entry.direct && (start, entry.block_size) != (offset, size)) {
                return Err(wrong());
            }
            if entry.direct {
                break;
            }
            let rows = self.heap.rows_below(entry.block_size, step.rows, step.address)?;
            let inside = offset.checked_sub(start).ok_or_else(wrong)?;
            let number = self.heap.table.locate(inside).number(&self.heap.table);
            step = Step { address: Address::UNDEFINED, start, rows, number };
            missing.push(step);
        }
        let header = &self.heap.header;
        let allocated = self.heap.increased(counter::ALLOCATED, header.allocated_size, size)?;
        let (mut child, mut filtered) = self.add_direct_block(offset, size)?;
        let mut created = vec![(DIRECT_SPACE, child, filtered.map_or(size, |(stored, _)| stored))];
        // From the bottom up, so that an error changes no existing block.
        for step in missing.iter().rev() {
            let context = self.heap.indirect_context(self.edit.store(), step.rows);
            let mut node = FractalHeapIndirectBlock::new(step.start, &context);
            let added = set_child(&mut node, step.number, child, filtered)
                .and_then(|()| self.edit.add(INDIRECT_SPACE, &context, node));
            let address = match added {
                Ok(address) => address,
                Err(error) => return self.free_created(created, error),
            };
            created.push((INDIRECT_SPACE, address, to_u64(FractalHeapIndirectBlock::size(&context))));
            (child, filtered) = (address, None);
        }
        if let Err(error) = self.set_child(&last, child, filtered) {
            return self.free_created(created, error);
        }
        self.heap.header.allocated_size = allocated;
        self.update_missing(offset)
    }

    /// Frees new blocks of the fractal heap to which no block refers, and returns `error`.
    fn free_created(&mut self, created: Vec<(SpaceKind, Address, u64)>, error: Error) -> Result<()> {
        for (kind, address, length) in created {
            self.edit.free(kind, address, length)?;
        }
        Err(error)
    }

    /// Sets an entry of a fractal heap's indirect block to a child block. Returns whether the
    /// indirect block has no children afterwards.
    fn set_child(&mut self, step: &Step, child: Address, filtered: Option<(u64, u32)>) -> Result<bool> {
        let context = self.heap.indirect_context(self.edit.store(), step.rows);
        self.edit.modify(step.address, &context, |node: &mut FractalHeapIndirectBlock| {
            set_child(node, step.number, child, filtered)?;
            Ok(node.children.iter().all(|child| !child.is_defined()))
        })?
    }

    /// Updates the free sections that stand for missing blocks of the fractal heap, which are
    /// direct blocks that do not exist yet. Does this for each indirect block on the path to
    /// `offset`.
    fn update_missing(&mut self, offset: u64) -> Result<()> {
        let store = self.edit.store();
        let end = self.heap.header.iterator_offset;
        for step in self.heap.path(store, offset)?.steps {
            let context = self.heap.indirect_context(store, step.rows);
            let node = store.shared::<FractalHeapIndirectBlock>(step.address, &context)?;
            self.free.set_runs(&self.heap.shape, step.start, &node.children, end)?;
        }
        Ok(())
    }

    fn add_direct_block(&mut self, offset: u64, size: u64) -> Result<(Address, Option<(u64, u32)>)> {
        let context = self.heap.direct_context(self.edit.store(), size)?;
        let block = FractalHeapDirectBlock::new(offset, &context);
        if self.heap.header.filters.is_some() {
            return self.add_filtered(&block, &context);
        }
        Ok((self.edit.add(DIRECT_SPACE, &context, block)?, None))
    }

    /// Frees a direct block of a fractal heap that has no objects. Also frees the indirect blocks
    /// above it that then have no children. `allocated` is the new size of all direct blocks.
    pub(super) fn drop_block(&mut self, path: &Path, block: &DirectBlock, allocated: u64) -> Result<()> {
        self.free.remove_single(self.heap.end(block.offset, self.heap.shape.prefix)?)?;
        self.edit.free(DIRECT_SPACE, block.address, block.stored_size())?;
        self.heap.header.allocated_size = allocated;
        for step in path.steps.iter().rev() {
            if !self.set_child(step, Address::UNDEFINED, None)? {
                return self.trim(block.offset);
            }
            self.free.remove_runs(step.start)?;
            let length =
                FractalHeapIndirectBlock::size(&self.heap.indirect_context(self.edit.store(), step.rows));
            self.edit.free(INDIRECT_SPACE, step.address, to_u64(length))?;
        }
        self.remove_all_blocks();
        Ok(())
    }

    /// Sets the header fields of the fractal heap to the values of a heap without blocks.
    fn remove_all_blocks(&mut self) {
        let header = &mut self.heap.header;
        header.root = Address::UNDEFINED;
        header.root_rows = 0;
        header.managed_size = 0;
        header.allocated_size = 0;
        header.iterator_offset = 0;
        header.free_space = 0;
        set_root_filtered(header, None);
        self.free = Default::default();
    }

    /// Shortens the address space of the fractal heap if the direct block at the offset `dropped`,
    /// which was freed, was the last block.
    fn trim(&mut self, dropped: u64) -> Result<()> {
        let (end, last) = self.heap.last_block(self.edit.store())?;
        if dropped >= end {
            self.heap.header.iterator_offset = end;
            self.lower_root(last)?;
        }
        if self.heap.header.root_rows > 0 {
            self.update_missing(dropped)?;
            // No block is empty, so `end` is not 0.
            self.update_missing(end - 1)?;
        }
        Ok(())
    }

    /// Reduces the number of rows of the fractal heap's root indirect block if possible. `last` is
    /// the index of the last used entry of the root.
    fn lower_root(&mut self, last: usize) -> Result<()> {
        let (store, shape) = (self.edit.store(), self.heap.shape);
        let before = u32::from(self.heap.header.root_rows);
        let (old, old_context) = (self.heap.header.root, self.heap.indirect_context(store, before));
        let node = store.shared::<FractalHeapIndirectBlock>(old, &old_context)?;
        let row = shape.table.entry(last).row;
        // A table has at most 65 rows.
        let rows = (row + 1).next_power_of_two();
        let capacity = shape.capacity(before)?;
        if last == 0 {
            let mut header = self.header_with_root(0, capacity)?;
            header.root = node.children.first().copied().ok_or_else(no_entry)?;
            header.iterator_offset = 0;
            let filtered = node.filtered.first().map(|block| (block.size, block.filter_mask));
            set_root_filtered(&mut header, filtered);
            self.free.remove_runs(0)?;
            self.heap.header = header;
        } else if rows < before && self.heap.header.starting_rows > 0 {
            let context = self.heap.indirect_context(store, rows);
            let mut smaller = FractalHeapIndirectBlock::new(0, &context);
            copy_children(&node, &mut smaller);
            let mut header = self.header_with_root(rows, capacity)?;
            header.root = self.edit.add(INDIRECT_SPACE, &context, smaller)?;
            self.heap.header = header;
        } else {
            return Ok(());
        }
        self.edit.free(INDIRECT_SPACE, old, to_u64(FractalHeapIndirectBlock::size(&old_context)))
    }
}

/// Two values in an entry of a fractal heap's indirect block that leads to no filtered direct
/// block: the encoded size and the filter mask.
const UNFILTERED: (u64, u32) = (0, 0);

/// Sets the encoded size and the filter mask of the root block in the fractal heap header. `None`
/// means that the root is not an encoded direct block.
pub(super) fn set_root_filtered(header: &mut FractalHeapHeader, filtered: Option<(u64, u32)>) {
    if let Some(filters) = &mut header.filters {
        (filters.root_size, filters.root_mask) = filtered.unwrap_or(UNFILTERED);
    }
}

fn no_entry() -> Error {
    Error::internal(FractalHeapIndirectBlock::NAME, "an index names an entry of the block")
}

/// Sets the entry with the number `number` of a fractal heap's indirect block to a child block.
pub(super) fn set_child(
    node: &mut FractalHeapIndirectBlock,
    number: usize,
    child: Address,
    filtered: Option<(u64, u32)>,
) -> Result<()> {
    *node.children.get_mut(number).ok_or_else(no_entry)? = child;
    // Only heaps with filters have encoded sizes and filter masks, and only for direct blocks.
    if let Some(entry) = node.filtered.get_mut(number) {
        (entry.size, entry.filter_mask) = filtered.unwrap_or(UNFILTERED);
    }
    Ok(())
}

fn copy_children(from: &FractalHeapIndirectBlock, to: &mut FractalHeapIndirectBlock) {
    for (new, old) in to.children.iter_mut().zip(&from.children) {
        *new = *old;
    }
    for (new, old) in to.filtered.iter_mut().zip(&from.filtered) {
        *new = *old;
    }
}
