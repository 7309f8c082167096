//! One algorithm over many blocks: trees, heaps and arrays. Walks carry limits and a visited set, so that
//! no file can make them loop.

pub mod btree_v1;
pub mod btree_v2;
pub mod fractal_heap;
pub mod global_heap;
pub mod local_heap;
pub mod shared_messages;
mod walk;

pub use walk::Walk;
