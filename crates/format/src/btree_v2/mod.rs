//! Version 2 B-trees (File Format Specification, section III.A.2): the header, the nodes, and the
//! records of each type.

mod header;
mod internal;
mod layout;
mod leaf;
pub mod records;

pub use header::BTreeV2Header;
pub use internal::{BTreeV2Child, BTreeV2Internal, BTreeV2InternalContext};
pub use layout::BTreeV2Layout;
pub use leaf::{BTreeV2Leaf, BTreeV2LeafContext};
