//! Threads that share work while one thread holds a lock of the file.
//!
//! A thread that gives work to threads of rayon waits for them, and meanwhile runs other work of
//! the same pool. In a pool of the program, that work may want to change the same file, and would
//! wait for the lock forever; or all threads of the pool may wait for the lock already. Therefore,
//! a thread that holds a writable file shares work with threads that do nothing else, and shares no
//! work if it is itself a thread of the program's pool.

use std::sync::OnceLock;

use super::Store;
use super::parallel::{self, Scope, ThreadPool, ThreadPoolBuilder};

/// The thread pool of a writable file. The pool is created at its first use.
#[derive(Debug, Default)]
pub(super) struct Threads(OnceLock<Option<ThreadPool>>);

impl Store {
    /// Returns whether a thread that holds a lock of the file may divide its work among several
    /// threads. See [`share`](Self::share).
    pub fn may_share(&self) -> bool {
        if !self.write_state.is_writable || parallel::current_thread_index().is_none() {
            return parallel::current_num_threads() > 1;
        }
        let own = self.sharing.threads.0.get().and_then(Option::as_ref);
        own.is_some_and(|own| own.current_thread_index().is_some())
    }

    /// Calls `work`. If [`may_share`](Self::may_share) returns true, runs `work` on the file's
    /// thread pool, where it can divide itself among threads.
    pub fn share<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self.own_threads() {
            Some(threads) => threads.install(work),
            None => work(),
        }
    }

    /// Calls `work` on the calling thread. `work` can add jobs for the file's thread pool. (The
    /// function [`share`](Self::share) runs `work` itself on the pool.)
    pub(crate) fn share_in_place<'scope, T>(&self, work: impl FnOnce(&Scope<'scope>) -> T) -> T {
        match self.own_threads() {
            Some(threads) => threads.in_place_scope(work),
            None => parallel::in_place_scope(work),
        }
    }

    /// Returns the file's own thread pool, if the file is writable and the calling thread belongs
    /// to no pool.
    fn own_threads(&self) -> Option<&ThreadPool> {
        if !self.write_state.is_writable || parallel::current_thread_index().is_some() {
            return None;
        }
        // A fork of the process has the pool, but none of its threads.
        if parallel::current_num_threads() == 1 {
            return None;
        }
        let build = || {
            let count = parallel::current_num_threads();
            let name = |number| format!("hyperslab {number}");
            ThreadPoolBuilder::new().num_threads(count).thread_name(name).build().ok()
        };
        self.sharing.threads.0.get_or_init(build).as_ref()
    }
}
