//! Changes of the shape of a chunked dataset, and the early allocation of chunks.

use std::sync::Arc;

use hyperslab_dataspace::{BoxPosition, ChunkGrid, Dims, Region, copy_box};

use super::{ChunkJob, ChunkWriter, ChunkWriting, Due, encode, filled, store};
use crate::data::chunk_index::{ChunkLocation, ChunkTable};
use crate::data::transfer::ChunkCache;
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind};

/// Largest number of chunks that a resize of a chunked dataset fills together.
const BATCH_CHUNKS: usize = 4096;

impl ChunkWriter {
    /// Allocates file space for each chunk inside the shape of the dataset that has no file space
    /// yet. If `fill` is true, writes fill values to the new chunks.
    ///
    /// # Errors
    /// Returns errors of filters and the driver.
    pub fn allocate(
        &mut self,
        edit: &mut Edit<'_>,
        table: &mut dyn ChunkTable,
        cache: &ChunkCache,
        fill: bool,
    ) -> Result<()> {
        let mut writing = ChunkWriting { edit, table, cache };
        self.flush_buffered(&mut writing)?;
        self.flush_dirty(&mut writing, Due::All)?;
        let zeroed = fill && self.source.fill.is_zero();
        if let Some((start, bytes)) = writing.table.reserve(writing.edit, zeroed)?
            && fill
            && !zeroed
        {
            let chunk = filled(&self.source, true)?;
            for offset in (0..bytes).step_by(chunk.len().max(1)) {
                let address = start.checked_add(offset);
                let address =
                    address.ok_or_else(|| Error::internal("chunks", "an allocated block has addresses"))?;
                writing.edit.store().write_raw(address, &chunk)?;
            }
        }
        let all = Region::whole(self.source.grid.extent());
        let mut chunks = self.source.grid.chunks_in(&all)?.peekable();
        // All chunks of fill values have the same encoded bytes.
        let (mut inner, mut edge) = (None, None);
        while chunks.peek().is_some() {
            let mut batch = Vec::new();
            for scaled in chunks.by_ref().take(BATCH_CHUNKS) {
                if writing.table.get(writing.edit.store(), &scaled)?.is_none() {
                    batch.push(scaled);
                }
            }
            let mut filtered = Vec::new();
            let mut plain = Vec::new();
            for scaled in batch {
                if self.source.pipeline.is_empty() {
                    plain.push(scaled);
                    continue;
                }
                let known = if self.source.grid.is_edge(&scaled)? { &mut edge } else { &mut inner };
                let (bytes, mask) = match known {
                    Some(known) => known,
                    None => known.insert(encode(
                        &self.source,
                        writing.edit.store(),
                        &scaled,
                        filled(&self.source, true)?,
                    )?),
                };
                filtered.push((scaled, bytes.clone(), *mask));
            }
            self.allocate_plain(&mut writing, &plain, fill)?;
            store::encoded(&self.source, &mut writing, &filtered)?;
        }
        Ok(())
    }

    fn allocate_plain(&self, writing: &mut ChunkWriting<'_, '_>, chunks: &[Dims], fill: bool) -> Result<()> {
        if chunks.is_empty() {
            return Ok(());
        }
        let size = self.source.chunk_bytes as u64;
        let blocks = if fill && self.source.fill.is_zero() {
            writing.edit.allocate_zeroed_blocks(SpaceKind::RawData, size, chunks.len())?
        } else {
            writing.edit.allocate_blocks(SpaceKind::RawData, size, chunks.len())?
        };
        if fill && !self.source.fill.is_zero() {
            let chunk = filled(&self.source, true)?;
            blocks.iter().try_for_each(|address| writing.edit.store().write_raw(*address, &chunk))?;
        }
        let locations: Vec<(Dims, ChunkLocation)> = chunks
            .iter()
            .zip(blocks)
            .map(|(scaled, address)| (scaled.clone(), ChunkLocation { address, size, filter_mask: 0 }))
            .collect();
        writing.table.insert(writing.edit, &locations)
    }

