//! Blocks and objects of heaps with filters: their bytes in the file are not those in memory, nor as many.

use hyperslab_filter::ChunkTarget;
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::fractal_heap::{
    FractalHeapDirectBlock, FractalHeapDirectContext, FractalHeapIndirectBlock,
};

use super::Place;
use super::change::Change;
use super::managed::{DIRECT_SPACE, Path, set_child, set_root_filtered};
use crate::error::{Error, Result};

impl Change<'_, '_> {
    /// The bytes that stand in the file, and the filters that were skipped.
    pub(super) fn filter(&self, bytes: &[u8]) -> Result<(Vec<u8>, u32)> {
        let target = ChunkTarget::of_length(bytes.len());
        let filters = self.edit.store().filters();
        let filtered = self.heap.pipeline.encode_chunk(filters, bytes, &target);
        filtered.map_err(|source| Error::Filter { address: self.heap.address, source })
    }

    /// A new direct block: where it lies, its bytes there, and the filters skipped.
    pub(super) fn add_filtered(
        &mut self,
        block: &FractalHeapDirectBlock,
        context: &FractalHeapDirectContext,
    ) -> Result<(Address, Option<(u64, u32)>)> {
        let (stored, mask) = self.filter(&block.encode(context)?)?;
        let length = stored.len() as u64;
        let address = self.edit.allocate(DIRECT_SPACE, length)?;
        self.edit.write(address, &stored, FractalHeapDirectBlock::NAME)?;
        Ok((address, Some((length, mask))))
    }

    /// A changed direct block. It moves if it takes another number of bytes.
    pub(super) fn rewrite_filtered(
        &mut self,
        path: &Path,
        place: &Place,
        block: &FractalHeapDirectBlock,
    ) -> Result<()> {
        let context = self.heap.direct_context(self.edit.store(), place.size)?;
        let (stored, mask) = self.filter(&block.encode(&context)?)?;
        let length = stored.len() as u64;
        let mut address = place.address;
        if length != place.stored_size() {
            address = self.edit.allocate(DIRECT_SPACE, length)?;
            self.edit.free(DIRECT_SPACE, place.address, place.stored_size())?;
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
            set_child(node, step.number, address, filtered);
        })
    }
}
