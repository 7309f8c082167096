//! The driver for a file in memory.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hyperslab_exact::to_u64;

use crate::driver::range_end;
use crate::{
    Access, Driver, DriverError, DriverKind, FileIdentity, LockKind, ReadRequest, Result, Sec2, WriteRequest,
};

/// Options of the core driver, which keeps a file in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreOptions {
    /// The memory is allocated in multiples of this number of bytes (at least 1).
    pub increment: usize,
    /// True if changes are written to the file from which the bytes were read. This happens in
    /// [`Driver::flush`], in [`Driver::sync_data`] and when the driver is dropped.
    pub backing_store: bool,
}

impl Default for CoreOptions {
    fn default() -> Self {
        Self { increment: 64 << 10, backing_store: false }
    }
}

/// A driver that keeps a file in memory. The file is either a read-only image, which needs no
/// locks, or bytes that can change.
pub struct Core {
    name: String,
    storage: Storage,
    backing: Option<Backing>,
}

enum Storage {
    Image(Arc<dyn AsRef<[u8]> + Send + Sync>),
    Growing { bytes: RwLock<Vec<u8>>, increment: usize },
}

/// The backing file on disk of a file in memory, and the range of bytes in memory that are not yet
/// written to the backing file.
struct Backing {
    file: Sec2,
    dirty: Mutex<Dirty>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Dirty {
    /// The range of dirty bytes; empty if there are none.
    range: Range<usize>,
    /// True if the length on disk may be out of date.
    length: bool,
}

impl Dirty {
    const NONE: Self = Self { range: 0..0, length: false };

    fn add(&mut self, range: Range<usize>) {
        if self.range.is_empty() {
            self.range = range;
        } else if !range.is_empty() {
            self.range = self.range.start.min(range.start)..self.range.end.max(range.end);
        }
    }
}

impl Core {
    /// Creates a driver for an empty file in memory.
    pub fn empty(name: impl Into<String>) -> Self {
        Self::from_vec(name, Vec::new())
    }

    /// Creates a driver for a file in memory with the content `bytes`, which can change.
    pub fn from_vec(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self::with_options(name, bytes, CoreOptions::default())
    }

    /// Creates a driver with options for a writable file in memory. The content of the file is
    /// first `bytes`. Ignores `options.backing_store`.
    pub fn with_options(name: impl Into<String>, bytes: Vec<u8>, options: CoreOptions) -> Self {
        let storage = Storage::Growing { bytes: RwLock::new(bytes), increment: options.increment.max(1) };
        Self { name: name.into(), storage, backing: None }
    }

    /// Creates a driver for a read-only file image in memory: a `Vec<u8>`, an `Arc<[u8]>`, a
    /// `&'static [u8]` or another owner of bytes that never change. The bytes are not copied, and
    /// reads need no lock.
    ///
    /// ```
    /// use hyperslab_vfd::{Core, Driver};
    /// let image = Core::image("image", std::sync::Arc::<[u8]>::from(&b"bytes"[..]));
    /// assert_eq!(image.as_bytes(), Some(&b"bytes"[..]));
    /// ```
    pub fn image(name: impl Into<String>, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self { name: name.into(), storage: Storage::Image(Arc::new(bytes)), backing: None }
    }

