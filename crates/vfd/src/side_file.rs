//! A file beside another one, which is there at some times and not at others: a journal.

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::sec2::sync_folder;
use crate::{Access, Boot, Driver, DriverError, Result, Sec2};

/// A file that may be there or not.
pub trait SideFile: Send + Sync + Debug {
    /// The file's name, for people.
    fn name(&self) -> &str;

    /// The file as it is, for reading only or for both, or `None` if it is not there.
    ///
    /// # Errors
    /// [`DriverError::Io`] if it is there and cannot be opened.
    fn open(&self, access: SideAccess) -> Result<Option<Arc<dyn Driver>>>;

    /// The file, made and empty if it was not there, as it is if it was. That it is there survives a loss of power.
    ///
    /// # Errors
    /// [`DriverError::Io`] if it cannot be made.
    fn create(&self) -> Result<Arc<dyn Driver>>;

    /// Lets the file be no more. A loss of power may bring it back as it was synced last. Without a file, nothing happens.
    ///
    /// # Errors
    /// [`DriverError::Io`] if it is there and stays.
    fn remove(&self) -> Result<()>;

    /// The start of the system under which the file is used, if that is known.
    fn boot(&self) -> Option<Boot> {
        None
    }
}

/// What is to be done with a file that is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideAccess {
    /// It is read.
    Read,
    /// It is read and written.
    Write,
}

/// A side file of the operating system.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("f.hjournal");
/// use hyperslab_vfd::{PathSideFile, SideAccess, SideFile};
/// let side = PathSideFile::new(&path);
/// assert!(side.open(SideAccess::Read)?.is_none());
/// side.create()?.write_at(0, b"abc")?;
/// assert_eq!(side.open(SideAccess::Read)?.map(|file| file.len()).transpose()?, Some(3));
/// side.remove()?;
/// assert!(!path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PathSideFile {
    path: PathBuf,
    name: String,
}

impl PathSideFile {
    /// The file at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let name = path.display().to_string();
        Self { path, name }
    }

    fn error(&self, operation: &'static str, source: io::Error) -> DriverError {
        DriverError::io(self.name.as_str(), operation, source)
    }
}

impl SideFile for PathSideFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self, access: SideAccess) -> Result<Option<Arc<dyn Driver>>> {
        let access = match access {
            SideAccess::Read => Access::ReadOnly,
            SideAccess::Write => Access::ReadWrite,
        };
        match Sec2::open(&self.path, access) {
            Ok(file) => Ok(Some(Arc::new(file))),
            Err(DriverError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn create(&self) -> Result<Arc<dyn Driver>> {
        let file = Sec2::open(&self.path, Access::Create)?;
        sync_folder(&self.path).map_err(|source| self.error("sync the folder of", source))?;
        Ok(Arc::new(file))
    }

    fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(self.error("remove", source)),
            _ => Ok(()),
        }
    }

    fn boot(&self) -> Option<Boot> {
        Boot::current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_file_comes_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let side = PathSideFile::new(folder.path().join("side"));
        side.remove().unwrap();
        assert!(side.open(SideAccess::Write).unwrap().is_none());
        side.create().unwrap().write_at(0, b"abc").unwrap();
        assert_eq!(side.create().unwrap().len().unwrap(), 3, "what is there stays");
        let read = side.open(SideAccess::Read).unwrap().unwrap();
        assert!(read.is_read_only());
        side.open(SideAccess::Write).unwrap().unwrap().write_at(1, b"x").unwrap();
        let mut bytes = [0; 3];
        read.read_at(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"axc");
        side.remove().unwrap();
        assert!(side.open(SideAccess::Read).unwrap().is_none());
        let nowhere = PathSideFile::new(folder.path().join("no folder").join("side"));
        assert!(nowhere.open(SideAccess::Read).unwrap().is_none());
        assert!(nowhere.create().is_err());
    }
}
