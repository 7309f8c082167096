//! A dataset that is being written: its elements and its shape.

mod append;
mod prepend;

use hyperslab_dataspace::{Dataspace, Dims, Selection};
use hyperslab_format::codec::Address;
use hyperslab_format::message::{AllocationTime, ChunkIndex, FillWriteTime, Layout};
use hyperslab_format::structured_chunk::DefinedEncoding;

use super::OpenFile;
use super::dataset::chunked_source;
use super::raw_files::RawFiles;
use super::structured::structured_writer;
use crate::data::chunk_index::{self, BufferedTable, ChunkLocation, ChunkTable};
use crate::data::chunked::{ChunkWriter, ChunkWriting};
use crate::data::linear::{
    ExternalSource, Piece, fill_contiguous, write_compact, write_contiguous, write_external,
};
use crate::data::structured::StructuredWriter;
use crate::data::transfer::{Fill, WriteSource};
use crate::error::{Error, Result};
use crate::object::dataset::{DatasetDescription, Fill as FillValue};
use crate::object::dataset_edit;
use crate::object::header::ObjectHeader;
use crate::store::{Edit, SpaceKind, Store};

/// A dataset that is being written: what its header says, and chunks that are not encoded yet.
#[derive(Debug)]
pub(crate) struct DatasetWriter {
    address: Address,
    pub(super) description: DatasetDescription,
    pub(super) chunks: Option<Chunks>,
    /// The same of structured chunks.
    pub(super) structured: Option<StructuredWriter>,
    /// The layout was changed, and its message is to follow.
    layout_changed: bool,
    /// The same of the shape.
    pub(super) dataspace_changed: bool,
    /// All elements are going to be written: none has to be there before.
    all_come: bool,
}

/// The chunks of a dataset that is being written.
#[derive(Debug)]
pub(super) struct Chunks {
    pub(super) writer: ChunkWriter,
    pub(super) table: Box<dyn ChunkTable>,
}

impl DatasetWriter {
    /// The writer of the dataset whose header lies at `address`.
    ///
    /// # Errors
    /// If the header is damaged or the layout cannot be written.
    pub(crate) fn open(file: &OpenFile, address: Address) -> Result<Self> {
        let header = ObjectHeader::load(&file.container.store, address)?;
        let description = DatasetDescription::read(&file.container, &header)?;
        Self::new(file, address, description)
    }

    pub(super) fn new(file: &OpenFile, address: Address, description: DatasetDescription) -> Result<Self> {
        let chunks = match &description.layout.layout {
            Layout::Chunked(layout) => {
                let (source, shape) = chunked_source(&file.container, address, &description, layout)?;
                let table = chunk_index::open_table(&file.container.store, layout, &shape)?;
                let table = Box::new(BufferedTable::new(table));
                let pending = usize::try_from(file.resources.chunks.capacity()).unwrap_or(usize::MAX);
                Some(Chunks { writer: ChunkWriter::new(source, pending), table })
            }
            _ => None,
        };
        let structured = match &description.layout.layout {
            Layout::Structured(layout) => Some(structured_writer(file, address, &description, layout)?),
            _ => None,
        };
        Ok(Self {
            address,
            description,
            chunks,
            structured,
            layout_changed: false,
            dataspace_changed: false,
            all_come: false,
        })
    }

    /// All elements are going to be written: chunks that are allocated with the first one need no fill values.
    pub(super) fn expect_all(&mut self) {
        self.all_come = true;
    }

    /// Whether nothing but its header has to be written when it is flushed.
    pub(super) fn is_small(&self) -> bool {
        self.chunks.is_none() && self.structured.is_none()
    }

    /// Whether it is in structured chunks.
    pub(super) fn is_structured(&self) -> bool {
        self.structured.is_some()
    }

    /// Whether only defined elements are stored.
    pub(super) fn is_sparse(&self) -> bool {
        self.structured.as_ref().is_some_and(|structured| structured.form.kind.is_sparse())
    }

    /// How defined elements are written down from now on; `None` for as they are.
    pub(super) fn encode_defined_as(&mut self, encoding: Option<DefinedEncoding>) {
        if let Some(structured) = &mut self.structured {
            structured.form.encoding = encoding;
        }
    }

