//! The HDF5 file format, byte for byte. No stability promise: use the crate `hyperslab`.
//!
//! One file per on-disk structure, named as in the *HDF5 File Format Specification*, with its byte table,
//! its struct, `decode`, `encode` and tests together. Everything here is pure: bytes and a small context by
//! value in, a value out. No decoder follows an address or sees a file.
#![forbid(unsafe_code)]

pub mod codec;
pub mod driver_info;
pub mod message;
pub mod metadata_cache_image;
