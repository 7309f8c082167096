//! Threads that run a callback of the program while they hold the lock of the file. A change of the
//! file in the callback would wait for itself forever.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use parking_lot::Mutex;

use super::Store;
use crate::error::{Error, Result};

/// The set of threads that currently run a function of the caller (a callback) for one file.
#[derive(Debug, Default)]
pub(super) struct Callbacks {
    count: AtomicUsize,
    threads: Mutex<Vec<ThreadId>>,
}

/// A guard for a running function of the caller (a callback) for a file. When the guard is dropped,
/// the callback counts as ended.
#[derive(Debug)]
pub struct Callback<'a>(&'a Store);

impl Store {
    /// Records that a function of the caller (a callback) for the file begins, and returns its
    /// guard. Until the guard is dropped, a change of the file by this thread is an error.
    pub fn begin_callback(&self) -> Callback<'_> {
        let callbacks = &self.sharing.callbacks;
        callbacks.threads.lock().push(thread::current().id());
        callbacks.count.fetch_add(1, Ordering::AcqRel);
        Callback(self)
    }

    /// Checks that the calling thread does not run a function of the caller (a callback) for the
    /// file.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] inside of a callback.
    pub(super) fn check_no_callback(&self) -> Result<()> {
        let callbacks = &self.sharing.callbacks;
        if callbacks.count.load(Ordering::Acquire) == 0
            || !callbacks.threads.lock().contains(&thread::current().id())
        {
            return Ok(());
        }
        Err(Error::Misuse(format!(
            "`{}` cannot be changed by a function that is called while the file is being read",
            self.name()
        )))
    }
}

impl Drop for Callback<'_> {
    fn drop(&mut self) {
        let callbacks = &self.0.sharing.callbacks;
        let this = thread::current().id();
        let mut threads = callbacks.threads.lock();
        if let Some(at) = threads.iter().rposition(|thread| *thread == this) {
            threads.swap_remove(at);
        }
        callbacks.count.fetch_sub(1, Ordering::AcqRel);
    }
}
