//! The writer of a dataset: the description in its header, and the sink of its elements.

mod append;
mod context;
mod old_format;
mod prepend;
mod sink;
mod swmr;

use hyperslab_dataspace::{Dataspace, Dims, Selection};
use hyperslab_format::codec::Address;
use hyperslab_format::message::{AllocationTime, ChunkIndexParameters, Layout};
use hyperslab_format::structured_chunk::DefinedEncoding;

use crate::data::chunk_index::ChunkLocation;
use crate::data::chunked::ChunkedSink;
use crate::data::structured::{StructuredWriter, StructuredWriting};
use crate::data::transfer::{Sink, SinkContext, WriteSource};
use crate::data::variable::ForeignHeap;
use crate::error::{Error, Result};
use crate::object::dataset::DatasetDescription;
use crate::object::header::ObjectHeader;
use crate::store::{Edit, Store};
use sink::DatasetSink;

pub(super) use context::WriterContext;

/// The writer of one dataset: the dataset's description, its storage that is open for writes, and
/// its dirty state.
#[derive(Debug)]
pub(crate) struct DatasetWriter {
    address: Address,
    pub(super) description: DatasetDescription,
    pub(super) sink: DatasetSink,
    /// True if the layout message has changed since the last flush.
    layout_changed: bool,
    /// True if the dataspace message has changed since the last flush.
    pub(super) dataspace_changed: bool,
}

impl DatasetWriter {
    /// Opens the writer of the dataset with the object header at `address`.
    ///
    /// # Errors
    /// Returns an error if the header is damaged or the layout cannot be written.
    pub(crate) fn open(file: WriterContext<'_>, address: Address) -> Result<Self> {
        let header = ObjectHeader::load(&file.container.store, address)?;
        let description = DatasetDescription::read(file.container, &header)?;
        Self::new(file, address, description)
    }

    pub(super) fn new(
        file: WriterContext<'_>,
        address: Address,
        description: DatasetDescription,
    ) -> Result<Self> {
        let sink = DatasetSink::open(file, address, &description)?;
        Ok(Self { address, description, sink, layout_changed: false, dataspace_changed: false })
    }

    /// Declares that the caller will write all elements of the dataset. Chunks that are then
    /// allocated need no fill values.
    pub(super) fn expect_all(&mut self) {
        self.sink.get_mut().expect_all();
    }

    /// Returns whether a flush of the writer's dataset writes only its object header.
    pub(super) fn flushes_header_only(&self) -> bool {
        matches!(self.sink, DatasetSink::Other(_))
    }

    /// Returns the sink of the dataset's flat chunks (their storage, open for writes), if the
    /// dataset has flat chunks.
    pub(super) fn chunked(&self) -> Option<&ChunkedSink> {
        match &self.sink {
            DatasetSink::Chunked(sink) => Some(sink),
            _ => None,
        }
    }

    /// Returns changeable access to the sink of the dataset's flat chunks (their storage, open for
    /// writes). Returns `None` if the dataset has no flat chunks.
    pub(super) fn chunked_mut(&mut self) -> Option<&mut ChunkedSink> {
        match &mut self.sink {
            DatasetSink::Chunked(sink) => Some(sink),
            _ => None,
        }
    }

    /// Returns the writer of the dataset's structured chunks, if the dataset has structured chunks.
    pub(super) fn structured(&self) -> Option<&StructuredWriter> {
        match &self.sink {
            DatasetSink::Structured(sink) => Some(sink),
            _ => None,
        }
    }

    /// Returns whether the writer's dataset is sparse. A sparse dataset stores only defined
    /// elements.
    pub(super) fn is_sparse(&self) -> bool {
        self.structured().is_some_and(|structured| structured.form.kind.is_sparse())
    }

    /// Sets the encoding of the set of defined elements in a dataset's new structured chunks.
    /// `None` means the encoding of the stored chunks.
    pub(super) fn encode_defined_as(&mut self, encoding: Option<DefinedEncoding>) {
        if let DatasetSink::Structured(structured) = &mut self.sink {
            structured.form.encoding = encoding;
        }
    }

    /// Returns the address of the object header of the writer's dataset.
    pub(super) fn address(&self) -> Address {
        self.address
    }

