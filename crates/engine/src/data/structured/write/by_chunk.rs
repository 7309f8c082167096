//! The grouping of points by the structured chunks that contain the points, for a write.
//!
//! Each thread groups one part of the points by counting. The points of a chunk are joined when
//! the chunk is encoded.

use std::collections::HashMap;
use std::ops::Range;

use hyperslab_dataspace::{ChunkGrid, Dims};
use hyperslab_exact::{to_u64, to_usize};

use super::StructuredWriter;
use super::coordinates::{POINTS, Packed, PointCoordinates, outside};
use crate::data::transfer::parallel;
use crate::error::{Error, Result};
use crate::store::Store;

/// Smallest number of points that a thread groups.
const MIN_PART_POINTS: usize = 64 << 10;

/// Largest number of parts. There are more parts than threads, because the parts differ in work.
const MAX_PARTS: usize = 16;

/// Largest number of chunks of a grid for which a table has one entry for each chunk, if a thread
/// has few points. With more points, a table may have some entries for each point.
const MAX_TABLE_CHUNKS: u64 = 64 << 10;

/// Largest number of table entries for each point.
const MAX_TABLE_ENTRIES_PER_POINT: u64 = 4;

/// The entry of a chunk without points.
const NO_SLOT: u32 = u32::MAX;

/// One part of the points of a write, grouped by chunks.
pub(super) struct Part<P> {
    /// The coordinates of each chunk, and its points as a range of `points`.
    chunks: Vec<(Dims, Range<usize>)>,
    /// The points. The points of one chunk keep their order.
    points: Vec<P>,
}

/// The numbers of the chunks with points, in the order in which the chunks appear.
enum Slots {
    /// The number of each chunk of the grid, or `NO_SLOT`.
    Table(Vec<u32>),
    Map(HashMap<Dims, u32>),
}

impl Slots {
    fn new(grid: &ChunkGrid, points: usize) -> Result<Self> {
        let maximum = to_u64(points).checked_mul(MAX_TABLE_ENTRIES_PER_POINT);
        let maximum = maximum.map_or(MAX_TABLE_CHUNKS, |maximum| maximum.max(MAX_TABLE_CHUNKS));
        match grid.chunk_count() {
            Ok(count) if count <= maximum => Ok(Self::Table(vec![NO_SLOT; to_usize(count)?])),
            // The number of a chunk of a larger grid may exceed 64 bits.
            _ => Ok(Self::Map(HashMap::new())),
        }
    }

    /// Returns the number of a chunk. A new chunk gets the number `next`.
    fn find(&mut self, grid: &ChunkGrid, scaled: &Dims, next: u32) -> Result<u32> {
        match self {
            Self::Table(table) => {
                let linear = usize::try_from(grid.linear(scaled)?).ok();
                let slot = linear.and_then(|linear| table.get_mut(linear)).ok_or_else(impossible)?;
                if *slot == NO_SLOT {
                    *slot = next;
                }
                Ok(*slot)
            }
            Self::Map(map) => match map.get(scaled) {
                Some(slot) => Ok(*slot),
                None => Ok(*map.entry(scaled.clone()).or_insert(next)),
            },
        }
    }
}

fn impossible() -> Error {
    Error::internal(POINTS, "each point has a chunk and a number in the batch")
}

/// The points of one part before they are grouped: the number of the chunk of each point.
struct Ungrouped<P> {
    slots: Vec<u32>,
    points: Vec<P>,
    /// The chunks in the order of their numbers, with the numbers of their points.
    chunks: Vec<(Dims, usize)>,
}

impl<P: Packed> Ungrouped<P> {
    fn group(self) -> Result<Part<P>> {
        let mut end = 0_usize;
        let mut next = Vec::with_capacity(self.chunks.len());
        let chunks = self.chunks.into_iter().map(|(scaled, count)| {
            let start = end;
            next.push(start);
            end += count;
            (scaled, start..end)
        });
        let chunks = chunks.collect();
        let mut points = vec![P::pack(0, 0); self.points.len()];
        for (slot, point) in self.slots.into_iter().zip(self.points) {
            let next = next.get_mut(slot as usize).ok_or_else(impossible)?;
            *points.get_mut(*next).ok_or_else(impossible)? = point;
            *next += 1;
        }
        Ok(Part { chunks, points })
    }
}

