//! The plan of a read of a chunked dataset: the stored bytes that the read needs.

use hyperslab_dataspace::{Axis, Ordered, Selection, Tiling};
use hyperslab_format::codec::Address;

use super::super::ChunkedSource;
use super::points::ByChunk;
use super::{Bounds, box_of, chunk_box};
use crate::error::Result;
use crate::store::Store;

impl ChunkedSource {
    /// Returns the addresses and the numbers of stored bytes of the chunks with selected elements,
    /// in the order of the chunk index.
    ///
    /// # Errors
    /// Returns an error if the chunk index is damaged or cannot be read.
    pub fn plan(&self, store: &Store, selection: &Selection) -> Result<Vec<(Address, u64)>> {
        let extent = self.grid.extent();
        let wanted = Ordered::new(selection, extent)?;
        let bounds = match wanted.axes() {
            Some(axes) => axes.iter().map(Axis::bounds).collect::<Option<Bounds>>().map(box_of),
            None => selection.bounding_box(extent)?,
        };
        let Some(bounds) = bounds else { return Ok(Vec::new()) };
        let chunks = self.grid.chunk_region(&bounds)?;
        let Some(index) = self.index.as_deref().filter(|_| !chunks.is_empty()) else {
            return Ok(Vec::new());
        };
        let tiling = wanted.axes().map(|axes| Tiling::new(axes, extent, self.grid.chunk())).transpose()?;
        let points = match selection {
            Selection::Points(points) => Some(ByChunk::new(self, points)?),
            _ => None,
        };
        let mut extents = Vec::new();
        index.for_each_in(store, &chunk_box(&chunks), &mut |scaled, location| {
            let meets = match (&tiling, &points) {
                (Some(tiling), _) => tiling.meets(scaled),
                (None, Some(points)) => !points.of(scaled).is_empty(),
                (None, None) => wanted.may_meet(&self.grid.region(scaled)?),
            };
            if meets {
                extents.push((location.address, location.size));
            }
            Ok(())
        })?;
        Ok(extents)
    }
}
