//! Is an HDF5 file sound? Every block that can be reached is walked, every checksum, count, order and
//! cross-reference verified, and every byte of the file accounted for. No stability promise: use `hyperslab check`.
//!
//! The walks here are not those of the engine: they see the extent of every block, go on after a fault, and look at
//! what readers pass over (statistics, free lists, reference counts). That makes the checker a judge of everything
//! that writes files. It takes bytes from the engine's [`Store`](hyperslab_engine::store::Store) and decoders from
//! `hyperslab-format`, nothing else.
//!
//! Arithmetic on values of a damaged file saturates here, so that the walk goes on after a fault: an end past 64 bits lies behind
//! the end of each file, and a sum past 64 bits differs from each number that a file can state. Both are faults.
//!
//! A **fault** contradicts the format, or makes a reader or writer of the file do wrong. A **remark** is worth
//! knowing and harms nobody. Space that nothing accounts for is neither: libhdf5 loses track of freed space in files
//! that do not keep it.
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

pub use extents::Kind;
pub use metadata::{MetadataBytes, Owner};
pub use open::{CheckOptions, check, check_path};
pub use report::{Finding, ObjectBytes, Report, Severity, Usage};
pub use show::Summary;
