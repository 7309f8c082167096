//! The driver for a file that is mapped into memory, for reading. It is the only module of this
//! crate with `unsafe` code.

use std::fmt;
use std::path::Path;

use memmap2::Mmap as Mapping;

use crate::{Access, DriverError};
use crate::{Core, Driver, DriverKind, FileIdentity, LockKind, ReadRequest, Result, Sec2, WriteRequest};

/// A driver for a file that is mapped into memory. [`Driver::as_bytes`] returns all bytes of the
/// file, and reading needs no system calls.
///
/// The file must not change while it is mapped. Bytes that another program writes may appear at any
/// time, even during a computation with them. If another program **truncates the file**, accessing
/// the removed bytes terminates this process (`SIGBUS`) without an error that could be handled.
/// Therefore hyperslab never chooses [`Mmap`] by itself: use it for files that no program changes,
/// and [`Sec2`] for all others.
pub struct Mmap {
    image: Core,
    /// The open file, which is needed for the lock and the identity.
    file: Sec2,
}

impl Mmap {
    /// Maps the file at `path` into memory. See [`Mmap`] for the conditions.
    ///
    /// # Errors
    /// The errors of [`Sec2::open`]; [`DriverError::Io`] if the system cannot map the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = Sec2::open(path, Access::ReadOnly)?;
        let name = file.name().to_owned();
        let image = if file.is_empty()? { Core::image(name, []) } else { Core::image(name, map(&file)?) };
        Ok(Self { image, file })
    }
}

#[expect(unsafe_code, reason = "a mapping is only as constant as its file")]
fn map(file: &Sec2) -> Result<Mapping> {
    // SAFETY: the mapping is private and read-only, and outlives the slices borrowed from it. No
    // program can ensure alone that the bytes do not change; the documentation makes it a duty of
    // the callers of `Mmap::open`. Every `&[u8]` is read as plain bytes, for which all values are
    // valid.
    let mapping = unsafe { Mapping::map(file.file()) };
    mapping.map_err(|source| DriverError::io(file.name(), "map into memory", source))
}

impl Driver for Mmap {
    fn name(&self) -> &str {
        self.file.name()
    }

    fn kind(&self) -> DriverKind {
        DriverKind::Mmap
    }

    fn identity(&self) -> Option<FileIdentity> {
        self.file.identity()
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn len(&self) -> Result<u64> {
        self.image.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.image.read_at(offset, buf)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        self.image.read_many(requests)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.image.write_at(offset, bytes)
    }

    fn write_many(&self, requests: &[WriteRequest<'_>]) -> Result<()> {
        self.image.write_many(requests)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.image.set_len(len)
    }

    fn sync_data(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        self.file.lock(kind)
    }

    fn unlock(&self) -> Result<()> {
        self.file.unlock()
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        self.image.as_bytes()
    }
}

impl fmt::Debug for Mmap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mmap").field("image", &self.image).finish_non_exhaustive()
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
        conformance::run_read_only(|bytes| {
            // A new file each time: mapped files must not change.
            let number = counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let path = folder.path().join(number.to_string());
            std::fs::write(&path, bytes).unwrap();
            Mmap::open(&path).unwrap()
        });
    }

    #[test]
    fn the_mapping_is_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"bytes").unwrap();
        let mmap = Mmap::open(&path).unwrap();
        assert_eq!(mmap.as_bytes(), Some(&b"bytes"[..]));
        assert_eq!(mmap.identity(), Sec2::open(&path, Access::ReadOnly).unwrap().identity());
        // The mapping remains valid after the file was removed.
        std::fs::remove_file(&path).unwrap();
        assert_eq!(mmap.as_bytes(), Some(&b"bytes"[..]));
        assert!(Mmap::open(&path).is_err() && Mmap::open(folder.path()).is_err());
    }
}
