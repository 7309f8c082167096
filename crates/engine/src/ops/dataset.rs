//! Opening a dataset and reading elements of it.

use std::sync::{Arc, OnceLock};

use hyperslab_dataspace::{ChunkGrid, Dataspace, Dims, Selection, SimpleExtent};
use hyperslab_format::codec::Address;
use hyperslab_format::message::{ChunkedLayout, Layout};

use super::OpenFile;
use super::raw_files::RawFiles;
use super::virtual_::{Nesting, Sources, Virtual};
use crate::data::chunk_index::{self, ChunkShape};
use crate::data::chunked::ChunkedSource;
use crate::data::linear::{CompactSource, ContiguousSource, ExternalSource, Piece};
use crate::data::structured::StructuredSource;
use crate::data::transfer::{Fill, ReadTarget, Source};
use crate::data::variable::ForeignHeap;
use crate::data::virtual_::{Mapping, VirtualMap, VirtualSource, extent};
use crate::error::{Error, Result};
use crate::object::container::Container;
use crate::object::dataset::{DatasetDescription, Filters};
use crate::object::header::ObjectHeader;

/// An open dataset: its description, and the way to its elements once they are asked for.
#[derive(Debug)]
pub struct OpenDataset {
    /// What the header says.
    pub description: DatasetDescription,
    /// Its object header.
    address: Address,
    chunked: OnceLock<Arc<ChunkedSource>>,
    external: OnceLock<Arc<ExternalSource>>,
    virtual_: Option<Virtual>,
    pub(super) structured: OnceLock<Arc<StructuredSource>>,
}

impl OpenDataset {
    /// Reads the description of the dataset with this header. The shape of a virtual dataset without limit is
    /// that which its sources give it.
    pub fn open(file: &Arc<OpenFile>, header: &ObjectHeader) -> Result<Self> {
        Nesting::outermost(file, 0, |nesting| Self::open_nested(file, header, nesting))
    }

    pub(super) fn open_nested(
        file: &Arc<OpenFile>,
        header: &ObjectHeader,
        nesting: &Nesting<'_>,
    ) -> Result<Self> {
        let description = DatasetDescription::read(&file.container, header)?;
        Self::described(file, header.address(), description, nesting)
    }

