//! Structures of several blocks: B-trees and heaps. Each walk over blocks has a limit and a set of
//! visited addresses, so that every walk ends, even in a damaged file.

pub mod btree_v1;
pub mod btree_v2;
pub mod fractal_heap;
pub mod global_heap;
pub mod local_heap;
pub mod shared_messages;
mod walk;

pub use walk::VisitedBlocks;
