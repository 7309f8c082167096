//! An auxiliary file that is created and removed as needed: the journal of a file.

use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use twox_hash::xxhash3_64;

use crate::sec2::sync_folder;
use crate::{Driver, DriverError, Result, Sec2};

/// The largest length, in bytes, that nearly all file systems allow for the name of a side file,
/// such as a journal.
const MAX_NAME_BYTES: usize = 255;

/// The number of bytes that the name of a side file, such as a journal, reserves for a suffix.
/// [`SideFile::set_aside`] appends the suffix.
const MAX_STALE_SUFFIX_BYTES: usize = ".stale-999999".len();

/// The largest number of new names that are tried for a side file (such as a journal) that must be
/// renamed, because it does not belong to the HDF5 file.
const MAX_STALE_NAMES: u32 = 999_999;

/// A file beside the HDF5 file, such as the journal. The side file need not exist.
pub trait SideFile: Send + Sync + Debug {
    /// Returns the name of the side file, such as the journal, for messages.
    fn name(&self) -> &str;

    /// Opens the side file, such as the journal, for the purpose `access`. Returns `None` if the
    /// side file does not exist.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the file exists and cannot be opened, or cannot have been created by
    /// a [`SideFile`].
    fn open(&self, access: SideAccess) -> Result<Option<Arc<dyn Driver>>>;

    /// Creates the side file, such as the journal. The directory entry of the side file then
    /// survives a loss of power.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the file exists or cannot be created.
    fn create(&self) -> Result<Arc<dyn Driver>>;

    /// Removes the side file, such as the journal. Does nothing if the side file does not exist.
    /// After a loss of power, the side file may exist again, with the bytes of the last sync.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the file cannot be removed.
    fn remove(&self) -> Result<()>;

    /// Sets the side file (such as a journal) aside: appends a suffix to its name, and returns the
    /// new name. The suffix is the first of `.stale-1`, `.stale-2`, … that leads to an unused name.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the file does not exist or cannot be renamed.
    fn set_aside(&self) -> Result<String>;
}

/// The purpose for which a side file, such as the journal, is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideAccess {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// A side file, such as the journal, in the operating system's file system.
///
/// In a folder of another user, the name may lead anywhere. Therefore only regular files are
/// opened, and symbolic links are not followed. On Unix, the owner of the file must be the current
/// user, the owner of the main file, or root.
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
    /// The main file to which this side file belongs.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has owners of files to compare"))]
    main: Option<PathBuf>,
}

impl PathSideFile {
    /// Creates the description of the side file (such as a journal) at `path`. Changes nothing on
    /// disk.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let name = path.display().to_string();
        Self { path, name, main: None }
    }

    /// Creates the description of a side file (such as a journal) in the folder of the file `main`.
    /// The name of the side file is the name of `main` followed by `suffix`. If this name is too
    /// long, a hash replaces the name of `main`.
    pub fn beside(main: &Path, suffix: &str) -> Self {
        // A path that ends in `..` has no file name, so the name consists of the suffix alone.
        let file_name = main.file_name().unwrap_or_default();
        let mut name = match file_name.len() + suffix.len() + MAX_STALE_SUFFIX_BYTES {
            fits if fits <= MAX_NAME_BYTES => file_name.to_owned(),
            _ => short_name(file_name),
        };
        name.push(suffix);
        Self { main: Some(main.to_owned()), ..Self::new(main.with_file_name(name)) }
    }

    /// Returns the path of the side file, such as the journal.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, operation: &'static str, source: io::Error) -> DriverError {
        DriverError::io(self.name.as_str(), operation, source)
    }

    /// Opens the side file, such as the journal, without following a symbolic link. Checks the type
    /// and the owner of the file.
    fn open_checked(&self, access: SideAccess) -> io::Result<(File, std::fs::Metadata)> {
        let mut options = OpenOptions::new();
        options.read(true).write(access == SideAccess::Write);
        never_follow(&mut options);
        let metadata = self.path.symlink_metadata()?;
        if !metadata.is_file() {
            let subject = if metadata.is_symlink() { "a symbolic link" } else { "not a regular file" };
            return Err(io::Error::other(format!(
                "the file is {subject}, not a journal; nothing was changed"
            )));
        }
        let file = options.open(&self.path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other(
                "the file is not a regular file, so not a journal; nothing was changed",
            ));
        }
        self.check_owner(&metadata)?;
        Ok((file, metadata))
    }

    /// Checks that the side file, such as the journal, belongs to a user whom the process trusts.
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
                "the journal belongs to another user (uid {owner}), who should recover the file; nothing was changed"
            ),
        ))
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "other systems ask nothing")]
    fn check_owner(&self, _metadata: &std::fs::Metadata) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a hash of a long file name. The hash serves as a short name for the side file, such as
/// the journal.
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
            // A symbolic link, or another file that is not regular, is no journal: readers ignore
            // it.
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
        for number in 1..=MAX_STALE_NAMES {
            let mut path = self.path.clone().into_os_string();
            path.push(format!(".stale-{number}"));
            let path = PathBuf::from(path);
            // An empty file reserves the name until the rename replaces it.
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => {}
                Err(source) if source.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(self.error("set aside", source)),
            }
            if let Err(source) = std::fs::rename(&self.path, &path) {
                // The failed rename is reported. An empty file that remains does no harm.
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
