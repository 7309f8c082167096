//! Reads of points and irregular blocks from chunked datasets. The elements of one chunk can have
//! any positions in the result.

use std::sync::Arc;

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::{Dims, Ordered, Points, Region, Selection};

use super::super::ChunkedSource;
use super::chunk_box;
use crate::data::chunk_index::{ChunkIndex, ChunkLocation};
use crate::data::transfer::{ReadContext, ReadTarget, byte_count, parallel};
use crate::error::{Error, Result};
use crate::memory::lengthen;

/// Largest number of decoded chunk bytes that a read of scattered elements keeps in memory.
const BATCH_BYTES: usize = 32 << 20;

/// Smallest number of read requests that a read of scattered elements assigns to one thread. Only
/// the last thread may get fewer requests.
const MIN_THREAD_REQUESTS: usize = 128;

/// Largest number of chunks in one batch of a read of scattered elements.
const BATCH_CHUNKS: usize = 4096;

/// A read of scattered elements (irregular blocks or points) of a chunked dataset.
pub(super) struct Scattered<'a> {
    context: ReadContext<'a>,
    source: &'a ChunkedSource,
    index: &'a dyn ChunkIndex,
    wanted: &'a Ordered,
    /// The selected elements, if they are points.
    points: Option<ByChunk>,
    chunks: &'a Region,
}

/// The coordinates and the location of a stored chunk whose elements a read needs.
type LocatedChunk = (Dims, ChunkLocation);

/// A run of elements of a chunk that are contiguous in the file and in the read target.
struct Run {
    /// The offset of the first byte in the chunk.
    at: usize,
    /// The number of elements before the run in the result.
    position: u64,
    bytes: usize,
}

/// The points of a point selection, sorted by the chunks that contain the points.
pub(super) struct ByChunk {
    /// The chunk, the offset of the first byte in the chunk, and the position in the result;
    /// sorted.
    points: Vec<(Dims, usize, u64)>,
}

impl ByChunk {
    pub(super) fn new(source: &ChunkedSource, points: &Points) -> Result<Self> {
        let chunk = source.grid.chunk();
        let all: Result<Vec<(Dims, usize, u64)>> = points
            .points()
            .zip(0..)
            .map(|(point, position)| {
                let scaled = point.iter().zip(chunk).map(|(at, size)| at / size.max(&1)).collect();
                let element =
                    point.iter().zip(chunk).fold(0_u64, |sum, (at, size)| sum * *size + at % size.max(&1));
                Ok((scaled, byte_count(element, source.element_size, "chunk")?, position))
            })
            .collect();
        let mut points = all?;
        points.sort_unstable();
        Ok(Self { points })
    }

    /// Returns the coordinates of the chunks that contain points of the selection, in ascending
    /// order.
    fn chunks(&self) -> Vec<Dims> {
        let mut chunks: Vec<Dims> = self.points.iter().map(|(scaled, ..)| scaled.clone()).collect();
        chunks.dedup();
        chunks
    }

    /// Returns the selected points that are elements of the chunk with the given coordinates.
    pub(super) fn of(&self, scaled: &[u64]) -> &[(Dims, usize, u64)] {
        let first = self.points.partition_point(|(chunk, ..)| chunk.as_slice() < scaled);
        let rest = self.points.split_at(first).1;
        rest.split_at(rest.partition_point(|(chunk, ..)| chunk.as_slice() == scaled)).0
    }
}

