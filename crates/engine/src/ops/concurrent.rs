//! Writing that lets others write and read meanwhile: see [`write_concurrently`].

use std::sync::Arc;

use hyperslab_dataspace::{Region, Selection};
use hyperslab_format::codec::Address;
use hyperslab_format::message::AllocationTime;

use super::OpenFile;
use super::dataset_write::{Chunks, DatasetWriter};
use super::variable_write::leads_to_heap;
use crate::data::chunk_index::ChunkTable;
use crate::data::chunked::{
    Appended, ChunkAccess, ChunkWriter, ChunkWriting, ChunkedSource, Due, Progress, flush_concurrently,
    write_concurrently,
};
use crate::data::transfer::{ChunkCache, WriteSource};
use crate::error::Result;
use crate::store::Store;

/// Chunks of fewer bytes are encoded by whoever flushes them.
const WORTH: usize = 64 << 10;

/// Bytes of chunks without filters that are written at once at most, where others wait for it.
const AT_ONCE: u64 = 16 << 20;

/// The way to the writer of a dataset.
#[derive(Debug)]
struct Access<'a> {
    file: &'a OpenFile,
    dataset: Address,
    /// Commits when there is much to commit.
    commits: bool,
}

impl ChunkAccess for Access<'_> {
    fn writer<T>(
        &self,
        work: impl FnOnce(&mut ChunkWriter, &dyn ChunkTable) -> Result<T>,
    ) -> Result<Option<T>> {
        let work = |writer: &mut DatasetWriter| match &mut writer.chunks {
            Some(Chunks { writer, table }) => work(writer, &**table).map(Some),
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
        let mut edit = self.file.container.edit_behind()?;
        let work = |dataset: &mut DatasetWriter| {
            let Some(Chunks { writer, table }) = &mut dataset.chunks else { return Ok(None) };
            let cache = &self.file.resources.chunks;
            let outcome = work(writer, &mut ChunkWriting { edit: &mut edit, table: &mut **table, cache });
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
    /// The dataset as it is, if its chunks can be written apart: not where elements lead to contents that others may
    /// free, and not where the first write gives all chunks their room.
    fn concurrent_source(&self) -> Option<Arc<ChunkedSource>> {
        let Chunks { writer, table } = self.chunks.as_ref()?;
        let description = self.description();
        let late = description.fill.allocation_time == AllocationTime::LATE && table.is_empty();
        let apart = !late
            && description.external.is_empty()
            && description.dataspace.element_count() != Some(0)
            && !leads_to_heap(&description.datatype);
        apart.then(|| Arc::clone(&writer.source))
    }
}

impl OpenFile {
    fn concurrent_source(&self, dataset: Address) -> Result<Option<Arc<ChunkedSource>>> {
        // While others read the file, each write is looked at whether it may be.
        let checked = self.container.store.is_followed();
        if !checked && let Some(source) = self.writers.with(dataset, |writer| writer.concurrent_source()) {
            return Ok(source);
        }
        let mut edit = self.container.edit_behind()?;
        self.with_writer(&mut edit, dataset, |writer, _| Ok(writer.concurrent_source()))
    }

    /// Writes the selected elements of the dataset whose header lies at `dataset`, and takes the right to change the
    /// file as long as it must.
    ///
    /// # Errors
    /// As [`DatasetWriter::write`].
    pub fn write_elements(
        &self,
        dataset: Address,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let source = self.concurrent_source(dataset)?.filter(|source| {
            !source.pipeline.is_empty() || from.byte_count(source.element_size as u64) > AT_ONCE
        });
        let mut done = 0;
        let mut bound = None;
        if let Some(source) = source.filter(|source| source.is_written_concurrently()) {
            let access = Access { file: self, dataset, commits: true };
            match write_concurrently(&access, &source, selection, from)? {
                Progress::Done => return Ok(()),
                Progress::Chunks(chunks) => done = chunks,
            }
            // All elements were those that the dataset had at the start.
            let all = done > 0 && matches!(selection, Selection::All);
            bound = all.then(|| Selection::region(&Region::whole(source.grid.extent())));
        }
        let mut edit = self.container.edit_behind()?;
        if done == 0 {
            self.write_dataset(&mut edit, dataset, selection, from)?;
        } else {
            let selection = bound.as_ref().unwrap_or(selection);
            self.with_writer(&mut edit, dataset, |writer, edit| {
                writer.write_rest(self, edit, selection, done, from)
            })?;
        }
        self.finish(edit)
    }

    /// Makes a dataset longer along a dimension and writes the new elements, an array of the shape `added`; takes the
    /// right to change the file as long as it must.
    ///
    /// # Errors
    /// As [`DatasetWriter::append`].
    pub fn append_elements(
        &self,
        dataset: Address,
        axis: usize,
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let appended = self.prepare_append(dataset, axis, added, from)?;
        let mut edit = self.container.edit_behind()?;
        match appended {
            None => self.append_to_dataset(&mut edit, dataset, axis, added, from)?,
            Some(appended) => self.with_writer(&mut edit, dataset, |writer, edit| {
                writer.append_encoded(self, edit, (axis, added), appended, from)
            })?,
        }
        self.finish(edit)
    }

    /// Encodes chunks that are to be added, where that takes long and can be done before.
    fn prepare_append(
        &self,
        dataset: Address,
        axis: usize,
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<Option<Appended>> {
        let place = |writer: &mut DatasetWriter| {
            // Asked first, for those who append little and often.
            if writer.chunks.as_ref()?.writer.source.pipeline.is_empty() {
                return None;
            }
            let source = writer.concurrent_source()?;
            let (count, dims) = writer.grown(axis, added).ok()?;
            writer.resized(&dims).ok()?;
            let start = writer.place_of_growth(axis);
            Some((source, dims, Selection::region(&Region { start, count })))
        };
        let bytes = |source: &ChunkedSource| from.byte_count(source.element_size as u64);
        match self.writers.with(dataset, place).flatten() {
            Some((source, dims, selection)) if bytes(&source) >= source.chunk_bytes as u64 => {
                Appended::encode(&self.container.store, source, &dims, &selection, from)
            }
            _ => Ok(None),
        }
    }

    /// Encodes and stores what waits of a dataset, or of all, while others do what they want.
    ///
    /// # Errors
    /// Those of filters and the medium.
    pub(super) fn flush_ahead(&self, dataset: Option<Address>) -> Result<()> {
        let datasets = dataset.map_or_else(|| self.writers.datasets(), |dataset| vec![dataset]);
        for dataset in datasets {
            let waits = |writer: &mut DatasetWriter| {
                writer.chunks.as_ref().is_some_and(|chunks| chunks.writer.waiting_bytes() >= WORTH)
            };
            if self.writers.with(dataset, waits).unwrap_or(false) {
                flush_concurrently(&Access { file: self, dataset, commits: false }, Due::All)?;
            }
        }
        Ok(())
    }

    /// Makes sure that whoever reads a dataset, or any one, finds everything in the file.
    ///
    /// # Errors
    /// As [`DatasetWriter::flush`].
    pub fn settle(&self, dataset: Option<Address>) -> Result<()> {
        if !self.is_ahead(dataset) {
            return Ok(());
        }
        self.flush_ahead(dataset)?;
        let mut edit = self.container.edit()?;
        self.flush_dataset(&mut edit, dataset)?;
        self.finish(edit)
    }
}
