//! The function that is called when a call fails (`H5Eset_auto`), for each thread.

use std::cell::Cell;
use std::ffi::c_void;

use crate::call_user;
use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t};

/// A function for failures, with the identifier of the stack (`H5E_auto2_t`).
pub type Auto2 = unsafe extern "C" fn(hid_t, *mut c_void) -> herr_t;
/// A function for failures (`H5E_auto1_t`).
pub type Auto1 = unsafe extern "C" fn(*mut c_void) -> herr_t;

/// The function that reports failures.
#[derive(Debug, Clone, Copy, Default)]
pub enum Reporter {
    /// The function that prints the stack to the standard error.
    #[default]
    Print,
    /// No function.
    None,
    /// A function of the user.
    User1(Auto1),
    /// A function of the user.
    User2(Auto2),
}

/// The function that reports failures, and its data.
#[derive(Debug, Clone, Copy)]
pub struct Automatic {
    /// The function.
    pub reporter: Reporter,
    /// The data of the function.
    pub data: *mut c_void,
}

impl Default for Automatic {
    fn default() -> Self {
        Self { reporter: Reporter::Print, data: std::ptr::null_mut() }
    }
}

// SAFETY: the pointer is opaque data of the user, which the library only passes to the user's
// function. The C interface leaves its use by several threads to the user.
#[expect(unsafe_code, reason = "opaque data of the user crosses threads with its stack")]
unsafe impl Send for Automatic {}

thread_local! {
    static AUTOMATIC: Cell<Automatic> = const {
        Cell::new(Automatic { reporter: Reporter::Print, data: std::ptr::null_mut() })
    };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns the thread's function for failures.
pub fn get() -> Automatic {
    AUTOMATIC.get()
}

/// Sets the thread's function for failures.
pub fn set(automatic: Automatic) {
    AUTOMATIC.set(automatic);
}

/// Calls the thread's function for failures, unless the failure happened in such a call or in
/// another call of the library.
pub fn report() {
    if DEPTH.get() != 0 {
        return;
    }
    DEPTH.set(1);
    let automatic = AUTOMATIC.get();
    match automatic.reporter {
        Reporter::None => {}
        Reporter::Print => crate::h5e::print_to_stderr(),
        Reporter::User1(function) => {
            call_user!(function, automatic.data);
        }
        Reporter::User2(function) => {
            call_user!(function, H5P_DEFAULT, automatic.data);
        }
    }
    DEPTH.set(0);
}
