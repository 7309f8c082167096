//! HDF5 filters: encoding and decoding of chunk bytes. This crate promises no stable API: use the
//! crate `hyperslab`.
//!
//! A [`Filter`] encodes the bytes of a chunk (`encode`) and decodes them (`decode`). A [`Pipeline`]
//! runs the filters of a dataset, which come from a [`Registry`]. Filters process plain bytes. Only
//! when a dataset is created do filters learn the type of the elements ([`DatasetFacts`]), to
//! compute the parameters of a [`FilterSpec`].
//!
//! ```
//! use hyperslab_filter::{ChunkTarget, FilterId, Pipeline, Registry, Stage};
//!
//! let registry = Registry::default();
//! let pipeline = Pipeline::new(vec![
//!     Stage::new(FilterId::SHUFFLE, &[4]),
//!     Stage::new(FilterId::DEFLATE, &[6]),
//! ]);
//! let chunk: Vec<u8> = (0..1000_u32).flat_map(u32::to_le_bytes).collect();
//! let target = ChunkTarget::of_length(chunk.len());
//! let (stored, mask) = pipeline.encode_chunk(&registry, &chunk[..], &target)?;
//! assert!(stored.len() < chunk.len() / 2);
//! assert_eq!(pipeline.decode_chunk(&registry, mask, stored, &target)?, chunk);
//! # Ok::<(), hyperslab_filter::FilterError>(())
//! ```
#![forbid(unsafe_code)]

mod bits;
mod bitshuffle;
mod blosc;
mod blosc2;
#[cfg(feature = "bzip2")]
mod bzip2;
mod codec;
pub mod conformance;
mod deflate;
mod error;
mod facts;
mod fcidecomp;
mod filter;
mod fletcher32;
mod id;
#[cfg(feature = "lz4")]
mod lz4;
mod lzf;
#[cfg(feature = "lzo")]
mod lzo;
pub mod nbit;
mod pipeline;
mod quantised;
mod registry;
pub mod scaleoffset;
mod shuffle;
mod spec;
mod sperr;
mod sz;
mod sz3;
pub mod szip;
mod vbz;
mod workspace;
#[cfg(feature = "zfp")]
pub mod zfp;
#[cfg(any(feature = "zstd-rs", feature = "zstd"))]
mod zstd;

pub use bitshuffle::Bitshuffle;
pub use blosc::Blosc;
pub use blosc2::Blosc2;
#[cfg(feature = "bzip2")]
pub use bzip2::Bzip2;
pub use deflate::Deflate;
pub use error::{FilterError, Result};
pub use facts::{DatasetFacts, DatasetFill};
pub use fcidecomp::Fcidecomp;
pub use filter::{Filter, FilterContext, Produced};
pub use fletcher32::{Fletcher32, fletcher32};
pub use id::FilterId;
#[cfg(feature = "lz4")]
pub use lz4::Lz4;
pub use lzf::Lzf;
#[cfg(feature = "lzo")]
pub use lzo::Lzo;
pub use nbit::Nbit;
pub use pipeline::{ChunkTarget, Pipeline, Scratch, Stage};
pub use quantised::{BitGroom, GranularBitRound};
pub use registry::Registry;
pub use scaleoffset::ScaleOffset;
pub use shuffle::Shuffle;
pub use spec::{BitshuffleCodec, BloscCodec, BloscTransform, FilterSpec, ParseFilterError, SzipCoding};
pub use sperr::Sperr;
pub use sz::Sz;
pub use sz3::Sz3;
pub use szip::Szip;
pub use vbz::Vbz;
pub use workspace::Workspace;
#[cfg(feature = "zfp")]
pub use zfp::Zfp;
#[cfg(any(feature = "zstd-rs", feature = "zstd"))]
pub use zstd::Zstd;
