//! Codec of the HDF5 file format: one pure decoder and encoder per on-disk structure. No stability
//! promise: use the crate `hyperslab`.
//!
//! Each on-disk structure has a file named after the *HDF5 File Format Specification*. The file
//! holds the byte table, the struct, `decode`, `encode` and tests. Decoders and encoders are pure
//! functions of bytes and a small context. No decoder follows an address or accesses a file.
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
