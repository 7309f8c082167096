//! Objects in the direct blocks of a heap: where they go, how the heap grows for them and shrinks after them.

use std::iter::Peekable;

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::{
    FractalHeapDirectBlock, FractalHeapHeader, FractalHeapIndirectBlock, FractalHeapIndirectContext, HeapId,
};

use super::change::Change;
use super::{FractalHeap, Place};
use crate::error::{Error, Result};
use crate::store::{SpaceKind, Store};

/// What indirect blocks are to the file's space.
pub(super) const INDIRECT_SPACE: SpaceKind = SpaceKind::ObjectHeader;
/// What direct blocks are to the file's space.
pub(super) const DIRECT_SPACE: SpaceKind = SpaceKind::LocalHeap;

/// One indirect block on the way to a direct one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) address: Address,
    /// Where its table begins in the heap's address space.
    pub(super) start: u64,
    pub(super) rows: u32,
    /// The entry taken.
    pub(super) number: usize,
}

/// The way from the root to a place of the heap's address space.
#[derive(Debug, Default)]
pub(super) struct Path {
    pub(super) steps: Vec<Step>,
    /// The direct block there, if it exists.
    pub(super) block: Option<Place>,
}

impl FractalHeap {
    pub(super) fn indirect_context(&self, store: &Store, rows: u32) -> FractalHeapIndirectContext {
        self.table.indirect_block(store.params(), self.address, rows)
    }

    /// The way down to `offset` as far as there are blocks.
    pub(super) fn path(&self, store: &Store, offset: u64) -> Result<Path> {
        let mut path = Path::default();
        if self.header.root_rows == 0 {
            path.block = self.root_block().filter(|root| offset < root.size);
            return Ok(path);
        }
        let (mut address, mut start, mut rows) = (self.header.root, 0_u64, u32::from(self.header.root_rows));
        loop {
            let node =
                store.shared::<FractalHeapIndirectBlock>(address, &self.indirect_context(store, rows))?;
            let entry = self.table.locate(offset.saturating_sub(start));
            let number = entry.number(&self.table);
            path.steps.push(Step { address, start, rows, number });
            let child = node.children.get(number).copied().filter(|child| child.is_defined());
            let Some(child) = child.filter(|_| entry.row < rows) else { return Ok(path) };
            start = start.saturating_add(entry.block_offset);
            if entry.direct {
                let filtered = node.filtered.get(number).map(|block| (block.size, block.filter_mask));
                path.block = Some(Place { address: child, offset: start, size: entry.block_size, filtered });
                return Ok(path);
            }
            (address, rows) = (child, self.rows_below(entry.block_size, rows, child)?);
        }
    }

    /// The end of the last direct block, and the entry of the root below which it lies.
    fn last_block(&self, store: &Store) -> Result<(u64, usize)> {
        let (mut address, mut start, mut rows) = (self.header.root, 0_u64, u32::from(self.header.root_rows));
        let mut in_root = None;
        loop {
            let node =
                store.shared::<FractalHeapIndirectBlock>(address, &self.indirect_context(store, rows))?;
            let last = node.children.iter().enumerate().rev().find(|(_, child)| child.is_defined());
            let Some((number, child)) = last else {
                return Err(Error::corrupt(
                    FractalHeapIndirectBlock::NAME,
                    "child blocks",
                    "one at least",
                    0,
                )
                .at(address));
            };
            let entry = self.table.entry(number);
            start = start.saturating_add(entry.block_offset);
            let in_root = *in_root.get_or_insert(number);
            if entry.direct {
                return Ok((start.saturating_add(entry.block_size), in_root));
            }
            (address, rows) = (*child, self.rows_below(entry.block_size, rows, *child)?);
        }
    }
}

impl Change<'_, '_> {
    /// Puts an object into a direct block.
    pub(super) fn insert_managed(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut ids = Vec::with_capacity(1);
        self.insert_run(&mut std::iter::once(bytes).peekable(), &mut ids)?;
        Ok(ids.pop().unwrap_or_default())
    }

