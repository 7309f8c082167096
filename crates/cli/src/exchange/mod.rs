//! The exchange of sparse matrices with other programs: Matrix Market files, SciPy's npz files, and the CSR and CSC groups
//! of AnnData and 10x in HDF5 files. All of them are sources or sinks of [`entries`](crate::entries).

mod export;
mod group;
mod import;
mod place;

use std::path::{Path, PathBuf};

pub(crate) use export::{Goal, export};
pub(crate) use import::{Encoding, Kept, Wanted, import};
pub(crate) use place::{MatrixPlace, NamedFormat};

/// Returns the folder of a file, which holds its temporary files.
fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}
