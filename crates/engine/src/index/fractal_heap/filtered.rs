//! Encoded blocks and objects of fractal heaps with filters.

use hyperslab_exact::to_u64;
use hyperslab_filter::ChunkTarget;
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::{
    FractalHeapDirectBlock, FractalHeapDirectContext, FractalHeapIndirectBlock,
};

use super::DirectBlock;
use super::blocks::{set_child, set_root_filtered};
use super::change::HeapChange;
use super::managed::{DIRECT_SPACE, Path};
use crate::error::{Error, Result};

impl HeapChange<'_, '_> {
    /// Encodes bytes with the filters of the fractal heap. Returns the encoded bytes and the mask
    /// of skipped filters.
    pub(super) fn filter(&self, bytes: &[u8]) -> Result<(Vec<u8>, u32)> {
        let target = ChunkTarget::of_length(bytes.len());
        let filters = &self.edit.store().filters();
        let filtered = self.heap.pipeline.encode_chunk(filters, bytes, &target);
        filtered.map_err(|source| Error::Filter { address: self.heap.address, source })
    }

    /// Allocates and writes a new encoded direct block of a fractal heap. Returns the address, the
    /// encoded size and the filter mask.
    pub(super) fn add_filtered(
        &mut self,
        block: &FractalHeapDirectBlock,
        context: &FractalHeapDirectContext,
    ) -> Result<(Address, Option<(u64, u32)>)> {
        let (stored, mask) = self.filter(&block.encode(context)?)?;
        let length = to_u64(stored.len());
        let address = self.edit.allocate(DIRECT_SPACE, length)?;
        self.edit.write(address, &stored, FractalHeapDirectBlock::NAME)?;
        Ok((address, Some((length, mask))))
    }

    /// Rewrites a changed direct block of a fractal heap in its encoded form. Moves the direct
    /// block if its encoded size has changed.
    pub(super) fn rewrite_filtered(
        &mut self,
        path: &Path,
        location: &DirectBlock,
        block: &FractalHeapDirectBlock,
    ) -> Result<()> {
        let context = self.heap.direct_context(self.edit.store(), location.size)?;
        let (stored, mask) = self.filter(&block.encode(&context)?)?;
        let length = to_u64(stored.len());
        let mut address = location.address;
        if length != location.stored_size() {
            address = self.edit.allocate(DIRECT_SPACE, length)?;
            self.edit.free(DIRECT_SPACE, location.address, location.stored_size())?;
        }
        self.edit.write(address, &stored, FractalHeapDirectBlock::NAME)?;
        let Some(step) = path.steps.last() else {
            self.heap.header.root = address;
            set_root_filtered(&mut self.heap.header, Some((length, mask)));
            return Ok(());
        };
        let context = self.heap.indirect_context(self.edit.store(), step.rows);
        let filtered = Some((length, mask));
        self.edit.modify(step.address, &context, |node: &mut FractalHeapIndirectBlock| {
            set_child(node, step.number, address, filtered)
        })?
    }
}
