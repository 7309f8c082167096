//! The driver for a single file of the operating system.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hyperslab_exact::to_u64;

use crate::driver::range_end;
use crate::positional::{read_exact_at, write_all_at};
use crate::{Driver, DriverError, DriverKind, FileIdentity, LockHolders, LockKind, Result};

/// The mode in which a file driver opens a file: for reading, for writing, or as a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// An existing file, for reading.
    ReadOnly,
    /// An existing file, for reading and writing.
    ReadWrite,
    /// A file for reading and writing, created if it does not exist. An existing file keeps its
    /// bytes.
    ///
    /// To replace a file that another process may have locked: open it in this mode, take the lock,
    /// and then set the length to 0 with [`Driver::set_len`].
    Create,
    /// A file for reading and writing, created if it does not exist. An existing file is emptied.
    Truncate,
    /// A new file for reading and writing. An existing file is an error.
    CreateNew,
}

impl Access {
    fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(true).write(self != Self::ReadOnly);
        match self {
            Self::ReadOnly | Self::ReadWrite => {}
            Self::Create => {
                options.create(true).truncate(false);
            }
            Self::Truncate => {
                options.create(true).truncate(true);
            }
            Self::CreateNew => {
                options.create_new(true);
            }
        }
        options
    }
}

/// A driver for a file of the operating system that reads and writes without a buffer. The name
/// refers to section 2 of the Unix manual: system calls.
#[derive(Debug)]
pub struct Sec2 {
    file: File,
    name: String,
    identity: Option<FileIdentity>,
    read_only: bool,
    /// The path of a file whose directory entry may not survive a loss of power yet. `None` after
    /// the folder was synced.
    unsynced_path: Mutex<Option<PathBuf>>,
}

impl Sec2 {
    /// Opens the file at `path` with the unbuffered driver.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the system call fails, or if `path` is no regular file: opening a
    /// pipe may block forever, and a device has no length.
    pub fn open(path: impl AsRef<Path>, access: Access) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            return Err(DriverError::io(name, "open", io::Error::other("not a regular file")));
        }
        let file =
            access.options().open(path).map_err(|source| DriverError::io(name.as_str(), "open", source))?;
        let metadata = file.metadata().map_err(|source| DriverError::io(name.as_str(), "inspect", source))?;
        if metadata.is_dir() {
            return Err(DriverError::io(name, "open", io::ErrorKind::IsADirectory.into()));
        }
        let made = !matches!(access, Access::ReadOnly | Access::ReadWrite);
        let unsynced_path = made.then(|| path.to_owned());
        Ok(Self::of(file, path, &metadata, access == Access::ReadOnly, unsynced_path))
    }

    /// Creates the unbuffered driver of an open regular file. If `unsynced_path` is given, the file
    /// is new, and a loss of power may still remove its directory entry.
    pub(crate) fn of(
        file: File,
        path: &Path,
        metadata: &std::fs::Metadata,
        read_only: bool,
        unsynced_path: Option<PathBuf>,
    ) -> Self {
        let (name, identity) = (path.display().to_string(), identity(path, metadata));
        Self { file, name, identity, read_only, unsynced_path: Mutex::new(unsynced_path) }
    }

    /// Returns the operating system's handle of the driver's file.
    #[cfg(all(unix, feature = "mmap"))]
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    fn error(&self, operation: &'static str, source: io::Error) -> DriverError {
        DriverError::io(self.name.as_str(), operation, source)
    }

    /// Calls `read` to read `length` bytes of the driver's file from `offset` on, and converts
    /// errors of the operating system to driver errors.
    fn read_with(&self, offset: u64, length: usize, read: impl FnOnce() -> io::Result<()>) -> Result<()> {
        if length == 0 {
            return Ok(());
        }
        // The system's offsets are signed. A range beyond them is beyond the end of every file.
        let reachable = i64::try_from(range_end(&self.name, offset, length)?).is_ok();
        let result = if reachable { read() } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        result.map_err(|source| match (source.kind(), self.len()) {
            (io::ErrorKind::UnexpectedEof, Ok(end)) => {
                DriverError::PastEnd { name: self.name.clone(), offset, length: to_u64(length), end }
            }
            _ => self.error("read", source),
        })
    }

    fn writable(&self) -> Result<()> {
        if self.read_only { Err(DriverError::ReadOnly { name: self.name.clone() }) } else { Ok(()) }
    }
}

/// Syncs the folder of a file, if the operating system supports this. The file's directory entry
/// then survives a loss of power.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems may not know")]
fn identity(_path: &Path, metadata: &std::fs::Metadata) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    Some(FileIdentity::Node { device: metadata.dev(), inode: metadata.ino() })
}

#[cfg(not(unix))]
fn identity(path: &Path, _metadata: &std::fs::Metadata) -> Option<FileIdentity> {
    path.canonicalize().ok().map(FileIdentity::Path)
}

impl Driver for Sec2 {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> DriverKind {
        DriverKind::Sec2
    }

