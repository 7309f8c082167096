//! Changes of the shape of a dataset with structured chunks, and the deletion of its chunks.

use std::collections::BTreeSet;

use hyperslab_dataspace::{ChunkGrid, DefinedSet, Dims, Region};
use hyperslab_format::structured_chunk::SectionHeap;

use super::{StructuredWriter, StructuredWriting};
use crate::data::chunk_index::ChunkBox;
use crate::data::transfer::DefinedChunk;
use crate::error::Result;
use crate::store::{Edit, SpaceKind, Store};

impl StructuredWriter {
    /// Changes the shape of a dataset with structured chunks. Removes chunks outside the new shape.
    /// Elements outside the new shape become undefined, even if the dataset grows again. If the
    /// dataset leaves its edge chunks (partly outside its shape) unfiltered, encodes chunks again
    /// that become or cease to be edge chunks.
    ///
    /// # Errors
    /// Returns errors of damaged chunks, filters and the driver.
    pub fn change_shape(&mut self, writing: &mut StructuredWriting<'_, '_>, dims: &[u64]) -> Result<()> {
        let before = self.form.grid.clone();
        let after = ChunkGrid::new(before.chunk(), dims)?;
        // The present shape determines which stored chunks are filtered.
        self.choose_encoding(writing.edit.store())?;
        let beyond =
            |grid: &ChunkGrid, scaled: &Dims| scaled.iter().zip(grid.counts()).any(|(at, count)| at >= count);
        let outside = |scaled: &Dims| beyond(&after, scaled);
        let mut touched = BTreeSet::new();
        for (dimension, (old, new)) in before.extent().iter().zip(dims).enumerate() {
            if old == new {
                continue;
            }
            for chunk in self.along(writing, (&before, &after), dimension, (*old).min(*new))? {
                touched.insert(chunk);
            }
        }
        if before.counts().iter().zip(after.counts()).any(|(before, after)| after < before) {
            for scaled in self.dirty.coordinates(outside) {
                self.dirty.remove(&scaled);
            }
        }
        self.dirty.begin();
        for scaled in touched {
            // Other programs may have left chunks outside the shape.
            if outside(&scaled) || beyond(&before, &scaled) {
                self.remove(writing, &scaled)?;
                continue;
            }
            self.cut(writing, &before, &after, &scaled)?;
            if self.dirty.bytes() > self.limit {
                // Chunks that the loop has not cut yet stay dirty.
                let cut = self.dirty.newer();
                self.form.grid = after.clone();
                let outcome = self.flush_some(writing, cut);
                self.form.grid = before.clone();
                outcome?;
            }
        }
        self.form.grid = after;
        Ok(())
    }

    /// Returns all stored or dirty structured chunks along a dimension from the coordinate `from`
    /// on, in the old or the new shape. Includes chunks that begin before this coordinate and
    /// contain it.
    fn along(
        &self,
        writing: &StructuredWriting<'_, '_>,
        (before, after): (&ChunkGrid, &ChunkGrid),
        dimension: usize,
        from: u64,
    ) -> Result<Vec<Dims>> {
        let size = before.chunk().get(dimension).copied().unwrap_or(1).max(1);
        let counts: Dims =
            before.counts().iter().zip(after.counts()).map(|(one, other)| *one.max(other)).collect();
        if counts.contains(&0) {
            return Ok(Vec::new());
        }
        let mut last: Dims = counts.iter().map(|count| count - 1).collect();
        let mut first = Dims::from_elem(0, last.len());
        // If the shape ends between chunks, begin with the chunk after the end.
        let start = from / size;
        if let (Some(first), Some(last)) = (first.get_mut(dimension), last.get_mut(dimension)) {
            if start > *last {
                return Ok(Vec::new());
            }
            (*first, *last) = (start, *last);
        }
        let chunks = ChunkBox { first, last: std::mem::take(&mut last) };
        let stored = self.stored_in(writing.edit.store(), &chunks)?;
        let mut found: Vec<Dims> = stored.into_iter().map(|(scaled, _)| scaled).collect();
        found.extend(self.dirty.coordinates_in(&chunks));
        Ok(found)
    }

    /// Cuts a structured chunk to the old and the new shape of the dataset: removes elements
    /// outside either shape. If elements were removed or the filters of the chunk change, the chunk
    /// becomes dirty.
    fn cut(
        &mut self,
        writing: &mut StructuredWriting<'_, '_>,
        before: &ChunkGrid,
        after: &ChunkGrid,
        scaled: &Dims,
    ) -> Result<()> {
        let edge_changes = self.form.edges_unfiltered && before.is_edge(scaled)? != after.is_edge(scaled)?;
        let dirty = self.dirty.remove(scaled);
        let (chunk, mut changed) = if let Some(chunk) = dirty {
            (chunk, true)
        } else {
            let store = writing.edit.store();
            let Some(location) = self.table.get(store, scaled)? else { return Ok(()) };
            let chunk = self.form.read_unclipped(store, scaled, &location)?;
            let count = chunk.defined.len();
            let clipped = self.form.clipped(scaled, chunk)?;
            let has_outside = clipped.defined.len() != count;
            (clipped, has_outside)
        };
        let count = chunk.defined.len();
        self.form.grid = after.clone();
        let cut = self.form.clipped(scaled, chunk);
        self.form.grid = before.clone();
        let mut cut = cut?;
        changed |= edge_changes || cut.defined.len() != count;
        if !self.form.kind.is_sparse() && before.region(scaled)?.count != after.region(scaled)?.count {
            cut = self.refilled(writing.edit.store(), (before, after), scaled, cut)?;
            changed = true;
        }
        if changed {
            self.dirty.insert(scaled.clone(), cut, u64::MAX);
        }
        Ok(())
    }

    /// Returns a dense structured chunk with elements for a new shape of the dataset. Elements that
    /// are in both the old and the new shape keep their values. All other elements get the fill
    /// value.
    fn refilled(
        &self,
        store: &Store,
        (before, after): (&ChunkGrid, &ChunkGrid),
        scaled: &Dims,
        chunk: DefinedChunk,
    ) -> Result<DefinedChunk> {
        let count: Dims = before
            .region(scaled)?
            .count
            .iter()
            .zip(&after.region(scaled)?.count)
            .map(|(one, other)| *one.min(other))
            .collect();
        let both = Region { start: Dims::from_elem(0, count.len()), count };
        let kept = DefinedSet::of_region(before.chunk(), &both)?;
        let (kept, pieces) = chunk.defined.intersection(&kept);
        let values = pieces.gather(&chunk.values, &[], self.form.element_size)?;
        let filled = self.filled(store)?;
        let (defined, pieces) = filled.defined.overlay(&kept);
        let mut values = pieces.gather(&filled.values, &values, self.form.element_size)?;
        if self.form.fill.is_zero() {
            return Ok(DefinedChunk { defined, values, heap: chunk.heap });
        }
        // A fill value here has no variable-length data, so all descriptors refer to the chunk's
        // own heap.
        let heap = SectionHeap::decode(&chunk.heap, self.form.params)?;
        let heap = self.form.variable.take(&mut values, &heap, store.limits().chunk_bytes)?;
        Ok(DefinedChunk { defined, values, heap })
    }

    /// Frees the file space of all structured chunks of a dataset and of their chunk index.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn delete(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.table
            .delete_with(edit, &mut |edit, _, chunk| edit.free(SpaceKind::RawData, chunk.address, chunk.size))
    }
}
