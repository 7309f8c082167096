//! Many small chunks that pass no filter, and all of which are new: a box of elements is put together in strips of chunks
//! along the fastest dimension, row by row.

use hyperslab_dataspace::{ChunkGrid, Dims, Hyperslab, Region, Selection};
use hyperslab_exact::to_usize;
use hyperslab_format::codec::Address;

use super::run::{LONGEST, free, write_new, write_to};
use super::selected::Selected;
use super::{ChunkWriter, ChunkWriting, ChunkedSource};
use crate::data::chunk_index::ChunkLocation;
use crate::data::transfer::WriteSource;
use crate::error::{Error, Result};
use crate::store::SpaceKind;

/// Bytes of chunks that are put together before they are written.
const STAGED: usize = 1 << 20;

/// The box as it is cut: where the next strip begins.
struct Strips {
    /// The shape of a chunk.
    chunk: Dims,
    chunk_bytes: usize,
    /// Bytes of an element.
    element: u64,
    /// The first chunk.
    first: Dims,
    /// Elements along each dimension.
    shape: Dims,
    /// Chunks along each dimension.
    counts: Dims,
    /// The next chunk, counted from the first; `None` behind the last.
    next: Option<Dims>,
}

/// Chunks side by side along the fastest dimension.
struct Strip {
    /// The first one, counted from that of the box.
    at: Dims,
    count: usize,
}

/// Where a row of elements begins, counted in bytes from the first row of its chunk.
struct Row {
    source: u64,
    chunk: u64,
}

/// What is put together at once.
#[derive(Default)]
struct Batch {
    strips: Vec<Strip>,
    chunks: Vec<(Dims, ChunkLocation)>,
    bytes: Vec<u8>,
}

