//! Threads that run code of the program while they hold the file: what changes the file there would wait for itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use parking_lot::Mutex;

use super::Store;
use crate::error::{Error, Result};

/// The threads of one file that are inside of such a callback.
#[derive(Debug, Default)]
pub(super) struct Callbacks {
    count: AtomicUsize,
    threads: Mutex<Vec<ThreadId>>,
}

/// A callback on its way; it ends when this is dropped.
#[derive(Debug)]
pub struct Callback<'a>(&'a Store);

impl Store {
    /// Begins a callback: until it ends, this thread gets an error if it wants to change the file.
    pub fn begin_callback(&self) -> Callback<'_> {
        self.callbacks.threads.lock().push(thread::current().id());
        self.callbacks.count.fetch_add(1, Ordering::AcqRel);
        Callback(self)
    }

    /// An error inside of a callback.
    ///
    /// # Errors
    /// [`Error::Misuse`].
    pub(super) fn check_no_callback(&self) -> Result<()> {
        if self.callbacks.count.load(Ordering::Acquire) == 0
            || !self.callbacks.threads.lock().contains(&thread::current().id())
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
        let callbacks = &self.0.callbacks;
        let this = thread::current().id();
        let mut threads = callbacks.threads.lock();
        if let Some(at) = threads.iter().rposition(|thread| *thread == this) {
            threads.swap_remove(at);
        }
        callbacks.count.fetch_sub(1, Ordering::AcqRel);
    }
}
