//! Reads of structured chunks: to the positions of a selection, or as the defined elements in C order.

mod collect;
mod slabs;
mod source;

pub use slabs::{Defined, Slab};
pub use source::StructuredSource;
