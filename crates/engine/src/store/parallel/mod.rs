//! Parallel iterators and thread pools: those of rayon, or sequential substitutes without the
//! feature `parallel`.
//!
//! All code of the crate imports rayon through this module, so that the sequential build compiles
//! the same code.

#[cfg(feature = "parallel")]
pub(crate) use rayon::{Scope, ThreadPool, ThreadPoolBuilder, current_thread_index, in_place_scope};
#[cfg(feature = "parallel")]
pub use rayon::{current_num_threads, prelude};
#[cfg(not(feature = "parallel"))]
pub(crate) use sequential::{Scope, ThreadPool, ThreadPoolBuilder, current_thread_index, in_place_scope};
#[cfg(not(feature = "parallel"))]
pub use sequential::{current_num_threads, prelude};

#[cfg(not(feature = "parallel"))]
mod sequential;
