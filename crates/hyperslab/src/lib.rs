//! HDF5 in Rust, without the C library: reads, writes and changes HDF5 files.
//!
//! # Reading
//!
//! [`File::open`] opens a file for reading. A [`File`] dereferences to its root [`Group`]:
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
//! [`Dataset::read`] reads elements into arrays of the crate `ndarray`, [`Dataset::read_raw`] into
//! vectors, and [`Dataset::read_dyn`] into dynamic values of any datatype. The derive macro
//! [`H5Type`](derive@H5Type) maps compounds and enumerations to structs and enums:
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
//! # Writing
//!
//! [`File::create`] and [`FileOptions`] create files, [`OpenOptions`] opens existing files for
//! writing. Changes become durable with [`File::flush`] and [`File::close`]:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("new.h5");
//! let file = hyperslab::File::create(&path)?;
//! let log = file.new_dataset("log").write(&[1.5, 2.5])?;
//! log.set_attribute("unit", "V")?;
//! file.close()?;
//! # Ok(()) }
//! ```
//!
//! # Threads and errors
//!
//! [`File`], [`Group`], [`Dataset`] and [`Attribute`] are handles: cheap to clone, and usable from
//! several threads at the same time. [`Error::kind`] tells damaged files, unsupported features,
//! limits, misuse and I/O failures apart. The error for a damaged file names the structure and its
//! address.
//!
//! # Features
//!
//! - `ndarray` (on by default): arrays of the crate `ndarray` as results and arguments. Without
//!   this feature, `Dataset::read_raw`, `read_stored` and `read_into` read into vectors and slices.
//! - `parallel` (on): reads and writes on several threads, by rayon. Without this feature all work
//!   is done on the calling thread.
//! - `mmap` (on): the driver that maps a file into memory.
//! - `bzip2`, `lz4`, `lzo`, `snappy`, `zfp`, `zstd-rs` (all on): codecs of filters. Without a
//!   codec, access to chunks that need it returns [`ErrorKind::Unsupported`]. Deflate, shuffle,
//!   szip, n-bit, scale-offset, LZF, bitshuffle and the structure of Blosc are always built in.
//! - `zlib-rs-inflate`: the decoder of zlib-rs for deflate, which is faster than `fdeflate` and has
//!   unsafe code.
//! - `rust-zstd`: Zstandard by the crate rust-zstd in place of zstd-rs, which is faster and has
//!   unsafe code.
//! - `fast-codecs`: both of these.
//! - `zstd`, `libdeflate`, `liblz4`: Zstandard, deflate and LZ4 by C libraries.
//! - `sprs`: sparse datasets from and to matrices of the crate `sprs`: `SparseView::write_sprs`,
//!   `read_sprs`, `read_sprs_csc`, `write_triplets`, `read_triplets`. Includes `ndarray`.
#![forbid(unsafe_code)]

mod access_options;
mod attribute;
mod attribute_bytes;
mod attribute_edit;
mod byte_names;
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
mod known;
mod layout;
mod locking;
mod object;
mod open_options;
mod other_files;
mod pattern;
mod phase_change;
mod prefetch;
mod rearrangement;
mod recovery;
mod reference;
mod repack;
mod scale;
mod selection;
pub mod serialized;
mod slice;
mod space;
mod sparse;
mod stored;
mod swmr;
mod unlinked;
pub mod vfd;
mod walk;

pub use access_options::AccessOptions;
pub use attribute::Attribute;
pub use attribute_bytes::{AttributeElements, AttributeForm};
pub use attribute_edit::{AttributeContent, AttributeValue, Scalar};
pub use byte_names::{ByteNames, Found};
pub use copy::CopyOptions;
pub use create::{Creating, FileOptions};
pub use creation_order::CreationOrder;
pub use dataset::{
    ArrayData, ArrayDataMut, Blocks, Chunks, Dataset, DatasetAccess, DatasetBuilder, Field, StoredChunk,
};
pub use driver::FileDriver;
pub use dynamic::{Column, DynArray, NamedValues, Value};
pub use external::{ExternalFiles, OpenFiles};
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
pub use hyperslab_engine::store::{Durability, FileLocking, NewMembers};
pub use hyperslab_engine::{Error, ErrorKind, LibraryVersion, LibverBounds, Limits, Result};
pub use info::{
    FileInfo, FileMetadataBytes, FileSpace, FileSpaceStrategy, HeaderInfo, SharedMessageIndexInfo,
    SharedMessages,
};
pub use layout::{
    AllocationTime, ChunkInfo, Chunking, ExternalFile, FillStatus, FillTime, FillValue, FilterInfo, Layout,
    SpaceStatus, VirtualMapping,
};
#[cfg(feature = "ndarray")]
pub use ndarray::{
    Array, Array0, Array1, Array2, Array3, Array4, Array5, Array6, ArrayD, ArrayViewD, Dimension, Ix0, Ix1,
    Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn,
};
pub use object::{CommittedDatatype, HeaderSizes, IndexBytes, Object, ObjectKind, ObjectToken};
pub use open_options::{OpenOptions, Opening};
pub use other_files::{OtherFile, OtherFiles};
pub use pattern::PathPattern;
pub use phase_change::{EstimatedLinks, PhaseChange};
pub use recovery::{
    ChunkTally, EndRepair, JournalComparison, JournalOutcome, JournalRepair, JournalReport, JournalVerdict,
    Loss, LossPart, Outcome, Recovery, Repaired, Salvaged, SalvagedObject, SalvagedState, StatusFlagsRepair,
};
pub use reference::{Reference, ReferenceTarget};
pub use repack::{Repack, RepackLayout, Repacked};
pub use scale::Dimensions;
pub use selection::{IntoSelection, Selected};
pub use slice::{Slice, Step, fill};
pub use sparse::{
    Compressed, Defined, DefinedBlock, MatrixIndex, Section, SectionInfo, SelectionEncoding, SparseView,
    StructuredChunk, StructuredChunkInfo, StructuredChunking,
};
pub use stored::{Stored, VariableLength};
pub use walk::{Visited, Walk};