    /// Reads the file at `path` into memory, and returns the core driver for the copy in memory.
    ///
    /// With [`Access::ReadOnly`] the result is an image; otherwise the bytes can change. With
    /// `options.backing_store` the changes are written to the file. Without it the file is never
    /// changed: a missing file is not created, and [`Access::Truncate`] does not truncate the file.
    ///
    /// # Errors
    /// The errors of [`Sec2::open`] and [`Driver::read_at`]; [`DriverError::TooLarge`] if memory
    /// does not suffice.
    pub fn open(path: impl AsRef<Path>, access: Access, options: CoreOptions) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        if access == Access::ReadOnly {
            let bytes = read_all(&Sec2::open(path, access)?)?;
            return Ok(Self::image(name, bytes));
        }
        if options.backing_store {
            let file = Sec2::open(path, access)?;
            let mut core = Self::with_options(name, read_all(&file)?, options);
            core.backing = Some(Backing { file, dirty: Mutex::new(Dirty::NONE) });
            return Ok(core);
        }
        let bytes = match access {
            Access::ReadOnly | Access::ReadWrite => read_all(&Sec2::open(path, Access::ReadOnly)?)?,
            Access::Create if path.exists() => read_all(&Sec2::open(path, Access::ReadOnly)?)?,
            Access::CreateNew if path.exists() => {
                let exists = std::io::ErrorKind::AlreadyExists.into();
                return Err(DriverError::io(name, "open", exists));
            }
            Access::Create | Access::Truncate | Access::CreateNew => Vec::new(),
        };
        Ok(Self::with_options(name, bytes, options))
    }

    /// Returns a copy of all bytes of the core driver's file in memory.
    pub fn to_vec(&self) -> Vec<u8> {
        match &self.storage {
            Storage::Image(image) => image.as_ref().as_ref().to_vec(),
            Storage::Growing { bytes, .. } => read(bytes).to_vec(),
        }
    }

    /// Calls `use_bytes` with all bytes of the file in memory.
    fn with_bytes<R>(&self, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
        match &self.storage {
            Storage::Image(image) => use_bytes(image.as_ref().as_ref()),
            Storage::Growing { bytes, .. } => use_bytes(&read(bytes)),
        }
    }

    /// Locks the bytes of the file in memory, so that they can change and grow. Returns the bytes
    /// and the number of bytes by which the memory grows at a time. Returns an error for a
    /// read-only image.
    fn growing(&self) -> Result<(RwLockWriteGuard<'_, Vec<u8>>, usize)> {
        match &self.storage {
            Storage::Image(_) => Err(DriverError::ReadOnly { name: self.name.clone() }),
            Storage::Growing { bytes, increment } => {
                Ok((bytes.write().unwrap_or_else(PoisonError::into_inner), *increment))
            }
        }
    }

    /// Copies the bytes at a file offset from `bytes`, the content of the file in memory, to the
    /// caller's buffer `buf`.
    fn read_from(&self, bytes: &[u8], offset: u64, buf: &mut [u8]) -> Result<()> {
        if buf.is_empty() {
            return Ok(());
        }
        let wanted = usize::try_from(offset)
            .ok()
            .and_then(|start| Some(start..start.checked_add(buf.len())?))
            .and_then(|range| bytes.get(range));
        let Some(wanted) = wanted else {
            return Err(DriverError::PastEnd {
                name: self.name.clone(),
                offset,
                length: to_u64(buf.len()),
                end: to_u64(bytes.len()),
            });
        };
        buf.copy_from_slice(wanted);
        Ok(())
    }

    /// Writes the bytes of a write request to the file in memory, and extends the file if
    /// necessary.
    fn write_into(&self, all: &mut Vec<u8>, increment: usize, request: WriteRequest<'_>) -> Result<()> {
        let WriteRequest { offset, bytes } = request;
        if bytes.is_empty() {
            return Ok(());
        }
        let too_large =
            || DriverError::TooLarge { name: self.name.clone(), offset, length: to_u64(bytes.len()) };
        let end = usize::try_from(range_end(&self.name, offset, bytes.len())?).map_err(|_| too_large())?;
        let start = end - bytes.len();
        let old = all.len();
        if end > old {
            reserve(all, end, increment).ok_or_else(too_large)?;
            // New bytes are appended, so that only the gap before them needs zeros.
            if start > old {
                all.resize(start, 0);
            }
        }
        let (inside, appended) = bytes.split_at((all.len() - start).min(bytes.len()));
        let Some(target) = all.get_mut(start..start + inside.len()) else {
            return Err(DriverError::internal(&*self.name, "bytes that are replaced lie in the file"));
        };
        target.copy_from_slice(inside);
        all.extend_from_slice(appended);
        self.mark(start.min(old)..end, end > old);
        Ok(())
    }

