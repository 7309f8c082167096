//! The exchange of sparse matrices with other programs: Matrix Market files, npz files of SciPy,
//! and the CSR and CSC groups of AnnData and 10x in HDF5 files. Each format is a source or a sink
//! of [`entries`](crate::entries).

mod export;
mod group;
mod import;
mod location;

use std::path::{Path, PathBuf};

pub(crate) use export::{ExportTarget, export};
pub(crate) use import::{Encoding, ImportOptions, MatrixForm, import};
pub(crate) use location::{MatrixLocation, NamedFormat};

/// Returns the folder of a file, in which the program also creates temporary files.
fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}
