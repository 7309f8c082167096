//! The elements of a chunked dataset that a write replaces, chunk by chunk.

use std::collections::BTreeMap;

use hyperslab_dataspace::{ChunkGrid, Dims, Ordered, Region, Selection, Tiling};

use super::super::ChunkedSource;
use crate::data::transfer::{RowBuffers, WriteSource, byte_count};
use crate::error::{Error, Result};

/// A selection of a chunked dataset for a write that proceeds chunk by chunk.
pub(super) enum Selected<'a> {
    /// A selection whose dimensions are selected independently of one another.
    Tiles(Tiling),
    /// Irregular blocks.
    Blocks(Ordered, &'a ChunkGrid),
    /// Points: the elements in each chunk and their positions. If points repeat, the last one
    /// counts.
    Points { chunks: BTreeMap<Dims, Vec<(u64, u64)>>, count: u64 },
}

impl<'a> Selected<'a> {
    pub(super) fn new(selection: &Selection, grid: &'a ChunkGrid) -> Result<Self> {
        let extent = grid.extent();
        if let Selection::Points(points) = selection {
            let count = selection.element_count(extent)?;
            let mut chunks: BTreeMap<Dims, Vec<(u64, u64)>> = BTreeMap::new();
            for (point, position) in points.points().zip(0..) {
                let (scaled, inside) = grid.locate(point)?;
                let element = inside.iter().zip(grid.chunk());
                let element = element.fold(0_u64, |sum, (at, size)| sum * *size + *at);
                chunks.entry(scaled).or_default().push((element, position));
            }
            return Ok(Self::Points { chunks, count });
        }
        let ordered = Ordered::new(selection, extent)?;
        match ordered.axes() {
            Some(axes) => Ok(Self::Tiles(Tiling::new(axes, extent, grid.chunk())?)),
            None => Ok(Self::Blocks(ordered, grid)),
        }
    }

    /// Returns the number of elements in the selection of a chunked write.
    pub(super) fn element_count(&self) -> u64 {
        match self {
            Self::Tiles(tiling) => tiling.shape().iter().fold(1, |product, size| product * *size),
            Self::Blocks(ordered, _) => ordered.len(),
            Self::Points { count, .. } => *count,
        }
    }

    /// Returns the coordinates of the chunks with selected elements, in C order.
    pub(super) fn chunks(&self, grid: &'a ChunkGrid) -> Result<Box<dyn Iterator<Item = Dims> + '_>> {
        Ok(match self {
            Self::Tiles(tiling) => Box::new(tiling.chunk_coordinates()),
            Self::Points { chunks, .. } => Box::new(chunks.keys().cloned()),
            Self::Blocks(ordered, _) => {
                let all = Region::whole(grid.extent());
                let meets = move |scaled: &Dims| {
                    let mut any = false;
                    if let Ok(region) = grid.region(scaled)
                        && ordered.may_meet(&region)
                    {
                        let found: Result<(), ()> = ordered.within(&region, |_, _, _| {
                            any = true;
                            Err(())
                        });
                        any |= found.is_err();
                    }
                    any
                };
                Box::new(grid.chunks_in(&all)?.filter(meets))
            }
        })
    }

    /// Returns whether a write covers the chunk with the given coordinates, that is, replaces all
    /// elements of the chunk.
    pub(super) fn covers(&self, scaled: &[u64]) -> bool {
        match self {
            Self::Tiles(tiling) => tiling.covers(scaled),
            _ => false,
        }
    }

    /// Returns the number of a chunk's elements that a write replaces. If counting takes too long,
    /// returns 0.
    pub(super) fn count_in(&self, scaled: &[u64]) -> u64 {
        match self {
            Self::Tiles(tiling) => tiling.count_in(scaled),
            Self::Points { chunks, .. } => chunks.get(scaled).map_or(0, |points| points.len() as u64),
            Self::Blocks(..) => 0,
        }
    }

    /// Returns the approximate number of elements from the first to the last element that a write
    /// replaces in a chunk. Returns 0 if the estimate takes too long.
    pub(super) fn reach_in(&self, scaled: &[u64]) -> Result<u64> {
        let Self::Tiles(tiling) = self else { return Ok(self.count_in(scaled)) };
        let spans = tiling.pieces(scaled)?;
        let spans = spans.iter().map(hyperslab_dataspace::ChunkPart::span);
        Ok(spans.fold(0_u64, |sum, (first, end)| sum + (end - first)))
    }

    /// Copies the selected elements of the write source into the bytes of a decoded chunk.
    pub(super) fn put(
        &self,
        source: &ChunkedSource,
        scaled: &Dims,
        from: &WriteSource<'_>,
        chunk: &mut [u8],
        rows: &mut RowBuffers,
    ) -> Result<()> {
        let put = |element: u64, position: u64, count: u64, chunk: &mut [u8]| {
            let at = byte_count(element, source.element_size, "chunk")?;
            let length = byte_count(count, source.element_size, "chunk")?;
            let to = chunk.get_mut(at..).and_then(|to| to.get_mut(..length));
            from.put(
                position,
                count,
                to.ok_or_else(|| Error::Misuse("an element lies outside its chunk".into()))?,
            )
        };
        match self {
            Self::Tiles(tiling) => {
                tiling.pieces(scaled)?.iter().try_for_each(|piece| from.put_piece(piece, chunk, rows))
            }
            Self::Points { chunks, .. } => {
                let mut points = chunks.get(scaled).into_iter().flatten();
                points.try_for_each(|(element, position)| put(*element, *position, 1, chunk))
            }
            Self::Blocks(ordered, grid) => {
                let inside = grid.region(scaled)?;
                ordered.within(&inside, |at, length, position| {
                    let locations = at.iter().zip(&inside.start).zip(grid.chunk());
                    let element =
                        locations.fold(0_u64, |sum, ((at, start), size)| sum * *size + (at - *start));
                    put(element, position, length, chunk)
                })
            }
        }
    }

    /// Returns the division of a write's selection into chunks. Returns `None` if the dimensions
    /// are not selected independently of one another.
    pub(super) fn tiling(&self) -> Option<&Tiling> {
        match self {
            Self::Tiles(tiling) => Some(tiling),
            _ => None,
        }
    }
}