    /// Marks a range of bytes of the file in memory, and possibly the file length, as dirty.
    fn mark(&self, range: Range<usize>, length: bool) {
        if let Some(backing) = &self.backing {
            let mut dirty = backing.lock_dirty();
            dirty.add(range);
            dirty.length |= length;
        }
    }
}

impl Backing {
    fn lock_dirty(&self) -> MutexGuard<'_, Dirty> {
        self.dirty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the dirty bytes of the file in memory to the backing file on disk. After an error,
    /// the bytes remain dirty.
    fn write_back(&self, bytes: &[u8]) -> Result<()> {
        let mut dirty = self.lock_dirty();
        if dirty.length {
            self.file.set_len(to_u64(bytes.len()))?;
        }
        let range = dirty.range.start..dirty.range.end.min(bytes.len());
        if let Some(changed) = bytes.get(range.clone()).filter(|changed| !changed.is_empty()) {
            self.file.write_at(to_u64(range.start), changed)?;
        }
        *dirty = Dirty::NONE;
        Ok(())
    }
}

fn read(bytes: &RwLock<Vec<u8>>) -> RwLockReadGuard<'_, Vec<u8>> {
    // Poisoning is harmless: the code under the lock never leaves the bytes inconsistent.
    bytes.read().unwrap_or_else(PoisonError::into_inner)
}

/// Reads all bytes of a file on disk.
fn read_all(file: &Sec2) -> Result<Vec<u8>> {
    let length = file.len()?;
    let too_large = || DriverError::TooLarge { name: file.name().to_owned(), offset: 0, length };
    let count = usize::try_from(length).map_err(|_| too_large())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count).map_err(|_| too_large())?;
    bytes.resize(count, 0);
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}

/// Increases the capacity of the bytes of a file in memory to at least `needed` bytes: by an eighth
/// or more, in multiples of `increment`.
fn reserve(bytes: &mut Vec<u8>, needed: usize, increment: usize) -> Option<()> {
    if needed <= bytes.capacity() {
        return Some(());
    }
    let step = bytes.capacity().checked_add(bytes.capacity() / 8)?.max(needed);
    let capacity = step.checked_next_multiple_of(increment).unwrap_or(needed);
    bytes.try_reserve_exact(capacity - bytes.len()).ok()
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core")
            .field("name", &self.name)
            .field("bytes", &self.with_bytes(<[u8]>::len))
            .field("read_only", &self.is_read_only())
            .field("backing", &self.backing.as_ref().map(|backing| &backing.file))
            .finish()
    }
}

impl Driver for Core {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> DriverKind {
        DriverKind::Core
    }

    fn identity(&self) -> Option<FileIdentity> {
        self.backing.as_ref().and_then(|backing| backing.file.identity())
    }

    fn is_read_only(&self) -> bool {
        matches!(self.storage, Storage::Image(_))
    }

    fn len(&self) -> Result<u64> {
        Ok(to_u64(self.with_bytes(<[u8]>::len)))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.with_bytes(|bytes| self.read_from(bytes, offset, buf))
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        self.with_bytes(|bytes| {
            requests.iter_mut().try_for_each(|request| self.read_from(bytes, request.offset, request.buf))
        })
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let (mut all, increment) = self.growing()?;
        self.write_into(&mut all, increment, WriteRequest { offset, bytes })
    }

