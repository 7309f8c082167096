//! New chunks without filters of which some elements are written. Such a chunk stays dirty until
//! the remaining elements are written, so that it is stored once.

use hyperslab_dataspace::Dims;

use super::ChunkWriter;
use super::selected::Selected;
use crate::data::transfer::{RowBuffers, WriteSource};
use crate::error::Result;

/// The divisor in the rule by which a partly written new chunk stays in memory as a dirty chunk.
/// The chunk stays if the range from its first to its last written element is long enough: at least
/// the number of the chunk's elements divided by this divisor.
const MIN_SPAN_DIVISOR: u64 = 64;

/// Smallest number of chunks that the memory limit for dirty chunks must allow. If the chunks are
/// so large that fewer chunks fit, no partly written chunk stays in memory.
const MIN_CHUNKS_IN_LIMIT: usize = 4;

impl ChunkWriter {
    /// Writes the selected elements into a dirty chunk in memory. Returns false, without a write,
    /// if the chunk is not dirty.
    pub(super) fn put_dirty(
        &mut self,
        scaled: &Dims,
        selected: &Selected<'_>,
        from: &WriteSource<'_>,
        rows: &mut RowBuffers,
    ) -> Result<bool> {
        let written = if from.is_partial() { 0 } else { selected.count_in(scaled) };
        let Some(chunk) = self.dirty.get_mut(scaled, written) else { return Ok(false) };
        selected.put(&self.source, scaled, from, chunk, rows)?;
        Ok(true)
    }

    /// Returns whether a partly written new chunk without filters should remain in memory as a
    /// dirty chunk.
    pub(super) fn stays_dirty(
        &self,
        scaled: &[u64],
        selected: &Selected<'_>,
        from: &WriteSource<'_>,
    ) -> Result<bool> {
        let bytes = self.source.chunk_bytes;
        let free = self.dirty_limit.checked_sub(self.dirty.bytes());
        let is_small = bytes <= self.dirty_limit / MIN_CHUNKS_IN_LIMIT;
        if from.is_partial() || !is_small || free.is_none_or(|free| bytes > free) {
            return Ok(false);
        }
        Ok(selected.reach_in(scaled)? >= self.source.grid.elements_per_chunk()?.div_ceil(MIN_SPAN_DIVISOR))
    }

    /// Adds a new chunk, of which some elements are written, to the dirty chunks of the chunk
    /// writer.
    pub(super) fn insert_part(
        &mut self,
        scaled: Dims,
        selected: &Selected<'_>,
        from: &WriteSource<'_>,
        rows: &mut RowBuffers,
    ) -> Result<()> {
        let mut chunk = self.dirty.memory(self.source.chunk_bytes);
        self.source.fill.write(&mut chunk);
        selected.put(&self.source, &scaled, from, &mut chunk, rows)?;
        let elements = self.source.final_elements(&scaled)?;
        let written = selected.count_in(&scaled);
        self.dirty.insert_partial(scaled, chunk, elements, written);
        Ok(())
    }
}