    /// Where the header lies.
    pub(super) fn address(&self) -> Address {
        self.address
    }

    /// What the header says, or will say.
    pub(crate) fn description(&self) -> &DatasetDescription {
        &self.description
    }

    /// Whether something is known here and not in the file: chunks to be encoded, a shape, an address.
    pub(crate) fn is_ahead(&self) -> bool {
        let ahead = |chunks: &Chunks| chunks.writer.pending_bytes() > 0 || chunks.table.is_ahead();
        self.chunks.as_ref().is_some_and(ahead)
            || self.structured.as_ref().is_some_and(StructuredWriter::is_ahead)
            || self.layout_changed
            || self.dataspace_changed
    }

    /// Whoever fetched chunks from the file finds out that they may be something else by now.
    pub(super) fn outdate_fetched(&mut self) {
        if let Some(chunks) = &mut self.chunks {
            chunks.writer.outdate_fetched();
        }
    }

    /// Writes the selected elements.
    ///
    /// # Errors
    /// [`Error::Misuse`] if `from` has another number of elements; those of filters, conversions and the medium.
    pub(crate) fn write(
        &mut self,
        file: &OpenFile,
        edit: &mut Edit<'_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let dims = Dims::from_slice(self.description.dataspace.dims());
        if self.description.dataspace.element_count() == Some(0) {
            return from.check(0);
        }
        if !self.description.external.is_empty() {
            return write_external(edit.store(), &self.external(file, &dims), selection, from);
        }
        match &mut self.description.layout.layout {
            Layout::Compact(compact) => {
                write_compact(edit.store(), &mut compact.data, &dims, selection, from)?;
                self.layout_changed = true;
            }
            Layout::Contiguous(_) => {
                from.check(selection.element_count(&dims)?)?;
                let whole = matches!(selection, Selection::All) && !from.is_partial();
                let address = self.allocate_contiguous(edit, !whole)?;
                write_contiguous(edit.store(), address, &dims, selection, from)?;
            }
            Layout::Chunked(_) => self.write_chunks(file, edit, selection, from)?,
            Layout::Virtual(_) => {
                return Err(Error::Misuse("a virtual dataset has no elements of its own".into()));
            }
            Layout::Structured(_) => {
                let contents = from.contents();
                self.with_structured(file, edit, contents, |writer, writing| {
                    writer.write(writing, selection, from)
                })?;
            }
        }
        self.note_layout();
        Ok(())
    }

    fn write_chunks(
        &mut self,
        file: &OpenFile,
        edit: &mut Edit<'_>,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        // Space that is allocated at the first write is allocated for all.
        let late = self.description.fill.allocation_time == AllocationTime::LATE && !self.all_come;
        if late && self.chunks.as_ref().is_some_and(|chunks| chunks.table.is_empty()) {
            self.allocate(file, edit)?;
        }
        let Some(Chunks { writer, table }) = &mut self.chunks else { return Ok(()) };
        writer.write(edit, &mut **table, &file.resources.chunks, selection, from)
    }

    /// Allocates all space that the dataset does not have yet, and fills it where that is asked for.
    ///
    /// # Errors
    /// Those of filters and the medium.
    pub(crate) fn allocate(&mut self, file: &OpenFile, edit: &mut Edit<'_>) -> Result<()> {
        if self.description.dataspace.element_count() == Some(0) {
            return Ok(());
        }
        let fill = self.writes_fill();
        match &mut self.chunks {
            Some(Chunks { writer, table }) => {
                writer.allocate(edit, &mut **table, &file.resources.chunks, fill)?;
            }
            None if matches!(self.description.layout.layout, Layout::Contiguous(_)) => {
                self.allocate_contiguous(edit, true)?;
            }
            None => {}
        }
        self.note_layout();
        Ok(())
    }

    /// Whether fill values are written into allocated space.
    fn writes_fill(&self) -> bool {
        let fill = &self.description.fill;
        match fill.write_time {
            FillWriteTime::ON_ALLOCATION => true,
            FillWriteTime::IF_SET => fill.value != FillValue::Undefined,
            _ => false,
        }
    }