    /// Returns the description of the writer's dataset as the object header will state it after the
    /// next flush.
    pub(crate) fn description(&self) -> &DatasetDescription {
        &self.description
    }

    /// Returns whether the writer's dataset has dirty chunks, a dirty dataspace or a dirty layout
    /// message.
    pub(crate) fn is_dirty(&self) -> bool {
        self.sink.get().is_dirty() || self.layout_changed || self.dataspace_changed
    }

    /// Marks copies of the dataset's chunks as out of date. Writing threads have fetched these
    /// copies from the file. The caller may then replace the stored chunks.
    pub(super) fn outdate_fetched(&mut self) {
        if let Some(chunked) = self.chunked_mut() {
            chunked.writer.outdate_fetched();
        }
    }

    /// Calls `work` with the sink of the writer's dataset (its storage, open for writes).
    /// Afterwards, copies the state of the chunk index into the layout message.
    ///
    /// # Errors
    /// Returns the errors of `work`.
    fn with_sink<T>(
        &mut self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        work: impl FnOnce(&mut dyn Sink, &mut SinkContext<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let (resources, layout) = (file.resources, &mut self.description.layout.layout);
        let mut writing = SinkContext { edit, resources, layout, layout_changed: &mut self.layout_changed };
        let outcome = work(self.sink.get_mut(), &mut writing);
        self.note_layout();
        outcome
    }

    /// Calls `work` with the writer of a dataset's structured chunks, and then copies the state of
    /// the chunk index into the layout message.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the dataset has no structured chunks, and the errors of `work`.
    pub(super) fn with_structured<T>(
        &mut self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        contents: Option<&ForeignHeap>,
        work: impl FnOnce(&mut StructuredWriter, &mut StructuredWriting<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let DatasetSink::Structured(writer) = &mut self.sink else {
            return Err(Error::Misuse("the dataset is not in structured chunks".into()));
        };
        let mut writing = StructuredWriting { edit, cache: &file.resources.structured, heap: contents };
        let outcome = work(writer, &mut writing);
        self.note_layout();
        outcome
    }

    /// Writes the selected elements of the writer's dataset from the write source `from`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if `from` does not have the selected number of elements. Returns
    /// filter, conversion and I/O errors.
    pub(crate) fn write(
        &mut self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        if self.description.dataspace.element_count() == Some(0) {
            return from.check(0);
        }
        self.with_sink(file, edit, |sink, writing| sink.write(writing, selection, from))
    }

    /// Allocates the missing file space of the writer's dataset, and writes fill values to it if
    /// the dataset requires that.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    pub(crate) fn allocate(&mut self, file: WriterContext<'_>, edit: &mut Edit<'_>) -> Result<()> {
        if self.description.dataspace.element_count() == Some(0) {
            return Ok(());
        }
        self.with_sink(file, edit, |sink, writing| sink.allocate(writing))
    }

    /// Changes the shape of the writer's dataset to `dims`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the dataset cannot have the shape. Returns filter and I/O
    /// errors.
    pub(crate) fn resize(
        &mut self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        dims: &[u64],
    ) -> Result<()> {
        let after = self.resized(dims)?;
        self.with_sink(file, edit, |sink, writing| sink.resize(writing, dims))?;
        self.description.dataspace = after;
        self.dataspace_changed = true;
        if self.description.fill.allocation_time == AllocationTime::EARLY {
            self.allocate(file, edit)?;
        }
        Ok(())
    }

    /// Writes the selected elements of a chunked dataset. Skips the elements of the first `done`
    /// chunks, which are already written.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(super) fn write_rest(
        &mut self,
        file: WriterContext<'_>,
        edit: &mut Edit<'_>,
        selection: &Selection,
        done: usize,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        if let Some(chunked) = self.chunked_mut() {
            let (writer, mut writing) = chunked.parts(edit, file.resources);
            writer.write_from(&mut writing, selection, done, from)?;
        }
        self.note_layout();
        Ok(())
    }