    /// Puts an object into a free section of a direct block, and behind it as many of those that follow as fit there
    /// and belong into such a block.
    pub(super) fn insert_run<'b>(
        &mut self,
        objects: &mut Peekable<impl Iterator<Item = &'b [u8]>>,
        ids: &mut Vec<Vec<u8>>,
    ) -> Result<()> {
        let Some(first) = objects.peek() else { return Ok(()) };
        let length = first.len() as u64;
        let (start, size) = match self.free.fitting_single(length) {
            Some(found) => found,
            None => self.new_block_for(length)?,
        };
        let path = self.heap.path(self.edit.store(), start)?;
        let inside = path.block.as_ref().filter(|block| {
            let first = block.offset.saturating_add(self.heap.shape.prefix);
            let end = block.offset.saturating_add(block.size);
            start >= first && start.checked_add(size).is_some_and(|section_end| section_end <= end)
        });
        let Some(block) = inside else {
            let expected = "one in a direct block";
            return Err(Error::corrupt("free-space section list", "section", expected, start)
                .at(self.heap.header.free_space_manager));
        };
        let (mut run, mut count) = (Vec::new(), 0_u64);
        let fits = |run: &Vec<u8>, object: &[u8]| run.len().saturating_add(object.len()) as u64 <= size;
        while let Some(object) = objects.next_if(|object| fits(&run, object) && self.is_managed(object)) {
            let (offset, length) = (start.saturating_add(run.len() as u64), object.len() as u64);
            ids.push(self.heap.encode_id(&HeapId::Managed { offset, length })?);
            run.extend_from_slice(object);
            count = count.saturating_add(1);
        }
        self.write_object(&path, block, start, &run)?;
        let taken = run.len() as u64;
        self.free.remove_single(start);
        self.free.add_single(start.saturating_add(taken), size.saturating_sub(taken));
        let header = &mut self.heap.header;
        header.free_space = header.free_space.saturating_sub(taken);
        header.managed_objects = header.managed_objects.saturating_add(count);
        Ok(())
    }

    /// Writes other bytes of the same number over an object.
    pub(super) fn overwrite_managed(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let path = self.heap.path(self.edit.store(), offset)?;
        match &path.block {
            Some(block) => self.write_object(&path, block, offset, bytes),
            None => Err(self.no_object(offset)),
        }
    }

    /// Gives the space of an object back.
    pub(super) fn remove_managed(&mut self, offset: u64, length: u64) -> Result<()> {
        let path = self.heap.path(self.edit.store(), offset)?;
        let Some(block) = &path.block else { return Err(self.no_object(offset)) };
        let bounds =
            (block.offset.saturating_add(self.heap.shape.prefix), block.offset.saturating_add(block.size));
        let Some((_, free)) = self.free.release(offset, length, bounds).filter(|_| length > 0) else {
            return Err(self.no_object(offset));
        };
        let header = &mut self.heap.header;
        header.free_space = header.free_space.saturating_add(length);
        header.managed_objects = header.managed_objects.saturating_sub(1);
        if free == self.heap.shape.room(block.size) {
            return self.drop_block(&path);
        }
        Ok(())
    }

    fn no_object(&self, offset: u64) -> Error {
        let name = format!("at {offset} of the fractal heap at {}", self.heap.address);
        Error::NotFound { what: "object", name }
    }

    fn write_object(&mut self, path: &Path, block: &Place, offset: u64, bytes: &[u8]) -> Result<()> {
        let within = |content: &mut FractalHeapDirectBlock| {
            let start = usize::try_from(offset.saturating_sub(block.offset)).ok()?;
            content.bytes.get_mut(start..start.checked_add(bytes.len())?)?.copy_from_slice(bytes);
            Some(())
        };
        let written = if block.filtered.is_some() {
            let mut content = FractalHeapDirectBlock::clone(&*self.heap.block(self.edit.store(), block)?);
            let written = within(&mut content);
            self.rewrite_filtered(path, block, &content)?;
            written
        } else {
            let context = self.heap.direct_context(self.edit.store(), block.size)?;
            self.edit.modify(block.address, &context, within)?
        };
        written.ok_or_else(|| self.no_object(offset))
    }

    /// A direct block with room for `length` bytes that did not exist: its unused bytes.
    fn new_block_for(&mut self, length: u64) -> Result<(u64, u64)> {
        let shape = self.heap.shape;
        let full = || Error::Limit {
            what: "a fractal heap: bytes of objects".into(),
            got: length,
            limit: shape.largest_room(),
        };
        let least = shape.block_for(length).ok_or_else(full)?;
        if let Some((offset, size)) = self.free.fitting_block(&shape, least) {
            self.create_block(offset, size)?;
            return Ok(self.new_single(offset, size));
        }
        let start = self.heap.header.starting_block_size;
        if !self.heap.header.root.is_defined() && least == start {
            self.create_root_block()?;
            return Ok(self.new_single(0, start));
        }
        if self.heap.header.root_rows == 0 && self.heap.header.root.is_defined() {
            self.heap.header.iterator_offset = start;
        }
        let before = self.heap.header.iterator_offset;
        let (offset, size) =
            shape.first_block(0, shape.table.max_root_rows(), before, least).ok_or_else(full)?;
        self.raise_root(shape.table.locate(offset).row)?;
        self.heap.header.iterator_offset = offset.saturating_add(size);
        self.create_block(offset, size)?;
        if before > 0 && offset > before {
            self.note_missing(before.saturating_sub(1))?;
        }
        Ok(self.new_single(offset, size))
    }

    fn new_single(&mut self, offset: u64, size: u64) -> (u64, u64) {
        let shape = self.heap.shape;
        let single = (offset.saturating_add(shape.prefix), shape.room(size));
        self.free.add_single(single.0, single.1);
        single
    }

    fn create_root_block(&mut self) -> Result<()> {
        let size = self.heap.header.starting_block_size;
        let (address, filtered) = self.add_direct_block(0, size)?;
        let room = self.heap.shape.room(size);
        let header = &mut self.heap.header;
        header.root = address;
        header.root_rows = 0;
        header.managed_size = size;
        header.allocated_size = size;
        header.iterator_offset = 0;
        header.free_space = room;
        set_root_filtered(header, filtered);
        Ok(())
    }

    /// Makes the root an indirect block that has `row`.
    fn raise_root(&mut self, row: u32) -> Result<()> {
        let (store, shape) = (self.edit.store(), self.heap.shape);
        let most = shape.table.max_root_rows();
        let before = u32::from(self.heap.header.root_rows);
        if before > row {
            return Ok(());
        }
        let starting = match u32::from(self.heap.header.starting_rows) {
            0 => most,
            rows => rows.min(most),
        };
        let wish = if before == 0 { starting } else { before.saturating_mul(2).min(most) };
        let rows = wish.max(row.saturating_add(1));
        let context = self.heap.indirect_context(store, rows);
        let mut node = FractalHeapIndirectBlock::new(0, &context);
        let old = self.heap.header.root;
        let mut capacity = shape.capacity(before);
        if before > 0 {
            let old_context = self.heap.indirect_context(store, before);
            let old_node = store.shared::<FractalHeapIndirectBlock>(old, &old_context)?;
            copy_children(&old_node, &mut node);
        } else if let Some(root) = self.heap.root_block() {
            let filtered = root.filtered;
            set_child(&mut node, 0, root.address, filtered);
            capacity = shape.row_room(0);
        }
        let address = self.edit.add(INDIRECT_SPACE, &context, node)?;
        if before > 0 {
            let length = FractalHeapIndirectBlock::size(&self.heap.indirect_context(store, before)) as u64;
            self.edit.free(INDIRECT_SPACE, old, length)?;
        }
        self.set_root(address, rows, capacity);
        Ok(())
    }

    /// The header for another root block of `rows` rows; `before` is what fitted into the blocks of the old one.
    fn set_root(&mut self, address: Address, rows: u32, before: u64) {
        let shape = self.heap.shape;
        let header = &mut self.heap.header;
        let (covered, capacity) = match rows {
            0 => (header.starting_block_size, shape.row_room(0)),
            rows => (shape.covered(rows), shape.capacity(rows)),
        };
        header.root = address;
        header.root_rows = u16::try_from(rows).unwrap_or(u16::MAX);
        header.managed_size = covered;
        header.free_space = header.free_space.saturating_add(capacity).saturating_sub(before);
        set_root_filtered(header, None);
    }

    /// Makes the direct block at `offset` of the heap's address space, and indirect ones above it.
    fn create_block(&mut self, offset: u64, size: u64) -> Result<()> {
        let store = self.edit.store();
        let mut path = self.heap.path(store, offset)?;
        let manager = self.heap.header.free_space_manager;
        let wrong = || {
            Error::corrupt("free-space section list", "section", "missing blocks of the heap", offset)
                .at(manager)
        };
        let Some(mut step) = path.steps.pop().filter(|_| path.block.is_none()) else { return Err(wrong()) };
        loop {
            let entry = self.heap.table.entry(step.number);
            let start = step.start.saturating_add(entry.block_offset);
            if entry.row >= step.rows || (entry.direct && (start, entry.block_size) != (offset, size)) {
                return Err(wrong());
            }
            if entry.direct {
                let (address, filtered) = self.add_direct_block(offset, size)?;
                self.set_child(&step, address, filtered)?;
                break;
            }
            let rows = self.heap.rows_below(entry.block_size, step.rows, step.address)?;
            let context = self.heap.indirect_context(store, rows);
            let node = FractalHeapIndirectBlock::new(start, &context);
            let address = self.edit.add(INDIRECT_SPACE, &context, node)?;
            self.set_child(&step, address, None)?;
            let number = self.heap.table.locate(offset.saturating_sub(start)).number(&self.heap.table);
            step = Step { address, start, rows, number };
        }
        self.heap.header.allocated_size = self.heap.header.allocated_size.saturating_add(size);
        self.note_missing(offset)
    }

    fn set_child(&mut self, step: &Step, child: Address, filtered: Option<(u64, u32)>) -> Result<bool> {
        let context = self.heap.indirect_context(self.edit.store(), step.rows);
        self.edit.modify(step.address, &context, |node: &mut FractalHeapIndirectBlock| {
            set_child(node, step.number, child, filtered);
            node.children.iter().all(|child| !child.is_defined())
        })
    }

    /// Notes anew which blocks are missing in the indirect blocks on the way to `offset`.
    fn note_missing(&mut self, offset: u64) -> Result<()> {
        let store = self.edit.store();
        let end = self.heap.header.iterator_offset;
        for step in self.heap.path(store, offset)?.steps {
            let context = self.heap.indirect_context(store, step.rows);
            let node = store.shared::<FractalHeapIndirectBlock>(step.address, &context)?;
            self.free.set_runs(&self.heap.shape, step.start, &node.children, end);
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

    /// Frees a direct block without objects, and what is no longer needed above it.
    fn drop_block(&mut self, path: &Path) -> Result<()> {
        let Some(block) = &path.block else { return Ok(()) };
        self.free.remove_single(block.offset.saturating_add(self.heap.shape.prefix));
        self.edit.free(DIRECT_SPACE, block.address, block.stored_size())?;
        self.heap.header.allocated_size = self.heap.header.allocated_size.saturating_sub(block.size);
        for (above, step) in path.steps.iter().enumerate().rev() {
            if !self.set_child(step, Address::UNDEFINED, None)? {
                return self.trim(block.offset);
            }
            self.free.remove_runs(step.start);
            let length =
                FractalHeapIndirectBlock::size(&self.heap.indirect_context(self.edit.store(), step.rows));
            self.edit.free(INDIRECT_SPACE, step.address, length as u64)?;
            if above == 0 {
                break;
            }
        }
        self.empty();
        Ok(())
    }

    /// The heap has no blocks any more.
    fn empty(&mut self) {
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

    /// After the block at `dropped` is gone: if it was the last one, the heap ends before it.
    fn trim(&mut self, dropped: u64) -> Result<()> {
        let (end, last) = self.heap.last_block(self.edit.store())?;
        if dropped >= end {
            self.heap.header.iterator_offset = end;
            self.lower_root(last)?;
        }
        if self.heap.header.root_rows > 0 {
            self.note_missing(dropped)?;
            self.note_missing(end.saturating_sub(1))?;
        }
        Ok(())
    }

    /// Makes the root smaller if it can be: `last` is its last entry in use.
    fn lower_root(&mut self, last: usize) -> Result<()> {
        let (store, shape) = (self.edit.store(), self.heap.shape);
        let before = u32::from(self.heap.header.root_rows);
        let (old, old_context) = (self.heap.header.root, self.heap.indirect_context(store, before));
        let node = store.shared::<FractalHeapIndirectBlock>(old, &old_context)?;
        let row = shape.table.entry(last).row;
        let rows = row.saturating_add(1).checked_next_power_of_two().unwrap_or(before);
        let capacity = shape.capacity(before);
        if last == 0 {
            let child = node.children.first().copied().unwrap_or(Address::UNDEFINED);
            let filtered = node.filtered.first().map(|block| (block.size, block.filter_mask));
            self.free.remove_runs(0);
            self.set_root(child, 0, capacity);
            self.heap.header.iterator_offset = 0;
            set_root_filtered(&mut self.heap.header, filtered);
        } else if rows < before && self.heap.header.starting_rows > 0 {
            let context = self.heap.indirect_context(store, rows);
            let mut smaller = FractalHeapIndirectBlock::new(0, &context);
            copy_children(&node, &mut smaller);
            let address = self.edit.add(INDIRECT_SPACE, &context, smaller)?;
            self.set_root(address, rows, capacity);
        } else {
            return Ok(());
        }
        self.edit.free(INDIRECT_SPACE, old, FractalHeapIndirectBlock::size(&old_context) as u64)
    }
}

/// The filters' work on a root that is a direct block; none on another.
pub(super) fn set_root_filtered(header: &mut FractalHeapHeader, filtered: Option<(u64, u32)>) {
    if let Some(filters) = &mut header.filters {
        (filters.root_size, filters.root_mask) = filtered.unwrap_or_default();
    }
}

pub(super) fn set_child(
    node: &mut FractalHeapIndirectBlock,
    number: usize,
    child: Address,
    filtered: Option<(u64, u32)>,
) {
    if let Some(entry) = node.children.get_mut(number) {
        *entry = child;
    }
    if let Some(entry) = node.filtered.get_mut(number) {
        (entry.size, entry.filter_mask) = filtered.unwrap_or_default();
    }
}

fn copy_children(from: &FractalHeapIndirectBlock, to: &mut FractalHeapIndirectBlock) {
    for (new, old) in to.children.iter_mut().zip(&from.children) {
        *new = *old;
    }
    for (new, old) in to.filtered.iter_mut().zip(&from.filtered) {
        *new = *old;
    }
}
