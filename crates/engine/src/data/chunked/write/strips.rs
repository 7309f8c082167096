//! Writes of boxes of small unfiltered chunks that are all new. Elements are gathered row by row
//! into strips: chunks that are neighbours along the fastest dimension.

use hyperslab_dataspace::{ChunkGrid, Dims, Hyperslab, Region, Selection};
use hyperslab_exact::to_usize;
use hyperslab_format::codec::Address;

use super::buffered::{MAX_BUFFERED_CHUNK_BYTES, free, write_new, write_to};
use super::selected::Selected;
use super::{ChunkWriter, ChunkWriting, ChunkedSource};
use crate::data::chunk_index::ChunkLocation;
use crate::data::transfer::WriteSource;
use crate::error::{Error, Result};
use crate::store::SpaceKind;

/// Largest number of bytes of small chunks that a write gathers in memory before it writes them to
/// the file.
const GATHERED_BYTES: usize = 1 << 20;

/// A box of small chunks that a write stores strip by strip, and the coordinates of the next strip.
/// A strip is a row of neighbouring chunks along the fastest dimension.
struct Strips {
    /// The shape of a chunk.
    chunk: Dims,
    chunk_bytes: usize,
    /// The number of bytes of an element.
    element: u64,
    /// The coordinates of the first chunk.
    first: Dims,
    /// The number of elements along each dimension.
    shape: Dims,
    /// The number of chunks along each dimension.
    counts: Dims,
    /// The next chunk, relative to the first one; `None` after the last one.
    next: Option<Dims>,
}

/// A strip of a write: a row of neighbouring small chunks along the fastest dimension.
struct Strip {
    /// The first chunk, relative to the first chunk of the box.
    at: Dims,
    count: usize,
}

/// One row of a chunk's elements, as two offsets in bytes from the chunk's first row: the offset of
/// the row in the write source, and its offset in the chunk.
struct StripRow {
    source: u64,
    chunk: u64,
}

/// A batch of strips (rows of small chunks) whose elements a write gathers together.
#[derive(Default)]
struct StripBatch {
    strips: Vec<Strip>,
    chunks: Vec<(Dims, ChunkLocation)>,
    bytes: Vec<u8>,
}

impl ChunkWriter {
    /// Writes a selection strip by strip (a strip is a row of small chunks), if the selection is a
    /// box that begins at the start of a chunk. For every other selection, returns false and writes
    /// nothing.
    pub(super) fn write_strips(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        selection: &Selection,
        selected: &Selected<'_>,
        from: &WriteSource<'_>,
    ) -> Result<bool> {
        let source = &self.source;
        let small = source.pipeline.is_empty()
            && source.chunk_bytes <= MAX_BUFFERED_CHUNK_BYTES
            && self.dirty.bytes() == 0;
        if !small || from.is_partial() || from.as_stored(0, 0).is_none() {
            return Ok(false);
        }
        let Some(mut strips) = Strips::new(source, selection) else { return Ok(false) };
        if writing.table.is_empty() {
            self.write_all_new(writing, strips, from)?;
            return Ok(true);
        }
        let mut batch = StripBatch::default();
        while strips.next_batch(&mut batch) {
            if writing.table.has_none_of(writing.edit.store(), &batch.chunks)? {
                strips.gather(&mut batch, &self.source, from)?;
                write_new(writing, &mut batch.chunks, &batch.bytes, self.source.chunk_bytes)?;
            } else {
                let chunks = batch.chunks.iter().map(|(scaled, _)| scaled.clone()).collect();
                self.write_batch(writing, selected, chunks, from)?;
            }
        }
        Ok(true)
    }

    /// Writes the strips (rows of small chunks) of a dataset that has no stored chunks. Allocates
    /// all chunks together, before the blocks of the chunk index.
    fn write_all_new(
        &self,
        writing: &mut ChunkWriting<'_, '_>,
        mut strips: Strips,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let size = self.source.chunk_bytes;
        let count = strips.counts.iter().fold(1, |product: u64, count| product * *count);
        let blocks = writing.edit.allocate_blocks(SpaceKind::RawData, size as u64, to_usize(count)?)?;
        let (mut rest, mut batch) = (blocks.as_slice(), StripBatch::default());
        let mut done = Ok(());
        while done.is_ok() && strips.next_batch(&mut batch) {
            done = strips.gather(&mut batch, &self.source, from).and_then(|()| {
                let (now, after) = rest.split_at_checked(batch.chunks.len()).ok_or_else(too_few)?;
                write_to(writing.edit.store(), now, &mut batch.chunks, &batch.bytes, size)?;
                rest = after;
                writing.table.insert(writing.edit, &batch.chunks)
            });
        }
        if done.is_err() {
            free(writing.edit, rest, size)?;
        }
        done
    }
}

