//! Variable-length data of elements, and the targets of references.

mod foreign_heap;
mod reader;
mod reference;
mod writer;

pub use foreign_heap::ForeignHeap;
pub use reader::{VariableLengthReader, VariableLengthValue};
pub use reference::ReferenceTarget;
pub use writer::VariableWriter;