    /// Returns a copy of the dataset's dataspace with the shape `dims`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the dataset cannot have the shape.
    pub(super) fn resized(&self, dims: &[u64]) -> Result<Dataspace> {
        let Dataspace::Simple(before) = &self.description.dataspace else {
            return Err(Error::Misuse("a scalar or null dataspace has no shape to change".into()));
        };
        let mut after = before.clone();
        after.dims = Dims::from_slice(dims);
        let after = Dataspace::Simple(after);
        if dims.len() != before.dims.len() {
            let (got, rank) = (dims.len(), before.dims.len());
            return Err(Error::Misuse(format!(
                "the new shape has {got} dimensions, but the dataset has {rank}"
            )));
        }
        let max = self.description.dataspace.max_dims();
        for (dimension, (size, max)) in dims.iter().zip(max).enumerate() {
            if let Some(max) = max.filter(|max| max < size) {
                return Err(Error::Misuse(format!(
                    "dimension {dimension} cannot become {size}: its largest size is {max}"
                )));
            }
        }
        if !self.sink.get().is_resizable() && before.dims.as_slice() != after.dims() {
            return Err(Error::Misuse(
                "only chunked datasets and datasets with external raw data files can change their shape"
                    .into(),
            ));
        }
        after.validate()?;
        Ok(after)
    }

    /// Stores the dirty chunks of the writer's dataset, and writes the changed messages of its
    /// object header.
    ///
    /// # Errors
    /// Returns filter and I/O errors.
    pub(crate) fn flush(&mut self, file: WriterContext<'_>, edit: &mut Edit<'_>) -> Result<()> {
        self.with_sink(file, edit, |sink, writing| sink.flush(writing))?;
        if self.dataspace_changed || self.layout_changed {
            let dataspace = self.dataspace_changed.then_some(&self.description.dataspace);
            let layout = self.layout_changed.then_some(&self.description.layout);
            file.editors.update_dataset(file.container, edit, self.address, dataspace, layout)?;
            (self.dataspace_changed, self.layout_changed) = (false, false);
        }
        Ok(())
    }

    /// Writes a changed dataspace of the writer's dataset into its object header.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub(super) fn flush_shape(&mut self, file: WriterContext<'_>, edit: &mut Edit<'_>) -> Result<()> {
        if self.dataspace_changed {
            let dataspace = Some(&self.description.dataspace);
            file.editors.update_dataset(file.container, edit, self.address, dataspace, None)?;
            self.dataspace_changed = false;
        }
        Ok(())
    }

    /// Copies the state of the dataset's chunk index into the layout message.
    pub(super) fn note_layout(&mut self) {
        self.layout_changed |= self.sink.get().note_layout(&mut self.description.layout.layout);
    }

    /// Returns whether the dataset's layout allocates all chunks together. The address of each
    /// chunk then follows from the address of the first chunk.
    pub(super) fn is_laid_out_at_once(&self) -> bool {
        matches!(&self.description.layout.layout, Layout::Chunked(layout) if layout.index == ChunkIndexParameters::Implicit)
    }

    /// Returns the location of a chunk of the writer's dataset, if the chunk is stored.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub(super) fn location_of(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        match self.chunked() {
            Some(chunks) if !chunks.table.is_empty() => chunks.table.get(store, scaled),
            _ => Ok(None),
        }
    }

    /// Inserts the locations of stored chunks into the dataset's chunk index, in C order of their
    /// coordinates. [`flush`](Self::flush) writes the object header.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the dataset has no flat chunks, and the errors of the index.
    pub(super) fn adopt(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()> {
        match self.chunked_mut() {
            Some(chunked) => chunked.table.insert(edit, chunks),
            None => Err(Error::Misuse("the layout of the dataset is not chunked".into())),
        }
    }

    /// Frees the file space of all elements of the writer's dataset. Does not change the object
    /// header, which the caller deletes.
    ///
    /// # Errors
    /// Returns an error if the index of the chunks is damaged.
    pub(crate) fn free(&mut self, file: WriterContext<'_>, edit: &mut Edit<'_>) -> Result<()> {
        let (resources, layout) = (file.resources, &mut self.description.layout.layout);
        let mut writing = SinkContext { edit, resources, layout, layout_changed: &mut self.layout_changed };
        self.sink.get_mut().free(&mut writing)
    }
}
