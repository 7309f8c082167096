//! HDF5 in Rust, without the C library.
//!
//! Open a file, walk its groups, read its datasets and attributes:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
//! use hyperslab::{File, LinkTarget};
//!
//! let file = File::open(path)?;
//! for link in file.links()? {
//!     if let LinkTarget::Hard(token) = link.target {
//!         println!("{}: {:?}", link.name_lossy(), file.object_at(token)?.kind());
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! Compounds and enumerations become structs and enums of one's own by [`H5Type`](derive@H5Type); what has a type
//! that is not known beforehand is read by [`Dataset::read_dyn`]:
//!
//! ```
//! # fn main() -> hyperslab::Result<()> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/datatypes_compound_latest.h5");
//! use hyperslab::{File, FixedText, H5Type};
//!
//! #[derive(Debug, Clone, Copy, H5Type)]
//! struct Row {
//!     id: u32,
//!     tag: FixedText<8>,
//! }
//!
//! let rows = File::open(path)?.dataset("nested")?.read_raw::<Row>(..)?;
//! assert_eq!((rows[0].id, rows[0].tag.as_str()), (1, "row0"));
//! # Ok(()) }
//! ```
//!
//! [`File`], [`Group`], [`Dataset`] and [`Attribute`] are cheap to clone and may be used from any number of
//! threads at once. Errors ([`Error`]) say whose fault they are ([`Error::kind`]) and, for damaged files, which
//! structure is wrong, at which address.
//!
//! # Features
//!
//! - `mmap` (on): the driver that maps a file into memory.
//! - `bzip2`, `lz4`, `lzo`, `snappy`, `zfp`, `zstd-rs` (all on): codecs of filters. A reader without one of them returns
//!   [`ErrorKind::Unsupported`] for chunks that need it. Deflate, shuffle, szip, n-bit, scale-offset, LZF, bitshuffle and
//!   Blosc are always there.
//! - `zstd`, `libdeflate`: Zstandard and deflate by C libraries.
//! - `sprs`: sparse datasets from and to the matrices of the crate `sprs`: `SparseView::write_sprs`,
//!   `read_sprs`, `read_sprs_csc`, `write_triplets`, `read_triplets`.
#![forbid(unsafe_code)]

mod access_options;
mod attribute;
mod attribute_edit;
mod conversion;
mod copy;
mod create;
mod creation_order;
mod dataset;
pub mod dataspace;
pub mod datatype;
mod driver;
mod dynamic;
mod external;
mod file;
pub mod filter;
mod group;
mod group_edit;
mod info;
mod journal_place;
mod layout;
mod locking;
mod object;
mod open_options;
mod pattern;
mod phase_change;
mod recovery;
mod reference;
mod repack;
mod selection;
mod slice;
mod sparse;
mod stored;
mod swmr;
pub mod vfd;
mod walk;

pub use access_options::AccessOptions;
pub use attribute::Attribute;
pub use attribute_edit::{AttributeContent, AttributeValue, Scalar};
pub use copy::CopyOptions;
pub use create::{Creating, FileOptions};
pub use creation_order::CreationOrder;
pub use dataset::{ArrayData, ArrayDataMut, Blocks, Chunks, Dataset, DatasetBuilder, Field, StoredChunk};
pub use driver::FileDriver;
pub use dynamic::{Column, DynArray, NamedValues, Value};
pub use external::ExternalFiles;
pub use file::File;
pub use group::{Group, GroupStorage, Link, LinkRef, LinkTarget};
pub use group_edit::GroupOptions;
pub use hyperslab_dataspace::{
    Block, Dataspace, DataspaceError, Hyperslab, Points, Region, RegularHyperslab, Selection, SetOperation,
    SimpleExtent, UNLIMITED,
};
pub use hyperslab_datatype::{CharacterSet, Datatype, DatatypeClass, FixedText, H5Type};
pub use hyperslab_derive::H5Type;
pub use hyperslab_engine::ops::datasets::ChunkIndexKind;
pub use hyperslab_engine::ops::datasets::VirtualView;
pub use hyperslab_engine::store::{Durability, FileLocking};
pub use hyperslab_engine::{Error, ErrorKind, LibraryVersion, LibverBounds, Limits, Result};
pub use info::{FileInfo, FileSpace, FileSpaceStrategy, HeaderInfo, SharedMessageIndexInfo, SharedMessages};
pub use layout::{
    AllocationTime, ChunkInfo, Chunking, ExternalFile, FillStatus, FillTime, FillValue, FilterInfo, Layout,
    SpaceStatus, VirtualMapping,
};
#[cfg(feature = "ndarray")]
pub use ndarray::{
    Array, Array0, Array1, Array2, Array3, Array4, Array5, Array6, ArrayD, ArrayViewD, Dimension, Ix0, Ix1,
    Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn,
};
pub use object::{CommittedDatatype, Object, ObjectKind, ObjectToken};
pub use open_options::{OpenOptions, Opening};
pub use pattern::PathPattern;
pub use phase_change::{EstimatedLinks, PhaseChange};
pub use recovery::{
    ChunkTally, EndRepair, JournalComparison, JournalOutcome, JournalRepair, JournalReport, JournalVerdict,
    Loss, LossPart, MarksRepair, Outcome, Recovery, Repaired, Salvaged, SalvagedObject, SalvagedState,
};
pub use reference::{Reference, ReferenceTarget};
pub use repack::{Repack, RepackLayout, Repacked};
pub use selection::{IntoSelection, Selected};
pub use slice::{Slice, fill};
pub use sparse::{
    Compressed, Defined, DefinedBlock, MatrixIndex, Section, SectionInfo, SelectionEncoding, SparseView,
    StructuredChunk, StructuredChunkInfo, StructuredChunking,
};
pub use stored::{Stored, VariableLength};
pub use walk::{Visited, Walk};
