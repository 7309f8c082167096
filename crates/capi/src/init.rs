//! Start and shutdown of the library.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::{call_user, id, memory};

/// A flag that is true after the predefined identifiers have been added to the identifier table.
static STARTED: AtomicBool = AtomicBool::new(false);
/// A lock for the start of the library, which admits one thread at a time.
static STARTING: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
/// A flag that is true after the library has asked C to call it when the program ends.
static AT_EXIT: AtomicBool = AtomicBool::new(false);
/// A flag that is true if the program wants no shutdown of the library at its end.
static NO_EXIT: AtomicBool = AtomicBool::new(false);
/// The functions of the user that the library calls at its shutdown.
static CLOSING: parking_lot::Mutex<Vec<Closing>> = parking_lot::Mutex::new(Vec::new());

/// The time after which the end of a program does not wait for a shutdown any more, if a function
/// of the user ended the program while the library called it. The library may wait for a lock that
/// this call holds.
const MAX_WAIT: Duration = Duration::from_secs(10);

thread_local! {
    /// The number of exported functions in which the current thread is.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The C type of a user's function for the shutdown of the library (`H5_atclose_func_t`).
pub type CloseFunction = unsafe extern "C" fn(*mut c_void);

/// A user's function for the shutdown of the library, with its data.
#[derive(Debug, Clone, Copy)]
pub struct Closing {
    /// The function.
    pub function: CloseFunction,
    /// The data that the function receives.
    pub data: *mut c_void,
}

// SAFETY: the library only passes the pointer to the user's function.
#[expect(unsafe_code, reason = "the data of a user's function crosses threads")]
unsafe impl Send for Closing {}

/// A count of the calls in which the current thread is. Dropping the value ends its call.
#[derive(Debug)]
pub struct InCall;

impl InCall {
    /// Counts a call of an exported function until the result is dropped.
    pub fn start() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }
}

impl Drop for InCall {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Adds the predefined identifiers to the identifier table if this has not happened yet.
pub fn start() {
    if STARTED.load(Ordering::Acquire) {
        return;
    }
    let _guard = STARTING.lock();
    if !STARTED.load(Ordering::Acquire) {
        id::predefined::register();
        if !AT_EXIT.swap(true, Ordering::Relaxed) {
            memory::at_exit(stop_at_exit);
        }
        STARTED.store(true, Ordering::Release);
    }
}

/// Adds a function that the library calls at its shutdown. The last function is called first.
pub fn at_close(closing: Closing) {
    CLOSING.lock().push(closing);
}

/// Prevents the shutdown of the library at the end of the program.
pub fn no_exit() {
    NO_EXIT.store(true, Ordering::Relaxed);
}

/// Calls the functions of the user for the shutdown, closes all files and objects, and removes all
/// identifiers, filters and link classes. The next library call starts the library again.
pub fn stop() {
    let functions = std::mem::take(&mut *CLOSING.lock());
    for Closing { function, data } in functions.into_iter().rev() {
        call_user!(function, data);
    }
    id::close_all();
    crate::filter::remove_all();
    crate::h5l::remove_classes();
    STARTED.store(false, Ordering::Release);
}

/// Closes all files when the program ends. Files that a fork inherited belong to the first process.
extern "C" fn stop_at_exit() {
    if NO_EXIT.load(Ordering::Relaxed) || !STARTED.load(Ordering::Acquire) {
        return;
    }
    // The variables of this thread are gone already. A new thread has its own.
    let (done, wait) = mpsc::channel();
    let close = move || {
        id::leave_inherited();
        // The program ends, so no caller can receive an internal error.
        drop(std::panic::catch_unwind(stop));
        let _ = done.send(());
    };
    let Ok(thread) = std::thread::Builder::new().spawn(close) else { return };
    if DEPTH.get() == 0 {
        drop(thread.join());
    } else {
        let _ = wait.recv_timeout(MAX_WAIT);
    }
}
