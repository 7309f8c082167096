//! Managed objects: objects in the direct blocks of a fractal heap.

use std::iter::Peekable;

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::{
    FractalHeapDirectBlock, FractalHeapHeader, FractalHeapIndirectBlock, FractalHeapIndirectContext, HeapId,
};

use super::change::HeapChange;
use super::{DirectBlock, FractalHeap, counter};
use crate::error::{Error, Result};
use crate::store::{SpaceKind, Store};

/// File-space kind of indirect blocks of fractal heaps. A file can manage the free space of each
/// kind separately.
pub(super) const INDIRECT_SPACE: SpaceKind = SpaceKind::ObjectHeader;
/// File-space kind of direct blocks of fractal heaps. A file can manage the free space of each kind
/// separately.
pub(super) const DIRECT_SPACE: SpaceKind = SpaceKind::LocalHeap;

/// A step of a path through a fractal heap: an indirect block on the path to a direct block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) address: Address,
    /// Offset of the block in the heap's address space.
    pub(super) start: u64,
    pub(super) rows: u32,
    /// Index of the entry on the path.
    pub(super) number: usize,
}

/// A path through a fractal heap: the blocks from the root to an offset of the heap's address
/// space.
#[derive(Debug, Default)]
pub(super) struct Path {
    pub(super) steps: Vec<Step>,
    /// The direct block that contains the offset, if the block exists.
    pub(super) block: Option<DirectBlock>,
}

impl FractalHeap {
    pub(super) fn indirect_context(&self, store: &Store, rows: u32) -> FractalHeapIndirectContext {
        self.table.indirect_block(store.params(), self.address, rows)
    }

    /// Returns the existing blocks of the fractal heap on the path to `offset` of the heap's
    /// address space.
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
            // `start` is the offset of an entry that contains `offset`, so `start <= offset`.
            let entry = self.table.locate(offset - start);
            let number = entry.number(&self.table);
            path.steps.push(Step { address, start, rows, number });
            let child = node.children.get(number).copied().filter(|child| child.is_defined());
            let Some(child) = child.filter(|_| entry.row < rows) else { return Ok(path) };
            start += entry.block_offset;
            if entry.direct {
                let filtered = node.filtered.get(number).map(|block| (block.size, block.filter_mask));
                let (offset, size) = (start, entry.block_size);
                path.block = Some(DirectBlock { address: child, offset, size, filtered });
                return Ok(path);
            }
            (address, rows) = (child, self.rows_below(entry.block_size, rows, child)?);
        }
    }

    /// Returns the end of the last direct block of the fractal heap, and the index of the root
    /// block's entry that contains the direct block.
    pub(super) fn last_block(&self, store: &Store) -> Result<(u64, usize)> {
        let (mut address, mut start, mut rows) = (self.header.root, 0_u64, u32::from(self.header.root_rows));
        let mut in_root = None;
        loop {
            let node =
                store.shared::<FractalHeapIndirectBlock>(address, &self.indirect_context(store, rows))?;
            let last = node.children.iter().enumerate().rev().find(|(_, child)| child.is_defined());
            let Some((number, child)) = last else {
                let name = FractalHeapIndirectBlock::NAME;
                return Err(Error::corrupt(name, "child blocks", "at least one", 0).at(address));
            };
            let entry = self.table.entry(number);
            start = self.end(start, entry.block_offset)?;
            let in_root = *in_root.get_or_insert(number);
            if entry.direct {
                return Ok((self.end(start, entry.block_size)?, in_root));
            }
            (address, rows) = (*child, self.rows_below(entry.block_size, rows, *child)?);
        }
    }

    /// Returns the end of `length` bytes at the offset `start` of a fractal heap's address space.
    pub(super) fn end(&self, start: u64, length: u64) -> Result<u64> {
        start.checked_add(length).ok_or_else(|| {
            let (field, expected) = ("address space", "blocks that end below 2^64");
            Error::corrupt(FractalHeapHeader::NAME, field, expected, start).at(self.address)
        })
    }

    /// Returns the start and the end of the bytes that heap objects may use in a direct block of a
    /// fractal heap.
    fn object_bounds(&self, block: &DirectBlock) -> Result<(u64, u64)> {
        Ok((self.end(block.offset, self.shape.prefix)?, self.end(block.offset, block.size)?))
    }
}

impl HeapChange<'_, '_> {
    /// Inserts a managed object into a direct block of the fractal heap, and returns the heap ID.
    pub(super) fn insert_managed(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut ids = Vec::with_capacity(1);
        self.insert_run(&mut std::iter::once(bytes).peekable(), &mut ids)?;
        ids.pop().ok_or_else(|| Error::internal("fractal heap", "an inserted object has an ID"))
    }

