//! Chunk indexes, which hold the addresses of a dataset's chunks: six kinds with one trait.

mod btree_v1;
mod btree_v2;
mod buffered;
pub mod conformance;
mod edit;
mod element;
mod entry;
mod extensible_array;
mod fixed_array;
mod implicit;
mod location;
mod open;
mod order;
mod shape;
mod single;
mod structured;
mod table;
#[cfg(test)]
mod vast;

use std::fmt;

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;

use crate::error::Result;
use crate::store::Store;

pub use buffered::BufferedTable;
pub(in crate::data) use buffered::{order_of, ordered};
pub use edit::{
    AtDeletedChunk, ChunkIndexEditor, NewChunks, NewStructuredChunks, StructuredIndexEditor, choose,
    choose_structured, open_table, size_width,
};
pub use entry::{ChunkRules, Entry, Note};
pub use location::{ChunkMetadataBytes, StructuredLocation};
pub use open::open;
pub use shape::{ChunkShape, kind, structured_kind};
pub use structured::{StructuredRules, open_structured};
pub use table::ChunkTable;

/// The location of the stored bytes of one chunk: address, number of bytes and filter mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkLocation {
    /// The address of the first byte.
    pub address: Address,
    /// The number of stored bytes, after encoding.
    pub size: u64,
    /// The filters that were skipped for this chunk: bit i for filter i of the pipeline.
    pub filter_mask: u32,
}

/// The kind of a chunk index, for example a fixed array or a version 2 B-tree. The variants have
/// the order of libhdf5's numbers for the kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkIndexKind {
    /// Version 1 B-tree.
    BTreeV1,
    /// One chunk, whose address is in the layout message.
    Single,
    /// Contiguous chunks in the order of their coordinates.
    Implicit,
    /// An array of fixed length.
    FixedArray,
    /// An array that grows along the only unlimited dimension.
    ExtensibleArray,
    /// Version 2 B-tree.
    BTreeV2,
}

/// A box of chunks, given by the coordinates of its first and its last chunk. The coordinates count
/// chunks and not elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkBox {
    /// The lowest coordinates.
    pub first: Dims,
    /// The highest coordinates.
    pub last: Dims,
}

impl ChunkBox {
    /// Returns whether the box of chunks contains the chunk with the given coordinates, which count
    /// chunks and not elements.
    pub fn contains(&self, scaled: &[u64]) -> bool {
        scaled.len() == self.first.len()
            && scaled
                .iter()
                .zip(self.first.iter().zip(&self.last))
                .all(|(at, (first, last))| first <= at && at <= last)
    }
}

/// A function that a walk over a chunk index calls for each chunk, with the chunk's coordinates
/// (counted in chunks) and its entry in the index.
pub type AtChunk<'a, E = ChunkLocation> = dyn FnMut(&[u64], E) -> Result<()> + 'a;

/// A trait of chunk indexes that are open for reading, with entries of type `E`.
pub trait ChunkIndex<E = ChunkLocation>: Send + Sync + fmt::Debug {
    /// Returns the kind of a chunk index that is open for reading.
    fn kind(&self) -> ChunkIndexKind;

    /// Returns the chunk index entry of a chunk, or `None` if the chunk is not stored.
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>>;

    /// Calls `visit` for each stored chunk in a box of chunk coordinates, in the order of the chunk
    /// index.
    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()>;

    /// Returns the size of the chunk index in the file in bytes.
    fn bytes(&self, store: &Store) -> Result<u64>;
}