    fn write_many(&self, requests: &[WriteRequest<'_>]) -> Result<()> {
        let (mut all, increment) = self.growing()?;
        requests.iter().try_for_each(|request| self.write_into(&mut all, increment, *request))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let (mut all, increment) = self.growing()?;
        let too_large = || DriverError::TooLarge { name: self.name.clone(), offset: 0, length: len };
        let new = usize::try_from(len).map_err(|_| too_large())?;
        let old = all.len();
        reserve(&mut all, new, increment).ok_or_else(too_large)?;
        all.resize(new, 0);
        self.mark(old.min(new)..new, new != old);
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        match &self.backing {
            Some(backing) => self.with_bytes(|bytes| backing.write_back(bytes)),
            None => Ok(()),
        }
    }

    fn sync_data(&self) -> Result<()> {
        self.flush()?;
        self.backing.as_ref().map_or(Ok(()), |backing| backing.file.sync_data())
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        self.backing.as_ref().map_or(Ok(()), |backing| backing.file.lock(kind))
    }

    fn unlock(&self) -> Result<()> {
        self.backing.as_ref().map_or(Ok(()), |backing| backing.file.unlock())
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        match &self.storage {
            Storage::Image(image) => Some(image.as_ref().as_ref()),
            Storage::Growing { .. } => None,
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::error!(name = %self.name, %error, "changes in memory could not be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    const BACKED: CoreOptions = CoreOptions { increment: 16, backing_store: true };

    #[test]
    fn keeps_the_contract() {
        conformance::run(|| Core::empty("empty"));
        conformance::run(|| Core::with_options("odd", Vec::new(), CoreOptions { increment: 7, ..BACKED }));
        let folder = tempfile::tempdir().unwrap();
        conformance::run(|| Core::open(folder.path().join("f"), Access::Truncate, BACKED).unwrap());
        conformance::run_read_only(|bytes| Core::image("image", bytes.to_vec()));
        conformance::run_read_only(|bytes| Core::image("image", Arc::<[u8]>::from(bytes)));
    }

    #[test]
    fn a_backing_store_follows_at_flush_sync_and_drop() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let on_disk = || std::fs::read(&path).unwrap();
        let core = Core::open(&path, Access::CreateNew, BACKED).unwrap();
        core.write_at(2, b"ab").unwrap();
        assert_eq!(on_disk(), b"");
        core.flush().unwrap();
        assert_eq!(on_disk(), b"\0\0ab");
        core.set_len(3).unwrap();
        core.write_at(0, b"x").unwrap();
        core.sync_data().unwrap();
        assert_eq!(on_disk(), b"x\0a");
        core.set_len(5).unwrap();
        drop(core);
        assert_eq!(on_disk(), b"x\0a\0\0");
        let again = Core::open(&path, Access::ReadWrite, BACKED).unwrap();
        again.write_at(5, b"z").unwrap();
        assert_eq!(again.to_vec(), b"x\0a\0\0z");
        drop(again);
        assert_eq!(on_disk(), b"x\0a\0\0z");
    }

    #[test]
    fn shrinking_and_growing_again_leaves_zeros_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"abcdef").unwrap();
        let core = Core::open(&path, Access::ReadWrite, BACKED).unwrap();
        core.set_len(2).unwrap();
        core.write_at(5, b"z").unwrap();
        core.flush().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"ab\0\0\0z");
    }

    #[test]
    fn without_a_backing_store_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let open = |access| Core::open(&path, access, CoreOptions::default());
        open(Access::CreateNew).unwrap().write_at(0, b"x").unwrap();
        assert!(!path.exists());
        assert!(open(Access::ReadWrite).is_err());
        std::fs::write(&path, b"abc").unwrap();
        assert!(open(Access::CreateNew).is_err());
        assert_eq!(open(Access::Create).unwrap().to_vec(), b"abc");
        assert_eq!(open(Access::Truncate).unwrap().to_vec(), b"");
        let changed = open(Access::ReadWrite).unwrap();
        changed.write_at(0, b"x").unwrap();
        drop(changed);
        let image = open(Access::ReadOnly).unwrap();
        assert_eq!(image.as_bytes(), Some(&b"abc"[..]));
        assert!(image.is_read_only());
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        let core = Core::empty("huge");
        for offset in [u64::MAX, u64::MAX - 1, 1 << 63] {
            assert!(matches!(core.write_at(offset, b"xy"), Err(DriverError::TooLarge { .. })), "{offset}");
        }
        assert!(matches!(core.set_len(u64::MAX), Err(DriverError::TooLarge { .. })));
        assert_eq!(core.len().unwrap(), 0);
    }
}
