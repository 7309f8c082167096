//! How and where a dataset's elements are stored.

use hyperslab_engine::Result;
use hyperslab_engine::format::{
    AllocationTime as StoredAllocationTime, FillWriteTime, Layout as StoredLayout,
    VirtualMapping as StoredMapping,
};
use hyperslab_engine::ops::datasets::{
    self, ChunkIndexKind, DatasetDescription, Fill, Filters, chunk_index_kind,
};
use hyperslab_engine::ops::elements::{ChunkBox, ChunkLocation, ChunkedSource};
use hyperslab_engine::ops::objects::Container;
use hyperslab_engine::store::Store;

use crate::{Hyperslab, Selection};

/// How and where elements are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// In the object header.
    Compact,
    /// In one block.
    Contiguous {
        /// Where the block lies, in bytes from the file's base address; `None` while nothing was written, and for
        /// data in external files.
        address: Option<u64>,
    },
    /// In chunks of one shape.
    Chunked(Chunking),
    /// In other datasets.
    Virtual,
    /// In chunks of several sections: sparse or variable-length data.
    Structured,
}

/// How much of the room for a dataset's elements is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpaceStatus {
    /// None; or there are no elements.
    NotAllocated,
    /// Some chunks.
    PartAllocated,
    /// All.
    Allocated,
}

/// How a dataset is cut into chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunking {
    /// Shape of a chunk, in elements.
    pub shape: Vec<u64>,
    /// How chunks are found.
    pub index: ChunkIndexKind,
    /// Chunks that reach beyond the extent pass no filters.
    pub edges_unfiltered: bool,
}

/// A stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Its first element.
    pub offset: Vec<u64>,
    /// Where it lies, in bytes from the file's base address.
    pub address: u64,
    /// Bytes it takes in the file.
    pub size: u64,
    /// Filters that were left out: bit i for filter i.
    pub filter_mask: u32,
}

/// A filter of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterInfo {
    /// The registered number.
    pub id: u16,
    /// The name: the file's, or the one known for the number.
    pub name: Option<String>,
    /// Flags; bit 0: chunks that the filter fails on are stored without it.
    pub flags: u16,
    /// Parameters.
    pub client_data: Vec<u32>,
}

/// What elements are that were never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillValue {
    /// The value.
    pub status: FillStatus,
    /// When it is written.
    pub time: FillTime,
    /// When space for elements is allocated.
    pub allocation: AllocationTime,
}

/// The value of elements that were never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FillStatus {
    /// There is none.
    Undefined,
    /// Zeros.
    Default,
    /// An element, as stored.
    User(Vec<u8>),
}

/// When fill values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FillTime {
    /// When space is allocated.
    Allocation,
    /// Never.
    Never,
    /// When space is allocated, if the value was set by the user.
    IfSet,
    /// Another number than the format knows.
    Unknown(u8),
}

/// When space for elements is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AllocationTime {
    /// As the layout's default has it.
    Default,
    /// When the dataset is created.
    Early,
    /// At the first write.
    Late,
    /// Chunk by chunk.
    Incremental,
    /// Another number than the format knows.
    Unknown(u8),
}

impl FillTime {
    /// The number in the file.
    pub(crate) fn stored(self) -> FillWriteTime {
        match self {
            Self::Allocation => FillWriteTime::ON_ALLOCATION,
            Self::Never => FillWriteTime::NEVER,
            Self::IfSet => FillWriteTime::IF_SET,
            Self::Unknown(number) => FillWriteTime(number),
        }
    }
}

impl AllocationTime {
    /// The number in the file.
    pub(crate) fn stored(self) -> StoredAllocationTime {
        match self {
            Self::Default => StoredAllocationTime::DEFAULT,
            Self::Early => StoredAllocationTime::EARLY,
            Self::Late => StoredAllocationTime::LATE,
            Self::Incremental => StoredAllocationTime::INCREMENTAL,
            Self::Unknown(number) => StoredAllocationTime(number),
        }
    }
}

/// A piece of a dataset in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalFile {
    /// Name of the file, as the bytes in this one.
    pub name: Vec<u8>,
    /// Where the piece begins, in bytes.
    pub offset: u64,
    /// Bytes of the piece; `None` if it goes on without end.
    pub size: Option<u64>,
}

/// A part of a virtual dataset, and where its elements come from.
#[derive(Debug, Clone, PartialEq)]
pub struct VirtualMapping {
    /// Name of the source file, as the bytes in this one; `.` for this file.
    pub file: Vec<u8>,
    /// Path of the source dataset.
    pub dataset: Vec<u8>,
    /// The elements of the virtual dataset.
    pub selection: Selection,
    /// The elements of the source dataset.
    pub source_selection: Selection,
}

impl VirtualMapping {
    /// As the file stores it.
    pub(crate) fn stored(&self) -> hyperslab_engine::format::VirtualMapping {
        hyperslab_engine::format::VirtualMapping {
            source_file: self.file.as_slice().into(),
            source_dataset: self.dataset.as_slice().into(),
            source_selection: self.source_selection.clone(),
            virtual_selection: self.selection.clone(),
        }
    }
}

