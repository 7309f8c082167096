//! The reader of npz archives made by NumPy's `savez`, which writes each array to a dataset.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tempfile::NamedTempFile;

use super::archive::Archive;
use crate::formats::new_object::NewObject;
use crate::formats::npy;
use crate::formats::storage::Storage;

/// An npz archive of arrays that do not form a sparse matrix.
#[derive(Debug)]
pub(crate) struct Arrays {
    path: PathBuf,
    names: Vec<String>,
}

/// Returns true if an npz archive is a sparse matrix of SciPy.
pub(crate) fn is_matrix(path: &Path) -> Result<bool> {
    let archive = Archive::open(path)?;
    Ok(["format", "shape", "data"].iter().all(|name| archive.has(name)))
}

impl Arrays {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let archive = Archive::open(path)?;
        let names = archive.arrays();
        if names.is_empty() {
            bail!("the npz archive has no arrays");
        }
        Ok(Self { path: path.to_owned(), names })
    }

    /// Creates a group with a dataset for each array of the archive.
    pub(crate) fn write(&self, new: &NewObject<'_>, storage: &Storage<'_>) -> Result<()> {
        let archive = Archive::open(&self.path)?;
        let group = new.group()?;
        for name in &self.names {
            let array = || format!("array `{name}`");
            // The reader of npy files needs a file in which it can seek.
            let mut copy = NamedTempFile::with_prefix("hyperslab-")?;
            let (mut member, _) = archive.member(name)?;
            io::copy(&mut member, &mut copy).with_context(array)?;
            let source = npy::Source::open(copy.path()).with_context(array)?;
            source.write(new.file, group.new_dataset(name), storage).with_context(array)?;
        }
        Ok(())
    }
}
