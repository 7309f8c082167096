//! Creation of datasets: the header, and the space with early allocation.

use hyperslab_dataspace::{Dataspace, Dims};
use hyperslab_datatype::Datatype;
use hyperslab_exact::to_usize;
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::message::{
    AllocationTime, ArrayDims, CompactLayout, ContiguousLayout, DataLayout, FillWriteTime,
    FilterDescriptions, FilterPipeline, Layout, SectionFilters, StructuredChunkType,
};

use hyperslab_format::structured_chunk::DefinedEncoding;

use super::OpenFile;
use super::dataset_writer::DatasetWriter;
use crate::data::chunk_index::{self, NewChunks, NewStructuredChunks};
use crate::error::{Error, Result};
use crate::object::dataset::{DatasetDescription, ExternalPiece, FillDescription, Filters, StoredFillValue};
use crate::object::dataset_edit;
use crate::object::delete::count_reference;
use crate::object::header_edit::NewHeader;
use crate::store::Edit;
use crate::versions::{LibraryVersion, LibverBounds};

/// Largest size in bytes of a dataset's elements for which the compact layout is possible.
pub const MAX_COMPACT: u64 = 65_000;

/// The properties of a new dataset: dataspace, datatype, layout, filters and fill value.
#[derive(Debug, Clone)]
pub struct NewDataset {
    /// The type of the elements.
    pub datatype: Datatype,
    /// The committed datatype of the dataset, if it uses one.
    pub committed: Option<Address>,
    /// The shape.
    pub dataspace: Dataspace,
    /// The layout.
    pub layout: NewLayout,
    /// The filters of chunks, with their parameters.
    pub pipeline: Pipeline,
    /// The filters of the sections of structured chunks; empty for missing sections.
    pub section_pipelines: Vec<Pipeline>,
    /// The fill value and the times. [`AllocationTime::DEFAULT`] is the default of libhdf5 for the
    /// layout.
    pub fill: FillDescription,
    /// The times of the object, and the storage of attributes.
    pub header: NewHeader,
}

/// The layout of a new dataset: compact, contiguous, external, chunked, structured chunks or
/// virtual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewLayout {
    /// Elements in the object header.
    Compact,
    /// Elements in one block.
    Contiguous,
    /// Elements in other files.
    External(Vec<ExternalPiece>),
    /// Elements in flat chunks.
    Chunked {
        /// Number of elements of a chunk along each dimension.
        chunk: Dims,
        /// True if chunks that extend past the edge of the dataset are not filtered.
        edges_unfiltered: bool,
    },
    /// Elements in structured chunks.
    Structured {
        /// Number of elements of a chunk along each dimension.
        chunk: Dims,
        /// True if only written elements are stored. Otherwise all elements are stored, with their
        /// variable-length data in their chunk.
        sparse: bool,
        /// True if chunks that extend past the edge of the dataset are not filtered.
        edges_unfiltered: bool,
        /// The encoding of the set of defined elements.
        encoding: Option<DefinedEncoding>,
    },
    /// Elements in other datasets, by mappings in the global heap.
    Virtual {
        /// The global heap collection; undefined if the dataset has no mappings.
        heap: Address,
        /// The index of the object in the collection.
        index: u32,
    },
}

/// Returns whether a dataset with the given dataspace can have a chunk index of HDF5 1.10 that
/// libhdf5 can open. In files with short length fields, libhdf5 cannot open such an index if
/// exactly one dimension is unlimited. See [`NewDataset::index_in`].
pub(super) fn has_new_index(dataspace: &Dataspace, params: FileParams) -> bool {
    params.length_width() >= 8 || dataspace.max_dims().iter().filter(|max| max.is_none()).count() != 1
}

impl OpenFile {
    /// Creates a dataset without links in this file. Returns the address of the dataset's object
    /// header.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the properties of the dataset contradict each other, and I/O
    /// errors.
    pub fn create_dataset(&self, edit: &mut Edit<'_>, new: &NewDataset) -> Result<Address> {
        let (address, _) = self.create_dataset_deferred(edit, new)?;
        self.flush_editors(edit)?;
        Ok(address)
    }

