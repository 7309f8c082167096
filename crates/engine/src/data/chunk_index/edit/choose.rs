//! The choice of the chunk index and of the layout message's version for a new chunked dataset, by
//! the rules of libhdf5.

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    BTreeV2Parameters, ChunkFlags, ChunkIndexParameters, ChunkedLayout, ExtensibleArrayParameters,
    FilteredChunk, FixedArrayParameters,
};

use crate::error::{Error, Result};
use crate::versions::{LibraryVersion, LibverBounds};

/// The properties of a new chunked dataset that determine its layout and its chunk index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewChunks<'a> {
    /// The present sizes.
    pub dims: &'a [u64],
    /// The maximum sizes; `None` for an unlimited dimension.
    pub max_dims: &'a [Option<u64>],
    /// The shape of a chunk.
    pub chunk: &'a [u64],
    /// The number of bytes of an element.
    pub element_size: u64,
    /// True if chunks are filtered.
    pub filtered: bool,
    /// True if partial chunks at the edge are not filtered.
    pub edges_unfiltered: bool,
    /// True if all chunks are allocated when the dataset is created.
    pub early: bool,
}

/// Returns two values for a new chunked dataset: the version of the layout message, and the layout
/// message without any chunks.
///
/// Before 1.10, all indexes are version 1 B-trees. From 1.10 on, one unlimited dimension needs an
/// extensible array, and several need a version 2 B-tree. A dataset without unlimited dimensions
/// has a single-chunk index if it is one chunk, an implicit index if unfiltered chunks are
/// allocated early, and a fixed array otherwise.
///
/// # Errors
/// Returns [`Error::Misuse`] if the shape of a chunk does not fit the dataset, or needs a newer
/// format than `bounds` allow.
pub fn choose(bounds: LibverBounds, new: &NewChunks<'_>) -> Result<(u8, ChunkedLayout)> {
    let bytes = check_shape(new.max_dims, new.chunk, new.dims.len(), new.element_size)?;
    let version = version(bounds, new, bytes)?;
    let mut flags = ChunkFlags::empty();
    let index = if version < 4 { ChunkIndexParameters::BTreeV1 } else { index(new) };
    if matches!(index, ChunkIndexParameters::Single(Some(_))) {
        flags |= ChunkFlags::SINGLE_INDEX_WITH_FILTER;
    }
    if new.edges_unfiltered && version >= 4 && !matches!(index, ChunkIndexParameters::Single(None)) {
        flags |= ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS;
    }
    let width = if version < 4 { 4 } else { ChunkedLayout::width_for(new.chunk, new.element_size) };
    let layout = ChunkedLayout {
        dims: Dims::from_slice(new.chunk),
        element_size: new.element_size,
        flags,
        dimension_width: width,
        index,
        address: Address::UNDEFINED,
    };
    Ok((version, layout))
}

/// Checks the shape of a chunk for a dataset of `rank` dimensions. Returns the number of bytes of a
/// decoded chunk.
pub(super) fn check_shape(
    max_dims: &[Option<u64>],
    chunk: &[u64],
    rank: usize,
    element_size: u64,
) -> Result<u64> {
    if rank == 0 || chunk.len() != rank || max_dims.len() != rank {
        let got = chunk.len();
        return Err(Error::Misuse(format!(
            "the chunk shape has {got} dimensions, but the dataset has {rank}"
        )));
    }
    for (size, max) in chunk.iter().zip(max_dims) {
        if *size == 0 || max.is_some_and(|max| *size > max.max(1)) {
            return Err(Error::Misuse(format!(
                "chunk shape {chunk:?}: each size must be at least 1 and at most the dataset's maximum size"
            )));
        }
    }
    let elements = chunk.iter().try_fold(element_size, |bytes, size| bytes.checked_mul(*size));
    elements.ok_or_else(|| Error::Misuse("a chunk of the dataset would have more than 2^64 bytes".into()))
}

fn version(bounds: LibverBounds, new: &NewChunks<'_>, bytes: u64) -> Result<u8> {
    let large = bytes > u64::from(u32::MAX) || new.chunk.iter().any(|size| *size > u64::from(u32::MAX));
    if large {
        bounds.require(LibraryVersion::V200, "a chunk of 4 GiB or more")?;
        return Ok(5);
    }
    if bounds.prefers(LibraryVersion::V200) && new.filtered {
        return Ok(5);
    }
    if bounds.prefers(LibraryVersion::V110) {
        return Ok(4);
    }
    if new.edges_unfiltered {
        bounds.require(LibraryVersion::V110, "unfiltered chunks at the edge")?;
        return Ok(4);
    }
    Ok(3)
}

fn index(new: &NewChunks<'_>) -> ChunkIndexParameters {
    match new.max_dims.iter().filter(|max| max.is_none()).count() {
        0 => {}
        1 => return ChunkIndexParameters::ExtensibleArray(ExtensibleArrayParameters::DEFAULT),
        _ => return ChunkIndexParameters::BTreeV2(BTreeV2Parameters::DEFAULT),
    }
    let sizes = new.dims.iter().zip(new.max_dims).zip(new.chunk);
    if sizes.clone().all(|((size, max), chunk)| Some(*size) == *max && size == chunk) {
        let none = FilteredChunk { size: 0, filter_mask: 0 };
        return ChunkIndexParameters::Single(new.filtered.then_some(none));
    }
    if new.early && !new.filtered {
        return ChunkIndexParameters::Implicit;
    }
    ChunkIndexParameters::FixedArray(FixedArrayParameters::DEFAULT)
}
