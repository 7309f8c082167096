//! The lock of an open file. It prevents other programs from opening a file that is open for
//! writing, and from writing a file that is open for reading.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_vfd::{Driver, DriverError, LockKind};

use super::Store;
use crate::error::{Error, Result};

/// The policy for locking a file while it is open. The lock is shared for reading and exclusive for
/// writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FileLocking {
    /// The file is locked. If that fails, the file is not opened.
    On,
    /// The file is not locked. The caller ensures that no program reads the file while it is
    /// changed.
    #[default]
    Off,
    /// The file is locked if the file system has locks.
    BestEffort,
}

/// The lock of an open file. The lock is released at the latest when this value is dropped.
#[derive(Debug)]
pub(super) struct FileLock {
    driver: Arc<dyn Driver>,
    is_held: AtomicBool,
}

impl FileLock {
    /// Locks the file that the driver `driver` stores, for writing or for reading.
    pub(super) fn take(driver: &Arc<dyn Driver>, write: bool, locking: FileLocking) -> Result<Self> {
        let kind = if write { LockKind::Exclusive } else { LockKind::Shared };
        let is_held = match locking {
            FileLocking::Off => false,
            FileLocking::On | FileLocking::BestEffort => match driver.lock(kind) {
                Ok(()) => true,
                Err(DriverError::Unsupported { .. }) if locking == FileLocking::BestEffort => false,
                Err(DriverError::Locked { name, holders }) => {
                    return Err(Error::Locked { name, kind, holders });
                }
                Err(source) => return Err(Error::Io { action: "cannot lock the file".into(), source }),
            },
        };
        Ok(Self { driver: Arc::clone(driver), is_held: AtomicBool::new(is_held) })
    }

    /// Changes an exclusive lock of the file to a shared lock, so that other programs can read the
    /// file.
    pub(super) fn share(&self) -> Result<()> {
        if !self.is_held.load(Ordering::Acquire) {
            return Ok(());
        }
        self.driver
            .lock(LockKind::Shared)
            .map_err(|source| Error::Io { action: "cannot share the lock of the file".into(), source })
    }

    /// Releases the lock of the open file, if the lock is held.
    pub(super) fn release(&self) -> Result<()> {
        if !self.is_held.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        self.driver
            .unlock()
            .map_err(|source| Error::Io { action: "cannot release the lock of the file".into(), source })
    }
}

impl Store {
    /// Releases the lock of the file. The file stays open.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn unlock(&self) -> Result<()> {
        self.sharing.lock.release()
    }

    /// Refuses later changes of the file and changes its lock to a shared lock. Other programs may
    /// then read the file, while handles of this program still read it.
    pub(crate) fn end_writing(&self) -> Result<()> {
        self.write_state.close();
        self.sharing.lock.share()
    }

    /// Returns whether the store's file was closed. Handles of the file's objects can still read
    /// it.
    pub fn is_closed(&self) -> bool {
        self.write_state.is_closed()
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // The driver may stay open after this, and a forked process may share its lock. Therefore
        // the lock is released explicitly.
        if let Err(error) = self.release() {
            tracing::warn!(%error, file = self.driver.name(), "the lock stays until the driver is closed");
        }
    }
}
