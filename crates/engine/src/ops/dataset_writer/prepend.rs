//! Prepends: new elements at the start of a dimension. Also writes of encoded chunks.

use hyperslab_dataspace::{Dims, Region, Selection};

use hyperslab_format::message::Layout;

use super::super::chunk_forms::chunked_source;
use super::append::added_elements;
use super::{DatasetWriter, WriterContext};
use crate::data::chunk_index::{self, ChunkTable};
use crate::data::chunked::{ChunkedSink, ChunkedSource};
use crate::data::transfer::{ReadContext, ReadTarget, Source as _, WriteSource, byte_count};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::store::Edit;

/// Number of bytes of a dataset's elements that a prepend moves in one step.
const MOVED_BYTES: u64 = 8 << 20;

impl DatasetWriter {
    /// Extends a dataset at the start of the dimension `axis` and writes the new elements there.
    /// `added` is the shape of the new elements. If their length along `axis` is 1, `added` may
    /// omit this dimension. If the length is a multiple of the chunk's length, chunks keep their
    /// addresses, and only the chunk index changes.
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
        from.check(added_elements(&count)?)?;
        let length = *count.get(axis).ok_or_else(unknown_axis)?;
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

    /// Returns the table of a dataset's chunk locations, and the number of whole chunks by which a
    /// prepend along a dimension shifts the coordinates. Returns `None` if `length` is not a
    /// multiple of the chunk's length, or if the stored chunks cannot keep their addresses.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if the dataset has no flat chunks.
    fn whole_chunks(&mut self, axis: usize, length: u64) -> Result<Option<(&mut dyn ChunkTable, i64)>> {
        let Some(ChunkedSink { writer, table, .. }) = self.chunked_mut() else {
            return Err(Error::unsupported("prepending to a dataset without chunks"));
        };
        let chunk = *writer.source.grid.chunk().get(axis).ok_or_else(unknown_axis)?;
        let steps = i64::try_from(length / chunk).ok().filter(|_| length.is_multiple_of(chunk));
        // A chunk must be written again if its coordinates determine its address or its filters.
        let stays = !table.keeps_all() && !writer.source.edges_unfiltered;
        Ok(steps.filter(|_| stays).map(|steps| (&mut **table as &mut dyn ChunkTable, steps)))
    }

    /// Moves all elements of a dataset's previous shape `before` by `length` coordinates along the
    /// dimension `axis`.
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
        let element_size = self.description().datatype.size;
        let others = before.iter().enumerate().filter(|(dimension, _)| *dimension != axis);
        let factors = others.map(|(_, size)| *size).chain([u64::from(element_size)]);
        let slice = hyperslab_exact::product("bytes of a slice", factors)
            .map_err(|_| Error::unsupported("moving slices of more than 2^64 bytes"))?;
        let step = (MOVED_BYTES / slice.max(1)).max(1);
        let mut end = *before.get(axis).ok_or_else(unknown_axis)?;
        // From the end to the start, so that no element is overwritten before it is moved.
        while end > 0 {
            let moved = step.min(end);
            let first = end - moved;
            let mut region = Region::whole(before);
            *region.start.get_mut(axis).ok_or_else(unknown_axis)? = first;
            *region.count.get_mut(axis).ok_or_else(unknown_axis)? = moved;
            let elements = self.read_region(file, edit, &region)?;
            // The resize has checked that the shape and `length` together fit in 64 bits.
            *region.start.get_mut(axis).ok_or_else(unknown_axis)? = first + length;
            let from = WriteSource::stored(&elements, element_size as usize);
            self.write(file, edit, &Selection::region(&region), &from)?;
            end = first;
        }
        Ok(())
    }

    /// Returns the elements of a box of the writer's dataset, as stored.
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
        let bytes = byte_count(region.element_count()?, size, "elements to move")?;
        let mut out = zeros(bytes, "elements to move")?;
        self.flush(file, edit)?;
        let Layout::Chunked(layout) = &self.description().layout.layout else {
            return Err(Error::unsupported("prepending to a dataset without chunks"));
        };
        let context = ReadContext { store: edit.store(), resources: file.resources };
        let (source, shape) = chunked_source(file.container, self.address(), self.description(), layout)?;
        let source = ChunkedSource { index: chunk_index::open(edit.store(), layout, &shape)?, ..source };
        source.read(context, &Selection::region(region), &mut ReadTarget::stored(&mut out, size))?;
        Ok(out)
    }

    /// Replaces the stored bytes of the chunk that contains the element with the coordinates
    /// `element`. The bytes are not decoded.
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

fn unknown_axis() -> Error {
    Error::internal("prepend", "the axis is a dimension of the dataset")
}
