//! The driver for a file of the operating system with one buffer and one lock, like `FILE` in C.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyperslab_exact::to_u64;

use crate::driver::range_end;
use crate::{Access, Driver, DriverError, DriverKind, FileIdentity, LockKind, Result, Sec2};

/// The length of the buffer of the buffered file driver, in bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// A file driver with a buffer, like the C library's `stdio`. Many small reads or writes near one
/// another need few system calls. Only one thread at a time can use the driver; [`Sec2`] is better
/// for concurrent reads.
///
/// Dirty bytes are written to the file by [`Driver::flush`] and [`Driver::sync_data`], when the
/// buffer is needed for other bytes, and when the driver is dropped. An error at this last point is
/// only logged.
pub struct Stdio {
    file: Sec2,
    window: Mutex<Window>,
}

/// The buffer of the buffered file driver, and the range of the file that the buffer contains.
#[derive(Debug, Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
    /// The range of dirty bytes in the buffer; empty if there are none.
    dirty: Range<usize>,
}

impl Window {
    /// Converts a file offset to an index in the buffer of the buffered file driver. The end of the
    /// buffer is also an index. Returns `None` for an offset outside of the buffer.
    fn position(&self, offset: u64) -> Option<usize> {
        let at = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        (at <= self.bytes.len()).then_some(at)
    }

    fn end(&self) -> u64 {
        self.start + to_u64(self.bytes.len())
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.dirty = 0..0;
    }

    /// Writes the dirty bytes of the buffered file driver's buffer to the file. After an error, the
    /// bytes remain dirty.
    fn write_back(&mut self, file: &Sec2) -> Result<()> {
        let Some(bytes) = self.bytes.get(self.dirty.clone()) else {
            return Err(DriverError::internal(file.name(), "bytes to be written lie in the buffer"));
        };
        if !bytes.is_empty() {
            file.write_at(self.start + to_u64(self.dirty.start), bytes)?;
        }
        self.dirty = 0..0;
        Ok(())
    }

    /// Copies bytes at a file offset from the buffer of the buffered file driver to `buf`. Returns
    /// `None` unless the buffer contains all of them.
    fn copy_to(&self, offset: u64, buf: &mut [u8]) -> Option<()> {
        let at = self.position(offset)?;
        let held = self.bytes.get(at..at.checked_add(buf.len())?)?;
        buf.copy_from_slice(held);
        Some(())
    }

    /// Copies `bytes` for a file offset to the buffer of the buffered file driver. Returns `None`
    /// if `bytes` do not fit in the buffer, or neither overlap with nor follow the bytes in the
    /// buffer.
    fn copy_from(&mut self, offset: u64, bytes: &[u8]) -> Option<()> {
        let at = self.position(offset)?;
        let end = at.checked_add(bytes.len()).filter(|end| *end <= BUFFER_BYTES)?;
        if end > self.bytes.len() {
            self.bytes.resize(end, 0);
        }
        self.bytes.get_mut(at..end)?.copy_from_slice(bytes);
        self.dirty =
            if self.dirty.is_empty() { at..end } else { self.dirty.start.min(at)..self.dirty.end.max(end) };
        Some(())
    }
}

impl Stdio {
    /// Opens the file at `path` with the buffered driver.
    ///
    /// # Errors
    /// The errors of [`Sec2::open`].
    pub fn open(path: impl AsRef<Path>, access: Access) -> Result<Self> {
        Ok(Self { file: Sec2::open(path, access)?, window: Mutex::default() })
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        // Poisoning is harmless: the code under the lock never leaves the buffer inconsistent.
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writable(&self) -> Result<()> {
        let name = || self.file.name().to_owned();
        if self.file.is_read_only() { Err(DriverError::ReadOnly { name: name() }) } else { Ok(()) }
    }
}

impl Driver for Stdio {
    fn name(&self) -> &str {
        self.file.name()
    }

    fn kind(&self) -> DriverKind {
        DriverKind::Stdio
    }

    fn identity(&self) -> Option<FileIdentity> {
        self.file.identity()
    }

    fn is_read_only(&self) -> bool {
        self.file.is_read_only()
    }

