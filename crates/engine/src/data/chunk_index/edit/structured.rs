//! Changes of chunk indexes of structured chunks, and the choice of the chunk index for a new
//! dataset.

use hyperslab_dataspace::Dims;
use hyperslab_exact::product;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    BTreeV2Parameters, ChunkFlags, ChunkedLayout, ExtensibleArrayParameters, FieldOrder,
    FixedArrayParameters, SingleStructuredChunk, StructuredChunkLayout, StructuredChunkType, StructuredIndex,
};
use smallvec::SmallVec;

use super::super::order::ArrayOrder;
use super::super::single::SingleIndex;
use super::super::structured::{check, single};
use super::super::{ChunkShape, Entry as _, StructuredLocation};
use super::btree_v2::BTreeV2Edit;
use super::choose::check_shape;
use super::single::SingleEdit;
use super::{ChunkIndexEditor, IndexEdit, extensible_array, fixed_array};
use crate::error::{Error, Result};
use crate::store::Store;

/// An editor of the chunk index of one dataset with structured chunks.
pub type StructuredIndexEditor = ChunkIndexEditor<StructuredLocation>;

impl ChunkIndexEditor<StructuredLocation> {
    /// Opens an editor of the chunk index of structured chunks that the layout message names. If
    /// the chunk index does not exist, the first inserted chunk creates it.
    ///
    /// # Errors
    /// Returns the errors of [`open_structured`](super::super::open_structured).
    pub fn open(store: &Store, layout: &StructuredChunkLayout, shape: &ChunkShape) -> Result<Self> {
        check(store, layout, shape)?;
        let index = make(store, layout, shape)?;
        Ok(Self { layout: layout.clone(), shape: shape.clone(), index })
    }
}

fn make(
    store: &Store,
    layout: &StructuredChunkLayout,
    shape: &ChunkShape,
) -> Result<Box<dyn IndexEdit<StructuredLocation>>> {
    let (rank, address) = (shape.max_dims.len(), layout.address);
    let rules = StructuredLocation::rules(layout, shape);
    let order = || ArrayOrder::new(StructuredLocation::chunk(layout, rank), &shape.max_dims);
    Ok(match &layout.index {
        StructuredIndex::Single(stored) => {
            let index = SingleIndex { rank, location: single(layout, stored) };
            Box::new(SingleEdit { sized: true, rules, index })
        }
        StructuredIndex::FixedArray(parameters) => fixed_array(store, address, *parameters, order()?, rules)?,
        StructuredIndex::ExtensibleArray(parameters) => {
            extensible_array(store, address, *parameters, order()?, rules)?
        }
        StructuredIndex::BTreeV2(parameters) => {
            Box::new(BTreeV2Edit::new(store, address, rank, *parameters, rules)?)
        }
    })
}

/// The properties of a new dataset with structured chunks that determine its layout and its chunk
/// index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewStructuredChunks<'a> {
    /// The present sizes.
    pub dims: &'a [u64],
    /// The maximum sizes; `None` for an unlimited dimension.
    pub max_dims: &'a [Option<u64>],
    /// The shape of a chunk.
    pub chunk: &'a [u64],
    /// The number of bytes of an element in the file.
    pub element_size: u64,
    /// The contents of chunks.
    pub chunk_type: StructuredChunkType,
    /// True if a section is filtered.
    pub filtered: bool,
    /// True if partial chunks at the edge are not filtered.
    pub edges_unfiltered: bool,
}

