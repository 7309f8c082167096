//! The files that are open in this process.

use std::cell::RefCell;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use hyperslab::vfd::FileIdentity;
use parking_lot::Mutex;

use super::SharedFile;
use crate::error::{Failure, Outcome};

static OPEN: Mutex<Vec<(u64, Weak<SharedFile>)>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);
/// The number of files that were opened and closed.
static GENERATION: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static CLOSE_ERROR: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

/// Returns the identity of the file at a path; `None` if there is none.
pub fn identity_of(path: &Path) -> Option<FileIdentity> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(FileIdentity::Node { device: metadata.dev(), inode: metadata.ino() })
}

/// Returns the open file with an identity.
pub fn find_open(identity: &FileIdentity) -> Option<Arc<SharedFile>> {
    let open: Vec<_> = OPEN.lock().iter().filter_map(|(_, file)| file.upgrade()).collect();
    open.into_iter().find(|file| file.identity.as_ref() == Some(identity))
}

impl SharedFile {
    /// Returns the number of a new file.
    pub fn next_number() -> u64 {
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds the file to the open files.
    pub fn shared(self) -> Arc<Self> {
        GENERATION.fetch_add(1, Ordering::AcqRel);
        let file = Arc::new(self);
        OPEN.lock().push((file.number, Arc::downgrade(&file)));
        file
    }
}

/// Returns all open files.
pub fn all() -> Vec<Arc<SharedFile>> {
    OPEN.lock().iter().filter_map(|(_, file)| file.upgrade()).collect()
}

/// Flushes the files that are open for writing, except one: virtual datasets of this file may show
/// elements that other files keep in memory.
///
/// # Errors
/// Returns the errors of writing a file.
pub fn flush_others(this: &SharedFile) -> Outcome<()> {
    for file in all().iter().filter(|file| file.number != this.number && file.file.is_writable()) {
        file.file.flush()?;
    }
    Ok(())
}

/// The open files, for links and virtual datasets that lead to them.
#[derive(Debug)]
pub struct Registry;

impl hyperslab::OpenFiles for Registry {
    fn find(&self, path: &Path) -> Option<hyperslab::File> {
        Some(find_open(&identity_of(path)?)?.file.clone())
    }

    fn generation(&self) -> u64 {
        GENERATION.load(Ordering::Acquire)
    }
}

pub(super) fn forget(number: u64) {
    GENERATION.fetch_add(1, Ordering::AcqRel);
    OPEN.lock().retain(|(other, _)| *other != number);
}

pub(super) fn keep_error(failure: Failure) {
    CLOSE_ERROR.with_borrow_mut(|kept| *kept = Some(failure));
}

pub(super) fn take_error() -> Option<Failure> {
    CLOSE_ERROR.with_borrow_mut(Option::take)
}
