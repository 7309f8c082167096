//! The storage of a dataset's elements: layout, chunks, filters, fill value, external files,
//! mappings.

use hyperslab_engine::format::{
    AllocationTime as StoredAllocationTime, FillWriteTime, Layout as StoredLayout,
    VirtualMapping as StoredMapping,
};
use hyperslab_engine::ops::datasets::{
    self, ChunkIndexKind, DatasetDescription, Filters, StoredFillValue, chunk_index_kind,
};
use hyperslab_engine::ops::elements::{ChunkBox, ChunkLocation, ChunkedSource};
use hyperslab_engine::ops::objects::Container;
use hyperslab_engine::store::Store;
use hyperslab_engine::{Error, Result};

use crate::{Hyperslab, Selection, UNLIMITED};

/// The storage layout of a dataset: compact, contiguous, chunked, virtual or structured chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Compact: the elements lie in the object header.
    Compact,
    /// Contiguous: the elements lie in one block of the file or in external files.
    Contiguous {
        /// The address of the block, in bytes from the file's base address; `None` if no block
        /// is allocated, and for external files.
        address: Option<u64>,
    },
    /// Chunked: the elements lie in chunks of one shape.
    Chunked(Chunking),
    /// Virtual: the elements lie in other datasets.
    Virtual,
    /// Structured chunks: chunks of several sections, for sparse or variable-length data.
    Structured,
}

/// The share of a dataset's elements for which space is allocated in the file: none, a part or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpaceStatus {
    /// No space is allocated, or the dataset has no elements.
    NotAllocated,
    /// Space is allocated for some chunks.
    PartAllocated,
    /// Space is allocated for all elements.
    Allocated,
}

/// The chunk shape and the chunk index of a dataset in chunked layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunking {
    /// The shape of a chunk, in elements.
    pub shape: Vec<u64>,
    /// The kind of chunk index.
    pub index: ChunkIndexKind,
    /// `true` if chunks that extend past the edge of the dataset are stored without filters.
    pub edges_unfiltered: bool,
}

/// The description of a stored chunk of a dataset: its coordinates, address, size and filter mask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkInfo {
    /// The coordinates of the first element.
    pub offset: Vec<u64>,
    /// The address, in bytes from the file's base address.
    pub address: u64,
    /// The stored size in bytes.
    pub size: u64,
    /// The filters that were skipped: bit i is set if filter i did not encode the chunk.
    pub filter_mask: u32,
}

/// The description of one filter in the filter pipeline of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterInfo {
    /// The registered filter identifier.
    pub id: u16,
    /// The name in the file, or else the known name of the identifier.
    pub name: Option<String>,
    /// The flags. If bit 0 is set, the filter is optional: a chunk that the filter cannot encode is
    /// stored without it.
    pub flags: u16,
    /// The parameters, called client data in the specification.
    pub client_data: Vec<u32>,
}

/// The fill value of a dataset, with two times: the time at which the fill value is written, and
/// the time at which space is allocated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillValue {
    /// The value of elements that were never written.
    pub status: FillStatus,
    /// The time at which the fill value is written.
    pub time: FillTime,
    /// The time at which space is allocated.
    pub allocation: AllocationTime,
}

/// The status of a fill value: undefined, the default, or set by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FillStatus {
    /// No value is defined.
    Undefined,
    /// The default value: all bytes are zero.
    Default,
    /// A value set by the user: the bytes of one stored element.
    User(Vec<u8>),
}

/// The time at which fill values are written to a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FillTime {
    /// At the allocation of space.
    Allocation,
    /// Never.
    Never,
    /// At the allocation of space, if the user set the fill value.
    IfSet,
    /// A number that the format does not define.
    Unknown(u8),
}

/// The time at which space for the elements of a dataset is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AllocationTime {
    /// The default of the layout.
    Default,
    /// At the creation of the dataset.
    Early,
    /// At the first write.
    Late,
    /// At the first write of each chunk.
    Incremental,
    /// A number that the format does not define.
    Unknown(u8),
}

impl FillTime {
    /// Returns the number that the file stores for this time of writing fill values.
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
    /// Returns the number that the file stores for this time of allocating space.
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

/// A piece of a dataset's raw data that lies in an external file: the file's name, the offset and
/// the length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalFile {
    /// The name of the external file, as stored.
    pub name: Vec<u8>,
    /// The offset of the first byte in the external file.
    pub offset: u64,
    /// The number of bytes; `None` if unlimited.
    pub size: Option<u64>,
}

/// A mapping of a virtual dataset: a selection of the virtual dataset, and a selection of a source
/// dataset, which supplies the elements.
#[derive(Debug, Clone, PartialEq)]
pub struct VirtualMapping {
    /// The name of the source file, as stored; `.` for the file of the virtual dataset.
    pub file: Vec<u8>,
    /// The path of the source dataset, as stored.
    pub dataset: Vec<u8>,
    /// The elements of the virtual dataset.
    pub selection: Selection,
    /// The elements of the source dataset.
    pub source_selection: Selection,
}

impl VirtualMapping {
    /// Returns the mapping of a virtual dataset in the form that the file stores.
    pub(crate) fn stored(&self) -> hyperslab_engine::format::VirtualMapping {
        hyperslab_engine::format::VirtualMapping {
            source_file: self.file.as_slice().into(),
            source_dataset: self.dataset.as_slice().into(),
            source_selection: merged(&self.source_selection),
            virtual_selection: merged(&self.selection),
        }
    }
}

