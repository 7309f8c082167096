//! Open datasets, and reads of their elements.

pub(super) mod sources;

use std::sync::{Arc, OnceLock};

use hyperslab_dataspace::{Dataspace, Dims, Selection, SimpleExtent};
use hyperslab_format::codec::Address;
use hyperslab_format::message::{ChunkedLayout, Layout};

use super::OpenFile;
use super::chunk_forms::{chunked_source, structured_form};
use super::dataset_access::DatasetAccess;
use super::raw_files::RawFiles;
use crate::data::chunk_index;
use crate::data::chunked::ChunkedSource;
use crate::data::linear::{CompactSource, ContiguousSource, ExternalFilePart, ExternalSource};
use crate::data::structured::StructuredSource;
use crate::data::transfer::{FillElement, ReadTarget, Source};
use crate::data::variable::ForeignHeap;
use crate::data::virtual_::{Mapping, VirtualMap, VirtualSource, extent};
use crate::error::{Error, Result};
use crate::object::dataset::DatasetDescription;
use crate::object::header::ObjectHeader;
use sources::{Nesting, Sources, Virtual};

/// An open dataset: its description, and the sources from which reads take elements. The sources
/// are opened at the first read.
#[derive(Debug)]
pub struct OpenDataset {
    /// The description in the header.
    pub description: DatasetDescription,
    /// The address of the object header.
    address: Address,
    chunked: OnceLock<Arc<ChunkedSource>>,
    external: OnceLock<Arc<ExternalSource>>,
    virtual_: Option<Virtual>,
    structured: OnceLock<Arc<StructuredSource>>,
    /// The choices of the program for this dataset; `None` if the file chooses.
    access: Option<Arc<DatasetAccess>>,
}

impl OpenDataset {
    /// Opens the dataset with the object header `header`. If a virtual dataset has no fixed shape,
    /// its source datasets determine the shape.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the header is damaged, and the errors of reading the sources.
    pub fn open(file: &Arc<OpenFile>, header: &ObjectHeader) -> Result<Self> {
        Self::open_with(file, header, None)
    }