    /// Inserts a run of managed objects into one free section of a fractal heap's direct block: the
    /// next object, and as many of the objects after it as fit.
    pub(super) fn insert_run<'b>(
        &mut self,
        objects: &mut Peekable<impl Iterator<Item = &'b [u8]>>,
        ids: &mut Vec<Vec<u8>>,
    ) -> Result<()> {
        let Some(first) = objects.peek() else { return Ok(()) };
        let length = to_u64(first.len());
        // This check can fail, so it comes before the heap grows.
        self.heap.increased(counter::MANAGED_OBJECTS, self.heap.header.managed_objects, 1)?;
        let (start, size) = match self.free.fitting_single(length) {
            Some(found) => found,
            None => self.new_block_for(length)?,
        };
        let path = self.heap.path(self.edit.store(), start)?;
        let end = self.heap.end(start, size)?;
        let mut inside = None;
        if let Some(block) = &path.block {
            let (block_start, block_end) = self.heap.object_bounds(block)?;
            inside = (start >= block_start && end <= block_end).then_some(block);
        }
        let Some(block) = inside else {
            let expected = "a section in a direct block";
            return Err(Error::corrupt("free-space section list", "section", expected, start)
                .at(self.heap.header.free_space_manager));
        };
        let (mut run, mut run_ids) = (Vec::new(), Vec::new());
        // The free bytes of the section after the run, which begin at `next`.
        let (mut next, mut free) = (start, size);
        while let Some(object) =
            objects.next_if(|object| to_u64(object.len()) <= free && self.is_managed(object))
        {
            let length = to_u64(object.len());
            run_ids.push(self.heap.encode_id(&HeapId::Managed { offset: next, length })?);
            run.extend_from_slice(object);
            (next, free) = (next + length, free - length);
        }
        let header = &self.heap.header;
        let free_space = FractalHeap::less_space(header.free_space, size - free);
        let count = to_u64(run_ids.len());
        let objects = self.heap.increased(counter::MANAGED_OBJECTS, header.managed_objects, count)?;
        self.write_object(&path, block, start, &run)?;
        self.free.remove_single(start)?;
        self.free.add_single(next, free)?;
        (self.heap.header.free_space, self.heap.header.managed_objects) = (free_space, objects);
        ids.append(&mut run_ids);
        Ok(())
    }

    /// Overwrites a managed object of the fractal heap with bytes of the same length.
    pub(super) fn overwrite_managed(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let path = self.heap.path(self.edit.store(), offset)?;
        match &path.block {
            Some(block) => self.write_object(&path, block, offset, bytes),
            None => Err(self.no_object(offset)),
        }
    }

    /// Removes a managed object of a fractal heap and frees its bytes. Frees a direct block without
    /// objects.
    pub(super) fn remove_managed(&mut self, offset: u64, length: u64) -> Result<()> {
        let path = self.heap.path(self.edit.store(), offset)?;
        let Some(block) = &path.block else { return Err(self.no_object(offset)) };
        let (heap, header) = (&self.heap, &self.heap.header);
        let bounds = heap.object_bounds(block)?;
        if length == 0 || offset.checked_add(length).is_none_or(|end| end > bounds.1) {
            return Err(self.no_object(offset));
        }
        let free_space = heap.increased(counter::FREE_SPACE, header.free_space, length)?;
        let objects = heap.decreased(counter::MANAGED_OBJECTS, header.managed_objects, 1)?;
        // The allocated space without this block, for a block that becomes empty.
        let allocated = FractalHeap::less_space(header.allocated_size, block.size);
        let Some(free) = self.free.release(offset, length, bounds)? else {
            return Err(self.no_object(offset));
        };
        (self.heap.header.free_space, self.heap.header.managed_objects) = (free_space, objects);
        if free == self.heap.shape.object_bytes(block.size) {
            return self.drop_block(&path, block, allocated);
        }
        Ok(())
    }

    fn no_object(&self, offset: u64) -> Error {
        let name = format!("at {offset} of the fractal heap at {}", self.heap.address);
        Error::NotFound { subject: "object", name }
    }

    /// Writes the bytes of a fractal heap object at `offset` of the heap's address space into its
    /// direct block.
    fn write_object(&mut self, path: &Path, block: &DirectBlock, offset: u64, bytes: &[u8]) -> Result<()> {
        let write = |content: &mut FractalHeapDirectBlock| {
            let start = usize::try_from(offset.checked_sub(block.offset)?).ok()?;
            content.bytes.get_mut(start..start.checked_add(bytes.len())?)?.copy_from_slice(bytes);
            Some(())
        };
        if block.filtered.is_some() {
            let mut content = FractalHeapDirectBlock::clone(&*self.heap.block(self.edit.store(), block)?);
            write(&mut content).ok_or_else(|| self.no_object(offset))?;
            return self.rewrite_filtered(path, block, &content);
        }
        let context = self.heap.direct_context(self.edit.store(), block.size)?;
        let written = self.edit.modify(block.address, &context, write)?;
        written.ok_or_else(|| self.no_object(offset))
    }
}
