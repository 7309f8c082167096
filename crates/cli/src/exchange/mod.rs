//! Sparse matrices of other programs: Matrix Market files, SciPy's npz files, and the CSR and CSC groups that AnnData and
//! 10x keep in HDF5 files.
//!
//! All of them are sources or sinks of entries: coordinates and a value. Entries flow in batches from a source through
//! [`sorted`], which puts them in order and sums those of one place, to a sink. No more is in memory than a few batches and
//! one run of the sort; what is longer waits in temporary files.

mod batch;
mod columns;
mod compressed;
mod convert;
mod coordinates;
mod dataset;
mod dense;
mod element;
mod export;
mod group;
mod import;
mod matrix_market;
mod npz;
mod place;
mod pointers;
mod sorted;
mod spool;
mod transfer;

#[cfg(test)]
mod matrices;

use std::path::{Path, PathBuf};

pub(crate) use export::{Goal, export};
pub(crate) use import::{Encoding, Kept, Wanted, import};
pub(crate) use place::{Named, Place};

/// The folder of a file, where what waits for it is kept: there is room for as much again.
fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}
