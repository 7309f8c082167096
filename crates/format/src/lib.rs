//! The HDF5 file format, byte for byte. No stability promise: use the crate `hyperslab`.
//!
//! One file per on-disk structure, named as in the *HDF5 File Format Specification*, with its byte table,
//! its struct, `decode`, `encode` and tests together. Everything here is pure: bytes and a small context by
//! value in, a value out. No decoder follows an address or sees a file.
#![forbid(unsafe_code)]

pub mod btree_v1;
mod btree_v1_view;
pub mod btree_v2;
pub mod chunk_index;
pub mod codec;
pub mod driver_info;
pub mod fractal_heap;
pub mod free_space;
pub mod global_heap;
pub mod journal;
pub mod local_heap;
pub mod message;
pub mod metadata_cache_image;
#[cfg(test)]
mod mutation;
pub mod object_header;
pub mod reference;
pub mod selection;
pub mod shared_message;
pub mod structured_chunk;
pub mod superblock;
pub mod symbol_table_entry;
pub mod symbol_table_node;
pub mod virtual_mapping;
