//! The commands that change files: `cp`, `mv`, `rm`, `mkdir`, `ln` and `attr`.

mod attr;
mod copy;
mod links;
mod whole;

use std::ops::Deref;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use hyperslab::{File, FileOptions, OpenOptions};

use crate::remote::{self, Draft};

pub(crate) use attr::{AttrArguments, attr};
pub(crate) use copy::{CpArguments, cp};
pub(crate) use links::{LnArguments, MkdirArguments, MvArguments, RmArguments, ln, mkdir, mv, rm};
pub(crate) use whole::create_whole;

/// A file that a command changes: a file on disk, or a local file that replaces an object of a
/// store.
pub(crate) enum Changing {
    Local(File),
    Draft(Box<Draft>),
}

impl Deref for Changing {
    type Target = File;

    fn deref(&self) -> &File {
        match self {
            Self::Local(file) => file,
            Self::Draft(draft) => draft,
        }
    }
}

/// Opens the HDF5 file of a command for changes. An object of a store is copied to a local file.
pub(crate) fn open(path: &Path) -> Result<Changing> {
    if let Some(url) = remote::url(path) {
        return remote::draft(url, false).map(Box::new).map(Changing::Draft);
    }
    let options = OpenOptions::new().write(true);
    let file = options.open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    crate::open::warn_of_journal(&file);
    Ok(Changing::Local(file))
}

/// Opens a file for changes. Creates the file if it does not exist.
pub(crate) fn open_or_create(path: &Path) -> Result<Changing> {
    if let Some(url) = remote::url(path) {
        return remote::draft(url, true).map(Box::new).map(Changing::Draft);
    }
    if path.exists() {
        return open(path);
    }
    let created = FileOptions::new().create_new(path);
    created.map(Changing::Local).with_context(|| format!("cannot create `{}`", path.display()))
}

/// Opens an HDF5 file for changes, calls `work` with the file, and closes the file. An object of a
/// store is replaced only if `work` succeeds.
pub(crate) fn change<T>(path: &Path, file: Changing, work: impl FnOnce(&File) -> Result<T>) -> Result<T> {
    let shown = remote::shown(path);
    let outcome = work(&file).with_context(|| format!("`{shown}`"));
    // Changes of a local file before an error are kept, as in other commands that take several
    // names.
    let closed = match file {
        Changing::Local(file) => file.close(),
        Changing::Draft(draft) if outcome.is_err() => {
            draft.discard();
            Ok(())
        }
        Changing::Draft(draft) => draft.close().map(drop),
    };
    let closed = closed.with_context(|| format!("cannot write `{shown}`"));
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
