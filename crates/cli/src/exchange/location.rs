//! The locations of sparse matrices: files, and paths in HDF5 files.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::{File, ObjectKind};

use super::group;
use crate::entries::{Nonzero, Source, dataset};
use crate::formats::{mtx, npz};

/// The format and location of a matrix: a file of a matrix format, or a path in an HDF5 file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MatrixLocation {
    /// A Matrix Market file, compressed by gzip or not.
    MatrixMarket {
        compressed: bool,
    },
    Npz,
    /// A path in an HDF5 file.
    Group(PathBuf, String),
}

/// A file format of a matrix that a command-line argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedFormat {
    MatrixMarket,
    Npz,
}

impl MatrixLocation {
    /// Returns the location of a matrix in a file. A command-line argument names the format of the
    /// file.
    pub(crate) fn named(name: &Path, format: NamedFormat) -> Self {
        match format {
            NamedFormat::MatrixMarket => {
                let compressed = name.to_string_lossy().to_lowercase().ends_with(".gz");
                Self::MatrixMarket { compressed }
            }
            NamedFormat::Npz => Self::Npz,
        }
    }

    /// Returns the location of a matrix by the extension of its file. Returns `None` if the
    /// extension belongs to no matrix format.
    pub(crate) fn of(name: &Path) -> Option<Self> {
        let lower = name.to_string_lossy().to_lowercase();
        let compressed = lower.ends_with(".gz");
        if lower.ends_with(".mtx") || lower.ends_with(".mtx.gz") {
            return Some(Self::MatrixMarket { compressed });
        }
        if lower.ends_with(".npz") {
            return Some(Self::Npz);
        }
        // A single letter before the colon is a drive.
        let (file, path) = name.to_str()?.rsplit_once(":/").filter(|(file, _)| file.len() > 1)?;
        Some(Self::Group(PathBuf::from(file), path.trim_matches('/').to_owned()))
    }

    /// Opens the matrix in the file `path`. `name` is the name of the file in errors.
    pub(crate) fn open(&self, path: &Path, name: &Path) -> Result<Box<dyn Source>> {
        let cannot = || format!("`{}`", name.display());
        match self {
            Self::MatrixMarket { .. } => Ok(Box::new(mtx::Reader::open(path).with_context(cannot)?)),
            Self::Npz => npz::open(path).with_context(cannot),
            Self::Group(file, path) => {
                let opened = File::open(file).with_context(|| format!("cannot open `{}`", file.display()))?;
                in_file(&opened, path)
            }
        }
    }
}

/// Opens the matrix at a path of an HDF5 file, which is a group of compressed rows or columns, or a
/// dataset.
pub(crate) fn in_file(file: &File, path: &str) -> Result<Box<dyn Source>> {
    let object = crate::lookup::object(file, path)?;
    let shown = || format!("`/{}`", path.trim_matches('/'));
    match object.kind() {
        Some(ObjectKind::Dataset) => {
            let dataset = object.into_dataset()?;
            if let Some(defined) = dataset::Defined::of(&dataset).with_context(shown)? {
                return Ok(Box::new(defined));
            }
            Ok(Box::new(Nonzero::new(dataset).with_context(shown)?))
        }
        Some(ObjectKind::Group) => {
            let found = object.into_group()?;
            if !group::is_matrix(&found).with_context(shown)? {
                bail!(
                    "{} is a group without the members `data`, `indices` and `indptr` of a matrix",
                    shown()
                );
            }
            group::open(&found).with_context(shown)
        }
        _ => bail!("{} is neither a dataset nor a group", shown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_identify_matrices() {
        let of = |name: &str| MatrixLocation::of(Path::new(name));
        assert_eq!(of("a.MTX"), Some(MatrixLocation::MatrixMarket { compressed: false }));
        assert_eq!(of("b/a.mtx.gz"), Some(MatrixLocation::MatrixMarket { compressed: true }));
        assert_eq!(of("a.npz"), Some(MatrixLocation::Npz));
        assert_eq!(of("b/a.h5ad:/raw/X/"), Some(MatrixLocation::Group("b/a.h5ad".into(), "raw/X".into())));
        for name in ["a.csv", "a.h5", "C:/a.h5", "a"] {
            assert_eq!(of(name), None, "{name}");
        }
        assert_eq!(MatrixLocation::named(Path::new("a.txt"), NamedFormat::Npz), MatrixLocation::Npz);
    }
}