    /// Creates a dataset like [`create_dataset`](Self::create_dataset), but defers the write of the
    /// object header. Returns the address of the object header, and the description of the dataset.
    ///
    /// # Errors
    /// As [`create_dataset`](Self::create_dataset).
    pub fn create_dataset_deferred(
        &self,
        edit: &mut Edit<'_>,
        new: &NewDataset,
    ) -> Result<(Address, DatasetDescription)> {
        new.check()?;
        let description = new.describe(edit.bounds(), edit.params())?;
        // The open object is written first: its header may still grow, and the new header is
        // allocated after it.
        self.editors.flush_object(&self.container, edit)?;
        let header = dataset_edit::prepare(&self.container, edit, &description, new.header.clone())?;
        let address = header.address();
        if let Some(datatype) = description.committed {
            self.with_attributes(edit, datatype, |datatype, edit| {
                count_reference(edit.store(), datatype.header())
            })?;
        }
        self.editors.keep_open(&self.container, edit, header)?;
        let mut writer = DatasetWriter::new(self.writer_context(), address, description.clone())?;
        if let NewLayout::Structured { encoding, .. } = &new.layout {
            writer.encode_defined_as(*encoding);
        }
        if new.has_space() && description.fill.allocation_time == AllocationTime::EARLY {
            writer.allocate(self.writer_context(), edit)?;
            writer.flush(self.writer_context(), edit)?;
        }
        self.keep_writer(edit, writer)?;
        Ok((address, description))
    }
}

impl NewDataset {
    /// Returns whether the elements of a new dataset have separate blocks in the file. Elements
    /// without such blocks are in the object header, in external files or in other datasets.
    fn has_space(&self) -> bool {
        matches!(self.layout, NewLayout::Contiguous | NewLayout::Chunked { .. })
    }

    pub(super) fn check(&self) -> Result<()> {
        let misuse = |subject: String| Err(Error::Misuse(subject));
        self.dataspace.validate()?;
        let dims = self.dataspace.dims();
        if self.dataspace.is_extendible()
            && !matches!(
                self.layout,
                NewLayout::Chunked { .. }
                    | NewLayout::Structured { .. }
                    | NewLayout::External(_)
                    | NewLayout::Virtual { .. }
            )
        {
            return misuse("a dataset that can grow must have a chunked, external or virtual layout".into());
        }
        if !self.pipeline.is_empty() && !matches!(self.layout, NewLayout::Chunked { .. }) {
            return misuse("filters work only on chunked datasets: give the dataset a chunk shape".into());
        }
        if let StoredFillValue::User(element) = &self.fill.value
            && element.len() != self.datatype.size as usize
        {
            let size = self.datatype.size;
            return misuse(format!("the fill value has {} bytes, but an element has {size}", element.len()));
        }
        if self.fill.value == StoredFillValue::Undefined
            && self.fill.write_time == FillWriteTime::ON_ALLOCATION
        {
            return misuse(
                "the fill time `alloc` requires a fill value, but the fill value is undefined".into(),
            );
        }
        match &self.layout {
            NewLayout::Chunked { chunk, .. } | NewLayout::Structured { chunk, .. } => {
                self.check_chunk(chunk, dims)
            }
            NewLayout::Compact => match self.byte_count()? {
                bytes if bytes > MAX_COMPACT => too_large(bytes, MAX_COMPACT),
                _ => Ok(()),
            },
            NewLayout::External(pieces) if pieces.is_empty() => {
                misuse("external storage requires at least one external file".into())
            }
            NewLayout::External(pieces) => self.check_external(pieces),
            _ => Ok(()),
        }
    }

    /// Checks that the external files can hold the elements of the largest shape.
    fn check_external(&self, pieces: &[ExternalPiece]) -> Result<()> {
        let total = pieces.iter().try_fold(0_u64, |sum, piece| sum.checked_add(piece.size?));
        let Some(total) = total else { return Ok(()) }; // The last file has no limit.
        let size = u64::from(self.datatype.size);
        let max = self.dataspace.max_dims();
        let needed = max.iter().try_fold(size, |bytes, length| bytes.checked_mul((*length)?));
        let needed = match self.dataspace {
            Dataspace::Simple(_) => needed,
            _ => Some(self.byte_count()?),
        };
        if needed.is_some_and(|needed| needed <= total) {
            return Ok(());
        }
        let needed = needed.map_or("an unlimited number of".into(), |needed| needed.to_string());
        Err(Error::Misuse(format!(
            "the external files hold {total} bytes, but the dataset can have {needed} bytes"
        )))
    }