    /// Changes the shape of a chunked dataset. Frees the chunks outside the new shape, and writes
    /// the fill value to elements outside the new shape in the remaining chunks. If the dataset
    /// leaves its edge chunks (partly outside its shape) unfiltered, encodes chunks again that
    /// become or cease to be edge chunks.
    ///
    /// # Errors
    /// Returns errors of filters and the driver.
    pub fn resize(
        &mut self,
        edit: &mut Edit<'_>,
        table: &mut dyn ChunkTable,
        cache: &ChunkCache,
        dims: &[u64],
    ) -> Result<()> {
        let mut writing = ChunkWriting { edit, table, cache };
        self.flush_buffered(&mut writing)?;
        let before = self.source.grid.clone();
        let after = ChunkGrid::new(before.chunk(), dims)?;
        let shrinks = before.extent().iter().zip(dims).any(|(before, after)| after < before);
        let edges_change = self.source.edges_unfiltered && !self.source.pipeline.is_empty();
        if shrinks || edges_change {
            self.flush_dirty(&mut writing, Due::All)?;
            let (gone, changed) = affected(writing.table, writing.edit, &before, &after, edges_change)?;
            for scaled in gone {
                if let Some(location) = writing.table.remove(writing.edit, &scaled)? {
                    cache.remove((self.source.owner, location.address));
                    writing.edit.free(SpaceKind::RawData, location.address, location.size)?;
                }
            }
            for batch in changed.chunks(64) {
                self.rewrite(&mut writing, batch, &before, &after)?;
            }
        }
        Arc::make_mut(&mut self.source).grid = after;
        if writing.table.keeps_all() {
            self.blank_new(&mut writing, &before)?;
        }
        Ok(())
    }

    /// Writes the fill value to all chunks that a resize adds to the dataset. This is necessary if
    /// chunks keep their file space permanently: they may still hold elements from an earlier time
    /// at which the dataset was larger.
    fn blank_new(&self, writing: &mut ChunkWriting<'_, '_>, before: &ChunkGrid) -> Result<()> {
        let (store, grid) = (writing.edit.store(), &self.source.grid);
        let chunk = filled(&self.source, true)?;
        for scaled in grid.chunks_in(&Region::whole(grid.extent()))? {
            if scaled.iter().zip(before.counts()).all(|(at, count)| at < count) {
                continue;
            }
            if let Some(location) = writing.table.get(store, &scaled)? {
                writing.cache.remove((self.source.owner, location.address));
                store.write_raw(location.address, &chunk)?;
            }
        }
        Ok(())
    }

    fn rewrite(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        chunks: &[(Dims, ChunkLocation)],
        before: &ChunkGrid,
        after: &ChunkGrid,
    ) -> Result<()> {
        let store = writing.edit.store();
        let mut encoded = Vec::with_capacity(chunks.len());
        for (scaled, location) in chunks {
            Arc::make_mut(&mut self.source).grid = before.clone();
            let mut job = ChunkJob {
                scaled: scaled.clone(),
                before: Some(*location),
                known: None,
                whole: false,
                stays: false,
            };
            let stored = job.elements(&self.source, store, writing.cache)?;
            let mut chunk = filled(&self.source, true)?;
            // Keep only the elements that are inside both shapes.
            let count: Dims = before
                .region(scaled)?
                .count
                .iter()
                .zip(&after.region(scaled)?.count)
                .map(|(one, other)| *one.min(other))
                .collect();
            let zeros = Dims::from_elem(0, count.len());
            let whole = BoxPosition { dims: before.chunk(), start: &zeros };
            copy_box(&stored, whole, &mut chunk, whole, &count, self.source.element_size)?;
            Arc::make_mut(&mut self.source).grid = after.clone();
            let (bytes, mask) = encode(&self.source, store, scaled, chunk)?;
            encoded.push((scaled.clone(), bytes, mask));
        }
        store::encoded(&self.source, writing, &encoded)
    }
}

/// The chunks that a resize of a dataset affects: chunks outside the new shape, and chunks whose
/// elements change.
type Affected = (Vec<Dims>, Vec<(Dims, ChunkLocation)>);

fn affected(
    table: &dyn ChunkTable,
    edit: &Edit<'_>,
    before: &ChunkGrid,
    after: &ChunkGrid,
    edges_change: bool,
) -> Result<Affected> {
    let (mut gone, mut changed) = (Vec::new(), Vec::new());
    table.for_each(edit.store(), &mut |scaled, location| {
        let outside = |grid: &ChunkGrid| scaled.iter().zip(grid.counts()).any(|(at, count)| at >= count);
        if outside(before) {
            return Ok(());
        }
        if outside(after) {
            gone.push(Dims::from_slice(scaled));
            return Ok(());
        }
        let (old, new) = (before.region(scaled)?.count, after.region(scaled)?.count);
        let cut = old.iter().zip(&new).any(|(old, new)| new < old);
        let edge_changes = edges_change && before.is_edge(scaled)? != after.is_edge(scaled)?;
        if cut || edge_changes {
            changed.push((Dims::from_slice(scaled), location));
        }
        Ok(())
    })?;
    Ok((gone, changed))
}
