//! The files that this process has open. Sessions of one file share it, as in libhdf5.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use hyperslab::vfd::FileIdentity;
use hyperslab::{ExternalFiles, File, FileLocking, OpenOptions};
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
    /// The state of the file on disk when the file was opened.
    stamp: Option<Stamp>,
}

/// The size of a file and the time of its last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    size: u64,
    seconds: i64,
    nanoseconds: i64,
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

/// Returns the state on disk of the file at a path.
fn stamp_of(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(Stamp { size: metadata.len(), seconds: metadata.mtime(), nanoseconds: metadata.mtime_nsec() })
}

/// Returns the newest open file that satisfies a condition.
fn newest(condition: impl Fn(&Shared) -> bool) -> Option<Arc<Shared>> {
    let open: Vec<_> = OPEN.lock().iter().filter_map(Weak::upgrade).collect();
    open.into_iter().rev().find(|shared| condition(shared))
}

/// Returns the open file with an identity.
pub(super) fn find(identity: &FileIdentity) -> Option<Arc<Shared>> {
    newest(|shared| shared.identity.as_ref() == Some(identity))
}

/// Returns the shared file of a façade file that a link opened, if the file has sessions.
pub(super) fn known(file: &File) -> Option<Arc<Shared>> {
    newest(|shared| shared.file.is_same(file))
}

/// Opens the file of a link in the way in which the file with the link, `parent`, is open: for
/// writing or reading, and with the same use of locks. Returns `file`, which the link opened for
/// reading and without a lock, if the file cannot be opened in that way.
pub(super) fn open_linked(file: &File, parent: &Shared) -> Arc<Shared> {
    let name = file.file_name().to_owned();
    let path = Path::new(&name);
    let identity = identity_of(path);
    let asks = (parent.writable || parent.locking.is_some()) && identity.is_some();
    let own = asks.then(|| {
        let mut options = OpenOptions::new()
            .external_files(ExternalFiles::Anywhere)
            .open_files(Arc::new(Registry))
            .write(parent.writable);
        if let Some(locking) = parent.locking {
            options = options.locking(locking);
        }
        options.open(path)
    });
    match own {
        Some(Ok(opened)) => {
            Shared::add_locked(opened, identity, parent.writable, false, &name, parent.locking)
        }
        _ => Shared::add(file.clone(), identity, file.is_writable(), false, &name),
    }
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
        let stamp = stamp_of(Path::new(name));
        let name = name.to_owned();
        let shared = Arc::new(Self { file, identity, writable, swmr, number, name, locking, stamp });
        let mut open = OPEN.lock();
        open.retain(|shared| shared.strong_count() > 0);
        open.push(Arc::downgrade(&shared));
        shared
    }

    /// Returns whether another program has changed the file at `path` since this process opened the
    /// file for reading. A session of a changed file must not share the old metadata.
    pub(super) fn is_outdated(&self, path: &Path) -> bool {
        !self.writable && !self.swmr && self.stamp.is_some() && stamp_of(path) != self.stamp
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

    fn written(&self) -> Vec<File> {
        let open: Vec<_> = OPEN.lock().iter().filter_map(Weak::upgrade).collect();
        // A file without an identity is no source: no name leads to that file.
        let sources = open.iter().filter(|shared| shared.writable && shared.identity.is_some());
        sources.map(|shared| shared.file.clone()).collect()
    }
}
