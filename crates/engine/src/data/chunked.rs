//! Elements in chunks: find, fetch, decode in parallel, copy into place.

use std::sync::Arc;

use hyperslab_dataspace::{ChunkGrid, Dims, Placement, Region, copy_box};
use hyperslab_filter::{ChunkTarget, Pipeline};
use rayon::prelude::*;

use super::chunk_index::{ChunkBox, ChunkIndex, ChunkLocation};
use super::{Fill, Source};
use crate::error::{Error, Result};
use crate::store::Store;

/// Decoded bytes held at once while a read goes on.
const BATCH_BYTES: usize = 32 << 20;

/// A dataset of chunked layout.
#[derive(Debug)]
pub struct ChunkedSource {
    /// How chunks tile the dataset.
    pub grid: ChunkGrid,
    /// Bytes of an element.
    pub element_size: usize,
    /// Bytes of a decoded chunk.
    pub chunk_bytes: usize,
    /// Where the chunks lie; `None` while there are none.
    pub index: Option<Arc<dyn ChunkIndex>>,
    /// The filters that chunks passed.
    pub pipeline: Pipeline,
    /// Chunks that reach beyond the extent have passed no filter.
    pub edges_unfiltered: bool,
    /// What chunks that are not stored read as.
    pub fill: Fill,
}

/// A chunk to be read.
type Found = (Dims, ChunkLocation);

impl Source for ChunkedSource {
    fn read(&self, store: &Store, region: &Region, out: &mut [u8]) -> Result<()> {
        self.fill.apply(out);
        let chunks = self.grid.chunk_region(region)?;
        let Some(index) = self.index.as_ref().filter(|_| !chunks.is_empty()) else { return Ok(()) };
        if chunks.element_count()? == 1 {
            return match index.get(store, &chunks.start)? {
                Some(location) => self.copy_batch(store, region, out, &[(chunks.start, location)]),
                None => Ok(()),
            };
        }
        let last = chunks.bounds().map(|(_, end)| end.saturating_sub(1)).collect();
        let wanted = ChunkBox { first: chunks.start.clone(), last };
        let per_batch = BATCH_BYTES.checked_div(self.chunk_bytes).unwrap_or(1).clamp(2, 4096);
        let mut batch: Vec<Found> = Vec::new();
        index.for_each_in(store, &wanted, &mut |scaled, location| {
            batch.push((Dims::from_slice(scaled), location));
            if batch.len() < per_batch {
                return Ok(());
            }
            let full = std::mem::take(&mut batch);
            self.copy_batch(store, region, out, &full)
        })?;
        self.copy_batch(store, region, out, &batch)
    }
}

impl ChunkedSource {
    /// Decodes the chunks of one batch side by side, then copies each into place.
    fn copy_batch(&self, store: &Store, region: &Region, out: &mut [u8], batch: &[Found]) -> Result<()> {
        if let [(scaled, location)] = batch {
            let chunk = self.chunk(store, scaled, location)?;
            return self.place(region, out, scaled, &chunk);
        }
        let decoded: Vec<Result<Vec<u8>>> =
            batch.par_iter().map(|(scaled, location)| self.chunk(store, scaled, location)).collect();
        for ((scaled, _), chunk) in batch.iter().zip(decoded) {
            self.place(region, out, scaled, &chunk?)?;
        }
        Ok(())
    }

    /// The elements of one chunk, those beyond the extent included.
    pub fn chunk(&self, store: &Store, scaled: &[u64], location: &ChunkLocation) -> Result<Vec<u8>> {
        let stored = store.read_raw_vec(location.address, location.size)?;
        let limits = store.limits();
        let unfiltered = self.edges_unfiltered && self.grid.is_edge(scaled)?;
        if self.pipeline.is_empty() || unfiltered {
            if stored.len() < self.chunk_bytes {
                let expected = format!("{} bytes", self.chunk_bytes);
                return Err(Error::corrupt("chunk", "size", expected, stored.len()).at(location.address));
            }
            let mut stored = stored;
            stored.truncate(self.chunk_bytes);
            return Ok(stored);
        }
        let possible = (stored.len() as u64).max(64).saturating_mul(limits.expansion);
        if self.chunk_bytes as u64 > possible.min(limits.chunk_bytes) {
            return Err(Error::Limit {
                what: format!(
                    "chunk at {}: bytes after {} filters",
                    location.address,
                    self.pipeline.stages.len()
                ),
                got: self.chunk_bytes as u64,
                limit: possible.min(limits.chunk_bytes),
            });
        }
        let target =
            ChunkTarget { element_size: self.element_size, ..ChunkTarget::of_length(self.chunk_bytes) };
        self.pipeline
            .decode_chunk(store.filters(), location.filter_mask, stored, &target)
            .map_err(|source| Error::Filter { address: location.address, source })
    }

    /// Copies the part of a chunk that lies in `region`.
    fn place(&self, region: &Region, out: &mut [u8], scaled: &[u64], chunk: &[u8]) -> Result<()> {
        let inside = self.grid.region(scaled)?;
        let Some(part) = inside.intersect(region) else { return Ok(()) };
        let from_start = relative(&part, &inside);
        let to_start = relative(&part, region);
        let from = Placement { dims: self.grid.chunk(), start: &from_start };
        let to = Placement { dims: &region.count, start: &to_start };
        copy_box(chunk, from, out, to, &part.count, self.element_size)?;
        Ok(())
    }
}

/// Where `part` begins, counted from the start of `whole`.
fn relative(part: &Region, whole: &Region) -> Dims {
    part.start.iter().zip(&whole.start).map(|(part, whole)| part.saturating_sub(*whole)).collect()
}
