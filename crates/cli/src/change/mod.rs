//! The commands that change files: `cp`, `mv`, `rm`, `mkdir`, `ln` and `attr`.

mod attr;
mod copy;
mod links;
mod whole;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab::{File, FileOptions, OpenOptions};

pub(crate) use attr::{AttrArguments, attr};
pub(crate) use copy::{CpArguments, cp};
pub(crate) use links::{LnArguments, MkdirArguments, MvArguments, RmArguments, ln, mkdir, mv, rm};
pub(crate) use whole::create_whole;

/// Opens the HDF5 file of a command for changes.
pub(crate) fn open(path: &Path) -> Result<File> {
    let options = OpenOptions::new().write(true);
    let file = options.open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    crate::open::warn_of_journal(&file);
    Ok(file)
}

/// Opens a file for changes. Creates the file if it does not exist.
pub(crate) fn open_or_create(path: &Path) -> Result<File> {
    if path.exists() {
        return open(path);
    }
    FileOptions::new().create_new(path).with_context(|| format!("cannot create `{}`", path.display()))
}

/// Opens an HDF5 file for changes, calls `work` with the file, and closes the file.
pub(crate) fn change<T>(path: &Path, file: File, work: impl FnOnce(&File) -> Result<T>) -> Result<T> {
    let outcome = work(&file).with_context(|| format!("`{}`", path.display()));
    // Changes before an error are kept, as in other commands that take several names.
    let closed = file.close().with_context(|| format!("cannot write `{}`", path.display()));
    let outcome = outcome?;
    closed?;
    Ok(outcome)
}

/// Returns the path of an object that has a name. Returns an error if the path leads to the root
/// group, which has none.
pub(crate) fn named(path: &str) -> Result<&str> {
    if path.trim_matches('/').is_empty() {
        bail!("the path `/` is the root group, which has no name: give the path of a link in a group");
    }
    Ok(path)
}

/// Parses the shape of a dataset on the command line, such as `2x3`.
pub(crate) fn shape(text: &str) -> Result<Vec<u64>, String> {
    attr::shape(text).map(|shape| shape.0)
}
