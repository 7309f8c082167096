//! New unfiltered chunks that are written in part: they stay dirty until the rest comes, so that each is stored once.

use hyperslab_dataspace::Dims;

use super::ChunkWriter;
use super::selected::Selected;
use crate::data::transfer::{Rows, WriteSource};
use crate::error::Result;

/// A chunk waits if what is written reaches over this part of it: of one that is hardly touched, only that is put into the
/// file.
const PART: u64 = 64;

/// A chunk waits if so many of its size may, and if there is room for it.
const MOST: usize = 4;

impl ChunkWriter {
    /// Puts elements into a chunk that waits, if it does.
    pub(super) fn put_waiting(
        &mut self,
        scaled: &Dims,
        selected: &Selected<'_>,
        from: &WriteSource<'_>,
        rows: &mut Rows,
    ) -> Result<bool> {
        let written = if from.is_partial() { 0 } else { selected.count_in(scaled) };
        let Some(chunk) = self.dirty.get_mut(scaled, written) else { return Ok(false) };
        selected.put(&self.source, scaled, from, chunk, rows)?;
        Ok(true)
    }

    /// Returns whether a new chunk that passes no filter waits for its other elements.
    pub(super) fn waits(
        &self,
        scaled: &[u64],
        selected: &Selected<'_>,
        from: &WriteSource<'_>,
    ) -> Result<bool> {
        let bytes = self.source.chunk_bytes;
        let room = self.dirty_limit.checked_sub(self.dirty.bytes());
        if from.is_partial() || bytes > self.dirty_limit / MOST || room.is_none_or(|room| bytes > room) {
            return Ok(false);
        }
        Ok(selected.reach_in(scaled)? >= self.source.grid.elements_per_chunk()?.div_ceil(PART))
    }

    /// Lets a new chunk wait with some of its elements.
    pub(super) fn let_part_wait(
        &mut self,
        scaled: Dims,
        selected: &Selected<'_>,
        from: &WriteSource<'_>,
        rows: &mut Rows,
    ) -> Result<()> {
        let mut chunk = self.dirty.room(self.source.chunk_bytes);
        self.source.fill.write(&mut chunk);
        selected.put(&self.source, &scaled, from, &mut chunk, rows)?;
        let elements = self.source.grid.region(&scaled)?.element_count()?;
        // Points may name an element more than once.
        let missing = elements.saturating_sub(selected.count_in(&scaled));
        self.dirty.insert(scaled, chunk, missing);
        Ok(())
    }
}
