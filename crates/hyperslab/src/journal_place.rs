//! The path of the journal of a file.

use std::path::Path;
use std::sync::Arc;

use hyperslab_vfd::{PathSideFile, SideFile};

/// Returns the journal of the file at `path`. All symbolic links to the file lead to the same
/// journal.
pub(crate) fn journal_of(path: &Path) -> Arc<dyn SideFile> {
    // A symbolic link in the folder part of the path does not change the folder of the journal. A
    // symbolic link as the last name may lead to another folder.
    let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    let path = if is_link { std::fs::canonicalize(path) } else { std::path::absolute(path) }
        .unwrap_or_else(|_| path.to_owned());
    let own = journal_beside(&path);
    Arc::new(if own.path().exists() { own } else { journal_of_other_name(&path).unwrap_or(own) })
}

/// Returns the journal that lies beside another hard link to the file in the same folder, if such a
/// journal exists.
#[cfg(unix)]
fn journal_of_other_name(path: &Path) -> Option<PathSideFile> {
    use std::os::unix::fs::MetadataExt as _;
    let file = path.metadata().ok().filter(|file| file.is_file() && file.nlink() > 1)?;
    let is_same = |other: &Path| {
        let other = other.symlink_metadata();
        other.is_ok_and(|other| (other.dev(), other.ino()) == (file.dev(), file.ino()))
    };
    let entries = path.parent()?.read_dir().ok()?.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let journals = entries.filter(|entry| entry.extension().is_some_and(|end| end == "hjournal"));
    journals
        .map(|journal| journal.with_extension(""))
        .find(|other| is_same(other))
        .map(|other| journal_beside(&other))
}

#[cfg(not(unix))]
fn journal_of_other_name(_path: &Path) -> Option<PathSideFile> {
    None
}

/// Returns the journal beside the file at `path`. The path must be absolute, and must not be a
/// symbolic link.
pub(crate) fn journal_beside(path: &Path) -> PathSideFile {
    PathSideFile::beside(path, ".hjournal")
}