/// Returns a selection of the same elements, in which adjacent blocks of a regular hyperslab are
/// merged. The oldest encoding stores each block, so fewer blocks take less space.
fn merged(selection: &Selection) -> Selection {
    let mut selection = selection.clone();
    if let Selection::Hyperslab(Hyperslab::Regular(regular)) = &mut selection {
        let axes = regular.stride.iter_mut().zip(regular.count.iter_mut()).zip(regular.block.iter_mut());
        for ((stride, count), block) in axes {
            let limited = *count != UNLIMITED && *block != UNLIMITED;
            if limited
                && *count > 1
                && stride == block
                && let Some(length) = count.checked_mul(*block)
            {
                (*stride, *count, *block) = (length, 1, length);
            }
        }
    }
    selection
}

impl Layout {
    pub(crate) fn of(stored: &StoredLayout) -> Self {
        match stored {
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
    /// Calls `visit` with each stored chunk of a dataset. All calls share one description, which
    /// changes from call to call.
    pub(crate) fn for_each(
        store: &Store,
        source: &ChunkedSource,
        mut visit: impl FnMut(&Self),
    ) -> Result<()> {
        let counts = source.grid.counts();
        let Some(index) = source.index.as_ref().filter(|_| !counts.contains(&0)) else { return Ok(()) };
        let first = counts.iter().map(|_| 0).collect();
        // The subtraction cannot overflow, because no count is 0.
        let last = counts.iter().map(|count| *count - 1).collect();
        let mut chunk =
            Self { offset: Vec::with_capacity(counts.len()), address: 0, size: 0, filter_mask: 0 };
        index.for_each_in(store, &ChunkBox { first, last }, &mut |scaled, location| {
            chunk.set(source, scaled, location)?;
            visit(&chunk);
            Ok(())
        })
    }

    /// Returns the sum of the sizes in bytes of all stored chunks, or `None` if the sum does not
    /// fit in 64 bits. Counts chunks outside the extent too, up to the maximum extent `max_dims`.
    pub(crate) fn stored_bytes(
        store: &Store,
        source: &ChunkedSource,
        max_dims: &[Option<u64>],
    ) -> Result<Option<u64>> {
        let counts = source.grid.counts();
        let Some(index) = source.index.as_ref().filter(|_| !counts.contains(&0)) else { return Ok(Some(0)) };
        let most = |(chunk, max): (&u64, &Option<u64>)| match max {
            Some(max) => max.div_ceil((*chunk).max(1)),
            None => u64::MAX,
        };
        let first = counts.iter().map(|_| 0).collect();
        let last = if index.kind() == ChunkIndexKind::Implicit {
            // All chunks up to the maximum extent are in the file, but their space counts only in
            // the extent, as in libhdf5.
            counts.iter().map(|count| (*count).max(1) - 1).collect()
        } else {
            let most = source.grid.chunk().iter().zip(max_dims).map(most);
            most.map(|count| count.max(1) - 1).collect()
        };
        let mut sum = Some(0_u64);
        index.for_each_in(store, &ChunkBox { first, last }, &mut |_, location| {
            sum = sum.and_then(|sum| sum.checked_add(location.size));
            Ok(())
        })?;
        Ok(sum)
    }

    /// Returns the stored chunk that contains the element at the coordinates `element`. Looks for
    /// the chunk in the dataset's chunk index. Returns `None` if the chunk is not stored.
    pub(crate) fn at(store: &Store, source: &ChunkedSource, element: &[u64]) -> Result<Option<Self>> {
        let scaled = source.grid.chunk_of(element)?;
        let Some(index) = &source.index else { return Ok(None) };
        let Some(location) = index.get(store, &scaled)? else { return Ok(None) };
        let mut chunk =
            Self { offset: Vec::with_capacity(scaled.len()), address: 0, size: 0, filter_mask: 0 };
        chunk.set(source, &scaled, location)?;
        Ok(Some(chunk))
    }

    /// Changes the description to that of the chunk with the coordinates `scaled` (counted in
    /// chunks), without an allocation.
    #[inline]
    fn set(&mut self, source: &ChunkedSource, scaled: &[u64], location: ChunkLocation) -> Result<()> {
        self.offset.resize(scaled.len(), 0);
        for ((at, scale), size) in self.offset.iter_mut().zip(scaled).zip(source.grid.chunk()) {
            *at = scale.checked_mul(*size).ok_or_else(|| outside(scaled))?;
        }
        (self.address, self.size) = (location.address.raw(), location.size);
        self.filter_mask = location.filter_mask;
        Ok(())
    }
}

#[cold]
fn outside(scaled: &[u64]) -> Error {
    Error::corrupt("chunk index", "coordinates", "a chunk in the dataset", format!("{scaled:?}"))
}

impl FilterInfo {
    pub(crate) fn of(description: &DatasetDescription) -> Vec<Self> {
        let Filters::Chunk(pipeline) = &description.filters else { return Vec::new() };
        Self::of_pipeline(pipeline)
    }

    /// Returns the filters of the section `section` of a dataset's structured chunks.
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
                StoredFillValue::Undefined => FillStatus::Undefined,
                StoredFillValue::Default => FillStatus::Default,
                StoredFillValue::User(element) => FillStatus::User(element.clone()),
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
    /// Returns `true` if the mapping of the virtual dataset is unlimited: the virtual dataset grows
    /// with the source dataset.
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