/// The points of one chunk: the coordinates of the chunk, and its points of each part.
pub(super) type ChunkPoints<'p, P> = (&'p Dims, Vec<&'p [P]>);

/// Returns the chunks of all parts in C order, with their points in the order of the parts.
pub(super) fn joined<P>(parts: &[Part<P>]) -> Result<Vec<ChunkPoints<'_, P>>> {
    let mut pieces: Vec<(&Dims, usize, &[P])> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        for (scaled, range) in &part.chunks {
            pieces.push((scaled, number, part.points.get(range.clone()).ok_or_else(impossible)?));
        }
    }
    pieces.sort_unstable_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)));
    let mut chunks = Vec::new();
    let mut rest = pieces.as_slice();
    while let Some((scaled, ..)) = rest.first() {
        let count = rest.iter().take_while(|(other, ..)| other == scaled).count();
        let (chunk, after) = rest.split_at(count);
        chunks.push((*scaled, chunk.iter().map(|(_, _, points)| *points).collect()));
        rest = after;
    }
    Ok(chunks)
}

impl StructuredWriter {
    /// Groups points of a write by the structured chunks that contain the points.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a point is outside the dataset.
    pub(super) fn by_chunk<C: PointCoordinates, P: Packed>(
        &self,
        store: &Store,
        points: &C,
        batch: &Range<usize>,
    ) -> Result<Vec<Part<P>>> {
        let length = batch.len().div_ceil(MAX_PARTS).max(MIN_PART_POINTS);
        let ranges: Vec<Range<usize>> =
            batch.clone().step_by(length).map(|start| start..start + length.min(batch.end - start)).collect();
        parallel::map(store, ranges.len() > 1, ranges, |range| self.part(points, batch.start, range)?.group())
    }

    /// Finds the chunk of each point in a range of the points.
    fn part<C: PointCoordinates, P: Packed>(
        &self,
        points: &C,
        batch_start: usize,
        range: Range<usize>,
    ) -> Result<Ungrouped<P>> {
        let (grid, rank) = (&self.form.grid, self.form.grid.rank());
        let (chunk, extent) = (grid.chunk(), grid.extent());
        let mut slots = Slots::new(grid, range.len())?;
        let mut found = Ungrouped {
            slots: Vec::with_capacity(range.len()),
            points: Vec::with_capacity(range.len()),
            chunks: Vec::new(),
        };
        // The chunk of the last point, and its bounds.
        let (mut slot, mut low, mut high) = (0_u32, Dims::from_elem(0, rank), Dims::from_elem(0, rank));
        points.for_each(range, &mut |number, point| {
            let bounds = low.iter().zip(&high);
            let same = point.len() == rank
                && point.iter().zip(bounds).all(|(at, (low, high))| at >= low && at < high);
            if !same {
                if point.len() != rank || point.iter().zip(extent).any(|(at, size)| at >= size) {
                    return Err(outside(point, extent));
                }
                let scaled: Dims = point.iter().zip(chunk).map(|(at, size)| at / (*size).max(1)).collect();
                low = self.form.origin(&scaled);
                let ends = low.iter().zip(chunk).zip(extent);
                // A chunk begins inside the extent, and may end after the largest coordinate.
                high = ends.map(|((low, size), extent)| low + (*size).min(extent - low)).collect();
                let next = u32::try_from(found.chunks.len()).map_err(|_| impossible())?;
                slot = slots.find(grid, &scaled, next)?;
                if slot == next {
                    found.chunks.push((scaled, 0));
                }
            }
            let places = point.iter().zip(low.iter().zip(chunk));
            let offset = places.fold(0_u64, |sum, (at, (low, size))| sum * *size + (at - low));
            let (Some((_, count)), Some(number)) =
                (found.chunks.get_mut(slot as usize), number.checked_sub(batch_start))
            else {
                return Err(impossible());
            };
            *count += 1;
            found.slots.push(slot);
            found.points.push(P::pack(offset, number as u64));
            Ok(())
        })?;
        Ok(found)
    }
}
