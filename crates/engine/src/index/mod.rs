//! Structures of several blocks: B-trees and heaps. Each walk over blocks has a limit and a set of
//! visited addresses, so that no file makes a walk loop.

pub mod btree_v1;
pub mod btree_v2;
pub mod fractal_heap;
pub mod global_heap;
pub mod local_heap;
pub mod shared_messages;
mod walk;

pub use walk::VisitedBlocks;
