//! Sessions: openings of files, and the handles of objects that belong to them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::ending::Detached as _;
use hyperslab::FileLocking;
use hyperslab::vfd::DriverKind;
use parking_lot::{Mutex, RwLock};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use super::registry::{self, Shared};
use crate::errors::OrRaise;
use crate::process::{forks, in_pool};

/// The open sessions of this process, oldest first.
static SESSIONS: Mutex<Vec<Weak<Session>>> = Mutex::new(Vec::new());

/// The number of slots after which the list of slots is cleaned first.
const FIRST_CLEANING: usize = 64;

/// One opening of a file: the owner of the handles of its objects.
pub(crate) struct Session {
    /// The file; `None` after the session is closed.
    shared: RwLock<Option<Arc<Shared>>>,
    /// The handles of objects.
    slots: Mutex<Slots>,
    /// The name that the user gave.
    pub(crate) name: String,
    pub(crate) driver: String,
    /// The bounds of library versions.
    pub(crate) libver: (String, String),
    /// The size of metadata blocks in bytes.
    pub(crate) meta_block_size: u64,
    pub(crate) writable: bool,
    forks: u64,
    /// The number of the file, which all its sessions share.
    pub(crate) identity: u64,
    pub(crate) swmr: AtomicU64,
}

#[derive(Default)]
struct Slots {
    all: Vec<Weak<dyn Closable>>,
    clean_at: usize,
}

/// A handle that a session can close.
trait Closable: Send + Sync {
    fn close(&self);
    fn is_open(&self) -> bool;
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The properties of a session that the file does not store.
#[derive(Debug)]
pub(super) struct Traits {
    pub(super) driver: String,
    pub(super) libver: (String, String),
    pub(super) meta_block_size: u64,
    pub(super) swmr: bool,
}

impl Traits {
    /// Returns the default properties of a session with a driver.
    pub(super) fn of_driver(driver: DriverKind) -> Self {
        let driver = match driver {
            DriverKind::Other => "fileobj",
            kind => kind.name(),
        };
        let libver = ("earliest".to_owned(), "v200".to_owned());
        Self { driver: driver.to_owned(), libver, meta_block_size: 2048, swmr: false }
    }
}

/// Returns the open sessions of this process, oldest first.
pub(crate) fn sessions() -> Vec<Arc<Session>> {
    SESSIONS.lock().iter().filter_map(Weak::upgrade).collect()
}

fn closed() -> PyErr {
    PyValueError::new_err(
        "Invalid location identifier: the file or object is closed (Not a location; invalid object ID)",
    )
}

impl Session {
    /// Creates the session of an open file.
    pub(super) fn new(shared: Arc<Shared>, name: String, traits: Traits) -> Arc<Self> {
        let Traits { driver, libver, meta_block_size, swmr } = traits;
        let session = Arc::new(Self {
            libver,
            meta_block_size,
            writable: shared.writable,
            identity: shared.number,
            shared: RwLock::new(Some(shared)),
            slots: Mutex::default(),
            name,
            driver,
            forks: forks(),
            swmr: AtomicU64::new(u64::from(swmr)),
        });
        let mut sessions = SESSIONS.lock();
        sessions.retain(|session| session.strong_count() > 0);
        sessions.push(Arc::downgrade(&session));
        session
    }

    /// Returns the façade file.
    ///
    /// # Errors
    /// Returns a `ValueError` if the session is closed, and an `OSError` in a fork of the process
    /// that opened the file for writing.
    pub(crate) fn file(&self) -> PyResult<hyperslab::File> {
        self.check()?;
        self.shared.read().as_ref().map(|shared| shared.file.clone()).ok_or_else(closed)
    }

    /// Returns the use of locks that the first session of the file requested.
    pub(crate) fn locking(&self) -> Option<FileLocking> {
        self.shared.read().as_ref().and_then(|shared| shared.locking)
    }

    /// Checks that this process may use the session.
    ///
    /// # Errors
    /// Returns the errors of [`file`](Self::file).
    pub(crate) fn check(&self) -> PyResult<()> {
        if self.writable && self.forks != forks() {
            let text = "the file was opened for writing before this process was forked; open it again in this process";
            return Err(PyOSError::new_err(format!("{text}: {}", self.name)));
        }
        if self.is_open() { Ok(()) } else { Err(closed()) }
    }

