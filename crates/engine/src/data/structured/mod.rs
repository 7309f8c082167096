//! The structured chunk layout: which elements of a chunk are defined, their values, and what values of variable length
//! hold, each in a section of its own.

mod chunk;
mod encode;
mod form;
mod read;
mod variable;
mod write;

pub use chunk::EncodedChunk;
pub use form::{ChunkKind, SectionForm, StructuredFacts, StructuredForm};
pub use read::{Defined, Slab, StructuredSource};
pub use variable::VariableFields;
pub use write::{Coordinates, IsDefined, StructuredWriter, StructuredWriting};
