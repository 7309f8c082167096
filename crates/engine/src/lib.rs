//! The open HDF5 file as a living thing. No stability promise: use the crate `hyperslab`.
//!
//! Rooms in strict order: `store` (bytes at addresses), `index` (trees, heaps, arrays), `object` (what headers
//! mean) and `data` (raw data) side by side, `ops` (the operations that join them).
#![forbid(unsafe_code)]

pub mod data;
pub mod error;
pub mod index;
pub mod memory;
pub mod object;
pub mod ops;
pub mod store;
pub mod versions;

pub use error::{Error, ErrorKind, Result};
pub use hyperslab_format::codec::{Address, Limits};
pub use versions::{LibraryVersion, LibverBounds};

/// What stands in the messages of a dataset's header, for those who describe it further.
pub mod format {
    pub use hyperslab_format::message::{
        AllocationTime, ChunkFlags, FileSpaceStrategy, FillWriteTime, Layout, LinkPhaseChange,
        StructuredChunkType,
    };
    pub use hyperslab_format::shared_message::{SharedMessageIndex, SharedMessageTypes};
    pub use hyperslab_format::structured_chunk::{ChunkSection, ChunkSections, DefinedEncoding};
    pub use hyperslab_format::virtual_mapping::VirtualMapping;
}