    fn check_chunk(&self, chunk: &[u64], dims: &[u64]) -> Result<()> {
        let misuse = |subject: String| Err(Error::Misuse(subject));
        if !matches!(self.dataspace, Dataspace::Simple(_)) {
            return misuse("a scalar or null dataspace cannot be stored in chunks".into());
        }
        if chunk.len() != dims.len() {
            return misuse(format!(
                "the chunk shape has {} dimensions, but the dataset has {}",
                chunk.len(),
                dims.len()
            ));
        }
        for (dimension, (size, max)) in chunk.iter().zip(self.dataspace.max_dims()).enumerate() {
            if *size == 0 {
                return misuse(format!("the chunk shape has the size 0 in dimension {dimension}"));
            }
            if let Some(max) = max.filter(|max| *size > (*max).max(1)) {
                return misuse(format!(
                    "the chunk size {size} in dimension {dimension} exceeds the maximum size {max} of the dimension"
                ));
            }
        }
        Ok(())
    }

    fn byte_count(&self) -> Result<u64> {
        let bytes =
            self.dataspace.element_count().and_then(|count| count.checked_mul(u64::from(self.datatype.size)));
        bytes.ok_or_else(|| Error::Misuse("the dataset has more than 2^64 bytes".into()))
    }

    pub(super) fn describe(&self, bounds: LibverBounds, params: FileParams) -> Result<DatasetDescription> {
        let external = match &self.layout {
            NewLayout::External(pieces) => pieces.clone(),
            _ => Vec::new(),
        };
        let mut fill = self.fill.clone();
        // Compact elements are allocated with the header; libhdf5 refuses another allocation time.
        if fill.allocation_time == AllocationTime::DEFAULT || matches!(self.layout, NewLayout::Compact) {
            fill.allocation_time = match &self.layout {
                NewLayout::Compact => AllocationTime::EARLY,
                NewLayout::Contiguous | NewLayout::External(_) => AllocationTime::LATE,
                NewLayout::Chunked { .. } | NewLayout::Structured { .. } | NewLayout::Virtual { .. } => {
                    AllocationTime::INCREMENTAL
                }
            };
        }
        let layout = self.layout_message((bounds, params), fill.allocation_time == AllocationTime::EARLY)?;
        Ok(DatasetDescription {
            datatype: self.datatype.clone(),
            committed: self.committed,
            dataspace: self.dataspace.clone(),
            layout,
            filters: match &self.layout {
                NewLayout::Structured { .. } => section_filters(&self.section_pipelines)?,
                _ => Filters::Chunk(self.pipeline.clone()),
            },
            fill,
            external,
        })
    }

    fn layout_message(
        &self,
        (bounds, params): (LibverBounds, FileParams),
        early: bool,
    ) -> Result<DataLayout> {
        let new = bounds.prefers(LibraryVersion::V110);
        let version = if new { 4 } else { 3 };
        match &self.layout {
            NewLayout::Compact => {
                // Other programs store a little more than [`MAX_COMPACT`]. A header message limits
                // the bytes in any case.
                let bytes = self.byte_count()?;
                if bytes > u64::from(u16::MAX) {
                    too_large(bytes, u64::from(u16::MAX))?;
                }
                let mut data = vec![0; to_usize(bytes)?];
                if let StoredFillValue::User(element) = &self.fill.value
                    && self.fill.write_time != FillWriteTime::NEVER
                {
                    data.chunks_exact_mut(element.len().max(1))
                        .for_each(|bytes| bytes.copy_from_slice(element));
                }
                let layout = Layout::Compact(CompactLayout { data, array_dims: ArrayDims::new() });
                Ok(DataLayout { version, layout })
            }
            NewLayout::Contiguous | NewLayout::External(_) => {
                let size = Some(self.byte_count()?);
                let address = Address::UNDEFINED;
                let layout =
                    Layout::Contiguous(ContiguousLayout { address, size, array_dims: ArrayDims::new() });
                Ok(DataLayout { version, layout })
            }
            NewLayout::Virtual { heap, index } => {
                bounds.require(LibraryVersion::V110, "a virtual dataset")?;
                let layout = hyperslab_format::message::VirtualLayout { heap: *heap, index: *index };
                Ok(DataLayout { version: 4, layout: Layout::Virtual(layout) })
            }
            NewLayout::Structured { chunk, sparse, edges_unfiltered, .. } => {
                self.structured_layout((bounds, params), chunk, *sparse, *edges_unfiltered)
            }
            NewLayout::Chunked { chunk, edges_unfiltered } => {
                let (bounds, edges_unfiltered) = self.index_in(bounds, params, *edges_unfiltered)?;
                self.chunked_layout(bounds, chunk, edges_unfiltered, early)
            }
        }
    }

