//! Changes of the shape of a dataset in structured chunks, and its deletion.

use std::collections::BTreeSet;

use hyperslab_dataspace::{ChunkGrid, DefinedSet, Dims, Region};
use hyperslab_format::structured_chunk::SectionHeap;

use super::{StructuredWriter, StructuredWriting};
use crate::data::chunk_index::ChunkBox;
use crate::data::transfer::DefinedChunk;
use crate::error::Result;
use crate::store::{Edit, SpaceKind, Store};

impl StructuredWriter {
    /// Changes the shape: chunks outside of the new one leave the file, elements outside of it are undefined, also when
    /// it grows again, and chunks that come to the edge or leave it pass the filters they must.
    ///
    /// # Errors
    /// Damaged chunks, those of filters and the medium.
    pub fn change_shape(&mut self, writing: &mut StructuredWriting<'_, '_>, dims: &[u64]) -> Result<()> {
        let before = self.form.grid.clone();
        let after = ChunkGrid::new(before.chunk(), dims)?;
        // Whether stored chunks passed filters is told by the shape as it is now.
        self.know_encoding(writing.edit.store())?;
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
            // Other programs may have left chunks outside of the shape.
            if outside(&scaled) || beyond(&before, &scaled) {
                self.remove(writing, &scaled)?;
                continue;
            }
            self.cut(writing, &before, &after, &scaled)?;
            if self.dirty.bytes() > self.limit {
                // Those that are still to be cut wait on.
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

    /// The chunks of either shape that hold elements from `from` on along a dimension, or that a part of the extent ends
    /// in there.
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
        // Where the shape ends between chunks, the first chunk behind it is the first that matters.
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

    /// Keeps of a chunk what lies in both shapes, and has it encoded anew if that, or where its edge is, changes it.
    fn cut(
        &mut self,
        writing: &mut StructuredWriting<'_, '_>,
        before: &ChunkGrid,
        after: &ChunkGrid,
        scaled: &Dims,
    ) -> Result<()> {
        let turns = self.form.edges_unfiltered && before.is_edge(scaled)? != after.is_edge(scaled)?;
        let waits = self.dirty.remove(scaled);
        let (chunk, mut changed) = if let Some(chunk) = waits {
            (chunk, true)
        } else {
            let store = writing.edit.store();
            let Some(location) = self.table.get(store, scaled)? else { return Ok(()) };
            let chunk = self.form.read_unclipped(store, scaled, &location)?;
            let count = chunk.defined.len();
            let clipped = self.form.clipped(scaled, chunk)?;
            let ghosts = clipped.defined.len() != count;
            (clipped, ghosts)
        };
        let count = chunk.defined.len();
        self.form.grid = after.clone();
        let cut = self.form.clipped(scaled, chunk);
        self.form.grid = before.clone();
        let mut cut = cut?;
        changed |= turns || cut.defined.len() != count;
        if !self.form.kind.is_sparse() && before.region(scaled)?.count != after.region(scaled)?.count {
            cut = self.refilled(writing.edit.store(), (before, after), scaled, cut)?;
            changed = true;
        }
        if changed {
            self.dirty.insert(scaled.clone(), cut, u64::MAX);
        }
        Ok(())
    }

    /// A chunk all of whose elements are there, with fill values for those that are not in both shapes.
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
        // Only elements that hold nothing can be fill values here, so that all that is held lies in the chunk's own heap.
        let heap = SectionHeap::decode(&chunk.heap, self.form.params)?;
        let heap = self.form.variable.take(&mut values, &heap, store.limits().chunk_bytes)?;
        Ok(DefinedChunk { defined, values, heap })
    }

    /// Gives back the room of all chunks and of the index.
    ///
    /// # Errors
    /// If the index is damaged.
    pub fn delete(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.table
            .delete_with(edit, &mut |edit, _, chunk| edit.free(SpaceKind::RawData, chunk.address, chunk.size))
    }
}