    /// As [`open`](Self::open), of a dataset that was made just now, whose header need not be in the file yet.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn made(file: &Arc<OpenFile>, address: Address, description: DatasetDescription) -> Result<Self> {
        Nesting::outermost(file, 0, |nesting| Self::described(file, address, description, nesting))
    }

    /// Reads the description of a dataset that has elements of its own.
    ///
    /// # Errors
    /// [`Error::Misuse`] if it is virtual; those of reading.
    pub(super) fn open_own(file: &OpenFile, header: &ObjectHeader) -> Result<Self> {
        let description = DatasetDescription::read(&file.container, header)?;
        if matches!(description.layout.layout, Layout::Virtual(_)) {
            return Err(Error::Misuse("a virtual dataset has no elements of its own".into()));
        }
        Ok(Self::of(header.address(), description, None))
    }

    fn of(address: Address, description: DatasetDescription, virtual_: Option<Virtual>) -> Self {
        Self {
            description,
            address,
            chunked: OnceLock::new(),
            external: OnceLock::new(),
            virtual_,
            structured: OnceLock::new(),
        }
    }

    fn described(
        file: &Arc<OpenFile>,
        address: Address,
        mut description: DatasetDescription,
        nesting: &Nesting<'_>,
    ) -> Result<Self> {
        let virtual_ = Virtual::load(file, &description)?;
        nesting.steps.take(virtual_.as_ref().map_or(0, |virtual_| virtual_.mappings.len() as u64))?;
        if let (Some(virtual_), Dataspace::Simple(stored)) = (&virtual_, &description.dataspace)
            && virtual_.mappings.iter().any(Mapping::grows)
        {
            let sources = Sources { file, datatype: &description.datatype, virtual_, nesting };
            let dims = extent(&virtual_.mappings, &stored.dims, file.virtual_options, &sources)?;
            let max_dims = stored.max_dims.clone();
            description.dataspace = Dataspace::Simple(SimpleExtent { dims, max_dims });
        }
        Ok(Self::of(address, description, virtual_))
    }

    /// Bytes of all elements, as stored.
    pub fn byte_count(&self) -> Result<u64> {
        let bytes = self
            .description
            .dataspace
            .element_count()
            .and_then(|elements| elements.checked_mul(u64::from(self.description.datatype.size)));
        bytes.ok_or_else(|| {
            Error::corrupt("dataspace message", "sizes", "a product of at most 64 bits", "more")
        })
    }

    /// All elements, as stored, in C order. Elements of variable length are descriptors into the global heap.
    pub fn read_all(&self, file: &Arc<OpenFile>) -> Result<Vec<u8>> {
        self.read(file, &Selection::All)
    }

    /// All elements, as stored, where the driver holds them in memory side by side.
    pub fn view<'a>(&self, file: &'a OpenFile) -> Option<&'a [u8]> {
        match &self.description.layout.layout {
            Layout::Contiguous(contiguous) if self.description.external.is_empty() => {
                file.container.store.view_raw(contiguous.address, self.byte_count().ok()?)
            }
            _ => None,
        }
    }

    /// The selected elements, as stored, in the order of the selection. Blocks must be disjoint.
    pub fn read(&self, file: &Arc<OpenFile>, selection: &Selection) -> Result<Vec<u8>> {
        let mut out = self.buffer(file, selection, self.description.datatype.size as usize)?;
        let size = self.description.datatype.size as usize;
        self.read_to(file, selection, &mut ReadTarget::stored(&mut out, size).zeroed())?;
        Ok(out)
    }

    /// As [`read`](Self::read); what elements of variable length hold in other files, which a virtual dataset shows,
    /// is collected in `foreign`.
    pub fn read_collecting(
        &self,
        file: &Arc<OpenFile>,
        selection: &Selection,
        foreign: &Arc<ForeignHeap>,
    ) -> Result<Vec<u8>> {
        let size = self.description.datatype.size as usize;
        let mut out = self.buffer(file, selection, size)?;
        let mut to = ReadTarget::stored(&mut out, size).zeroed();
        let elements = self.selected(selection)?;
        Nesting::collecting(file, elements, foreign, |nesting| {
            self.read_nested(file, selection, &mut to, nesting)
        })?;
        Ok(out)
    }

    /// Zeros for the selected elements, `size` bytes each, if so many may be read.
    fn buffer(&self, file: &OpenFile, selection: &Selection, size: usize) -> Result<Vec<u8>> {
        let elements = self.selected(selection)?;
        let limit = file.container.store.limits().result_bytes;
        let bytes = elements.checked_mul(size as u64).filter(|bytes| *bytes <= limit);
        let Some(bytes) = bytes.and_then(|bytes| usize::try_from(bytes).ok()) else {
            return Err(Error::Limit { what: "read: elements".into(), got: elements, limit });
        };
        // Tried first: what memory cannot hold is an error; then zeros that the system gives without writing them.
        let tried = Vec::<u8>::new().try_reserve_exact(bytes);
        tried.map_err(|_| Error::Limit {
            what: "read: bytes that memory can hold".into(),
            got: bytes as u64,
            limit,
        })?;
        Ok(vec![0; bytes])
    }

    /// As [`read`](Self::read), to any destination.
    pub fn read_to(
        &self,
        file: &Arc<OpenFile>,
        selection: &Selection,
        to: &mut ReadTarget<'_>,
    ) -> Result<()> {
        let elements = self.selected(selection)?;
        Nesting::outermost(file, elements, |nesting| self.read_nested(file, selection, to, nesting))
    }

    pub(super) fn read_nested(
        &self,
        file: &Arc<OpenFile>,
        selection: &Selection,
        to: &mut ReadTarget<'_>,
        nesting: &Nesting<'_>,
    ) -> Result<()> {
        match &self.description.layout.layout {
            Layout::Virtual(_) if self.selected(selection)? == 0 => Ok(()),
            Layout::Virtual(_) => self.read_virtual(file, selection, to, nesting),
            _ => self.read_own_to(file, selection, to, nesting.foreign()),
        }
    }

    /// The selected elements, as stored, of a dataset that is not virtual.
    pub(super) fn read_own(&self, file: &OpenFile, selection: &Selection) -> Result<Vec<u8>> {
        let size = self.description.datatype.size as usize;
        let mut out = self.buffer(file, selection, size)?;
        self.read_own_to(file, selection, &mut ReadTarget::stored(&mut out, size).zeroed(), None)?;
        Ok(out)
    }

    fn read_own_to(
        &self,
        file: &OpenFile,
        selection: &Selection,
        to: &mut ReadTarget<'_>,
        foreign: Option<&ForeignHeap>,
    ) -> Result<()> {
        if self.selected(selection)? == 0 {
            return Ok(());
        }
        let context = file.read_context();
        let description = &self.description;
        if !description.external.is_empty() {
            return self.external(file).read(context, selection, to);
        }
        let dims = Dims::from_slice(description.dataspace.dims());
        match &description.layout.layout {
            Layout::Compact(compact) => {
                let data = compact.data.clone().into();
                CompactSource { dims, data, fill: self.fill() }.read(context, selection, to)
            }
            Layout::Contiguous(contiguous) => {
                let address = contiguous.address;
                ContiguousSource { dims, address, fill: self.fill() }.read(context, selection, to)
            }
            Layout::Chunked(layout) => self.chunked(file, layout)?.read(context, selection, to),
            Layout::Virtual(_) => Err(Error::Misuse("a virtual dataset has no elements of its own".into())),
            Layout::Structured(_) => match self.structured_chunks(file)? {
                Some(source) => source.read(context, selection, to, foreign),
                None => Ok(()),
            },
        }
    }

    /// Its object header.
    pub(super) fn address(&self) -> Address {
        self.address
    }

    /// Where the elements of a virtual dataset come from.
    pub(super) fn mappings(&self) -> &[Mapping] {
        self.virtual_.as_ref().map(|virtual_| virtual_.mappings.as_slice()).unwrap_or_default()
    }

    /// Lets go of the files of sources.
    pub(super) fn close_sources(&self) {
        if let Some(virtual_) = &self.virtual_ {
            virtual_.close();
        }
    }

    fn read_virtual(
        &self,
        file: &Arc<OpenFile>,
        selection: &Selection,
        to: &mut ReadTarget<'_>,
        nesting: &Nesting<'_>,
    ) -> Result<()> {
        let Some(virtual_) = &self.virtual_ else { return Ok(()) };
        let datatype = &self.description.datatype;
        let sources = &Sources { file, datatype, virtual_, nesting };
        let dims = self.description.dataspace.dims();
        let map = VirtualMap { mappings: &virtual_.mappings, dims, shapes: sources, steps: nesting.steps };
        let element_size = datatype.size as usize;
        let source = VirtualSource { map, element_size, fill: self.fill(), sources };
        if let Some(out) = to.as_stored() {
            return source.read(selection, out);
        }
        let mut stored = self.buffer(file, selection, datatype.size as usize)?;
        source.read(selection, &mut stored)?;
        to.put(0, &stored)
    }

    /// The chunks of a dataset in chunked layout; `None` for others.
    pub fn chunks(&self, file: &OpenFile) -> Result<Option<Arc<ChunkedSource>>> {
        match &self.description.layout.layout {
            Layout::Chunked(layout) => self.chunked(file, layout).map(Some),
            _ => Ok(None),
        }
    }

    /// The number of selected elements.
    pub fn selected(&self, selection: &Selection) -> Result<u64> {
        Ok(self.description.dataspace.selected(selection)?)
    }

    fn external(&self, file: &OpenFile) -> Arc<ExternalSource> {
        let open = || {
            let pieces = self.description.external.iter();
            Arc::new(ExternalSource {
                dims: Dims::from_slice(self.description.dataspace.dims()),
                pieces: Piece::row(pieces.map(|piece| (piece.file.as_slice(), piece.offset, piece.size))),
                files: Box::new(RawFiles::to_read(file.resolver.clone())),
            })
        };
        Arc::clone(self.external.get_or_init(open))
    }

    fn fill(&self) -> Fill {
        self.description.fill_element().map_or(Fill::ZERO, Fill::element)
    }

    fn chunked(&self, file: &OpenFile, layout: &ChunkedLayout) -> Result<Arc<ChunkedSource>> {
        if let Some(source) = self.chunked.get() {
            return Ok(Arc::clone(source));
        }
        let source = Arc::new(self.open_chunks(file, layout)?);
        Ok(Arc::clone(self.chunked.get_or_init(|| source)))
    }

    fn open_chunks(&self, file: &OpenFile, layout: &ChunkedLayout) -> Result<ChunkedSource> {
        let (source, shape) = chunked_source(&file.container, self.address, &self.description, layout)?;
        let index = chunk_index::open(&file.container.store, layout, &shape)?;
        Ok(ChunkedSource { index, ..source })
    }
}