    /// Opens the dataset with the object header `header` like [`open`](Self::open), with the
    /// choices `access` of the program for the dataset.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(
        file: &Arc<OpenFile>,
        header: &ObjectHeader,
        access: Option<&Arc<DatasetAccess>>,
    ) -> Result<Self> {
        Nesting::outermost(file, 0, |nesting| Self::open_nested(file, header, access, nesting))
    }

    pub(super) fn open_nested(
        file: &Arc<OpenFile>,
        header: &ObjectHeader,
        access: Option<&Arc<DatasetAccess>>,
        nesting: &Nesting<'_>,
    ) -> Result<Self> {
        let description = DatasetDescription::read(&file.container, header)?;
        Self::described(file, header.address(), description, access, nesting)
    }

    /// Opens a dataset that was just created, from its description. The object header of the
    /// dataset may still be unwritten.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn made(
        file: &Arc<OpenFile>,
        address: Address,
        description: DatasetDescription,
        access: Option<&Arc<DatasetAccess>>,
    ) -> Result<Self> {
        Nesting::outermost(file, 0, |nesting| Self::described(file, address, description, access, nesting))
    }

    /// Opens a dataset that stores its own elements. Returns an error for a virtual dataset.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the dataset is virtual, and the errors of reading the header.
    pub(super) fn open_stored(file: &OpenFile, header: &ObjectHeader) -> Result<Self> {
        let description = DatasetDescription::read(&file.container, header)?;
        if matches!(description.layout.layout, Layout::Virtual(_)) {
            return Err(Error::Misuse(
                "a virtual dataset stores no elements: they are in its source datasets".into(),
            ));
        }
        Ok(Self::of(header.address(), description, None, None))
    }

    fn of(
        address: Address,
        description: DatasetDescription,
        virtual_: Option<Virtual>,
        access: Option<&Arc<DatasetAccess>>,
    ) -> Self {
        Self {
            description,
            address,
            chunked: OnceLock::new(),
            external: OnceLock::new(),
            virtual_,
            structured: OnceLock::new(),
            access: access.cloned(),
        }
    }

    fn described(
        file: &Arc<OpenFile>,
        address: Address,
        mut description: DatasetDescription,
        access: Option<&Arc<DatasetAccess>>,
        nesting: &Nesting<'_>,
    ) -> Result<Self> {
        let virtual_ = Virtual::load(file, &description)?;
        nesting.steps.take(virtual_.as_ref().map_or(0, |virtual_| virtual_.mappings.len() as u64))?;
        if let (Some(virtual_), Dataspace::Simple(stored)) = (&virtual_, &description.dataspace)
            && virtual_.mappings.iter().any(Mapping::grows)
        {
            let sources = Sources { file, datatype: &description.datatype, virtual_, access, nesting };
            let options = file.virtual_options;
            let options = access.map_or(options, |access| access.virtual_options(options));
            let chosen = access.and_then(|access| access.shape.as_deref());
            let dims = match chosen.filter(|shape| shape.len() == stored.dims.len()) {
                Some(shape) => Dims::from_slice(shape),
                None => extent(&virtual_.mappings, &stored.dims, options, &sources)?,
            };
            let max_dims = stored.max_dims.clone();
            description.dataspace = Dataspace::Simple(SimpleExtent { dims, max_dims });
        }
        Ok(Self::of(address, description, virtual_, access))
    }

    /// Returns the total size in bytes of all elements of the open dataset, as stored.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the number does not fit in 64 bits.
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

    /// Returns all elements of the open dataset, as stored, in C order. Variable-length elements
    /// are descriptors of objects in the global heap.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_all(&self, file: &Arc<OpenFile>) -> Result<Vec<u8>> {
        self.read(file, &Selection::All)
    }

    /// Returns a view of all elements of the open dataset, as stored, if the driver holds them
    /// contiguously in memory.
    pub fn view<'a>(&self, file: &'a OpenFile) -> Option<&'a [u8]> {
        match &self.description.layout.layout {
            Layout::Contiguous(contiguous) if self.description.external.is_empty() => {
                file.container.store.view_raw(contiguous.address, self.byte_count().ok()?)
            }
            _ => None,
        }
    }

    /// Returns the selected elements of the open dataset, as stored, in the order of the selection.
    /// The blocks of the selection must be disjoint.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the elements exceed the limit, and filter and I/O errors.
    pub fn read(&self, file: &Arc<OpenFile>, selection: &Selection) -> Result<Vec<u8>> {
        let mut out = self.buffer(file, selection, self.description.datatype.size as usize)?;
        let size = self.description.datatype.size as usize;
        self.read_to(file, selection, &mut ReadTarget::stored(&mut out, size).zeroed())?;
        Ok(out)
    }

    /// Reads selected elements of the open dataset like [`read`](Self::read). If elements of a
    /// virtual dataset refer to variable-length data of other files, collects this data in
    /// `foreign`, a heap in memory.
    ///
    /// # Errors
    /// As [`read`](Self::read).
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

    /// Returns a zeroed buffer for the selected elements of a dataset. Each element has `size`
    /// bytes.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the buffer exceeds the limit or the available memory.
    fn buffer(&self, file: &OpenFile, selection: &Selection, size: usize) -> Result<Vec<u8>> {
        let elements = self.selected(selection)?;
        let limit = file.container.store.limits().result_bytes;
        let bytes = elements.checked_mul(size as u64).filter(|bytes| *bytes <= limit);
        let Some(bytes) = bytes.and_then(|bytes| usize::try_from(bytes).ok()) else {
            return Err(Error::Limit { subject: "read: elements".into(), got: elements, limit });
        };
        // The reservation turns a failed allocation into an error. `vec!` then takes zeroed pages
        // from the system, which need no writing.
        let tried = Vec::<u8>::new().try_reserve_exact(bytes);
        tried.map_err(|_| Error::Limit {
            subject: "read: bytes that memory can hold".into(),
            got: bytes as u64,
            limit,
        })?;
        Ok(vec![0; bytes])
    }

    /// Reads the selected elements of the open dataset into the read target `to`, like
    /// [`read`](Self::read).
    ///
    /// # Errors
    /// As [`read`](Self::read), and conversion errors.
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

    /// Returns the selected elements, as stored, of a dataset that is not virtual.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`Error::Misuse`] if the dataset is virtual.
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
            Layout::Virtual(_) => Err(Error::Misuse(
                "a virtual dataset stores no elements: they are in its source datasets".into(),
            )),
            Layout::Structured(_) => match self.structured_chunks(file)? {
                Some(source) => source.read(context, selection, to, foreign),
                None => Ok(()),
            },
        }
    }

    /// Returns the address of the open dataset's object header.
    pub(super) fn address(&self) -> Address {
        self.address
    }

    /// Returns the mappings of an open virtual dataset.
    pub(super) fn mappings(&self) -> &[Mapping] {
        self.virtual_.as_ref().map_or(&[], |virtual_| virtual_.mappings.as_slice())
    }

    /// Returns whether the shape of the open dataset is still that of its source datasets, as far
    /// as they are in other files that the program has open.
    pub fn has_current_sources(&self, file: &OpenFile) -> bool {
        let Some(virtual_) = &self.virtual_ else { return true };
        !virtual_.mappings.iter().any(Mapping::grows_outside) || virtual_.is_current(file)
    }

    /// Closes the files of the open virtual dataset's source datasets.
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
        let sources = &Sources { file, datatype, virtual_, access: self.access.as_ref(), nesting };
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

    /// Returns the source from which reads of the open dataset take the elements of flat (not
    /// structured) chunks. Returns `None` if the dataset has another layout.
    ///
    /// # Errors
    /// Returns an error if the layout contradicts the rest of the header, or the index is damaged.
    pub fn chunks(&self, file: &OpenFile) -> Result<Option<Arc<ChunkedSource>>> {
        match &self.description.layout.layout {
            Layout::Chunked(layout) => self.chunked(file, layout).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the number of elements of the open dataset that a selection contains.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the selection does not fit the dataspace.
    pub fn selected(&self, selection: &Selection) -> Result<u64> {
        Ok(self.description.dataspace.selected(selection)?)
    }

    fn external(&self, file: &OpenFile) -> Arc<ExternalSource> {
        let open = || {
            let pieces = self.description.external.iter();
            Arc::new(ExternalSource {
                dims: Dims::from_slice(self.description.dataspace.dims()),
                pieces: ExternalFilePart::row(
                    pieces.map(|piece| (piece.file.as_slice(), piece.offset, piece.size)),
                ),
                files: Box::new(RawFiles::to_read(
                    file.raw_files(),
                    &file.raw_folders,
                    self.address,
                    self.access.as_ref(),
                )),
            })
        };
        Arc::clone(self.external.get_or_init(open))
    }

    fn fill(&self) -> FillElement {
        self.description.fill_element().map_or(FillElement::ZERO, FillElement::element)
    }

    fn chunked(&self, file: &OpenFile, layout: &ChunkedLayout) -> Result<Arc<ChunkedSource>> {
        if let Some(source) = self.chunked.get() {
            return Ok(Arc::clone(source));
        }
        let source = Arc::new(self.open_chunks(file, layout)?);
        Ok(Arc::clone(self.chunked.get_or_init(|| source)))
    }

    /// Returns the addresses and the numbers of stored bytes that a read of a selection needs.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] for elements in other files and for structured chunks, and an
    /// error if the chunk index cannot be read.
    pub fn plan(&self, file: &OpenFile, selection: &Selection) -> Result<Vec<(Address, u64)>> {
        let description = &self.description;
        if self.selected(selection)? == 0 {
            return Ok(Vec::new());
        }
        let unsupported = |layout| Err(Error::unsupported(format!("the plan of a read of {layout}")));
        if !description.external.is_empty() {
            return unsupported("external raw data files");
        }
        match &description.layout.layout {
            Layout::Compact(_) => Ok(Vec::new()),
            Layout::Contiguous(contiguous) => self.plan_contiguous(contiguous.address, selection),
            Layout::Chunked(layout) => self.chunked(file, layout)?.plan(&file.container.store, selection),
            Layout::Virtual(_) => unsupported("a virtual dataset"),
            Layout::Structured(_) => unsupported("structured chunks"),
        }
    }

    /// Returns the contiguous bytes from the first to the last selected element.
    fn plan_contiguous(&self, address: Address, selection: &Selection) -> Result<Vec<(Address, u64)>> {
        if !address.is_defined() {
            return Ok(Vec::new());
        }
        let dims = self.description.dataspace.dims();
        let Some(bounds) = selection.bounding_box(dims)? else { return Ok(Vec::new()) };
        let size = u64::from(self.description.datatype.size);
        let linear = |at: &dyn Fn(usize) -> Option<u64>| {
            dims.iter()
                .enumerate()
                .try_fold(0_u64, |sum, (dimension, size)| sum.checked_mul(*size)?.checked_add(at(dimension)?))
        };
        let first = linear(&|dimension| bounds.start.get(dimension).copied());
        let last = linear(&|dimension| {
            let (start, count) = (bounds.start.get(dimension)?, bounds.count.get(dimension)?);
            start.checked_add(*count)?.checked_sub(1)
        });
        let extent = first.zip(last).and_then(|(first, last)| {
            let start = address.checked_add(first.checked_mul(size)?)?;
            Some((start, last.checked_sub(first)?.checked_add(1)?.checked_mul(size)?))
        });
        extent.map(|extent| vec![extent]).ok_or_else(|| {
            Error::corrupt("data layout message", "address", "an end inside the file", address)
        })
    }

    fn open_chunks(&self, file: &OpenFile, layout: &ChunkedLayout) -> Result<ChunkedSource> {
        let (source, shape) = chunked_source(&file.container, self.address, &self.description, layout)?;
        let index = chunk_index::open(&file.container.store, layout, &shape)?;
        Ok(ChunkedSource { index, ..source })
    }
    /// Returns the source from which reads of the open dataset take the elements of structured
    /// chunks. Returns `None` if the dataset has another layout.
    ///
    /// # Errors
    /// Returns an error if the layout contradicts the rest of the header, or the index is damaged.
    pub fn structured_chunks(&self, file: &OpenFile) -> Result<Option<Arc<StructuredSource>>> {
        let Layout::Structured(layout) = &self.description.layout.layout else {
            return Ok(None);
        };
        if let Some(source) = self.structured.get() {
            return Ok(Some(Arc::clone(source)));
        }
        let (form, shape) = structured_form(&file.container, self.address, &self.description, layout)?;
        let index = chunk_index::open_structured(&file.container.store, layout, &shape)?;
        let source = Arc::new(StructuredSource { form, index });
        Ok(Some(Arc::clone(self.structured.get_or_init(|| source))))
    }
}
