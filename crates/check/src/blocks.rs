//! Blocks of fractal heaps: the doubling table below the root block, and the managed objects in the
//! direct blocks.

use hyperslab_engine::store::Bytes;
use hyperslab_filter::{ChunkTarget, Pipeline};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::{
    DoublingTable, FractalHeapDirectBlock, FractalHeapHeader, FractalHeapIndirectBlock,
};

use crate::extents::BlockKind;
use crate::file::{Checker, to_usize};
use crate::totals::{add, end_of};

/// A direct block of a fractal heap that the walk of the heap found.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) address: Address,
    /// Offset of the block in the heap's address space.
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) prefix: usize,
    /// Stored bytes and filter mask of the block, in a heap with filters.
    filtered: Option<(u64, u32)>,
    /// Decoded bytes of the block, if they fit into [`MAX_KEPT_BYTES`].
    bytes: Option<Bytes>,
}

/// All direct blocks of a fractal heap.
#[derive(Debug)]
pub(crate) struct Blocks {
    heap: Address,
    table: DoublingTable,
    pipeline: Pipeline,
    /// The direct blocks, ascending by offset.
    pub(crate) direct: Vec<Block>,
    /// True if all blocks could be read.
    pub(crate) complete: bool,
    kept: u64,
}

/// The largest number of bytes of direct blocks of one fractal heap that the check keeps in memory.
const MAX_KEPT_BYTES: u64 = 32 << 20;

impl Blocks {
    /// Walks all blocks of the fractal heap at the address `heap`, and returns its direct blocks.
    pub(crate) fn walk(
        checker: &mut Checker,
        heap: Address,
        header: &FractalHeapHeader,
        table: DoublingTable,
        pipeline: Pipeline,
    ) -> Self {
        let mut blocks = Self { heap, table, pipeline, direct: Vec::new(), complete: true, kept: 0 };
        if !header.root.is_defined() {
            return blocks;
        }
        if header.root_rows == 0 {
            let filtered = header.filters.as_ref().map(|filters| (filters.root_size, filters.root_mask));
            blocks.direct_block(checker, header.root, 0, header.starting_block_size, filtered);
        } else {
            blocks.indirect_block(checker, header.root, u32::from(header.root_rows), 0);
        }
        blocks
    }

    /// Walks an indirect block of the fractal heap and all blocks below it. The recursion ends,
    /// because a child table has fewer rows than its parent.
    fn indirect_block(&mut self, checker: &mut Checker, address: Address, rows: u32, offset: u64) {
        let name = FractalHeapIndirectBlock::NAME;
        let context = self.table.indirect_block(checker.params, self.heap, rows);
        let Some(node) = checker.block::<FractalHeapIndirectBlock>(address, &context, BlockKind::FractalHeap)
        else {
            self.complete = false;
            return;
        };
        checker.same(name, address, "block offset", node.block_offset, offset);
        for (number, child) in node.children.iter().enumerate().filter(|(_, child)| child.is_defined()) {
            let entry = self.table.entry(number);
            let start = end_of(offset, entry.block_offset);
            if entry.direct {
                let filtered = node.filtered.get(number).map(|block| (block.size, block.filter_mask));
                self.direct_block(checker, *child, start, entry.block_size, filtered);
                continue;
            }
            let below = self.table.rows_for(entry.block_size);
            if below >= rows {
                checker.fault(
                    name,
                    *child,
                    format!(
                        "the child indirect block has {below} rows, but must have fewer rows than its parent, \
                         which has {rows}"
                    ),
                );
                self.complete = false;
            } else {
                self.indirect_block(checker, *child, below, start);
            }
        }
    }

