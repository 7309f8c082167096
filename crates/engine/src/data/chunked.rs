//! Elements in chunks: find, fetch, decode in parallel, copy into place.

use std::sync::Arc;

use hyperslab_dataspace::{ChunkGrid, Dims, Ordered, Placement, Region, Selection, copy_box};
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

/// What is wanted of the chunks.
enum Wanted {
    /// A box.
    Region(Region),
    /// Anything else.
    Selection(Ordered),
}

impl Source for ChunkedSource {
    fn read(&self, store: &Store, selection: &Selection, out: &mut [u8]) -> Result<()> {
        self.fill.apply(out);
        let extent = self.grid.extent();
        let Some(bounds) = selection.bounding_box(extent)? else { return Ok(()) };
        let Some(index) = &self.index else { return Ok(()) };
        let chunks = self.grid.chunk_region(&bounds)?;
        if chunks.is_empty() {
            return Ok(());
        }
        let wanted = match selection.as_region(extent)? {
            Some(region) => Wanted::Region(region),
            None => Wanted::Selection(Ordered::new(selection, extent)?),
        };
        let per_batch = BATCH_BYTES.checked_div(self.chunk_bytes).unwrap_or(1).clamp(2, 4096);
        let mut batch: Vec<Found> = Vec::new();
        if let Some(listed) = self.listed(selection, &chunks)? {
            for scaled in listed {
                let Some(location) = index.get(store, &scaled)? else { continue };
                batch.push((scaled, location));
                if batch.len() >= per_batch {
                    self.copy_batch(store, &wanted, out, &std::mem::take(&mut batch))?;
                }
            }
            return self.copy_batch(store, &wanted, out, &batch);
        }
        let last = chunks.bounds().map(|(_, end)| end.saturating_sub(1)).collect();
        let in_box = ChunkBox { first: chunks.start, last };
        index.for_each_in(store, &in_box, &mut |scaled, location| {
            if let Wanted::Selection(ordered) = &wanted
                && !ordered.may_meet(&self.grid.region(scaled)?)
            {
                return Ok(());
            }
            batch.push((Dims::from_slice(scaled), location));
            if batch.len() < per_batch {
                return Ok(());
            }
            let full = std::mem::take(&mut batch);
            self.copy_batch(store, &wanted, out, &full)
        })?;
        self.copy_batch(store, &wanted, out, &batch)
    }
}

impl ChunkedSource {
    /// The chunks to look up one by one, in C order, where that is less work than to walk over all in the box.
    fn listed(&self, selection: &Selection, chunks: &Region) -> Result<Option<Vec<Dims>>> {
        let count = chunks.element_count().unwrap_or(u64::MAX);
        if count == 1 {
            return Ok(Some(vec![chunks.start.clone()]));
        }
        let Selection::Points(points) = selection else { return Ok(None) };
        let mut listed: Vec<Dims> = points
            .points()
            .map(|point| point.iter().zip(self.grid.chunk()).map(|(at, size)| at / size.max(&1)).collect())
            .collect();
        listed.sort_unstable();
        listed.dedup();
        Ok(Some(listed).filter(|listed| (listed.len() as u64).saturating_mul(4) < count))
    }

    /// Decodes the chunks of one batch side by side, then copies each into place.
    fn copy_batch(&self, store: &Store, wanted: &Wanted, out: &mut [u8], batch: &[Found]) -> Result<()> {
        if let [(scaled, location)] = batch {
            let chunk = self.chunk(store, scaled, location)?;
            return self.place(wanted, out, scaled, &chunk);
        }
        let decoded: Vec<Result<Vec<u8>>> =
            batch.par_iter().map(|(scaled, location)| self.chunk(store, scaled, location)).collect();
        for ((scaled, _), chunk) in batch.iter().zip(decoded) {
            self.place(wanted, out, scaled, &chunk?)?;
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

    /// Copies what is wanted of a chunk.
    fn place(&self, wanted: &Wanted, out: &mut [u8], scaled: &[u64], chunk: &[u8]) -> Result<()> {
        let inside = self.grid.region(scaled)?;
        match wanted {
            Wanted::Region(region) => {
                let Some(part) = inside.intersect(region) else { return Ok(()) };
                let from_start = relative(&part, &inside);
                let to_start = relative(&part, region);
                let from = Placement { dims: self.grid.chunk(), start: &from_start };
                let to = Placement { dims: &region.count, start: &to_start };
                copy_box(chunk, from, out, to, &part.count, self.element_size)?;
                Ok(())
            }
            Wanted::Selection(ordered) => ordered.within(&inside, |at, length, position| {
                self.copy_run(chunk, &inside, at, length, position, out)
            }),
        }
    }

    /// Copies elements that follow each other in a chunk to their position in the selection.
    fn copy_run(
        &self,
        chunk: &[u8],
        inside: &Region,
        at: &[u64],
        length: u64,
        position: u64,
        out: &mut [u8],
    ) -> Result<()> {
        // All three lie in buffers that are in memory, so that nothing overflows.
        let bytes =
            |elements: u64| usize::try_from(elements).unwrap_or(usize::MAX).saturating_mul(self.element_size);
        let first = at
            .iter()
            .zip(&inside.start)
            .zip(self.grid.chunk())
            .fold(0_u64, |sum, ((at, start), size)| sum.saturating_mul(*size).saturating_add(at - start));
        let (from, to, length) = (bytes(first), bytes(position), bytes(length));
        let from = chunk.get(from..from.saturating_add(length));
        let to = out.get_mut(to..to.saturating_add(length));
        let (Some(from), Some(to)) = (from, to) else {
            return Err(Error::Misuse("the buffer holds fewer elements than are selected".into()));
        };
        to.copy_from_slice(from);
        Ok(())
    }
}

/// Where `part` begins, counted from the start of `whole`.
fn relative(part: &Region, whole: &Region) -> Dims {
    part.start.iter().zip(&whole.start).map(|(part, whole)| part.saturating_sub(*whole)).collect()
}
