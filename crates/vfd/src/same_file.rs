//! A comparison of two paths that may lead to the same file.

use std::path::Path;

/// Returns true if two paths lead to the same existing file. Follows symbolic links. Recognizes
/// hard links on systems with inode numbers.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (one, other) = (folder.path().join("one"), folder.path().join("other"));
/// std::fs::write(&one, "")?;
/// std::fs::hard_link(&one, &other)?;
/// # #[cfg(unix)]
/// assert!(hyperslab_vfd::is_same_file(&one, &other));
/// assert!(!hyperslab_vfd::is_same_file(&one, folder.path().join("none")));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn is_same_file(one: impl AsRef<Path>, other: impl AsRef<Path>) -> bool {
    let (one, other) = (one.as_ref(), other.as_ref());
    let paths = matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other);
    paths || is_same_node(one, other)
}

/// Returns whether two paths lead to files with equal device and inode numbers.
#[cfg(unix)]
fn is_same_node(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// Returns false for all pairs of paths, because the standard library has inode numbers only on
/// Unix.
#[cfg(not(unix))]
fn is_same_node(_one: &Path, _other: &Path) -> bool {
    false
}