impl<'a> Scattered<'a> {
    pub(super) fn new(
        context: ReadContext<'a>,
        source: &'a ChunkedSource,
        index: &'a dyn ChunkIndex,
        (selection, wanted): (&Selection, &'a Ordered),
        chunks: &'a Region,
    ) -> Result<Self> {
        let points = match selection {
            Selection::Points(points) => Some(ByChunk::new(source, points)?),
            _ => None,
        };
        Ok(Self { context, source, index, wanted, points, chunks })
    }

    /// Reads the stored elements of scattered points or blocks into the read target, which already
    /// holds fill values.
    pub(super) fn read(&self, to: &mut ReadTarget<'_>) -> Result<()> {
        let store = self.context.store;
        let per_batch = BATCH_BYTES.checked_div(self.source.chunk_bytes).unwrap_or(1).clamp(2, BATCH_CHUNKS);
        let mut batch: Vec<LocatedChunk> = Vec::new();
        if let Some(listed) = self.listed() {
            for scaled in listed {
                let Some(location) = self.index.get(store, &scaled)? else { continue };
                batch.push((scaled, location));
                if batch.len() >= per_batch {
                    self.read_batch(to, &std::mem::take(&mut batch))?;
                }
            }
            return self.read_batch(to, &batch);
        }
        self.index.for_each_in(store, &chunk_box(self.chunks), &mut |scaled, location| {
            let meets = match &self.points {
                Some(points) => !points.of(scaled).is_empty(),
                None => self.wanted.may_meet(&self.source.grid.region(scaled)?),
            };
            if !meets {
                return Ok(());
            }
            batch.push((Dims::from_slice(scaled), location));
            if batch.len() < per_batch {
                return Ok(());
            }
            let full = std::mem::take(&mut batch);
            self.read_batch(to, &full)
        })?;
        self.read_batch(to, &batch)
    }

    /// Returns the list of chunks that a read of scattered elements needs, in C order. Returns
    /// `None` if a walk over a box of chunks is faster than a search for each chunk.
    fn listed(&self) -> Option<Vec<Dims>> {
        let count = self.chunks.element_count().unwrap_or(u64::MAX);
        if count == 1 {
            return Some(vec![self.chunks.start.clone()]);
        }
        let listed = self.points.as_ref()?.chunks();
        Some(listed).filter(|listed| (listed.len() as u64) < count.div_ceil(4))
    }

    /// Decodes the chunks of a batch concurrently, then copies their selected elements to the read
    /// target.
    fn read_batch(&self, to: &mut ReadTarget<'_>, batch: &[LocatedChunk]) -> Result<()> {
        let mut filtered = Vec::with_capacity(batch.len());
        let mut plain: Vec<(u64, Run)> = Vec::new();
        for (scaled, location) in batch {
            let runs = self.runs(scaled)?;
            if runs.is_empty() {
                continue;
            }
            if self.source.to_decode(scaled, location)?.is_none() {
                for run in runs {
                    let at = location.address.checked_add(run.at as u64);
                    let outside =
                        || Error::corrupt("chunk", "address", "an end inside the file", location.address);
                    plain.push((at.ok_or_else(outside)?.raw(), run));
                }
            } else {
                filtered.push((scaled, location, runs));
            }
        }
        if self.context.store.expects_raw() {
            let extents = filtered.iter().map(|(_, location, _)| (location.address, location.size));
            self.context.store.expect_raw(&extents.collect::<Vec<_>>());
        }
        self.read_plain(to, plain)?;
        let keep = self
            .context
            .resources
            .chunks
            .takes(parallel::chunks_bytes(filtered.len(), self.source.chunk_bytes));
        let chunk =
            |(scaled, location, _): &(&Dims, &ChunkLocation, Vec<Run>)| self.chunk(scaled, location, keep);
        let store = self.context.store;
        let shared = store.may_share() && self.source.pipeline.allows_threads(&store.filters());
        let decoded: Vec<Result<Arc<Vec<u8>>>> = if shared {
            store.share(|| filtered.par_iter().map(chunk).collect())
        } else {
            filtered.iter().map(chunk).collect()
        };
        for ((_, _, runs), chunk) in filtered.iter().zip(decoded) {
            let chunk = chunk?;
            for run in runs {
                let bytes = chunk.get(run.at..run.at + run.bytes);
                let invariant = "a chunk has the bytes of its elements";
                let bytes = bytes.ok_or(Error::Internal { structure: "read of chunks", invariant })?;
                to.put(run.position, bytes)?;
            }
        }
        Ok(())
    }

    fn chunk(&self, scaled: &[u64], location: &ChunkLocation, keep: bool) -> Result<Arc<Vec<u8>>> {
        let known = &self.context.resources.chunks;
        if let Some(chunk) = known.get((self.source.owner, location.address)) {
            return Ok(chunk);
        }
        let chunk = Arc::new(self.source.chunk(self.context.store, scaled, location)?);
        if keep {
            known.insert((self.source.owner, location.address), Arc::clone(&chunk));
        }
        Ok(chunk)
    }

    /// Reads runs of elements from unfiltered chunks into the read target. Skips the bytes between
    /// the runs.
    fn read_plain(&self, to: &mut ReadTarget<'_>, mut runs: Vec<(u64, Run)>) -> Result<()> {
        runs.sort_unstable_by_key(|(at, _)| *at);
        let mut rest = runs.as_slice();
        let mut buffer = Vec::new();
        while !rest.is_empty() {
            let mut bytes = 0_usize;
            let fits = |(_, run): &&(u64, Run)| {
                bytes += run.bytes;
                bytes <= BATCH_BYTES
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, after) = rest.split_at(count);
            rest = after;
            let length = now.iter().fold(0_usize, |sum, (_, run)| sum + run.bytes);
            lengthen(&mut buffer, length, "chunk")?;
            let mut free = buffer.as_mut_slice();
            let mut requests = Vec::with_capacity(now.len());
            for (at, run) in now {
                let part;
                // The buffer has the bytes of all runs.
                (part, free) = std::mem::take(&mut free).split_at_mut(run.bytes);
                requests.push((hyperslab_format::codec::Address::new(*at), part));
            }
            let share = requests
                .len()
                .div_ceil(crate::store::parallel::current_num_threads())
                .max(MIN_THREAD_REQUESTS);
            let store = self.context.store;
            if store.may_share() {
                let shares =
                    || requests.par_chunks_mut(share).try_for_each(|share| store.read_raw_many(share));
                store.share(shares)?;
            } else {
                store.read_raw_many(&mut requests)?;
            }
            let mut rest = buffer.as_slice();
            for (_, run) in now {
                let bytes;
                (bytes, rest) = rest.split_at(run.bytes);
                to.put(run.position, bytes)?;
            }
        }
        Ok(())
    }

    /// Returns the runs of selected elements in the chunk with the given coordinates.
    fn runs(&self, scaled: &[u64]) -> Result<Vec<Run>> {
        if let Some(points) = &self.points {
            let run = |(_, at, position): &(Dims, usize, u64)| Run {
                at: *at,
                position: *position,
                bytes: self.source.element_size,
            };
            return Ok(points.of(scaled).iter().map(run).collect());
        }
        let inside = self.source.grid.region(scaled)?;
        let mut runs = Vec::new();
        let bytes = |elements: u64| byte_count(elements, self.source.element_size, "chunk");
        self.wanted.within(&inside, |at, length, position| {
            let first = at
                .iter()
                .zip(&inside.start)
                .zip(self.source.grid.chunk())
                .fold(0_u64, |sum, ((at, start), size)| sum * *size + (at - start));
            runs.push(Run { at: bytes(first)?, position, bytes: bytes(length)? });
            Ok::<(), Error>(())
        })?;
        Ok(runs)
    }
}
