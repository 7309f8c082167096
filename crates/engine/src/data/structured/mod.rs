//! Structured chunks: which elements of a chunk are defined, their values, and what values of variable length hold, each
//! in a section of its own.

mod chunk;
mod collect;
mod encode;
mod form;
mod slabs;
mod source;
mod variable;
mod write;

use std::sync::Arc;

use super::chunk_cache::Kept;

pub use chunk::{DefinedChunk, EncodedChunk};
pub use form::{ChunkKind, SectionForm, StructuredFacts, StructuredForm};
pub use slabs::{Defined, Slab};
pub use source::StructuredSource;
pub use variable::VariableFields;
pub use write::{Coordinates, IsDefined, StructuredWriter, StructuredWriting};

impl Kept for Arc<DefinedChunk> {
    fn kept_bytes(&self) -> u64 {
        self.memory_bytes() as u64
    }
}
