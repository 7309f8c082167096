//! Parallel iterators and thread pools: those of rayon, or sequential substitutes without the
//! feature `parallel`.
//!
//! All code of the crate imports rayon through this module, so that the sequential build compiles
//! the same code.

#[cfg(feature = "parallel")]
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(feature = "parallel")]
pub use rayon::prelude;
#[cfg(feature = "parallel")]
pub(crate) use rayon::{Scope, ThreadPool, ThreadPoolBuilder, current_thread_index, in_place_scope};
#[cfg(not(feature = "parallel"))]
pub(crate) use sequential::{Scope, ThreadPool, ThreadPoolBuilder, current_thread_index, in_place_scope};
#[cfg(not(feature = "parallel"))]
pub use sequential::{current_num_threads, prelude};

#[cfg(not(feature = "parallel"))]
mod sequential;

/// The number of the process that asked first for the number of threads; 0 before.
#[cfg(feature = "parallel")]
static FIRST_PROCESS: AtomicU32 = AtomicU32::new(0);

/// Returns whether this process is a fork of the process that created the threads. The threads do
/// not exist in the fork, and work that is given to them would never end.
#[cfg(feature = "parallel")]
fn is_without_threads() -> bool {
    let own = std::process::id();
    let first = FIRST_PROCESS.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed);
    first.is_err_and(|first| first != own)
}

/// Returns the number of threads that can share work. In a fork of a process with threads, this
/// number is 1, except on the threads of a pool that the fork created.
#[cfg(feature = "parallel")]
pub fn current_num_threads() -> usize {
    if current_thread_index().is_none() && is_without_threads() {
        return 1;
    }
    rayon::current_num_threads()
}
