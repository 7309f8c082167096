//! The transfer of elements between a caller's buffer and the chunks and blocks of a file, for all
//! layouts.

mod byte_count;
mod chunk_cache;
mod context;
mod defined_chunk;
mod dirty_chunks;
mod expansion;
mod fill;
pub(in crate::data) mod parallel;
mod read_target;
mod scratch;
mod sink;
mod source;
pub(crate) mod staged;
mod transform;
mod write_source;

pub(crate) use byte_count::byte_count;
pub use chunk_cache::ChunkCache;
pub(in crate::data) use context::{Buffers, sized_buffer};
pub use context::{ReadContext, Resources};
pub use defined_chunk::DefinedChunk;
pub use dirty_chunks::Due;
pub(in crate::data) use dirty_chunks::{DirtyChunks, Snapshot};
pub(in crate::data) use expansion::max_decoded_bytes;
pub use fill::FillElement;
pub use read_target::ReadTarget;
pub(in crate::data) use scratch::with_scratch;
pub use sink::{Sink, SinkContext};
pub use source::Source;
pub use transform::Transform;
pub(in crate::data) use write_source::RowBuffers;
pub use write_source::{WriteSource, leaves_parts};
