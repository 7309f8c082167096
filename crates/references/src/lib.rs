//! References to the chunks of HDF5 files, with which zarr reads the files: for each dataset the
//! metadata of zarr version 2, and for each chunk its URL, offset and length. The chunks stay in
//! the HDF5 file.
//!
//! [`ReferenceOptions::write_json`] writes kerchunk's form version 1, and `write_parquet` (feature
//! `parquet`) its Parquet form. fsspec's reference file system reads both.
//! [`ReferenceOptions::visit`] passes the references to a [`Visitor`].
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
//! use hyperslab_references::ReferenceOptions;
//!
//! let file = hyperslab::File::open(path)?;
//! let mut json = Vec::new();
//! let options = ReferenceOptions::new("s3://bucket/weather_station.h5").skip_unsupported(true);
//! let report = options.write_json(file.root(), &mut json)?;
//! assert!(report.arrays > 0);
//! # Ok::<(), hyperslab::Error>(())
//! ```
//!
//! # Chunks that zarr cannot decode in place
//!
//! The filters deflate, shuffle, fletcher32, zstd, blosc and bzip2 have a codec of zarr. Elements
//! that lie elsewhere than in a readable chunk are written into the references, decoded: compact
//! data, texts of variable length, chunks that were stored without some of their filters. Datasets
//! that zarr cannot read by any reference are named in the [`Report`];
//! [`ReferenceOptions::recode`] writes their chunks to a file of their own.
#![forbid(unsafe_code)]

mod array;
mod attributes;
mod chunks;
mod codecs;
mod decoded;
mod dimensions;
mod element;
mod fill;
mod grid;
mod json;
mod json_file;
mod linear;
mod options;
#[cfg(feature = "parquet")]
mod parquet_files;
mod report;
mod texts;
mod unlimited;
mod values;
mod virtual_;
mod walk;

pub use array::{Array, Chunk, Content};
pub use json::Json;
pub use options::{ReferenceOptions, Visitor};
pub use report::{Report, Skipped};
