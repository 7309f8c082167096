//! The files that this process has open. Sessions of one file share it, as in libhdf5.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use hyperslab::vfd::FileIdentity;
use hyperslab::{File, FileLocking};
use parking_lot::Mutex;

/// A file that sessions share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) file: File,
    pub(super) identity: Option<FileIdentity>,
    pub(crate) writable: bool,
    pub(super) swmr: bool,
    /// A number that no other open file of this process has.
    pub(super) number: u64,
    pub(super) name: String,
    /// The use of locks that the first session requested.
    pub(super) locking: Option<FileLocking>,
}

static OPEN: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);
/// A counter of changes of the set of open files.
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// Returns the identity of the file at a path; `None` if there is no file.
pub(super) fn identity_of(path: &Path) -> Option<FileIdentity> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(FileIdentity::Node { device: metadata.dev(), inode: metadata.ino() })
}

/// Returns the open file with an identity.
pub(super) fn find(identity: &FileIdentity) -> Option<Arc<Shared>> {
    let open: Vec<_> = OPEN.lock().iter().filter_map(Weak::upgrade).collect();
    open.into_iter().find(|shared| shared.identity.as_ref() == Some(identity))
}

/// Returns the shared file of a façade file that a link opened.
pub(super) fn shared_of(file: &File) -> Arc<Shared> {
    let open: Vec<_> = OPEN.lock().iter().filter_map(Weak::upgrade).collect();
    let known = open.into_iter().find(|shared| shared.file.is_same(file));
    known.unwrap_or_else(|| {
        let name = file.file_name().to_owned();
        let identity = identity_of(Path::new(&name));
        Shared::add(file.clone(), identity, file.is_writable(), false, &name)
    })
}

impl Shared {
    /// Adds a file to the open files.
    pub(super) fn add(
        file: File,
        identity: Option<FileIdentity>,
        writable: bool,
        swmr: bool,
        name: &str,
    ) -> Arc<Self> {
        Self::add_locked(file, identity, writable, swmr, name, None)
    }

    /// Adds a file to the open files, with the use of locks that its first session requested.
    pub(super) fn add_locked(
        file: File,
        identity: Option<FileIdentity>,
        writable: bool,
        swmr: bool,
        name: &str,
        locking: Option<FileLocking>,
    ) -> Arc<Self> {
        GENERATION.fetch_add(1, Ordering::AcqRel);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let shared =
            Arc::new(Self { file, identity, writable, swmr, number, name: name.to_owned(), locking });
        let mut open = OPEN.lock();
        open.retain(|shared| shared.strong_count() > 0);
        open.push(Arc::downgrade(&shared));
        shared
    }

    /// Closes the file if this is its last session.
    pub(super) fn close(self: Arc<Self>) -> hyperslab::Result<()> {
        GENERATION.fetch_add(1, Ordering::AcqRel);
        match Arc::try_unwrap(self) {
            Ok(shared) => shared.file.close(),
            Err(shared) => shared.file.flush(),
        }
    }
}

/// The open files, in which external links and virtual datasets find files.
#[derive(Debug)]
pub(super) struct Registry;

impl hyperslab::OpenFiles for Registry {
    fn find(&self, path: &Path) -> Option<File> {
        Some(find(&identity_of(path)?)?.file.clone())
    }

    fn generation(&self) -> u64 {
        GENERATION.load(Ordering::Acquire)
    }
}