    /// Where the elements of a contiguous dataset begin; allocated, and filled if `all_seen` says so, if it was not.
    fn allocate_contiguous(&mut self, edit: &mut Edit<'_>, all_seen: bool) -> Result<Address> {
        let fill_wanted = all_seen && self.writes_fill();
        let element = self.description.fill_element().map_or(Fill::ZERO, Fill::element);
        let size = self.description.datatype.size;
        let elements = self.description.dataspace.element_count();
        let Layout::Contiguous(contiguous) = &mut self.description.layout.layout else {
            return Err(Error::Misuse("the dataset is not contiguous".into()));
        };
        if contiguous.address.is_defined() {
            return Ok(contiguous.address);
        }
        let bytes = elements.and_then(|elements| elements.checked_mul(u64::from(size)));
        let bytes = bytes.ok_or_else(|| Error::Misuse("a dataset of more than 2^64 bytes".into()))?;
        let address = if fill_wanted && element.is_zero() {
            edit.allocate_zeroed(SpaceKind::RawData, bytes)?
        } else {
            edit.allocate(SpaceKind::RawData, bytes)?
        };
        if fill_wanted && !element.is_zero() {
            fill_contiguous(edit.store(), address, bytes, &element, size as usize)?;
        }
        contiguous.address = address;
        self.layout_changed = true;
        Ok(address)
    }

    /// Changes the shape.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the dataset cannot have that shape; those of filters and the medium.
    pub(crate) fn resize(&mut self, file: &OpenFile, edit: &mut Edit<'_>, dims: &[u64]) -> Result<()> {
        let after = self.resized(dims)?;
        if let Some(Chunks { writer, table }) = &mut self.chunks {
            writer.resize(edit, &mut **table, &file.resources.chunks, dims)?;
        }
        if self.structured.is_some() {
            self.with_structured(file, edit, None, |writer, writing| writer.resize(writing, dims))?;
        }
        self.description.dataspace = after;
        self.dataspace_changed = true;
        if self.description.fill.allocation_time == AllocationTime::EARLY {
            self.allocate(file, edit)?;
        }
        self.note_layout();
        Ok(())
    }

    /// Writes the selected elements but for those of the first `done` chunks.
    pub(super) fn write_rest(
        &mut self,
        file: &OpenFile,
        edit: &mut Edit<'_>,
        selection: &Selection,
        done: usize,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        if let Some(Chunks { writer, table }) = &mut self.chunks {
            let cache = &file.resources.chunks;
            let mut writing = ChunkWriting { edit, table: &mut **table, cache };
            writer.write_from(&mut writing, selection, done, from)?;
        }
        self.note_layout();
        Ok(())
    }

    /// The dataspace of another shape.
    pub(super) fn resized(&self, dims: &[u64]) -> Result<Dataspace> {
        let Dataspace::Simple(before) = &self.description.dataspace else {
            return Err(Error::Misuse("a scalar or null dataspace has no shape to change".into()));
        };
        let mut after = before.clone();
        after.dims = Dims::from_slice(dims);
        let after = Dataspace::Simple(after);
        if dims.len() != before.dims.len() {
            let (got, rank) = (dims.len(), before.dims.len());
            return Err(Error::Misuse(format!("a shape of {got} dimensions for a dataset of {rank}")));
        }
        let most = self.description.dataspace.max_dims();
        for (dimension, (size, most)) in dims.iter().zip(most).enumerate() {
            if let Some(most) = most.filter(|most| most < size) {
                return Err(Error::Misuse(format!(
                    "dimension {dimension} cannot become {size}: its largest size is {most}"
                )));
            }
        }
        let fixed =
            self.chunks.is_none() && self.structured.is_none() && self.description.external.is_empty();
        if fixed
            && !matches!(self.description.layout.layout, Layout::Virtual(_))
            && before.dims.as_slice() != after.dims()
        {
            return Err(Error::Misuse(
                "only datasets in chunks or in other files can change their shape".into(),
            ));
        }
        after.validate()?;
        Ok(after)
    }