impl Layout {
    pub(crate) fn of(description: &DatasetDescription) -> Self {
        match &description.layout.layout {
            StoredLayout::Compact(_) => Self::Compact,
            StoredLayout::Contiguous(contiguous) => Self::Contiguous { address: contiguous.address.get() },
            StoredLayout::Chunked(chunked) => Self::Chunked(Chunking {
                shape: chunked.dims.to_vec(),
                index: chunk_index_kind(chunked),
                edges_unfiltered: chunked.leaves_edges_unfiltered(),
            }),
            StoredLayout::Virtual(_) => Self::Virtual,
            StoredLayout::Structured(_) => Self::Structured,
        }
    }
}

impl ChunkInfo {
    pub(crate) fn for_each(store: &Store, source: &ChunkedSource, at: &mut dyn FnMut(Self)) -> Result<()> {
        let counts = source.grid.counts();
        let Some(index) = source.index.as_ref().filter(|_| !counts.contains(&0)) else { return Ok(()) };
        let first = counts.iter().map(|_| 0).collect();
        let last = counts.iter().map(|count| count.saturating_sub(1)).collect();
        index.for_each_in(store, &ChunkBox { first, last }, &mut |scaled, location| {
            at(Self::of(source, scaled, location));
            Ok(())
        })
    }

    /// The chunk that holds an element.
    pub(crate) fn at(store: &Store, source: &ChunkedSource, element: &[u64]) -> Result<Option<Self>> {
        let scaled = source.grid.chunk_of(element)?;
        let Some(index) = &source.index else { return Ok(None) };
        Ok(index.get(store, &scaled)?.map(|location| Self::of(source, &scaled, location)))
    }

    fn of(source: &ChunkedSource, scaled: &[u64], location: ChunkLocation) -> Self {
        let offset = scaled.iter().zip(source.grid.chunk()).map(|(at, size)| at.saturating_mul(*size));
        Self {
            offset: offset.collect(),
            address: location.address.raw(),
            size: location.size,
            filter_mask: location.filter_mask,
        }
    }
}

impl FilterInfo {
    pub(crate) fn of(description: &DatasetDescription) -> Vec<Self> {
        let Filters::Chunk(pipeline) = &description.filters else { return Vec::new() };
        Self::of_pipeline(pipeline)
    }

    /// The filters of a section of structured chunks.
    pub(crate) fn of_section(description: &DatasetDescription, section: u8) -> Vec<Self> {
        description.section_pipeline(section).map_or_else(Vec::new, |pipeline| Self::of_pipeline(&pipeline))
    }

    fn of_pipeline(pipeline: &hyperslab_filter::Pipeline) -> Vec<Self> {
        let info = |stage: &hyperslab_filter::Stage| Self {
            id: stage.id.0,
            name: stage.name.clone().or_else(|| stage.id.name().map(str::to_owned)),
            flags: stage.flags,
            client_data: stage.client_data.clone(),
        };
        pipeline.stages.iter().map(info).collect()
    }
}

impl FillValue {
    pub(crate) fn of(description: &DatasetDescription) -> Self {
        let fill = &description.fill;
        Self {
            status: match &fill.value {
                Fill::Undefined => FillStatus::Undefined,
                Fill::Default => FillStatus::Default,
                Fill::User(element) => FillStatus::User(element.clone()),
            },
            time: match fill.write_time {
                FillWriteTime::ON_ALLOCATION => FillTime::Allocation,
                FillWriteTime::NEVER => FillTime::Never,
                FillWriteTime::IF_SET => FillTime::IfSet,
                FillWriteTime(other) => FillTime::Unknown(other),
            },
            allocation: match fill.allocation_time {
                StoredAllocationTime::DEFAULT => AllocationTime::Default,
                StoredAllocationTime::EARLY => AllocationTime::Early,
                StoredAllocationTime::LATE => AllocationTime::Late,
                StoredAllocationTime::INCREMENTAL => AllocationTime::Incremental,
                StoredAllocationTime(other) => AllocationTime::Unknown(other),
            },
        }
    }
}

impl ExternalFile {
    pub(crate) fn of(description: &DatasetDescription) -> Vec<Self> {
        let pieces = description.external.iter();
        pieces
            .map(|piece| Self { name: piece.file.clone(), offset: piece.offset, size: piece.size })
            .collect()
    }
}

impl VirtualMapping {
    /// Returns whether the virtual dataset grows with its source.
    pub fn is_unlimited(&self) -> bool {
        matches!(&self.selection, Selection::Hyperslab(Hyperslab::Regular(regular)) if regular.is_unlimited())
    }

    pub(crate) fn of(container: &Container, description: &DatasetDescription) -> Result<Vec<Self>> {
        let StoredLayout::Virtual(layout) = &description.layout.layout else { return Ok(Vec::new()) };
        let stored = datasets::virtual_mappings(&container.store, &container.heap, layout)?;
        let mapping = |mapping: &StoredMapping| Self {
            file: mapping.source_file.to_vec(),
            dataset: mapping.source_dataset.to_vec(),
            selection: mapping.virtual_selection.clone(),
            source_selection: mapping.source_selection.clone(),
        };
        Ok(stored.iter().flat_map(|stored| &stored.mappings).map(mapping).collect())
    }
}
