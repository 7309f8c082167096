//! Reads of chunked elements: looks up, reads, decodes, converts and places many chunks
//! concurrently.

mod plan;
mod points;
mod rows;
mod tiles;

use hyperslab_dataspace::{Axis, Ordered, Region, Selection, Tiling};
use smallvec::SmallVec;

use super::ChunkedSource;
use crate::data::chunk_index::ChunkBox;
use crate::data::transfer::{ReadContext, ReadTarget, Source};
use crate::error::Result;
use points::Scattered;
use rows::RowRead;
use tiles::Regular;

impl Source for ChunkedSource {
    fn read(&self, context: ReadContext<'_>, selection: &Selection, to: &mut ReadTarget<'_>) -> Result<()> {
        let extent = self.grid.extent();
        let wanted = Ordered::new(selection, extent)?;
        let bounds = match wanted.axes() {
            Some(axes) => axes.iter().map(Axis::bounds).collect::<Option<Bounds>>().map(box_of),
            None => selection.bounding_box(extent)?,
        };
        let Some(bounds) = bounds else { return Ok(()) };
        let chunks = self.grid.chunk_region(&bounds)?;
        let Some(index) = self.index.as_deref().filter(|_| !chunks.is_empty()) else {
            return to.fill(&self.fill);
        };
        if let Some(axes) = wanted.axes() {
            if let Some(rows) = RowRead::new(context, self, index, axes, &chunks)
                && rows.read(to)?
            {
                return Ok(());
            }
            let tiling = Tiling::new(axes, extent, self.grid.chunk())?;
            return Regular { context, source: self, index, tiling: &tiling, chunks: &chunks }.read(to);
        }
        to.fill(&self.fill)?;
        Scattered::new(context, self, index, (selection, &wanted), &chunks)?.read(to)
    }
}

/// The bounds of a box of elements: the first coordinate and the coordinate after the last one, in
/// each dimension.
type Bounds = SmallVec<[(u64, u64); 4]>;

fn box_of(bounds: Bounds) -> Region {
    let start = bounds.iter().map(|(start, _)| *start).collect();
    Region { start, count: bounds.iter().map(|(start, end)| end - *start).collect() }
}

/// Converts a region in chunk coordinates to the box of chunks for a walk over the chunk index.
fn chunk_box(chunks: &Region) -> ChunkBox {
    let last = chunks.bounds().map(|(_, end)| end - 1).collect();
    ChunkBox { first: chunks.start.clone(), last }
}