    /// Returns the version bounds for the chunk index of a new dataset, and whether the chunks at
    /// its edges are unfiltered. In a file with lengths of less than 8 bytes, libhdf5 cannot open
    /// an extensible array. The dataset then gets a version 1 B-tree, which filters all chunks.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if a version 1 B-tree is needed and chunks at the edges are
    /// unfiltered.
    fn index_in(
        &self,
        bounds: LibverBounds,
        params: FileParams,
        edges_unfiltered: bool,
    ) -> Result<(LibverBounds, bool)> {
        if has_new_index(&self.dataspace, params) {
            return Ok((bounds, edges_unfiltered));
        }
        if edges_unfiltered && !self.pipeline.is_empty() {
            return Err(Error::unsupported(
                "leaving edge chunks unfiltered in a dataset with one unlimited dimension, in a file whose \
                 lengths have fewer than 8 bytes (libhdf5 cannot open such a dataset),",
            ));
        }
        let old = LibverBounds::new(bounds.low().min(LibraryVersion::V18), bounds.high());
        Ok((old?, false))
    }

    fn structured_layout(
        &self,
        (bounds, params): (LibverBounds, FileParams),
        chunk: &Dims,
        sparse: bool,
        edges_unfiltered: bool,
    ) -> Result<DataLayout> {
        bounds.require(LibraryVersion::V200, "structured chunks")?;
        let variable = self.datatype.is_variable_length();
        if !sparse && !variable {
            return Err(Error::Misuse(
                "structured chunks are possible only for sparse datasets and for variable-length elements: use \
                 ordinary chunks"
                    .into(),
            ));
        }
        if contains_heap_reference(&self.datatype) {
            return Err(Error::unsupported("region references in structured chunks"));
        }
        if !has_new_index(&self.dataspace, params) {
            return Err(Error::unsupported(
                "structured chunks with one unlimited dimension in a file whose lengths have fewer than 8 bytes",
            ));
        }
        let mut chunk_type = StructuredChunkType::empty();
        chunk_type.set(StructuredChunkType::SPARSE, sparse);
        chunk_type.set(StructuredChunkType::VARIABLE_LENGTH, variable);
        let new = NewStructuredChunks {
            dims: self.dataspace.dims(),
            max_dims: &self.dataspace.max_dims(),
            chunk,
            element_size: u64::from(self.datatype.size),
            chunk_type,
            filtered: self.section_pipelines.iter().any(|pipeline| !pipeline.is_empty()),
            edges_unfiltered,
        };
        let layout = chunk_index::choose_structured(&new)?;
        Ok(DataLayout { version: 5, layout: Layout::Structured(layout) })
    }

    fn chunked_layout(
        &self,
        bounds: LibverBounds,
        chunk: &Dims,
        edges_unfiltered: bool,
        early: bool,
    ) -> Result<DataLayout> {
        let new = NewChunks {
            dims: self.dataspace.dims(),
            max_dims: &self.dataspace.max_dims(),
            chunk,
            element_size: u64::from(self.datatype.size),
            filtered: !self.pipeline.is_empty(),
            edges_unfiltered,
            early,
        };
        let (version, layout) = chunk_index::choose(bounds, &new)?;
        Ok(DataLayout { version, layout: Layout::Chunked(layout) })
    }
}

/// Returns the filters of a new dataset's structured chunk sections, in the form of the object
/// header. Omits sections without filters.
///
/// # Errors
/// Returns an error if a filter cannot be stored.
fn section_filters(pipelines: &[Pipeline]) -> Result<Filters> {
    let mut sections = Vec::new();
    for (pipeline, section) in pipelines.iter().zip(0_u8..) {
        if !pipeline.is_empty() {
            sections.push(SectionFilters { section, filters: dataset_edit::stored_filters(pipeline, 3)? });
        }
    }
    if sections.is_empty() {
        return Ok(Filters::Chunk(Pipeline::default()));
    }
    Ok(Filters::Sections(FilterPipeline { version: 3, filters: FilterDescriptions::Sections(sections) }))
}

/// Returns whether elements of a datatype contain references whose data is in the global heap.
fn contains_heap_reference(datatype: &Datatype) -> bool {
    use hyperslab_datatype::{DatatypeClass, ReferenceKind};
    match &datatype.class {
        DatatypeClass::Reference(reference) => reference.kind != ReferenceKind::Object1,
        DatatypeClass::Compound(compound) => {
            compound.members.iter().any(|member| contains_heap_reference(&member.datatype))
        }
        DatatypeClass::Array(array) => contains_heap_reference(&array.base),
        DatatypeClass::VariableLength(variable) => contains_heap_reference(&variable.base),
        _ => false,
    }
}

fn too_large(bytes: u64, max: u64) -> Result<()> {
    Err(Error::Misuse(format!(
        "the elements of the dataset have {bytes} bytes, but the compact layout holds at most {max}"
    )))
}
