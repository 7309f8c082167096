//! A file beside another one, which is there at some times and not at others: a journal.

use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use twox_hash::xxhash3_64;

use crate::sec2::sync_folder;
use crate::{Driver, DriverError, Result, Sec2};

/// The longest name of a file in a folder, in bytes, on nearly all file systems.
const NAME_MAX: usize = 255;

/// Bytes that are kept for what [`SideFile::set_aside`] adds to a name.
const ASIDE_MAX: usize = ".stale-999999".len();

/// How many names are tried for a file that is set aside.
const ASIDE_TRIES: u32 = 999_999;

/// A file that may be there or not.
pub trait SideFile: Send + Sync + Debug {
    /// Returns the file's name, for messages.
    fn name(&self) -> &str;

    /// Opens the file, for reading only or for both, or returns `None` if it is not there.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the file is there and cannot be opened, or is none that a [`SideFile`] made.
    fn open(&self, access: SideAccess) -> Result<Option<Arc<dyn Driver>>>;

    /// Makes the file. Its name survives a loss of power.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the file cannot be made, or is there already.
    fn create(&self) -> Result<Arc<dyn Driver>>;

    /// Removes the file. A loss of power may bring the file back with the bytes that were synced last. Does nothing if there is no
    /// file.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the file stays.
    fn remove(&self) -> Result<()>;

    /// Renames the file to a free name made of its own and `.stale-1`, `.stale-2`, …, and returns the new name.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the file is not there, or keeps its name.
    fn set_aside(&self) -> Result<String>;
}

/// The purpose for which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideAccess {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// A side file of the operating system.
///
/// Only a regular file is opened, never one that a symbolic link leads to, and on Unix only a file of the user who opens it, of the
/// owner of the file beside it, or of root: in a folder of a stranger, the name may lead anywhere.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("f.h5");
/// use hyperslab_vfd::{PathSideFile, SideAccess, SideFile};
/// let side = PathSideFile::beside(&path, ".hjournal");
/// assert!(side.open(SideAccess::Read)?.is_none());
/// side.create()?.write_at(0, b"abc")?;
/// assert_eq!(side.open(SideAccess::Read)?.map(|file| file.len()).transpose()?, Some(3));
/// side.remove()?;
/// assert!(!folder.path().join("f.h5.hjournal").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PathSideFile {
    path: PathBuf,
    name: String,
    /// The file beside which this one lies.
    main: Option<PathBuf>,
}

impl PathSideFile {
    /// Returns the side file at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let name = path.display().to_string();
        Self { path, name, main: None }
    }

    /// Returns the side file whose name is that of the file at `main` and `suffix`. If such a name is too long for a folder, a sum
    /// of the file's name stands in place of that.
    pub fn beside(main: &Path, suffix: &str) -> Self {
        // A path that ends in `..` has no name: its side file lies beside it with the suffix as its name.
        let file_name = main.file_name().unwrap_or_default();
        let mut name = match file_name.len() + suffix.len() + ASIDE_MAX {
            fits if fits <= NAME_MAX => file_name.to_owned(),
            _ => short_name(file_name),
        };
        name.push(suffix);
        Self { main: Some(main.to_owned()), ..Self::new(main.with_file_name(name)) }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, operation: &'static str, source: io::Error) -> DriverError {
        DriverError::io(self.name.as_str(), operation, source)
    }

    /// Opens the file without following a link, and checks that the file may be used.
    fn open_checked(&self, access: SideAccess) -> io::Result<(File, std::fs::Metadata)> {
        let mut options = OpenOptions::new();
        options.read(true).write(access == SideAccess::Write);
        never_follow(&mut options);
        let there = self.path.symlink_metadata()?;
        if !there.is_file() {
            let what = if there.is_symlink() { "a symbolic link" } else { "no regular file" };
            return Err(io::Error::other(format!("it is {what}, which no journal is; nothing was changed")));
        }
        let file = options.open(&self.path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is no regular file, as journals are; nothing was changed"));
        }
        self.check_owner(&metadata)?;
        Ok((file, metadata))
    }

    #[cfg(unix)]
    fn check_owner(&self, metadata: &std::fs::Metadata) -> io::Result<()> {
        use std::os::unix::fs::MetadataExt as _;
        let owner = metadata.uid();
        let main = self.main.as_ref().and_then(|main| main.metadata().ok()).map(|main| main.uid());
        if owner == 0 || owner == rustix::process::geteuid().as_raw() || main == Some(owner) {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "it belongs to another user (number {owner}), who alone should recover the file; nothing was changed"
            ),
        ))
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "other systems ask nothing")]
    fn check_owner(&self, _metadata: &std::fs::Metadata) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a short name in place of a file's long one.
fn short_name(name: &OsStr) -> OsString {
    format!(".{:016x}", xxhash3_64::Hasher::oneshot(name.as_encoded_bytes())).into()
}

