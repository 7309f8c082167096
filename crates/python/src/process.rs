//! The process: forks, exit, and functions without a file.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ending::{self, Detached as _};
use parking_lot::Mutex;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::file::{self, names};

/// The number of forks between the start of the first process and this process.
static FORKS: AtomicU64 = AtomicU64::new(0);
/// The thread pool of a forked process, with the number of forks at its creation. The threads of an
/// earlier pool did not survive the fork.
static POOL: Mutex<Option<(u64, std::sync::Arc<ThreadPool>)>> = Mutex::new(None);

/// Returns the number of forks that led to this process.
pub(crate) fn forks() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

/// Calls `work` on threads that exist: in a forked process, in a thread pool of that process.
pub(crate) fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let forks = forks();
    if forks == 0 {
        return work();
    }
    let pool = {
        let mut pool = POOL.lock();
        match pool.as_ref() {
            Some((number, pool)) if *number == forks => Some(std::sync::Arc::clone(pool)),
            _ => {
                let new = ThreadPoolBuilder::new().build().ok().map(std::sync::Arc::new);
                // The old pool is leaked: its threads are gone, and its destructor would wait for
                // them.
                std::mem::forget(pool.take());
                *pool = new.clone().map(|new| (forks, new));
                new
            }
        }
    };
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Marks this process as a fork: inherited writable files refuse all access from now on.
#[pyfunction]
pub(crate) fn after_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    ending::after_fork();
}

/// Closes all open files, newest first, because Python ends. Calls of other threads are errors from
/// now on.
#[pyfunction]
pub(crate) fn end(py: Python<'_>) -> PyResult<()> {
    ending::begin(py);
    let mut first_error = Ok(());
    for session in file::sessions().into_iter().rev() {
        let closed = session.close(py);
        first_error = first_error.and(closed);
    }
    first_error
}

/// Returns the numbers of the open files.
#[pyfunction]
pub(crate) fn open_files() -> Vec<u64> {
    let open = file::sessions().into_iter().filter(|session| session.is_open());
    open.map(|session| session.identity).collect()
}

/// Returns whether a path is an HDF5 file.
#[pyfunction]
pub(crate) fn is_hdf5(py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<bool> {
    let path = names::path(path)?;
    Ok(py.detached(|| hyperslab::OpenOptions::new().locking(hyperslab::FileLocking::Off).open(path)).is_ok())
}

/// Returns the identifiers of the filters of this build.
#[pyfunction]
pub(crate) fn filters_available() -> Vec<u16> {
    hyperslab::filter::Registry::default().ids().map(|id| id.0).collect()
}
