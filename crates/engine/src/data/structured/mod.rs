//! The structured chunk layout. A chunk has sections for the set of defined elements, the values,
//! and the variable-length data of the values.

mod chunk;
mod encode;
mod form;
mod kept;
mod read;
mod variable;
mod write;

pub use chunk::EncodedChunk;
pub use form::{ChunkKind, SectionForm, StructuredFacts, StructuredForm};
pub use read::{SelectedChunk, Slab, StructuredSource};
pub use variable::VariableFields;
pub use write::{IsDefined, PointCoordinates, StructuredWriter, StructuredWriting};
