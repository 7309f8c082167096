//! The end of Python while other threads use the package.

/// Calls `work`, which uses Python or NumPy.
///
/// Before version 3.14, Python ends a thread that uses the interpreter after the program's end by
/// unwinding the stack of the thread. PyO3 catches that unwinding where Python called it, and the C
/// library then aborts the process. So the thread waits here until the process ends, as threads do
/// from Python 3.14 on.
pub(crate) fn hold_at_end<T>(work: impl FnOnce() -> T) -> T {
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
