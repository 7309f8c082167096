//! The path of the journal of a file.

use std::fs::Metadata;
use std::path::Path;
use std::sync::Arc;

use hyperslab_vfd::{PathSideFile, SideFile};

/// Returns the journal of the file at `path`. All symbolic links to the file lead to the same
/// journal.
pub(crate) fn journal_of(path: &Path) -> Arc<dyn SideFile> {
    // A symbolic link in the folder part of the path does not change the folder of the journal. A
    // symbolic link as the last name may lead to another folder.
    let entry = path.symlink_metadata().ok();
    let is_link = entry.as_ref().is_some_and(Metadata::is_symlink);
    let path = if is_link { std::fs::canonicalize(path) } else { std::path::absolute(path) }
        .unwrap_or_else(|_| path.to_owned());
    let file = if is_link { path.metadata().ok() } else { entry };
    let own = journal_beside(&path);
    let other = file.filter(has_other_names).filter(|_| !own.path().exists());
    Arc::new(other.and_then(|file| journal_of_other_name(&path, &file)).unwrap_or(own))
}

/// Returns whether a file has several hard links.
#[cfg(unix)]
fn has_other_names(file: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.is_file() && file.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_names(_file: &Metadata) -> bool {
    false
}

/// Returns the journal that lies beside another hard link to `file` in the folder of `path`, if
/// such a journal exists.
#[cfg(unix)]
fn journal_of_other_name(path: &Path, file: &Metadata) -> Option<PathSideFile> {
    use std::os::unix::fs::MetadataExt as _;
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
fn journal_of_other_name(_path: &Path, _file: &Metadata) -> Option<PathSideFile> {
    None
}

/// Returns the journal beside the file at `path`. The path must be absolute, and must not be a
/// symbolic link.
pub(crate) fn journal_beside(path: &Path) -> PathSideFile {
    PathSideFile::beside(path, ".hjournal")
}