impl ChunkWriter {
    /// Writes a selection that is a box of small chunks, from the start of one on. Returns whether it is one.
    pub(super) fn write_strips(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        selection: &Selection,
        selected: &Selected<'_>,
        from: &WriteSource<'_>,
    ) -> Result<bool> {
        let source = &self.source;
        let small = source.pipeline.is_empty() && source.chunk_bytes <= LONGEST && self.dirty.bytes() == 0;
        if !small || from.is_partial() || from.as_stored(0, 0).is_none() {
            return Ok(false);
        }
        let Some(mut strips) = Strips::new(source, selection) else { return Ok(false) };
        if writing.table.is_empty() {
            self.write_all_new(writing, strips, from)?;
            return Ok(true);
        }
        let mut batch = Batch::default();
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

    /// The first chunks of a dataset: all of them get their room at once, and the index theirs behind it.
    fn write_all_new(
        &self,
        writing: &mut ChunkWriting<'_, '_>,
        mut strips: Strips,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let size = self.source.chunk_bytes;
        let count = strips.counts.iter().fold(1, |product: u64, count| product * *count);
        let blocks = writing.edit.allocate_blocks(SpaceKind::RawData, size as u64, to_usize(count)?)?;
        let (mut rest, mut batch) = (blocks.as_slice(), Batch::default());
        let mut done = Ok(());
        while done.is_ok() && strips.next_batch(&mut batch) {
            done = strips.gather(&mut batch, &self.source, from).and_then(|()| {
                let (now, behind) = rest.split_at_checked(batch.chunks.len()).ok_or_else(too_few)?;
                write_to(writing.edit.store(), now, &mut batch.chunks, &batch.bytes, size)?;
                rest = behind;
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
    /// The strips of a selection, if it is a box from the start of a chunk on.
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

    /// The next strips, as many as are put together at once.
    fn next_batch(&mut self, batch: &mut Batch) -> bool {
        batch.strips.clear();
        batch.chunks.clear();
        let most = (STAGED / self.chunk_bytes.max(1)).max(1);
        while let Some(room) = most.checked_sub(batch.chunks.len()).filter(|room| *room > 0) {
            let Some(strip) = self.next_strip(room) else { break };
            let mut scaled: Dims = strip.at.iter().zip(&self.first).map(|(at, first)| at + *first).collect();
            for _ in 0..strip.count {
                let place = ChunkLocation {
                    address: Address::UNDEFINED,
                    size: self.chunk_bytes as u64,
                    filter_mask: 0,
                };
                batch.chunks.push((Dims::from_slice(&scaled), place));
                if let Some(last) = scaled.last_mut() {
                    *last += 1;
                }
            }
            batch.strips.push(strip);
        }
        !batch.strips.is_empty()
    }

    fn next_strip(&mut self, room: usize) -> Option<Strip> {
        let at = self.next.take()?;
        let (last, width) = (at.last()?, self.counts.last()?);
        let count = (width - *last).min(room as u64);
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

    /// Puts the elements of the batch together.
    fn gather(&self, batch: &mut Batch, source: &ChunkedSource, from: &WriteSource<'_>) -> Result<()> {
        let chunk_bytes = self.chunk_bytes;
        batch.bytes.resize(chunk_bytes * batch.chunks.len(), 0);
        let elements = self.shape.iter().fold(1, |product: u64, size| product * *size);
        let elements = from.as_stored(0, elements).ok_or_else(too_few)?;
        // Only where a chunk is whole do all of its rows lie in the elements.
        let mut whole_rows = None;
        let mut rest = batch.bytes.as_mut_slice();
        for strip in &batch.strips {
            let (chunks, behind) = std::mem::take(&mut rest)
                .split_at_mut_checked(strip.count * chunk_bytes)
                .ok_or_else(too_few)?;
            rest = behind;
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

    /// How much of its chunks a strip has elements for; of the last one along the fastest dimension.
    fn covered(&self, strip: &Strip) -> Dims {
        let last = strip.at.len() - 1;
        let sizes = strip.at.iter().zip(&self.shape).zip(&self.chunk).enumerate();
        let covered = sizes.map(|(dimension, ((at, size), chunk))| {
            let more = if dimension == last { strip.count as u64 - 1 } else { 0 };
            (size - (at + more) * *chunk).min(*chunk)
        });
        covered.collect()
    }

    /// Bytes between neighbours along each dimension, in an array of that shape.
    fn strides(&self, shape: &[u64]) -> Dims {
        let mut strides = Dims::from_elem(0, shape.len());
        let mut stride = self.element;
        for (place, size) in strides.iter_mut().zip(shape).rev() {
            *place = stride;
            stride *= *size;
        }
        strides
    }

    /// The rows of a chunk, of which so much is covered.
    fn rows(&self, covered: &Dims) -> Vec<Row> {
        let (sources, chunks) = (self.strides(&self.shape), self.strides(&self.chunk));
        let slower = covered.len() - 1;
        let mut rows = vec![Row { source: 0, chunk: 0 }];
        for ((count, source), chunk) in covered.iter().zip(&sources).zip(&chunks).take(slower) {
            let steps = |row: &Row| {
                let (from, to) = (row.source, row.chunk);
                (0..*count).map(move |at| Row { source: from + at * *source, chunk: to + at * *chunk })
            };
            rows = rows.iter().flat_map(steps).collect();
        }
        rows
    }

    fn put(&self, strip: &Strip, chunks: &mut [u8], elements: &[u8], rows: &[Row]) -> Result<()> {
        let (Some(at), Some(width), Some(chunk)) = (strip.at.last(), self.shape.last(), self.chunk.last())
        else {
            return Ok(());
        };
        let size = self.element;
        let places = strip.at.iter().zip(&self.chunk).zip(self.strides(&self.shape));
        let start = places.fold(0_u64, |sum, ((at, chunk), stride)| sum + at * *chunk * stride);
        let there = width - at * *chunk;
        let long = there.min(chunk * strip.count as u64) * size;
        let (long, short) = (to_usize(long)?, to_usize(chunk * size)?);
        for row in rows {
            let from = elements.get(to_usize(start + row.source)?..);
            let from = from.and_then(|from| from.get(..long)).ok_or_else(too_few)?;
            let to = chunks.get_mut(to_usize(row.chunk)?..).ok_or_else(no_room)?;
            // Copies of a length that is known are much shorter.
            match short {
                8 => spread::<8>(from, to, self.chunk_bytes),
                16 => spread::<16>(from, to, self.chunk_bytes),
                32 => spread::<32>(from, to, self.chunk_bytes),
                64 => spread::<64>(from, to, self.chunk_bytes),
                _ => {
                    let places = to.chunks_mut(self.chunk_bytes.max(1));
                    for (from, to) in from.chunks(short.max(1)).zip(places) {
                        to.get_mut(..from.len()).ok_or_else(no_room)?.copy_from_slice(from);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Puts pieces of `N` bytes to places that are `step` bytes apart.
fn spread<const N: usize>(from: &[u8], to: &mut [u8], step: usize) {
    let (pieces, rest) = from.as_chunks::<N>();
    let mut places = to.chunks_mut(step.max(1));
    for (piece, place) in pieces.iter().zip(&mut places) {
        if let Some(place) = place.first_chunk_mut() {
            *place = *piece;
        }
    }
    if let Some(place) = places.next().and_then(|place| place.get_mut(..rest.len())) {
        place.copy_from_slice(rest);
    }
}

fn blank(source: &ChunkedSource, chunks: &mut [u8]) {
    if source.fill.is_zero() {
        chunks.fill(0);
    } else {
        chunks.chunks_exact_mut(source.chunk_bytes.max(1)).for_each(|chunk| source.fill.write(chunk));
    }
}

/// The box that a selection is.
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

fn no_room() -> Error {
    Error::internal("write of chunks", "a strip has room for the rows of its chunks")
}

fn too_few() -> Error {
    Error::Misuse("fewer elements are given than are selected".into())
}
