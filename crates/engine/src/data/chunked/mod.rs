//! Reads and writes of datasets with chunked layout.

mod read;
mod source;
mod write;

pub use source::ChunkedSource;
pub use write::{
    Appended, ChunkAccess, ChunkWriter, ChunkWriting, ChunkedSink, Progress, flush_concurrently,
    write_concurrently,
};
