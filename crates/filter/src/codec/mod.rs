//! Codecs that more than one filter uses. Errors name the filter that asked.

pub(crate) mod bit_planes;
pub(crate) mod blosclz;
pub(crate) mod choice;
pub(crate) mod lz4;
pub(crate) mod lz77;
pub(crate) mod snappy;
pub(crate) mod zlib;
pub(crate) mod zstd;
