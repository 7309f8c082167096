//! Opening a dataset and reading elements of it.

use std::sync::{Arc, OnceLock};

use hyperslab_dataspace::{ChunkGrid, Dims, Region};
use hyperslab_format::message::{ChunkFlags, ChunkedLayout, Layout};

use super::OpenFile;
use crate::data::chunk_index::{self, ChunkShape};
use crate::data::{ChunkedSource, CompactSource, ContiguousSource, Fill, Source};
use crate::error::{Error, Result};
use crate::object::dataset::{DatasetDescription, Filters};
use crate::object::header::ObjectHeader;

/// An open dataset: its description, and the way to its elements once they are asked for.
#[derive(Debug)]
pub struct OpenDataset {
    /// What the header says.
    pub description: DatasetDescription,
    chunked: OnceLock<Arc<ChunkedSource>>,
}

impl OpenDataset {
    /// Reads the description of the dataset with this header.
    pub fn open(file: &OpenFile, header: &ObjectHeader) -> Result<Self> {
        let description = DatasetDescription::read(&file.container, header)?;
        Ok(Self { description, chunked: OnceLock::new() })
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
    pub fn read_all(&self, file: &OpenFile) -> Result<Vec<u8>> {
        self.read(file, &Region::whole(self.description.dataspace.dims()))
    }

    /// The elements of a box, as stored, in C order.
    pub fn read(&self, file: &OpenFile, region: &Region) -> Result<Vec<u8>> {
        let limit = file.container.store.limits().result_bytes;
        let elements = match self.description.dataspace.element_count() {
            Some(0) => 0,
            _ => region.element_count()?,
        };
        let bytes =
            elements.checked_mul(u64::from(self.description.datatype.size)).filter(|bytes| *bytes <= limit);
        let Some(bytes) = bytes.and_then(|bytes| usize::try_from(bytes).ok()) else {
            return Err(Error::Limit { what: "read: elements".into(), got: elements, limit });
        };
        let mut out = Vec::new();
        out.try_reserve_exact(bytes).map_err(|_| Error::Limit {
            what: "read: bytes that memory can hold".into(),
            got: bytes as u64,
            limit,
        })?;
        out.resize(bytes, 0);
        self.read_into(file, region, &mut out)?;
        Ok(out)
    }

    /// As [`read`](Self::read), into a buffer that holds zeros.
    pub fn read_into(&self, file: &OpenFile, region: &Region, out: &mut [u8]) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let store = &file.container.store;
        let description = &self.description;
        if !description.external.is_empty() {
            return Err(Error::unsupported("reading raw data in external files"));
        }
        let dims = Dims::from_slice(description.dataspace.dims());
        let element_size = description.datatype.size as usize;
        match &description.layout.layout {
            Layout::Compact(compact) => {
                let data = compact.data.clone().into();
                CompactSource { dims, element_size, data, fill: self.fill() }.read(store, region, out)
            }
            Layout::Contiguous(contiguous) => {
                let address = contiguous.address;
                ContiguousSource { dims, element_size, address, fill: self.fill() }.read(store, region, out)
            }
            Layout::Chunked(layout) => self.chunked(file, layout)?.read(store, region, out),
            Layout::Virtual(_) => Err(Error::unsupported("reading virtual datasets")),
            Layout::Structured(_) => Err(Error::unsupported("reading structured chunks")),
        }
    }

    /// The chunks of a dataset in chunked layout; `None` for others.
    pub fn chunks(&self, file: &OpenFile) -> Result<Option<Arc<ChunkedSource>>> {
        match &self.description.layout.layout {
            Layout::Chunked(layout) => self.chunked(file, layout).map(Some),
            _ => Ok(None),
        }
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
        let description = &self.description;
        let Filters::Chunk(pipeline) = &description.filters else {
            return Err(Error::unsupported("filters of structured chunks on ordinary ones"));
        };
        let dims = description.dataspace.dims();
        let grid = ChunkGrid::new(&layout.dims, dims).map_err(|error| {
            Error::corrupt("data layout message", "chunk dimensions", "a shape like the dataspace's", error)
        })?;
        let element_size = description.datatype.size as usize;
        let limit = file.container.store.limits().chunk_bytes;
        let chunk_bytes = grid.elements_per_chunk()?.saturating_mul(element_size as u64);
        let memory = usize::try_from(chunk_bytes).ok().filter(|_| chunk_bytes <= limit);
        let Some(memory) = memory else {
            return Err(Error::Limit { what: "chunk: bytes".into(), got: chunk_bytes, limit });
        };
        let shape = ChunkShape {
            max_dims: description.dataspace.max_dims().to_vec(),
            chunk_bytes,
            btree_k: file.container.settings.indexed_storage_k,
        };
        Ok(ChunkedSource {
            grid,
            element_size,
            chunk_bytes: memory,
            index: chunk_index::open(&file.container.store, layout, &shape)?,
            pipeline: pipeline.clone(),
            edges_unfiltered: layout.flags.contains(ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS),
            fill: self.fill(),
        })
    }
}
