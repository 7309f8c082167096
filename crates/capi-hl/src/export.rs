//! The common code of all exported functions: it starts `libhdf5.so`, catches panics, and converts
//! a failure to a record of the error stack and a C failure value.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::{Failure, Outcome};
use crate::sys;

/// A return type of exported C functions, with the value that reports a failure.
pub trait Returned: Copy {
    /// The value that an exported C function returns after a failure.
    const FAILURE: Self;
}

macro_rules! returned {
    ($($type:ty = $failure:expr;)*) => {$(
        impl Returned for $type {
            const FAILURE: Self = $failure;
        }
    )*};
}

returned! {
    i32 = -1;
    i64 = -1;
    isize = -1;
    usize = 0;
}

/// Runs the body of the exported C function `name` and returns its value. After a failure, returns
/// the failure value of the type.
pub fn call<T: Returned>(name: &'static str, body: impl FnOnce() -> Outcome<T>) -> T {
    sys::H5open();
    let outcome = catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|_| Err(Failure::bad_value("an internal error of hyperslab stopped the call")));
    outcome.unwrap_or_else(|failure| {
        failure.report(name);
        T::FAILURE
    })
}

/// Defines exported C functions. The body of each function returns an [`Outcome`] of the declared
/// type.
#[macro_export]
macro_rules! export {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty $body:block)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// The arguments must be valid for the C function of this name; see [`mod@crate::pointer`].
        #[expect(unsafe_code, reason = "the function is called from C by its name")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            $crate::export::call(stringify!($name), move || -> $crate::failure::Outcome<$result> { $body })
        }
    )*};
}

/// Calls a C function pointer of the user.
///
/// The user promises that the function accepts the arguments that the C interface documents.
macro_rules! call_user {
    ($function:expr, $($argument:expr),* $(,)?) => {{
        let function = $function;
        #[expect(unsafe_code, reason = "the user's function is called as the C interface documents")]
        // SAFETY: the pointer is an argument of a C function, whose documentation states the
        // arguments of the pointer's function. The caller keeps the function valid.
        let result = unsafe { function($($argument),*) };
        result
    }};
}

pub(crate) use call_user;
