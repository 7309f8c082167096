//! The straight lines: each operation of the library from its first byte to its last. The only room that
//! joins objects and raw data.

mod dataset;
mod heap;
mod members;
mod open;
mod virtual_;

pub use dataset::OpenDataset;
pub use heap::SharedHeap;
pub use members::{MemberRange, Members};
pub use open::{FileResolver, OpenFile};
