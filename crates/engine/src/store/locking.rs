//! Keeping other programs away from a file that is written, and writers away from one that is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_vfd::{Driver, DriverError, LockKind};

use super::Store;
use crate::error::{Error, Result};

/// True if a file is locked while it is open: shared by those who read it, for one alone who writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FileLocking {
    /// It is, or it is not opened.
    On,
    /// It is not: somebody else sees to it that nobody reads a file while it is changed.
    #[default]
    Off,
    /// It is, where the file system has locks.
    BestEffort,
}

/// The lock of an open file, given back at the latest when this is dropped.
#[derive(Debug)]
pub(super) struct FileLock {
    driver: Arc<dyn Driver>,
    held: AtomicBool,
}

impl FileLock {
    /// Locks the file that `driver` holds, for writing or for reading.
    pub(super) fn take(driver: &Arc<dyn Driver>, write: bool, locking: FileLocking) -> Result<Self> {
        let kind = if write { LockKind::Exclusive } else { LockKind::Shared };
        let held = match locking {
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
        Ok(Self { driver: Arc::clone(driver), held: AtomicBool::new(held) })
    }

    /// Lets others read.
    pub(super) fn share(&self) -> Result<()> {
        if !self.held.load(Ordering::Acquire) {
            return Ok(());
        }
        self.driver
            .lock(LockKind::Shared)
            .map_err(|source| Error::Io { action: "cannot share the lock of the file".into(), source })
    }

    /// Gives the lock back, if it is held.
    pub(super) fn release(&self) -> Result<()> {
        if !self.held.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        self.driver
            .unlock()
            .map_err(|source| Error::Io { action: "cannot give back the lock of the file".into(), source })
    }
}

impl Store {
    /// Gives back the lock of the file, which stays open.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn unlock(&self) -> Result<()> {
        self.lock.release()
    }

    /// Nothing is changed any more: others may read the file while somebody here still does.
    pub(crate) fn closed(&self) -> Result<()> {
        self.note_closed();
        self.lock.share()
    }

    /// Takes note that the file is closed, before anybody else gets the right to change it.
    pub(super) fn note_closed(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Returns whether the file was closed, though it can be read until its last handle is gone.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // The driver need not be closed now, and a process that was made of this one may have it, too.
        if let Err(error) = self.release() {
            tracing::warn!(%error, file = self.driver.name(), "the lock stays until the driver is closed");
        }
    }
}
