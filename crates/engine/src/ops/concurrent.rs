//! Writes and flushes that hold the file's lock only for short times, so that other threads can
//! read and write between them. See [`write_concurrently`].

use std::sync::Arc;

use hyperslab_dataspace::{Region, Selection};
use hyperslab_format::codec::Address;
use hyperslab_format::message::AllocationTime;

use super::DatasetWriter;
use super::OpenFile;
use super::variable_write::refers_to_heap;
use crate::data::chunk_index::ChunkTable;
use crate::data::chunked::{
    Appended, ChunkAccess, ChunkWriter, ChunkWriting, ChunkedSink, ChunkedSource, Progress,
    flush_concurrently, write_concurrently,
};
use crate::data::transfer::{ChunkCache, Due, WriteSource};
use crate::error::Result;
use crate::store::Store;

/// Smallest number of bytes of dirty chunks at which a dataset's chunks are encoded without an
/// `Edit`, the exclusive access to the file.
const MIN_CONCURRENT_BYTES: usize = 64 << 10;

/// Largest number of bytes in unfiltered chunks that one write stores under one `Edit`, the
/// exclusive access to the file.
const MAX_EXCLUSIVE_BYTES: u64 = 16 << 20;

/// The access of a concurrent write to the writer of its dataset, which is the object that keeps
/// the dirty chunks.
#[derive(Debug)]
struct WriterAccess<'a> {
    file: &'a OpenFile,
    dataset: Address,
    /// True if the write commits when the dirty data exceeds its limit.
    commits: bool,
}

impl ChunkAccess for WriterAccess<'_> {
    fn writer<T>(
        &self,
        work: impl FnOnce(&mut ChunkWriter, &dyn ChunkTable) -> Result<T>,
    ) -> Result<Option<T>> {
        let work = |writer: &mut DatasetWriter| match writer.chunked_mut() {
            Some(ChunkedSink { writer, table, .. }) => work(writer, &**table).map(Some),
            None => Ok(None),
        };
        self.file.writers.with(self.dataset, work).unwrap_or(Ok(None))
    }

    fn reading<T>(&self, work: impl FnOnce(&ChunkCache) -> Result<T>) -> Result<T> {
        let _reading = self.file.container.store.reading();
        work(&self.file.resources.chunks)
    }

    fn edit<T>(
        &self,
        work: impl FnOnce(&mut ChunkWriter, &mut ChunkWriting<'_, '_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut edit = self.file.edit_deferred()?;
        let work = |dataset: &mut DatasetWriter| {
            let Some(chunked) = dataset.chunked_mut() else { return Ok(None) };
            let (writer, mut writing) = chunked.parts(&mut edit, &self.file.resources);
            let outcome = work(writer, &mut writing);
            dataset.note_layout();
            outcome.map(Some)
        };
        let outcome = self.file.writers.with(self.dataset, work).unwrap_or(Ok(None))?;
        if self.commits {
            self.file.finish(edit)?;
        }
        Ok(outcome)
    }

    fn store(&self) -> &Store {
        &self.file.container.store
    }
}

impl DatasetWriter {
    /// Returns the source for reads of a dataset's flat chunks, if several threads can write these
    /// chunks at the same time. Returns `None` if elements refer to the global heap, or if the
    /// first write allocates all chunks.
    fn concurrent_source(&self) -> Option<Arc<ChunkedSource>> {
        let ChunkedSink { writer, table, .. } = self.chunked()?;
        let description = self.description();
        let late = description.fill.allocation_time == AllocationTime::LATE && table.is_empty();
        let concurrent = !late
            && description.external.is_empty()
            && description.dataspace.element_count() != Some(0)
            && !refers_to_heap(&description.datatype);
        concurrent.then(|| Arc::clone(&writer.source))
    }
}

impl OpenFile {
    fn concurrent_source(&self, dataset: Address) -> Result<Option<Arc<ChunkedSource>>> {
        // In a file with SWMR readers, each write is checked first.
        let checked = self.container.store.is_swmr_writer();
        if !checked && let Some(source) = self.writers.with(dataset, |writer| writer.concurrent_source()) {
            return Ok(source);
        }
        let mut edit = self.edit_deferred()?;
        self.with_writer(&mut edit, dataset, |writer, _| Ok(writer.concurrent_source()))
    }

    /// Writes the selected elements of a dataset chunk by chunk. As far as possible, other threads
    /// can read and write at the same time. Returns `None` if all elements are written; otherwise,
    /// the number of written chunks. If all elements were selected, also returns a selection: the
    /// elements that the dataset had at the start of the write.
    ///
    /// # Errors
    /// As [`write_concurrently`].
    pub(super) fn write_chunks_concurrently(
        &self,
        dataset: Address,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<Option<(usize, Option<Selection>)>> {
        let source = self.concurrent_source(dataset)?.filter(|source| {
            !source.pipeline.is_empty() || from.byte_count(source.element_size as u64) > MAX_EXCLUSIVE_BYTES
        });
        let Some(source) = source.filter(|source| source.is_written_concurrently()) else {
            return Ok(Some((0, None)));
        };
        let access = WriterAccess { file: self, dataset, commits: true };
        let Progress::Chunks(done) = write_concurrently(&access, &source, selection, from)? else {
            return Ok(None);
        };
        // Another thread may have resized the dataset, so `Selection::All` could now select other
        // elements.
        let is_all = done > 0 && matches!(selection, Selection::All);
        Ok(Some((done, is_all.then(|| Selection::region(&Region::whole(source.grid.extent()))))))
    }

    /// Encodes the chunks that an append adds to a dataset. Does nothing if the dataset has no
    /// filters or the appended elements do not fill a chunk. Other threads can read and write at
    /// the same time.
    ///
    /// # Errors
    /// Returns filter and conversion errors.
    pub(super) fn prepare_append(
        &self,
        dataset: Address,
        axis: usize,
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<Option<Appended>> {
        let appended = |writer: &mut DatasetWriter| {
            // Do the cheapest test first, because small appends are frequent.
            if writer.chunked()?.writer.source.pipeline.is_empty() {
                return None;
            }
            let source = writer.concurrent_source()?;
            let (count, dims) = writer.grown(axis, added).ok()?;
            writer.resized(&dims).ok()?;
            let start = writer.first_new_element(axis);
            Some((source, dims, Selection::region(&Region { start, count })))
        };
        let bytes = |source: &ChunkedSource| from.byte_count(source.element_size as u64);
        match self.writers.with(dataset, appended).flatten() {
            Some((source, dims, selection)) if bytes(&source) >= source.chunk_bytes as u64 => {
                Appended::encode(&self.container.store, source, &dims, &selection, from)
            }
            _ => Ok(None),
        }
    }

    /// Encodes and stores the dirty chunks of one dataset, or of all datasets, while other threads
    /// can read and write.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    pub(super) fn flush_chunks_concurrently(&self, dataset: Option<Address>) -> Result<()> {
        let datasets = dataset.map_or_else(|| self.writers.datasets(), |dataset| vec![dataset]);
        for dataset in datasets {
            let waits = |writer: &mut DatasetWriter| {
                writer.chunked().is_some_and(|chunks| chunks.writer.dirty_bytes() >= MIN_CONCURRENT_BYTES)
            };
            if self.writers.with(dataset, waits).unwrap_or(false) {
                flush_concurrently(&WriterAccess { file: self, dataset, commits: false }, Due::All)?;
            }
        }
        Ok(())
    }
}
