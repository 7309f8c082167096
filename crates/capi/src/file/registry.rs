//! The registry of the files that this process has open.

use std::cell::RefCell;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use hyperslab::vfd::FileIdentity;
use parking_lot::Mutex;

use super::{H5F_ACC_RDWR, H5F_ACC_SWMR_READ, SharedFile};
use crate::error::Failure;

/// The files that this process has open, with their numbers.
static OPEN: Mutex<Vec<(u64, Weak<SharedFile>)>> = Mutex::new(Vec::new());
/// The number that the next opened file or file handle gets.
static NEXT: AtomicU64 = AtomicU64::new(1);
/// A counter that increases with each change to the set of open files of this process.
static GENERATION: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The error of the last HDF5 file that the current thread closed by dropping its last handle.
    static CLOSE_ERROR: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

/// Returns the identity of the file at a path. Returns `None` if the file does not exist.
pub fn identity_of(path: &Path) -> Option<FileIdentity> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(FileIdentity::Node { device: metadata.dev(), inode: metadata.ino() })
}

/// The length and the time of the last change of a file in the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

/// Returns the length and the time of the last change of the file at a path. Returns `None` if the
/// file does not exist.
pub fn stamp_of(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(Stamp { size: metadata.len(), seconds: metadata.mtime(), nanoseconds: metadata.mtime_nsec() })
}

/// Returns the newest open file with the given file identity. Returns `None` if this process does
/// not have the file open.
pub fn find_open(identity: &FileIdentity) -> Option<Arc<SharedFile>> {
    let open: Vec<_> = OPEN.lock().iter().filter_map(|(_, file)| file.upgrade()).collect();
    open.into_iter().rev().find(|file| file.identity.as_ref() == Some(identity))
}

impl SharedFile {
    /// Returns a new, unique number for an open file or a file handle.
    pub fn next_number() -> u64 {
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns true if another program has changed the file at `path` since this process opened the
    /// file for reading. An opening of a changed file must not share the old metadata.
    pub fn is_outdated(&self, path: &Path) -> bool {
        let flags = *self.flags.read();
        flags & (H5F_ACC_RDWR | H5F_ACC_SWMR_READ) == 0
            && self.stamp.is_some()
            && stamp_of(path) != self.stamp
    }

    /// Adds the file to the registry of open files and returns the shared file.
    pub fn shared(self) -> Arc<Self> {
        GENERATION.fetch_add(1, Ordering::AcqRel);
        let file = Arc::new(self);
        OPEN.lock().push((file.number, Arc::downgrade(&file)));
        file
    }
}

/// Returns all files that this process has open.
pub fn all() -> Vec<Arc<SharedFile>> {
    OPEN.lock().iter().filter_map(|(_, file)| file.upgrade()).collect()
}

/// The registry of open files. External links and virtual datasets search it for an open file.
#[derive(Debug)]
pub struct Registry;

impl hyperslab::OpenFiles for Registry {
    fn find(&self, path: &Path) -> Option<hyperslab::File> {
        Some(find_open(&identity_of(path)?)?.file.clone())
    }

    fn generation(&self) -> u64 {
        GENERATION.load(Ordering::Acquire)
    }

    fn written(&self) -> Vec<hyperslab::File> {
        let open = all();
        open.iter().filter(|file| file.file.is_writable()).map(|file| file.file.clone()).collect()
    }
}

/// Removes a closed file from the registry of open files.
pub(super) fn forget(number: u64) {
    GENERATION.fetch_add(1, Ordering::AcqRel);
    OPEN.lock().retain(|(other, _)| *other != number);
}

/// Stores the error of closing a file until `take_error` returns it.
pub(super) fn keep_error(failure: Failure) {
    // At the exit of the program, the thread may have freed its variables, and no call follows.
    let _ = CLOSE_ERROR.try_with(|kept| *kept.borrow_mut() = Some(failure));
}

/// Returns and removes the error of the last HDF5 file that this thread closed by dropping its last
/// handle.
pub(super) fn take_error() -> Option<Failure> {
    CLOSE_ERROR.try_with(|kept| kept.borrow_mut().take()).ok().flatten()
}