    /// Returns whether the session is open.
    pub(crate) fn is_open(&self) -> bool {
        self.shared.read().is_some()
    }

    /// Returns the number of live handles of objects.
    pub(crate) fn handles(&self) -> usize {
        let slots = self.slots.lock();
        slots.all.iter().filter_map(Weak::upgrade).filter(|slot| slot.is_open()).count()
    }

    /// Closes all handles of the session, and the file if no other session uses it.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let slots = std::mem::take(&mut *self.slots.lock());
        for slot in slots.all.iter().filter_map(Weak::upgrade) {
            slot.close();
        }
        let Some(shared) = self.shared.write().take() else { return Ok(()) };
        if self.writable && self.forks != forks() {
            // The file belongs to the parent process, which will write it.
            std::mem::forget(shared);
            return Ok(());
        }
        py.detached(|| in_pool(|| shared.close())).or_raise()
    }

    fn add(&self, slot: Weak<dyn Closable>) {
        let mut slots = self.slots.lock();
        if slots.all.len() >= slots.clean_at.max(FIRST_CLEANING) {
            slots.all.retain(|slot| slot.strong_count() > 0);
            slots.clean_at = slots.all.len() * 2;
        }
        slots.all.push(slot);
    }

    /// Records that the session writes in SWMR mode.
    pub(crate) fn set_swmr(&self) {
        self.swmr.store(1, Ordering::Relaxed);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.writable && self.forks != forks() {
            std::mem::forget(self.shared.get_mut().take());
        }
    }
}

/// The façade object of a handle. The session takes it away when the file is closed.
pub(crate) struct Slot<T> {
    value: RwLock<Option<T>>,
    session: Arc<Session>,
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("session", &self.session).finish_non_exhaustive()
    }
}

impl<T: Clone + Send + Sync + 'static> Slot<T> {
    /// Creates a slot of a session.
    pub(crate) fn new(session: &Arc<Session>, value: T) -> Arc<Self> {
        let slot = Arc::new(Self { value: RwLock::new(Some(value)), session: Arc::clone(session) });
        let closable: Arc<dyn Closable> = Arc::clone(&slot) as _;
        session.add(Arc::downgrade(&closable));
        slot
    }

    /// Returns the façade object.
    ///
    /// # Errors
    /// Returns the errors of [`Session::file`].
    pub(crate) fn get(&self) -> PyResult<T> {
        self.session.check()?;
        self.value.read().clone().ok_or_else(closed)
    }

    /// Returns the session of the handle.
    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

impl<T: Send + Sync> Closable for Slot<T> {
    fn close(&self) {
        let value = self.value.write().take();
        drop(value);
    }

    fn is_open(&self) -> bool {
        self.value.read().is_some()
    }
}

impl<T: Send + Sync> Slot<T> {
    /// Closes the handle.
    pub(crate) fn close_one(&self) {
        Closable::close(self);
    }

    /// Returns whether the handle is open.
    pub(crate) fn is_live(&self) -> bool {
        Closable::is_open(self)
    }
}

impl Session {
    /// Returns a session of a file that an external link or a reference of this session opened, and
    /// the file's object `object` in that session.
    pub(crate) fn of_other(
        &self,
        file: &hyperslab::File,
        object: hyperslab::Object,
    ) -> PyResult<(Arc<Self>, hyperslab::Object)> {
        let shared = match registry::known(file) {
            Some(shared) => shared,
            None => registry::open_linked(file, &*self.shared()?),
        };
        let object = if shared.file.is_same(file) {
            object
        } else {
            shared.file.root().object_at_address(object.token().address()).or_raise()?
        };
        let name = shared.name.clone();
        let traits = Traits::of_driver(shared.file.info().driver);
        Ok((Self::new(shared, name, traits), object))
    }

    fn shared(&self) -> PyResult<Arc<Shared>> {
        self.shared.read().clone().ok_or_else(closed)
    }
}
