//! The raw data path: from a dataset's description and a selection of elements to the elements' bytes.

mod chunk_cache;
pub mod chunk_index;
mod chunk_points;
mod chunk_rows;
mod chunk_tiles;
mod chunk_write;
mod chunked;
mod compact;
mod context;
mod contiguous;
mod destination;
mod external;
mod fill;
mod foreign;
mod linear;
mod linear_targets;
mod linear_write;
mod origin;
mod parallel;
mod reference;
pub(crate) mod staged;
pub mod structured;
mod variable;
pub mod variable_writer;
pub mod virtual_;

pub use chunk_cache::ChunkCache;
pub use chunk_write::{
    Appended, BufferedTable, ChunkAccess, ChunkTable, ChunkWriter, ChunkWriting, Due, Progress, flush_apart,
    write_apart,
};
pub use chunked::ChunkedSource;
pub use compact::CompactSource;
pub use context::{ReadContext, Resources};
pub use contiguous::ContiguousSource;
pub use destination::{Destination, Transform};
pub use external::{ExternalSource, OpenRaw, Piece, write_external};
pub use fill::Fill;
pub use foreign::ForeignHeap;
pub use linear_targets::{fill_contiguous, write_compact, write_contiguous};
pub use origin::{Origin, leaves_parts};
pub use reference::ReferenceTarget;
pub use variable::{VariableLengthReader, VariableLengthValue};

use hyperslab_dataspace::{DataspaceError, Selection};

use crate::error::{Error, Result};

/// Elements of a dataset, as the file stores them.
pub trait Source: Send + Sync + std::fmt::Debug {
    /// Reads the selected elements to their destination, in the order of the selection. Elements that were never
    /// written get the fill value.
    fn read(&self, context: ReadContext<'_>, selection: &Selection, to: &mut Destination<'_>) -> Result<()>;
}

/// Bytes of `elements` elements, if they can be in memory.
pub(crate) fn byte_count(elements: u64, element_size: usize, what: &'static str) -> Result<usize> {
    let bytes = elements.checked_mul(element_size as u64).and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| Error::Limit { what: format!("{what}: bytes"), got: u64::MAX, limit: u64::MAX })
}

impl From<DataspaceError> for Error {
    fn from(error: DataspaceError) -> Self {
        Self::Misuse(error.to_string())
    }
}