    fn identity(&self) -> Option<FileIdentity> {
        self.identity.clone()
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn len(&self) -> Result<u64> {
        self.file.metadata().map(|metadata| metadata.len()).map_err(|source| self.error("inspect", source))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.read_with(offset, buf.len(), || read_exact_at(&self.file, buf, offset))
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    fn read_parts(&self, offset: u64, parts: &mut [&mut [u8]]) -> Result<()> {
        let length = parts.iter().map(|part| part.len()).sum();
        self.read_with(offset, length, || crate::positional::read_exact_parts(&self.file, parts, offset))
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    fn reads_parts(&self) -> bool {
        true
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    fn expect_read(&self, offset: u64, length: usize) {
        let length = u64::try_from(length).ok().and_then(std::num::NonZeroU64::new);
        // The call is advice: it does not matter if the system rejects it.
        let _ = rustix::fs::fadvise(&self.file, offset, length, rustix::fs::Advice::WillNeed);
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.writable()?;
        if bytes.is_empty() {
            return Ok(());
        }
        if i64::try_from(range_end(&self.name, offset, bytes.len())?).is_err() {
            let length = to_u64(bytes.len());
            return Err(DriverError::TooLarge { name: self.name.clone(), offset, length });
        }
        write_all_at(&self.file, bytes, offset).map_err(|source| self.error("write", source))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.writable()?;
        if i64::try_from(len).is_err() {
            return Err(DriverError::TooLarge { name: self.name.clone(), offset: 0, length: len });
        }
        // Truncating a file to the length 0 makes ext4 wait for the disk when the file is closed.
        if self.len()? == len {
            return Ok(());
        }
        self.file.set_len(len).map_err(|source| self.error("set the length", source))
    }

    fn sync_data(&self) -> Result<()> {
        if self.read_only {
            return Ok(());
        }
        self.file.sync_data().map_err(|source| self.error("sync", source))?;
        let mut unsynced_path = self.unsynced_path.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = unsynced_path.as_ref() {
            sync_folder(path).map_err(|source| self.error("sync the folder of", source))?;
            *unsynced_path = None;
        }
        Ok(())
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        let result = match kind {
            LockKind::Shared => self.file.try_lock_shared(),
            LockKind::Exclusive => self.file.try_lock(),
        };
        result.map_err(|error| match error {
            TryLockError::WouldBlock => DriverError::Locked {
                name: self.name.clone(),
                holders: LockHolders::find(self.identity.as_ref(), kind),
            },
            TryLockError::Error(source) => self.error("lock", source),
        })
    }

    fn unlock(&self) -> Result<()> {
        self.file.unlock().map_err(|source| self.error("unlock", source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    #[test]
    fn keeps_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        let counter = std::sync::atomic::AtomicUsize::new(0);
        conformance::run(|| {
            let number = counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Sec2::open(folder.path().join(number.to_string()), Access::CreateNew).unwrap()
        });
        conformance::run_read_only(|bytes| {
            let path = folder.path().join("image");
            std::fs::write(&path, bytes).unwrap();
            Sec2::open(&path, Access::ReadOnly).unwrap()
        });
    }

    #[test]
    fn access_decides_about_files_that_exist() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let kind = |access| match Sec2::open(&path, access) {
            Err(DriverError::Io { operation: "open", source, .. }) => source.kind(),
            other => panic!("{other:?}"),
        };
        assert_eq!(kind(Access::ReadOnly), io::ErrorKind::NotFound);
        assert_eq!(kind(Access::ReadWrite), io::ErrorKind::NotFound);
        Sec2::open(&path, Access::CreateNew).unwrap().write_at(0, b"abc").unwrap();
        assert_eq!(kind(Access::CreateNew), io::ErrorKind::AlreadyExists);
        assert_eq!(Sec2::open(&path, Access::ReadWrite).unwrap().len().unwrap(), 3);
        assert_eq!(Sec2::open(&path, Access::Create).unwrap().len().unwrap(), 3);
        assert_eq!(Sec2::open(&path, Access::Truncate).unwrap().len().unwrap(), 0);
        let error = Sec2::open(folder.path(), Access::ReadOnly).unwrap_err();
        assert!(matches!(error, DriverError::Io { operation: "open", .. }), "{error}");
    }

    #[test]
    fn locks_exclude_other_handles() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let a = Sec2::open(&path, Access::CreateNew).unwrap();
        let b = Sec2::open(&path, Access::ReadOnly).unwrap();
        assert_eq!(a.identity(), b.identity());
        a.lock(LockKind::Shared).unwrap();
        b.lock(LockKind::Shared).unwrap();
        b.unlock().unwrap();
        a.lock(LockKind::Exclusive).unwrap();
        let error = b.lock(LockKind::Shared).unwrap_err();
        assert!(matches!(error, DriverError::Locked { .. }));
        if cfg!(target_os = "linux") && Path::new("/proc/locks").exists() {
            let own = format!("{}: this process (number {}) has it open", path.display(), std::process::id());
            assert!(
                error.to_string().starts_with(&own) && error.to_string().ends_with("for writing"),
                "{error}"
            );
        }
        a.unlock().unwrap();
        b.lock(LockKind::Shared).unwrap();
        assert!(matches!(a.lock(LockKind::Exclusive), Err(DriverError::Locked { .. })));
        drop(b);
        a.lock(LockKind::Exclusive).unwrap();
    }

    #[test]
    fn the_driver_is_an_object() {
        let folder = tempfile::tempdir().unwrap();
        let driver: Box<dyn Driver> =
            Box::new(Sec2::open(folder.path().join("f"), Access::CreateNew).unwrap());
        driver.write_many(&[crate::WriteRequest { offset: 1, bytes: b"x" }]).unwrap();
        assert_eq!(driver.len().unwrap(), 2);
    }
}
