//! Prepends: new elements before all others along a dimension; and chunks that are written as stored.

use hyperslab_dataspace::{Dims, Region, Selection};

use hyperslab_format::message::Layout;

use super::super::OpenFile;
use super::super::dataset::chunked_source;
use super::DatasetWriter;
use crate::data::chunk_index::{self, ChunkTable};
use crate::data::chunked::{ChunkedSink, ChunkedSource};
use crate::data::transfer::{ReadContext, ReadTarget, Source as _, WriteSource};
use crate::error::{Error, Result};
use crate::store::Edit;

/// Bytes of elements that are moved at once.
const MOVED: u64 = 8 << 20;

impl DatasetWriter {
    /// Makes the dataset longer at the front of a dimension and writes the new elements there, an array of the shape
    /// `added`, or of one dimension less for one step along `axis`. Where the new length is a multiple of the chunk's,
    /// chunks stay where they are and only their index changes.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(crate) fn prepend(
        &mut self,
        file: &OpenFile,
        edit: &mut Edit<'_>,
        axis: usize,
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let before = Dims::from_slice(self.description().dataspace.dims());
        let (count, dims) = self.grown(axis, added)?;
        from.check(count.iter().fold(1, |product: u64, size| product.saturating_mul(*size)))?;
        let length = count.get(axis).copied().unwrap_or(0);
        if length == 0 {
            return Ok(());
        }
        self.flush(file, edit)?;
        if let Some((table, steps)) = self.whole_chunks(axis, length)? {
            // Before the dataset grows: what grows early is allocated where there is nothing then.
            table.shift(edit, axis, steps)?;
            self.resize(file, edit, &dims)?;
        } else {
            self.resize(file, edit, &dims)?;
            self.move_back(file, edit, axis, length, &before)?;
        }
        let start = Dims::from_elem(0, dims.len());
        self.write(file, edit, &Selection::region(&Region { start, count }), from)
    }

    /// The index, and by how many chunks its coordinates change, if `length` elements along a dimension are whole chunks
    /// that can stay where they are.
    fn whole_chunks(&mut self, axis: usize, length: u64) -> Result<Option<(&mut dyn ChunkTable, i64)>> {
        let Some(ChunkedSink { writer, table, .. }) = self.chunked_mut() else {
            return Err(Error::unsupported("growing at the front of a dataset that is not in chunks"));
        };
        let chunk = writer.source.grid.chunk().get(axis).copied().unwrap_or(1);
        let steps = i64::try_from(length / chunk).ok().filter(|_| length.is_multiple_of(chunk));
        // Chunks whose place follows from their number, or their filters from their place, have to be moved.
        let stays = !table.keeps_all() && !writer.source.edges_unfiltered;
        Ok(steps.filter(|_| stays).map(|steps| (&mut **table as &mut dyn ChunkTable, steps)))
    }

    /// Moves all elements of what was the whole dataset `length` further along a dimension.
    fn move_back(
        &mut self,
        file: &OpenFile,
        edit: &mut Edit<'_>,
        axis: usize,
        length: u64,
        before: &Dims,
    ) -> Result<()> {
        let slice = before.iter().enumerate().filter(|(dimension, _)| *dimension != axis);
        let slice = slice.fold(u64::from(self.description().datatype.size), |product, (_, size)| {
            product.saturating_mul(*size)
        });
        let step = (MOVED / slice.max(1)).max(1);
        let mut end = before.get(axis).copied().unwrap_or(0);
        // From behind, so that nothing is overwritten that is still to be moved.
        while end > 0 {
            let first = end.saturating_sub(step);
            let mut region = Region::whole(before);
            if let (Some(start), Some(count)) = (region.start.get_mut(axis), region.count.get_mut(axis)) {
                (*start, *count) = (first, end.saturating_sub(first));
            }
            let elements = self.read_region(file, edit, &region)?;
            if let Some(start) = region.start.get_mut(axis) {
                *start = start.saturating_add(length);
            }
            let from = WriteSource::stored(&elements, self.description().datatype.size as usize);
            self.write(file, edit, &Selection::region(&region), &from)?;
            end = first;
        }
        Ok(())
    }

    /// The elements of a box as they are stored.
    fn read_region(&mut self, file: &OpenFile, edit: &mut Edit<'_>, region: &Region) -> Result<Vec<u8>> {
        let size = self.description().datatype.size as usize;
        let bytes = region.element_count()?.saturating_mul(size as u64);
        let mut out = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
        self.flush(file, edit)?;
        let Layout::Chunked(layout) = &self.description().layout.layout else {
            return Err(Error::unsupported("growing at the front of a dataset that is not in chunks"));
        };
        let context = ReadContext { store: edit.store(), resources: &file.resources };
        let (source, shape) = chunked_source(&file.container, self.address(), self.description(), layout)?;
        let source = ChunkedSource { index: chunk_index::open(edit.store(), layout, &shape)?, ..source };
        source.read(context, &Selection::region(region), &mut ReadTarget::stored(&mut out, size))?;
        Ok(out)
    }

    /// Puts the stored bytes of a chunk in place of the chunk that holds an element. They are not looked at.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the dataset has no chunks or no such element, or if a chunk without filters has another
    /// length.
    pub(crate) fn write_stored_chunk(
        &mut self,
        file: &OpenFile,
        edit: &mut Edit<'_>,
        element: &[u64],
        bytes: &[u8],
        filter_mask: u32,
    ) -> Result<()> {
        let Some(ChunkedSink { writer, table, .. }) = self.chunked_mut() else {
            return Err(Error::Misuse("the dataset is not in chunks".into()));
        };
        writer.put_stored(edit, &mut **table, &file.resources.chunks, element, bytes, filter_mask)?;
        self.note_layout();
        Ok(())
    }
}