    fn len(&self) -> Result<u64> {
        let window = self.window();
        let stored = self.file.len()?;
        Ok(if window.dirty.is_empty() { stored } else { stored.max(window.end()) })
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        if buf.is_empty() {
            return Ok(());
        }
        let mut window = self.window();
        if window.copy_to(offset, buf).is_some() {
            return Ok(());
        }
        window.write_back(&self.file)?;
        let held = match self.file.len()?.checked_sub(offset) {
            Some(available) => {
                usize::try_from(available).map_or(BUFFER_BYTES, |available| available.min(BUFFER_BYTES))
            }
            None => 0,
        };
        if buf.len() >= held {
            // Long reads, and reads beyond the end of the file, bypass the buffer.
            return self.file.read_at(offset, buf);
        }
        window.clear();
        window.start = offset;
        let mut bytes = std::mem::take(&mut window.bytes);
        bytes.resize(held, 0);
        self.file.read_at(offset, &mut bytes)?;
        buf.copy_from_slice(bytes.split_at(buf.len()).0);
        window.bytes = bytes;
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.writable()?;
        if bytes.is_empty() {
            return Ok(());
        }
        range_end(self.file.name(), offset, bytes.len())?;
        let mut window = self.window();
        if window.copy_from(offset, bytes).is_some() {
            return Ok(());
        }
        window.write_back(&self.file)?;
        window.clear();
        window.start = offset;
        match window.copy_from(offset, bytes) {
            Some(()) => Ok(()),
            None => self.file.write_at(offset, bytes),
        }
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.writable()?;
        let mut window = self.window();
        window.write_back(&self.file)?;
        window.clear();
        self.file.set_len(len)
    }

    fn flush(&self) -> Result<()> {
        self.window().write_back(&self.file)
    }

    fn sync_data(&self) -> Result<()> {
        self.flush()?;
        self.file.sync_data()
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        let mut window = self.window();
        window.write_back(&self.file)?;
        // The previous owner of the lock may have changed the file.
        window.clear();
        self.file.lock(kind)
    }

    fn unlock(&self) -> Result<()> {
        self.flush()?;
        self.file.unlock()
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::error!(name = self.file.name(), %error, "buffered changes could not be written");
        }
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio").field("file", &self.file).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    #[test]
    fn keeps_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        conformance::run(|| Stdio::open(folder.path().join("f"), Access::Truncate).unwrap());
        conformance::run_read_only(|bytes| {
            let path = folder.path().join("image");
            std::fs::write(&path, bytes).unwrap();
            Stdio::open(&path, Access::ReadOnly).unwrap()
        });
    }

    #[test]
    fn writes_wait_in_the_buffer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let on_disk = || std::fs::read(&path).unwrap();
        let stdio = Stdio::open(&path, Access::CreateNew).unwrap();
        stdio.write_at(0, b"one").unwrap();
        stdio.write_at(3, b" two").unwrap();
        stdio.write_at(1, b"N").unwrap();
        assert_eq!((on_disk(), stdio.len().unwrap()), (vec![], 7));
        stdio.flush().unwrap();
        assert_eq!(on_disk(), b"oNe two");
        stdio.write_at(100_000, b"far").unwrap();
        assert_eq!((on_disk().len(), stdio.len().unwrap()), (7, 100_003));
        // Bytes at another offset need the buffer.
        stdio.read_at(0, &mut [0; 2]).unwrap();
        assert_eq!(on_disk().len(), 100_003);
        stdio.write_at(2, b"!").unwrap();
        drop(stdio);
        assert_eq!(&on_disk()[..7], b"oN! two");
    }

    #[test]
    fn any_mixture_of_reads_and_writes_is_that_of_memory() {
        let folder = tempfile::tempdir().unwrap();
        let stdio = Stdio::open(folder.path().join("f"), Access::CreateNew).unwrap();
        let model = crate::Core::empty("model");
        let mut state = 7_u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for round in 0..3000_u32 {
            let offset = below(200_000);
            let length = usize::try_from(if below(20) == 0 { below(150_000) } else { below(300) }).unwrap();
            match below(9) {
                0..4 => {
                    let bytes = vec![round.to_le_bytes()[0]; length];
                    stdio.write_at(offset, &bytes).unwrap();
                    model.write_at(offset, &bytes).unwrap();
                }
                4 if below(30) == 0 => {
                    stdio.set_len(offset).unwrap();
                    model.set_len(offset).unwrap();
                }
                _ => {
                    let (mut got, mut expected) = (vec![0; length], vec![0; length]);
                    let results = (stdio.read_at(offset, &mut got), model.read_at(offset, &mut expected));
                    assert_eq!(results.0.is_ok(), results.1.is_ok());
                    if results.0.is_ok() {
                        assert_eq!(got, expected);
                    }
                }
            }
            assert_eq!(stdio.len().unwrap(), model.len().unwrap());
        }
    }

    #[test]
    fn bytes_that_the_buffer_lost_are_an_internal_error() {
        let folder = tempfile::tempdir().unwrap();
        let stdio = Stdio::open(folder.path().join("file"), Access::CreateNew).unwrap();
        stdio.write_at(0, b"written").unwrap();
        stdio.window().bytes.clear();
        let error = stdio.flush().unwrap_err();
        assert!(matches!(error, DriverError::Internal { .. }), "{error}");
        stdio.window().dirty = 0..0;
    }
}
