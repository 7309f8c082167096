//! The per-thread callback that the library calls when a function fails (`H5Eset_auto`).

use std::cell::Cell;
use std::ffi::c_void;

use crate::call_user;
use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t};

/// The C type of a failure callback that receives the identifier of the error stack
/// (`H5E_auto2_t`).
pub type Auto2 = unsafe extern "C" fn(hid_t, *mut c_void) -> herr_t;
/// The C type of a failure callback in the HDF5 1.6 form, which receives only its data
/// (`H5E_auto1_t`).
pub type Auto1 = unsafe extern "C" fn(*mut c_void) -> herr_t;

/// The action after a failed library call: print the error stack, do nothing, or call the user's
/// function.
#[derive(Debug, Clone, Copy, Default)]
pub enum Reporter {
    /// The default action, which prints the error stack to the standard error.
    #[default]
    Print,
    /// No action.
    None,
    /// A function that the user set with `H5Eset_auto1`.
    User1(Auto1),
    /// A function that the user set with `H5Eset_auto2`.
    User2(Auto2),
}

/// A failure callback, which the library calls after a failed call, with the callback's data.
#[derive(Debug, Clone, Copy)]
pub struct Automatic {
    /// The action of the library after a failed call.
    pub reporter: Reporter,
    /// The data that the user's failure callback receives.
    pub data: *mut c_void,
    /// The last function of the user in the HDF5 1.6 form, which a program can still request after
    /// the default action replaced it in the other form.
    pub first: Option<Auto1>,
    /// The last function of the user in the current form.
    pub second: Option<Auto2>,
}

impl Default for Automatic {
    fn default() -> Self {
        Self { reporter: Reporter::Print, data: std::ptr::null_mut(), first: None, second: None }
    }
}

// SAFETY: the library only passes this opaque pointer to the user's function. The C interface makes
// the user responsible for the use by several threads.
#[expect(unsafe_code, reason = "opaque data of the user crosses threads with its stack")]
unsafe impl Send for Automatic {}

thread_local! {
    /// The current thread's failure callback. The library calls it after a failed call.
    static AUTOMATIC: Cell<Automatic> = const {
        Cell::new(Automatic { reporter: Reporter::Print, data: std::ptr::null_mut(), first: None, second: None })
    };
    /// The number of running failure callbacks of the current thread: 1 during a callback, and
    /// otherwise 0.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns the failure callback that the library calls after a failed call on the current thread.
pub fn get() -> Automatic {
    AUTOMATIC.get()
}

/// Sets the failure callback that the library calls after a failed call on the current thread.
pub fn set(automatic: Automatic) {
    AUTOMATIC.set(automatic);
}

/// Calls the failure callback of the current thread, unless the callback is already running on this
/// thread.
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
