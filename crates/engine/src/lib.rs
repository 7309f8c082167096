//! The state of an open HDF5 file: its bytes, caches, objects and raw data. No stability promise:
//! programs use the crate `hyperslab`.
//!
//! The modules have a strict order: `store` (bytes at addresses), `index` (trees, heaps, arrays),
//! then `object` (object headers) and `data` (raw data), which do not use each other, then `ops`
//! (operations that join `object` and `data`).
#![forbid(unsafe_code)]

pub mod data;
pub mod error;
pub mod index;
pub mod memory;
pub mod object;
pub mod ops;
pub mod serialized;
pub mod store;
pub mod versions;

pub use error::{Error, ErrorKind, Result};
pub use hyperslab_format::codec::{Address, Limits};
pub use versions::{LibraryVersion, LibverBounds};

/// Types of the messages in a dataset's object header, for the crates above this one.
pub mod format {
    pub use hyperslab_format::message::{
        AllocationTime, ChunkFlags, FileSpaceStrategy, FillWriteTime, Layout, LinkPhaseChange,
        StructuredChunkType,
    };
    pub use hyperslab_format::shared_message::{SharedMessageIndex, SharedMessageTypes};
    pub use hyperslab_format::structured_chunk::{ChunkSection, ChunkSections, DefinedEncoding};
    pub use hyperslab_format::virtual_mapping::VirtualMapping;
}
