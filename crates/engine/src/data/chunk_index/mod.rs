//! The places of the chunks of a dataset: six kinds of index behind one trait.

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

/// Where the stored bytes of one chunk lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkLocation {
    /// First byte.
    pub address: Address,
    /// Stored bytes: after the filters where there are any.
    pub size: u64,
    /// Filters that were left out for this chunk: bit i for filter i of the pipeline.
    pub filter_mask: u32,
}

/// The kind of a chunk index, in libhdf5's order of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkIndexKind {
    /// Version 1 B-tree.
    BTreeV1,
    /// The one chunk's address in the layout message.
    Single,
    /// Chunks side by side in the order of their coordinates.
    Implicit,
    /// An array of fixed length.
    FixedArray,
    /// An array that grows along the one unlimited dimension.
    ExtensibleArray,
    /// Version 2 B-tree.
    BTreeV2,
}

/// A box of chunks in scaled coordinates (chunks, not elements): both corners belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkBox {
    /// The lowest coordinates.
    pub first: Dims,
    /// The highest coordinates.
    pub last: Dims,
}

impl ChunkBox {
    /// Returns whether the chunk lies inside.
    pub fn contains(&self, scaled: &[u64]) -> bool {
        scaled.len() == self.first.len()
            && scaled
                .iter()
                .zip(self.first.iter().zip(&self.last))
                .all(|(at, (first, last))| first <= at && at <= last)
    }
}

/// What is done with each chunk found: its scaled coordinates and its place.
pub type AtChunk<'a, E = ChunkLocation> = dyn FnMut(&[u64], E) -> Result<()> + 'a;

/// An index of chunks; it says an `E` of each.
pub trait ChunkIndex<E = ChunkLocation>: Send + Sync + fmt::Debug {
    /// Which of the six kinds it is.
    fn kind(&self) -> ChunkIndexKind;

    /// The place of one chunk, or `None` if it is not stored.
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<E>>;

    /// Calls `visit` for every stored chunk in the box, in the index's own order.
    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_, E>) -> Result<()>;
}