#[cfg(unix)]
fn never_follow(options: &mut OpenOptions) {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed());
}

#[cfg(not(unix))]
fn never_follow(_options: &mut OpenOptions) {}

impl SideFile for PathSideFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self, access: SideAccess) -> Result<Option<Arc<dyn Driver>>> {
        use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
        match self.open_checked(access) {
            Ok((file, metadata)) => {
                let read_only = access == SideAccess::Read;
                Ok(Some(Arc::new(Sec2::of(file, &self.path, &metadata, read_only, None))))
            }
            Err(source) if matches!(source.kind(), NotFound | NotADirectory | InvalidFilename) => Ok(None),
            // A link is not followed, and what it leads to is no journal: readers go on without it.
            Err(_) if access == SideAccess::Read && !self.is_regular() => Ok(None),
            Err(source) => Err(self.error("open", source)),
        }
    }

    fn create(&self) -> Result<Arc<dyn Driver>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let file = options.open(&self.path).map_err(|source| self.error("make", source))?;
        let metadata = file.metadata().map_err(|source| self.error("inspect", source))?;
        sync_folder(&self.path).map_err(|source| self.error("sync the folder of", source))?;
        Ok(Arc::new(Sec2::of(file, &self.path, &metadata, false, None)))
    }

    fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(self.error("remove", source)),
            _ => Ok(()),
        }
    }

    fn set_aside(&self) -> Result<String> {
        for number in 1..=ASIDE_TRIES {
            let mut path = self.path.clone().into_os_string();
            path.push(format!(".stale-{number}"));
            let path = PathBuf::from(path);
            // The empty file keeps the name from others until it is replaced.
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => {}
                Err(source) if source.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(self.error("set aside", source)),
            }
            if let Err(source) = std::fs::rename(&self.path, &path) {
                // The failure to rename is reported; an empty file that stays does no harm.
                let _ = std::fs::remove_file(&path);
                return Err(self.error("set aside", source));
            }
            sync_folder(&path).map_err(|source| self.error("sync the folder of", source))?;
            return Ok(path.display().to_string());
        }
        Err(self.error("set aside", io::ErrorKind::AlreadyExists.into()))
    }
}

impl PathSideFile {
    fn is_regular(&self) -> bool {
        self.path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(file: &dyn Driver) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read_at(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_side_file_comes_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let side = PathSideFile::new(folder.path().join("side"));
        side.remove().unwrap();
        assert!(side.open(SideAccess::Write).unwrap().is_none());
        side.create().unwrap().write_at(0, b"abc").unwrap();
        assert!(side.create().is_err(), "the file is there");
        let read = side.open(SideAccess::Read).unwrap().unwrap();
        assert!(read.is_read_only());
        side.open(SideAccess::Write).unwrap().unwrap().write_at(1, b"x").unwrap();
        assert_eq!(bytes_of(&*read), b"axc");
        side.remove().unwrap();
        assert!(side.open(SideAccess::Read).unwrap().is_none());
        let nowhere = PathSideFile::new(folder.path().join("no folder").join("side"));
        assert!(nowhere.open(SideAccess::Read).unwrap().is_none());
        assert!(nowhere.create().is_err());
    }

    #[test]
    fn files_that_are_set_aside_keep_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let side = PathSideFile::beside(&folder.path().join("f.h5"), ".hjournal");
        assert!(side.set_aside().is_err());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        for number in 1..4 {
            side.create().unwrap().write_at(0, &[number]).unwrap();
            let name = side.set_aside().unwrap();
            assert!(name.ends_with(&format!("f.h5.hjournal.stale-{number}")), "{name}");
            assert_eq!(std::fs::read(name).unwrap(), [number]);
            assert!(!side.path().exists());
        }
    }

    #[test]
    fn long_names_of_files_have_short_side_files() {
        let folder = tempfile::tempdir().unwrap();
        let mut names = std::collections::HashSet::new();
        for length in [200, 230, 246, 247, 255] {
            let main = folder.path().join("n".repeat(length));
            std::fs::write(&main, b"").unwrap();
            let side = PathSideFile::beside(&main, ".hjournal");
            side.create().unwrap();
            assert!(names.insert(side.path().to_owned()));
            assert!(PathSideFile::beside(&main, ".hjournal").open(SideAccess::Write).unwrap().is_some());
            side.set_aside().unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
        std::fs::write(&victim, b"precious").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        let side = PathSideFile::new(&link);
        assert!(side.open(SideAccess::Read).unwrap().is_none(), "readers go on without it");
        let error = side.open(SideAccess::Write).unwrap_err().to_string();
        assert!(error.contains("link"), "{error}");
        assert!(side.create().is_err());
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        let folder_in_place = PathSideFile::new(folder.path());
        assert!(folder_in_place.open(SideAccess::Write).is_err());
    }
}