    fn direct_block(
        &mut self,
        checker: &mut Checker,
        address: Address,
        offset: u64,
        size: u64,
        filtered: Option<(u64, u32)>,
    ) {
        let name = FractalHeapDirectBlock::NAME;
        let stored = filtered.map_or(size, |(size, _)| size);
        let block = Block { address, offset, size, prefix: 0, filtered, bytes: None };
        if !checker.enter(name, address, stored, BlockKind::FractalHeap) {
            self.complete = false;
            return;
        }
        let Some((bytes, prefix)) = self.read(checker, &block) else {
            self.complete = false;
            return;
        };
        add(&mut self.kept, size);
        let bytes = (self.kept <= MAX_KEPT_BYTES).then_some(bytes);
        self.direct.push(Block { prefix, bytes, ..block });
    }

    /// Returns the decoded bytes of a direct block of the fractal heap, and the length of the
    /// prefix at their start.
    fn read(&self, checker: &mut Checker, block: &Block) -> Option<(Bytes, usize)> {
        let name = FractalHeapDirectBlock::NAME;
        let context = self.table.direct_block(checker.params, self.heap, block.size);
        let context = checker.decoded(name, block.address, context)?;
        let stored = block.filtered.map_or(block.size, |(size, _)| size);
        let stored = checker.store.read_uncached(block.address, stored, name);
        let stored = checker.read_or_note(name, block.address, stored)?;
        let bytes = match block.filtered {
            Some((_, mask)) => self.unfilter(checker, block.address, &stored, mask, block.size)?,
            None => stored,
        };
        let decoded = FractalHeapDirectBlock::decode(&bytes, &context);
        let decoded = checker.decoded(name, block.address, decoded)?;
        checker.same(name, block.address, "block offset", decoded.block_offset, block.offset);
        Some((bytes, context.prefix_size()))
    }

    /// Decodes the bytes `stored` of a direct block with the filters of the fractal heap, except
    /// the filters that `mask` skips.
    pub(crate) fn unfilter(
        &self,
        checker: &mut Checker,
        address: Address,
        stored: &[u8],
        mask: u32,
        length: u64,
    ) -> Option<Bytes> {
        if length > checker.store.limits().metadata_block {
            checker.not_checked(
                "fractal heap",
                address,
                &format!("a block of {length} bytes exceeds the limit"),
            );
            return None;
        }
        let target = ChunkTarget::of_length(to_usize(length));
        let decoded = self.pipeline.decode_chunk(&checker.store.filters(), mask, stored, &target);
        let decoded = decoded
            .map_err(|source| hyperslab_engine::Error::Filter { address, source })
            .map(|bytes| Bytes::from(bytes.as_ref()));
        checker.read_or_note("fractal heap", address, decoded)
    }

    /// Returns the direct block that contains the offset `offset` of the fractal heap's address
    /// space.
    pub(crate) fn find(&self, offset: u64) -> Option<&Block> {
        let after = self.direct.partition_point(|block| block.offset <= offset);
        let block = self.direct.get(after.checked_sub(1)?)?;
        (offset.saturating_sub(block.offset) < block.size).then_some(block)
    }

    /// Returns the managed object of `length` bytes at `offset` of the fractal heap's address
    /// space. Records a fault if no block contains the object.
    pub(crate) fn object(&self, checker: &mut Checker, offset: u64, length: u64) -> Option<Bytes> {
        let Some(block) = self.find(offset) else {
            if self.complete {
                let text = format!("no direct block holds the object at offset {offset:#x}");
                checker.fault("fractal heap", self.heap, text);
            }
            return None;
        };
        let start = to_usize(offset.saturating_sub(block.offset));
        let end = start.saturating_add(to_usize(length));
        if start < block.prefix || end as u64 > block.size {
            let text = format!(
                "the object of {length} bytes at offset {offset:#x} does not fit into its direct block"
            );
            checker.fault("fractal heap", self.heap, text);
            return None;
        }
        if let Some(bytes) = &block.bytes {
            return bytes.slice(start..end);
        }
        if block.filtered.is_some() {
            return self.read(checker, block)?.0.slice(start..end);
        }
        let address = block.address.checked_add(start as u64)?;
        let bytes = checker.store.read(address, length, "fractal heap");
        checker.read_or_note("fractal heap", address, bytes)
    }
}