/// Returns the layout message of a new dataset of structured chunks, without any chunks.
///
/// One unlimited dimension needs an extensible array, and several need a version 2 B-tree. A
/// dataset without unlimited dimensions has a single-chunk index if it is one chunk. Otherwise it
/// has a fixed array, or a version 2 B-tree if the array would be very large.
///
/// # Errors
/// Returns [`Error::Misuse`] if the shape of a chunk does not fit the dataset, or the chunks would
/// have no contents.
pub fn choose_structured(new: &NewStructuredChunks<'_>) -> Result<StructuredChunkLayout> {
    check_shape(new.max_dims, new.chunk, new.dims.len(), new.element_size)?;
    if new.element_size == 0 {
        return Err(Error::Misuse("structured chunks need elements of at least one byte".into()));
    }
    let (sections, metadata_sections): (u8, &[u8]) = composition(new.chunk_type)?;
    let mut dims = Dims::from_slice(new.chunk);
    dims.push(new.element_size);
    let index = index(new, sections, &dims);
    let mut flags = ChunkFlags::empty();
    flags.set(ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS, new.edges_unfiltered);
    let single = matches!(index, StructuredIndex::Single(_));
    flags.set(ChunkFlags::SINGLE_INDEX_WITH_FILTER, single && new.filtered);
    Ok(StructuredChunkLayout {
        order: FieldOrder::CompositionFirst,
        chunk_type: new.chunk_type,
        flags,
        dimension_width: ChunkedLayout::width_for(new.chunk, new.element_size),
        dims,
        offset_size: OFFSET_SIZE,
        sections,
        metadata_sections: SmallVec::from_slice(metadata_sections),
        index,
        address: Address::UNDEFINED,
    })
}

/// The number of bytes of an offset in the metadata of a structured chunk.
const OFFSET_SIZE: u8 = 8;

/// Returns the composition of a structured chunk of the type `chunk_type`: the number of its
/// sections, and the numbers of the sections that end with a checksum.
fn composition(chunk_type: StructuredChunkType) -> Result<(u8, &'static [u8])> {
    let sparse = chunk_type.contains(StructuredChunkType::SPARSE);
    Ok(match (sparse, chunk_type.contains(StructuredChunkType::VARIABLE_LENGTH)) {
        (true, false) => (2, &[0]),
        (true, true) => (3, &[0, 1, 2]),
        (false, true) => (2, &[0, 1]),
        (false, false) => {
            return Err(Error::Misuse(
                "structured chunks are possible only in sparse datasets and with variable-length elements"
                    .into(),
            ));
        }
    })
}

/// Largest number of possible structured chunks for which the chunk index is a fixed array. The
/// whole array is allocated with the first chunk, at some 40 bytes per chunk. In a very large
/// sparse dataset, most chunks are never stored.
const MAX_ARRAY_CHUNKS: u64 = 1 << 20;

fn index(new: &NewStructuredChunks<'_>, sections: u8, dims: &[u64]) -> StructuredIndex {
    match new.max_dims.iter().filter(|max| max.is_none()).count() {
        0 => {}
        1 => return StructuredIndex::ExtensibleArray(ExtensibleArrayParameters::DEFAULT),
        _ => return StructuredIndex::BTreeV2(BTreeV2Parameters::DEFAULT),
    }
    let mut sizes = new.dims.iter().zip(new.max_dims).zip(new.chunk);
    if !sizes.all(|((size, max), chunk)| Some(*size) == *max && size == chunk) {
        let counts = new.max_dims.iter().zip(new.chunk);
        let counts = counts.map(|(max, chunk)| max.unwrap_or(u64::MAX).div_ceil((*chunk).max(1)));
        if product("number of chunks", counts).map_or(true, |count| count > MAX_ARRAY_CHUNKS) {
            return StructuredIndex::BTreeV2(BTreeV2Parameters::DEFAULT);
        }
        return StructuredIndex::FixedArray(FixedArrayParameters::DEFAULT);
    }
    let metadata = StructuredChunkLayout::chunk_metadata_size(sections, OFFSET_SIZE, new.filtered);
    StructuredIndex::Single(SingleStructuredChunk {
        size: 0,
        size_width: StructuredChunkLayout::chunk_size_width(sections, dims),
        metadata: vec![0; metadata],
    })
}
