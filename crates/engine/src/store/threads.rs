//! Threads for those who hold a lock of a file while they share their work.
//!
//! Whoever gives work to threads of rayon waits for them, and does meanwhile what else is to be done there. On threads that the
//! program uses itself that may be something that wants to change the same file, and waits for that lock for ever; or all
//! of them wait for it already. So those who hold a file that can be changed share work with threads that do nothing else,
//! and not at all where they are on one of the program's.

use std::sync::OnceLock;

use super::Store;
use super::parallel::{self, Scope, ThreadPool, ThreadPoolBuilder};

/// The threads of a file that can be changed, once they are needed.
#[derive(Debug, Default)]
pub(super) struct Threads(OnceLock<Option<ThreadPool>>);

impl Store {
    /// Returns whether somebody who holds the file may share work: see [`share`](Self::share).
    pub fn may_share(&self) -> bool {
        if !self.writable || parallel::current_thread_index().is_none() {
            return parallel::current_num_threads() > 1;
        }
        self.threads.0.get().and_then(Option::as_ref).is_some_and(|own| own.current_thread_index().is_some())
    }

    /// Does something that shares its work with others, where [`may_share`](Self::may_share) says so.
    pub fn share<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self.own_threads() {
            Some(threads) => threads.install(work),
            None => work(),
        }
    }

    /// As [`share`](Self::share), where this thread does a part that no other one can do.
    pub(crate) fn share_in_place<'scope, T>(&self, work: impl FnOnce(&Scope<'scope>) -> T) -> T {
        match self.own_threads() {
            Some(threads) => threads.in_place_scope(work),
            None => parallel::in_place_scope(work),
        }
    }

    /// The threads of the file, if it can be changed and this is none of them.
    fn own_threads(&self) -> Option<&ThreadPool> {
        if !self.writable || parallel::current_thread_index().is_some() {
            return None;
        }
        let build = || {
            let count = parallel::current_num_threads();
            let name = |number| format!("hyperslab {number}");
            ThreadPoolBuilder::new().num_threads(count).thread_name(name).build().ok()
        };
        self.threads.0.get_or_init(build).as_ref()
    }
}