/// The dataset whose header lies at `owner`, without the index of its chunks, and what the index depends on.
pub(super) fn chunked_source(
    container: &Container,
    owner: Address,
    description: &DatasetDescription,
    layout: &ChunkedLayout,
) -> Result<(ChunkedSource, ChunkShape)> {
    let Filters::Chunk(pipeline) = &description.filters else {
        return Err(Error::unsupported("filters of structured chunks on ordinary ones"));
    };
    let dims = description.dataspace.dims();
    let grid = ChunkGrid::new(&layout.dims, dims).map_err(|error| {
        Error::corrupt("data layout message", "chunk dimensions", "a shape like the dataspace's", error)
    })?;
    let element_size = description.datatype.size as usize;
    let limit = container.store.limits().chunk_bytes;
    let bytes = grid.elements_per_chunk()?.saturating_mul(element_size as u64);
    let Some(chunk_bytes) = usize::try_from(bytes).ok().filter(|_| bytes <= limit) else {
        return Err(Error::Limit { what: "chunk: bytes".into(), got: bytes, limit });
    };
    let shape = ChunkShape {
        max_dims: description.dataspace.max_dims().to_vec(),
        chunk_bytes: bytes,
        btree_k: container.settings.indexed_storage_k,
        size_width: (!pipeline.is_empty())
            .then(|| chunk_index::size_width(description.layout.version, container.store.params(), bytes)),
    };
    let source = ChunkedSource {
        owner,
        grid,
        element_size,
        chunk_bytes,
        index: None,
        pipeline: pipeline.clone(),
        edges_unfiltered: layout.leaves_edges_unfiltered(),
        fill: description.fill_element().map_or(Fill::ZERO, Fill::element),
    };
    Ok((source, shape))
}
