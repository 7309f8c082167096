//! Integrity check of HDF5 files. The checker walks every block that can be reached, verifies every
//! checksum, count, order and cross-reference, and accounts for every byte of the file. The crate
//! has no stability promise: use `hyperslab check`.
//!
//! The checker does not use the engine's readers. Its own walks record the extent of every block,
//! continue after a fault, and check the structures that readers skip (statistics, free lists,
//! reference counts). The checker can therefore judge every program that writes files. It takes
//! bytes from the engine's [`Store`](hyperslab_engine::store::Store) and decoders from
//! `hyperslab-format`.
//!
//! Arithmetic on values of a damaged file saturates, so that the walk continues after a fault. An
//! end past 64 bits lies past the end of every file, and a sum past 64 bits differs from every
//! number that a file can state. Both are faults.
//!
//! A **fault** contradicts the format, or makes a reader or writer of the file do wrong. A
//! **remark** is worth knowing and does no harm. Space that nothing accounts for is neither of
//! these: libhdf5 loses track of freed space in files that do not keep it.
#![forbid(unsafe_code)]

mod attributes;
mod blocks;
mod btree_v1;
mod btree_v2;
mod chunk_arrays;
mod chunks;
mod dataset;
mod dense;
mod elements;
mod extensible_array;
mod extents;
mod file;
mod file_space;
mod fractal_heap;
mod global_heap;
mod group;
mod header;
mod heap_statistics;
mod json;
mod metadata;
mod object;
mod open;
mod report;
mod shared;
mod show;
mod structured_chunks;
mod symbol_table;
mod totals;

pub use extents::BlockKind;
pub use metadata::{MetadataBytes, Owner};
pub use open::{CheckOptions, check, check_path};
pub use report::{Finding, ObjectBytes, Report, Severity, Usage};
pub use show::Summary;
