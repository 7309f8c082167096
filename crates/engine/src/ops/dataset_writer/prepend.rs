//! Prepends: new elements at the start of a dimension. Also writes of encoded chunks.

use hyperslab_dataspace::{Dims, Region, Selection};

use hyperslab_format::message::Layout;

use super::super::chunk_forms::chunked_source;
use super::{DatasetWriter, WriterContext};
use crate::data::chunk_index::{self, ChunkTable};
use crate::data::chunked::{ChunkedSink, ChunkedSource};
use crate::data::transfer::{ReadContext, ReadTarget, Source as _, WriteSource};
use crate::error::{Error, Result};
use crate::store::Edit;

/// Number of bytes of elements that are moved in one step.
const MOVED_BYTES: u64 = 8 << 20;

impl DatasetWriter {
    /// Extends the dataset at the start of a dimension and writes the new elements there. `added`
    /// is their shape; the dimension `axis` may be omitted if its length is 1. If the length is a
    /// multiple of the chunk's, chunks keep their addresses and only their index changes.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub(crate) fn prepend(
        &mut self,
        file: WriterContext<'_>,
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
            // Before the resize: with early allocation, a resize allocates the chunks that are not
            // in the index.
            table.shift(edit, axis, steps)?;
            self.resize(file, edit, &dims)?;
        } else {
            self.resize(file, edit, &dims)?;
            self.move_back(file, edit, axis, length, &before)?;
        }
        let start = Dims::from_elem(0, dims.len());
        self.write(file, edit, &Selection::region(&Region { start, count }), from)
    }

    /// Returns the index, and the number of chunks by which its coordinates shift, if `length`
    /// elements along a dimension are whole chunks and the stored chunks can keep their addresses.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if the dataset has no flat chunks.
    fn whole_chunks(&mut self, axis: usize, length: u64) -> Result<Option<(&mut dyn ChunkTable, i64)>> {
        let Some(ChunkedSink { writer, table, .. }) = self.chunked_mut() else {
            return Err(Error::unsupported("growing at the front of a dataset that is not in chunks"));
        };
        let chunk = writer.source.grid.chunk().get(axis).copied().unwrap_or(1);
        let steps = i64::try_from(length / chunk).ok().filter(|_| length.is_multiple_of(chunk));
        // A chunk must be written again if its address follows from its coordinates, or its filters
        // from its position.
        let stays = !table.keeps_all() && !writer.source.edges_unfiltered;
        Ok(steps.filter(|_| stays).map(|steps| (&mut **table as &mut dyn ChunkTable, steps)))
    }

    /// Moves all elements of the former shape `before` by `length` along a dimension.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    fn move_back(
        &mut self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        axis: usize,
        length: u64,
        before: &Dims,
    ) -> Result<()> {
        let slice = before.iter().enumerate().filter(|(dimension, _)| *dimension != axis);
        let slice = slice.fold(u64::from(self.description().datatype.size), |product, (_, size)| {
            product.saturating_mul(*size)
        });
        let step = (MOVED_BYTES / slice.max(1)).max(1);
        let mut end = before.get(axis).copied().unwrap_or(0);
        // From the end to the start, so that no element is overwritten before it is moved.
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

    /// Returns the elements of a box as stored.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    fn read_region(
        &mut self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        region: &Region,
    ) -> Result<Vec<u8>> {
        let size = self.description().datatype.size as usize;
        let bytes = region.element_count()?.saturating_mul(size as u64);
        let mut out = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
        self.flush(file, edit)?;
        let Layout::Chunked(layout) = &self.description().layout.layout else {
            return Err(Error::unsupported("growing at the front of a dataset that is not in chunks"));
        };
        let context = ReadContext { store: edit.store(), resources: file.resources };
        let (source, shape) = chunked_source(file.container, self.address(), self.description(), layout)?;
        let source = ChunkedSource { index: chunk_index::open(edit.store(), layout, &shape)?, ..source };
        source.read(context, &Selection::region(region), &mut ReadTarget::stored(&mut out, size))?;
        Ok(out)
    }

    /// Replaces the stored bytes of the chunk that contains an element. The bytes are not decoded.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the dataset has no chunks or no such element, or if the length
    /// of an unfiltered chunk differs.
    pub(crate) fn write_stored_chunk(
        &mut self,
        file: WriterContext<'_>,
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