    /// Encodes and stores what waits for it, and lets the header say what has become of the dataset.
    ///
    /// # Errors
    /// Those of filters and the medium.
    pub(crate) fn flush(&mut self, file: &OpenFile, edit: &mut Edit<'_>) -> Result<()> {
        if let Some(Chunks { writer, table }) = &mut self.chunks {
            writer.flush(edit, &mut **table, &file.resources.chunks)?;
            table.flush(edit)?;
            if edit.is_followed() {
                table.republish(edit)?;
            }
        }
        if self.structured.is_some() {
            self.with_structured(file, edit, None, StructuredWriter::flush)?;
        }
        self.note_layout();
        if self.dataspace_changed || self.layout_changed {
            let dataspace = self.dataspace_changed.then_some(&self.description.dataspace);
            let layout = self.layout_changed.then_some(&self.description.layout);
            dataset_edit::update(&file.container, edit, self.address, dataspace, layout)?;
            (self.dataspace_changed, self.layout_changed) = (false, false);
        }
        Ok(())
    }

    /// Lets the header say what the shape has become.
    pub(super) fn flush_shape(&mut self, file: &OpenFile, edit: &mut Edit<'_>) -> Result<()> {
        if self.dataspace_changed {
            let dataspace = Some(&self.description.dataspace);
            dataset_edit::update(&file.container, edit, self.address, dataspace, None)?;
            self.dataspace_changed = false;
        }
        Ok(())
    }

    /// Takes over what has become of the index of the chunks.
    pub(super) fn note_layout(&mut self) {
        if let Some(chunks) = &self.chunks
            && let Layout::Chunked(layout) = &mut self.description.layout.layout
            && let Some(changed) = chunks.table.changed_layout(layout)
        {
            *layout = changed;
            self.layout_changed = true;
        }
        if let Some(structured) = &self.structured
            && let Layout::Structured(layout) = &mut self.description.layout.layout
            && structured.table.layout() != layout
        {
            *layout = structured.table.layout().clone();
            self.layout_changed = true;
        }
    }

    /// Whether the places of all chunks come with that of the first.
    pub(super) fn is_laid_out_at_once(&self) -> bool {
        matches!(&self.description.layout.layout, Layout::Chunked(layout) if layout.index == ChunkIndex::Implicit)
    }

    /// Where a chunk lies, if it is stored.
    pub(super) fn place_of(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        match &self.chunks {
            Some(chunks) if !chunks.table.is_empty() => chunks.table.get(store, scaled),
            _ => Ok(None),
        }
    }

    /// Takes chunks, in C order of their coordinates, whose bytes are in their places. The header follows with
    /// [`flush`](Self::flush).
    pub(super) fn adopt(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()> {
        match &mut self.chunks {
            Some(Chunks { table, .. }) => table.insert(edit, chunks),
            None => Err(Error::Misuse("the dataset has no chunks".into())),
        }
    }

    /// Gives the room of all elements back. The header is not changed: it is to be deleted.
    ///
    /// # Errors
    /// If the index of the chunks is damaged.
    pub(crate) fn free(&mut self, file: &OpenFile, edit: &mut Edit<'_>) -> Result<()> {
        if !self.description.external.is_empty() {
            return Ok(());
        }
        if let Some(Chunks { table, .. }) = &mut self.chunks {
            file.resources.chunks.clear();
            return table.delete(edit);
        }
        if let Some(structured) = &mut self.structured {
            file.resources.structured.clear();
            return structured.delete(edit);
        }
        if let Layout::Contiguous(contiguous) = &self.description.layout.layout
            && contiguous.address.is_defined()
        {
            let elements = self.description.dataspace.element_count();
            let bytes =
                elements.and_then(|elements| elements.checked_mul(u64::from(self.description.datatype.size)));
            let bytes = contiguous.size.or(bytes).unwrap_or(0);
            edit.store().check_inside(contiguous.address, bytes, "raw data")?;
            edit.free(SpaceKind::RawData, contiguous.address, bytes)?;
        }
        Ok(())
    }

    fn external(&self, file: &OpenFile, dims: &Dims) -> ExternalSource {
        let pieces = self.description.external.iter();
        ExternalSource {
            dims: dims.clone(),
            pieces: Piece::row(pieces.map(|piece| (piece.file.as_slice(), piece.offset, piece.size))),
            files: Box::new(RawFiles::to_write(file.resolver.clone())),
        }
    }
}