impl Strips {
    /// Divides a selection into strips (rows of small chunks). Returns `None` if the selection is
    /// not a box, or does not begin at the start of a chunk.
    fn new(source: &ChunkedSource, selection: &Selection) -> Option<Self> {
        let grid = &source.grid;
        let region = as_box(selection, grid)?;
        let aligned =
            region.start.iter().zip(grid.chunk()).all(|(start, chunk)| start.is_multiple_of(*chunk));
        if !aligned || region.is_empty() || region.rank() != grid.rank() {
            return None;
        }
        let by_chunk = |sizes: &Dims| -> Dims {
            sizes.iter().zip(grid.chunk()).map(|(size, chunk)| size.div_ceil(*chunk)).collect()
        };
        let (first, counts) = (by_chunk(&region.start), by_chunk(&region.count));
        let next = Some(Dims::from_elem(0, counts.len()));
        Some(Self {
            chunk: Dims::from_slice(grid.chunk()),
            chunk_bytes: source.chunk_bytes,
            element: source.element_size as u64,
            first,
            shape: region.count,
            counts,
            next,
        })
    }

    /// Moves to the next batch of strips (rows of small chunks) and returns true. Returns false
    /// after the last batch.
    fn next_batch(&mut self, batch: &mut StripBatch) -> bool {
        batch.strips.clear();
        batch.chunks.clear();
        let maximum = (GATHERED_BYTES / self.chunk_bytes.max(1)).max(1);
        while let Some(remaining) = maximum.checked_sub(batch.chunks.len()).filter(|remaining| *remaining > 0)
        {
            let Some(strip) = self.next_strip(remaining) else { break };
            let mut scaled: Dims = strip.at.iter().zip(&self.first).map(|(at, first)| at + *first).collect();
            for _ in 0..strip.count {
                let location = ChunkLocation {
                    address: Address::UNDEFINED,
                    size: self.chunk_bytes as u64,
                    filter_mask: 0,
                };
                batch.chunks.push((Dims::from_slice(&scaled), location));
                if let Some(last) = scaled.last_mut() {
                    *last += 1;
                }
            }
            batch.strips.push(strip);
        }
        !batch.strips.is_empty()
    }

    fn next_strip(&mut self, maximum: usize) -> Option<Strip> {
        let at = self.next.take()?;
        let (last, width) = (at.last()?, self.counts.last()?);
        let count = (width - *last).min(maximum as u64);
        let mut next = at.clone();
        let mut step = count;
        for (at, count) in next.iter_mut().zip(&self.counts).rev() {
            *at += step;
            if *at < *count {
                self.next = Some(next);
                break;
            }
            (*at, step) = (0, 1);
        }
        let count = usize::try_from(count).ok()?;
        Some(Strip { at, count })
    }

    /// Copies the elements of a batch of strips (rows of small chunks) from the caller's buffer
    /// into the order of the chunks.
    fn gather(&self, batch: &mut StripBatch, source: &ChunkedSource, from: &WriteSource<'_>) -> Result<()> {
        let chunk_bytes = self.chunk_bytes;
        batch.bytes.resize(chunk_bytes * batch.chunks.len(), 0);
        let elements = self.shape.iter().fold(1, |product: u64, size| product * *size);
        let elements = from.as_stored(0, elements).ok_or_else(too_few)?;
        // In whole chunks, all rows are inside the box.
        let mut whole_rows = None;
        let mut rest = batch.bytes.as_mut_slice();
        for strip in &batch.strips {
            let (chunks, after) = std::mem::take(&mut rest)
                .split_at_mut_checked(strip.count * chunk_bytes)
                .ok_or_else(too_few)?;
            rest = after;
            let covered = self.covered(strip);
            if covered == self.chunk {
                let rows = whole_rows.get_or_insert_with(|| self.rows(&self.chunk));
                self.put(strip, chunks, elements, rows)?;
            } else {
                blank(source, chunks);
                self.put(strip, chunks, elements, &self.rows(&covered))?;
            }
        }
        Ok(())
    }

    /// Returns the shape of the covered (selected) part of the last chunk of a strip, a row of
    /// small chunks. The other chunks of the strip differ only in the fastest dimension, which is
    /// completely covered.
    fn covered(&self, strip: &Strip) -> Dims {
        let last = strip.at.len() - 1;
        let sizes = strip.at.iter().zip(&self.shape).zip(&self.chunk).enumerate();
        let covered = sizes.map(|(dimension, ((at, size), chunk))| {
            let more = if dimension == last { strip.count as u64 - 1 } else { 0 };
            (size - (at + more) * *chunk).min(*chunk)
        });
        covered.collect()
    }

