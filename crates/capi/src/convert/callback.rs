//! The user's callback for conversion exceptions such as overflow (`H5Pset_type_conv_cb`).

use std::ffi::{c_int, c_void};

use hyperslab::datatype::convert::{ExceptionKind, Exceptions, Response};

use crate::call_user;
use crate::ctypes::hid_t;
use crate::datatype;

/// The C type of a user's callback for conversion exceptions (`H5T_conv_except_func_t`).
pub type Function = unsafe extern "C" fn(c_int, hid_t, hid_t, *mut c_void, *mut c_void, *mut c_void) -> c_int;

/// A user's callback for conversion exceptions, together with the callback's data. Conversions with
/// a callback run on the calling thread.
#[derive(Debug, Clone, Copy)]
struct User {
    /// The callback for conversion exceptions.
    function: Function,
    /// The address of the data that the callback receives.
    data: usize,
}

impl User {
    /// Calls the user's callback for the conversion exception of one element and returns the
    /// callback's decision (`H5T_conv_ret_t`).
    fn call(self, kind: c_int, (from, to): (hid_t, hid_t), source: &[u8], destination: &mut [u8]) -> c_int {
        let mut copy = source.to_vec();
        let (source, target) = (copy.as_mut_ptr().cast(), destination.as_mut_ptr().cast());
        call_user!(self.function, kind, from, to, source, target, self.data as *mut c_void)
    }
}

/// Returns a handler of conversion exceptions that calls the user's callback.
pub fn exceptions(function: Function, data: *mut c_void) -> Exceptions {
    let user = User { function, data: data as usize };
    Exceptions::ask(move |exception, destination| {
        let kind = match exception.kind {
            ExceptionKind::RangeHigh => 0,
            ExceptionKind::RangeLow => 1,
            ExceptionKind::Precision => 2,
            ExceptionKind::Truncate => 3,
            ExceptionKind::PositiveInfinity => 4,
            ExceptionKind::NegativeInfinity => 5,
            ExceptionKind::NotANumber => 6,
            _ => return Response::Unhandled,
        };
        let types = (datatype::register(exception.from.clone()), datatype::register(exception.to.clone()));
        let answer = user.call(kind, types, exception.source, destination);
        crate::id::take(types.0);
        crate::id::take(types.1);
        match answer {
            0 => Response::Unhandled,
            1 => Response::Handled,
            _ => Response::Abort,
        }
    })
}
