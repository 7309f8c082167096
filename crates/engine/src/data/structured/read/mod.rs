//! Reads of structured chunks: the elements of a selection, or only its defined elements in C
//! order.

mod collect;
mod slabs;
mod source;

pub use slabs::{SelectedChunk, Slab};
pub use source::StructuredSource;
