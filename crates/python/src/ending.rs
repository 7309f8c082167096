//! The end of Python while other threads use the package.
//!
//! Before version 3.14, Python ends a thread that wants the interpreter after the program's end by
//! unwinding the stack of the thread. Rust code on this stack would drop Python objects without the
//! lock of the interpreter, and PyO3 would catch the unwinding, which aborts the process. Three
//! means prevent this:
//!
//! - [`begin`] runs when Python begins to end. It waits until no other thread is inside of
//!   [`hold_at_end`]; from then on, such calls of other threads are errors.
//! - [`Detached::detached`] holds threads that detach from the interpreter for a long time.
//! - [`hold_at_end`] holds threads whose stack is unwound nevertheless.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::marker::Ungil;
use pyo3::prelude::*;

/// The longest time for which the end of Python waits for threads inside of calls.
const MAX_WAIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(1);

/// The thread that ends Python, once it has begun. The interpreter's lock guards the change.
static ENDER: OnceLock<ThreadId> = OnceLock::new();
/// The number of threads inside of [`hold_at_end`].
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// Makes all later calls of other threads an error, and waits until no thread is inside of a call.
pub(crate) fn begin(py: Python<'_>) {
    let _ = ENDER.set(std::thread::current().id()); // Only the first call sets it.
    let start = Instant::now();
    while INSIDE.load(Ordering::SeqCst) > 0 && start.elapsed() < MAX_WAIT {
        py.detach(|| std::thread::sleep(PAUSE));
    }
}

/// Forgets the threads inside of calls, which a fork does not have.
pub(crate) fn after_fork() {
    INSIDE.store(0, Ordering::SeqCst);
}

/// Calls `work`, which uses Python or NumPy. If Python ends meanwhile, the thread waits until the
/// process ends, as threads do from Python 3.14 on.
///
/// # Errors
/// Raises a `ValueError` if another thread has begun to end Python: all files are closed then.
pub(crate) fn hold_at_end<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    if ENDER.get().is_some_and(|ender| *ender != std::thread::current().id()) {
        return Err(PyValueError::new_err("the file is closed, because Python ends"));
    }
    // Neither the check nor the count gives up the interpreter's lock, so `begin` sees the call.
    let _inside = Inside::enter();
    held(work)
}

/// The detachment of a thread from the interpreter, which is safe at the end of Python.
pub(crate) trait Detached {
    /// Calls `work` while the thread is detached from the interpreter, and attaches the thread
    /// again. If Python has ended meanwhile, the thread waits until the process ends.
    fn detached<T: Ungil>(self, work: impl FnOnce() -> T + Ungil) -> T;
}

impl Detached for Python<'_> {
    fn detached<T: Ungil>(self, work: impl FnOnce() -> T + Ungil) -> T {
        held(|| self.detach(work))
    }
}

/// Calls `work`. If Python unwinds the stack, the thread waits here until the process ends.
fn held<T>(work: impl FnOnce() -> T) -> T {
    let hold = Hold;
    let result = work();
    std::mem::forget(hold); // Only unwinding drops it.
    result
}

/// A value whose destructor waits forever, except in a panic.
struct Hold;

impl Drop for Hold {
    fn drop(&mut self) {
        while !std::thread::panicking() {
            std::thread::park();
        }
    }
}

/// The count of a thread inside of a call.
struct Inside;

impl Inside {
    fn enter() -> Self {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // A fork inside of a call has set the count to 0, which stays.
        let less = |count: usize| count.checked_sub(1);
        let _ = INSIDE.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
    }
}
