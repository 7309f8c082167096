//! The storage of a chunked dataset for writes: the writer of chunks and the table of their
//! locations.

use hyperslab_dataspace::Selection;
use hyperslab_format::message::Layout;

use super::{ChunkWriter, ChunkWriting};
use crate::data::chunk_index::ChunkTable;
use crate::data::transfer::{Resources, Sink, SinkContext, WriteSource};
use crate::error::Result;
use crate::store::Edit;

/// The storage of a chunked dataset that is open for writes.
#[derive(Debug)]
pub struct ChunkedSink {
    /// The writer of chunks, with the dirty chunks.
    pub writer: ChunkWriter,
    /// The locations of chunks.
    pub table: Box<dyn ChunkTable>,
    /// True if the first write allocates all chunks.
    pub allocates_late: bool,
    /// True if new space is filled.
    pub fills: bool,
}

impl ChunkedSink {
    /// Returns two parts of an open chunked dataset: the writer of its chunks, and the access to
    /// the file, the table of chunk locations and the chunk cache that the writer needs.
    pub fn parts<'w, 'e>(
        &'w mut self,
        edit: &'w mut Edit<'e>,
        resources: &'w Resources,
    ) -> (&'w mut ChunkWriter, ChunkWriting<'w, 'e>) {
        (&mut self.writer, ChunkWriting { edit, table: &mut *self.table, cache: &resources.chunks })
    }
}

impl Sink for ChunkedSink {
    fn write(
        &mut self,
        writing: &mut SinkContext<'_, '_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        if self.allocates_late && self.table.is_empty() {
            self.allocate(writing)?;
        }
        let cache = &writing.resources.chunks;
        self.writer.write(writing.edit, &mut *self.table, cache, selection, from)
    }

    fn allocate(&mut self, writing: &mut SinkContext<'_, '_>) -> Result<()> {
        self.writer.allocate(writing.edit, &mut *self.table, &writing.resources.chunks, self.fills)
    }

    fn resize(&mut self, writing: &mut SinkContext<'_, '_>, dims: &[u64]) -> Result<()> {
        self.writer.resize(writing.edit, &mut *self.table, &writing.resources.chunks, dims)
    }

    fn flush(&mut self, writing: &mut SinkContext<'_, '_>) -> Result<()> {
        self.writer.flush(writing.edit, &mut *self.table, &writing.resources.chunks)?;
        self.table.flush(writing.edit)?;
        if writing.edit.is_swmr_writer() { self.table.republish(writing.edit) } else { Ok(()) }
    }

    fn free(&mut self, writing: &mut SinkContext<'_, '_>) -> Result<()> {
        writing.resources.chunks.clear();
        self.table.delete(writing.edit)
    }

    fn note_layout(&self, layout: &mut Layout) -> bool {
        let Layout::Chunked(layout) = layout else { return false };
        let Some(changed) = self.table.changed_layout(layout) else { return false };
        *layout = changed;
        true
    }

    fn is_dirty(&self) -> bool {
        self.writer.unstored_bytes() > 0 || self.table.is_dirty()
    }

    fn expect_all(&mut self) {
        self.allocates_late = false;
    }
}
