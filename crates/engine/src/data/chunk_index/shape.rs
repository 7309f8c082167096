//! The properties of a dataset that its chunk index depends on, and the kind of chunk index that a
//! layout message names.

use hyperslab_format::message::{
    ChunkIndexParameters, ChunkedLayout, StructuredChunkLayout, StructuredIndex,
};

use super::ChunkIndexKind;

/// The properties of a dataset that determine its chunk index, in addition to the layout message:
/// the maximum shape, the size of a chunk, and parameters of the index.
#[derive(Debug, Clone)]
pub struct ChunkShape {
    /// Maximum sizes of the dataset; `None` for an unlimited dimension.
    pub max_dims: Vec<Option<u64>>,
    /// The number of bytes of a decoded chunk.
    pub chunk_bytes: u64,
    /// Half of the largest number of children in a node of a version 1 B-tree of chunks.
    pub btree_k: u16,
    /// The [`size_width`](super::size_width) of filtered chunks; `None` if chunks are not filtered.
    /// Only new indexes use it.
    pub size_width: Option<usize>,
}

impl ChunkShape {
    /// Returns the properties that determine the chunk index of a dataset with structured chunks,
    /// in addition to the layout message. `filtered` is true if the dataset has a filter pipeline.
    pub fn of_structured(
        layout: &StructuredChunkLayout,
        max_dims: &[Option<u64>],
        element_size: u64,
        filtered: bool,
    ) -> Self {
        let chunk = layout.dims.iter().take(max_dims.len());
        let chunk_bytes = chunk.fold(element_size, |bytes, size| bytes.saturating_mul(*size));
        // Saturates because sizes of 56 bits or more all have the largest width.
        let width = StructuredChunkLayout::chunk_size_width(layout.sections, &[chunk_bytes]);
        Self {
            max_dims: max_dims.to_vec(),
            chunk_bytes,
            btree_k: 0,
            size_width: filtered.then_some(width.into()),
        }
    }
}

/// Returns the kind of chunk index that the layout message of a dataset with structured chunks
/// names.
pub fn structured_kind(layout: &StructuredChunkLayout) -> ChunkIndexKind {
    match &layout.index {
        StructuredIndex::Single(_) => ChunkIndexKind::Single,
        StructuredIndex::FixedArray(_) => ChunkIndexKind::FixedArray,
        StructuredIndex::ExtensibleArray(_) => ChunkIndexKind::ExtensibleArray,
        StructuredIndex::BTreeV2(_) => ChunkIndexKind::BTreeV2,
    }
}

/// Returns the kind of chunk index that the layout message of a dataset with ordinary (not
/// structured) chunks names.
pub fn kind(layout: &ChunkedLayout) -> ChunkIndexKind {
    match &layout.index {
        ChunkIndexParameters::BTreeV1 => ChunkIndexKind::BTreeV1,
        ChunkIndexParameters::Single(_) => ChunkIndexKind::Single,
        ChunkIndexParameters::Implicit => ChunkIndexKind::Implicit,
        ChunkIndexParameters::FixedArray(_) => ChunkIndexKind::FixedArray,
        ChunkIndexParameters::ExtensibleArray(_) => ChunkIndexKind::ExtensibleArray,
        ChunkIndexParameters::BTreeV2(_) => ChunkIndexKind::BTreeV2,
    }
}