    /// Returns the distance in bytes between neighbouring elements along each dimension, in an
    /// array of elements of the shape `shape`.
    fn strides(&self, shape: &[u64]) -> Dims {
        let mut strides = Dims::from_elem(0, shape.len());
        let mut stride = self.element;
        for (location, size) in strides.iter_mut().zip(shape).rev() {
            *location = stride;
            stride *= *size;
        }
        strides
    }

    /// Returns the rows of elements in the covered (selected) part of a chunk. The part has the
    /// shape `covered` and begins at the chunk's first element.
    fn rows(&self, covered: &Dims) -> Vec<StripRow> {
        let (sources, chunks) = (self.strides(&self.shape), self.strides(&self.chunk));
        let slower = covered.len() - 1;
        let mut rows = vec![StripRow { source: 0, chunk: 0 }];
        for ((count, source), chunk) in covered.iter().zip(&sources).zip(&chunks).take(slower) {
            let steps = |row: &StripRow| {
                let (from, to) = (row.source, row.chunk);
                (0..*count).map(move |at| StripRow { source: from + at * *source, chunk: to + at * *chunk })
            };
            rows = rows.iter().flat_map(steps).collect();
        }
        rows
    }

    fn put(&self, strip: &Strip, chunks: &mut [u8], elements: &[u8], rows: &[StripRow]) -> Result<()> {
        let (Some(at), Some(width), Some(chunk)) = (strip.at.last(), self.shape.last(), self.chunk.last())
        else {
            return Ok(());
        };
        let size = self.element;
        let locations = strip.at.iter().zip(&self.chunk).zip(self.strides(&self.shape));
        let start = locations.fold(0_u64, |sum, ((at, chunk), stride)| sum + at * *chunk * stride);
        let remaining = width - at * *chunk;
        let long = remaining.min(chunk * strip.count as u64) * size;
        let (long, short) = (to_usize(long)?, to_usize(chunk * size)?);
        for row in rows {
            let from = elements.get(to_usize(start + row.source)?..);
            let from = from.and_then(|from| from.get(..long)).ok_or_else(too_few)?;
            let to = chunks.get_mut(to_usize(row.chunk)?..).ok_or_else(outside)?;
            // Copies of a constant length are much faster.
            match short {
                8 => spread::<8>(from, to, self.chunk_bytes),
                16 => spread::<16>(from, to, self.chunk_bytes),
                32 => spread::<32>(from, to, self.chunk_bytes),
                64 => spread::<64>(from, to, self.chunk_bytes),
                _ => {
                    let locations = to.chunks_mut(self.chunk_bytes.max(1));
                    for (from, to) in from.chunks(short.max(1)).zip(locations) {
                        to.get_mut(..from.len()).ok_or_else(outside)?.copy_from_slice(from);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Spreads consecutive pieces of `N` bytes: copies them from the buffer `from` to the buffer `to`,
/// in which the pieces begin `step` bytes apart.
fn spread<const N: usize>(from: &[u8], to: &mut [u8], step: usize) {
    let (pieces, rest) = from.as_chunks::<N>();
    let mut locations = to.chunks_mut(step.max(1));
    for (piece, location) in pieces.iter().zip(&mut locations) {
        if let Some(location) = location.first_chunk_mut() {
            *location = *piece;
        }
    }
    if let Some(location) = locations.next().and_then(|location| location.get_mut(..rest.len())) {
        location.copy_from_slice(rest);
    }
}

fn blank(source: &ChunkedSource, chunks: &mut [u8]) {
    if source.fill.is_zero() {
        chunks.fill(0);
    } else {
        chunks.chunks_exact_mut(source.chunk_bytes.max(1)).for_each(|chunk| source.fill.write(chunk));
    }
}

/// Returns the box of elements that a selection equals, or `None` if the selection is not a box.
fn as_box(selection: &Selection, grid: &ChunkGrid) -> Option<Region> {
    let slab = match selection {
        Selection::All => return Some(Region::whole(grid.extent())),
        Selection::Hyperslab(Hyperslab::Regular(slab)) => slab,
        _ => return None,
    };
    let mut region = Region { start: slab.start.clone(), count: Dims::new() };
    for ((stride, count), block) in slab.stride.iter().zip(&slab.count).zip(&slab.block) {
        let dense = *count == 1 || stride == block;
        region.count.push(count.checked_mul(*block).filter(|_| dense)?);
    }
    Some(region)
}

fn outside() -> Error {
    Error::internal("write of chunks", "the rows of a strip lie inside its chunks")
}

fn too_few() -> Error {
    Error::Misuse("fewer elements are given than are selected".into())
}
