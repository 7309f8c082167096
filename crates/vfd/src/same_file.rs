//! Whether two paths lead to one file.

use std::path::Path;

/// Whether both paths lead to one file that is there: through symbolic links, and by hard links where the system numbers its files.
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

#[cfg(unix)]
fn is_same_node(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// The standard library tells the numbers of files on Unix only.
#[cfg(not(unix))]
fn is_same_node(_one: &Path, _other: &Path) -> bool {
    false
}
