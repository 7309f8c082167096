//! The common code of all exported functions: it starts the library, clears the error stack,
//! catches panics, and converts a failure to error records and a C failure value.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{self, Failure, Outcome, codes};
use crate::init;

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
    () = ();
    i32 = -1;
    i64 = -1;
    isize = -1;
    u32 = 0;
    u64 = 0;
    usize = 0;
    bool = false;
    *mut c_void = std::ptr::null_mut();
    *const c_void = std::ptr::null();
    *mut c_char = std::ptr::null_mut();
    *const c_char = std::ptr::null();
}

impl Returned for Option<crate::convert::user::Function> {
    const FAILURE: Self = None;
}

/// Runs the body of the exported C function `name` and returns its value. After a failure, returns
/// the failure value of the type.
///
/// The call first clears the error stack of the thread, unless `keep` is true. Functions that read
/// or change the stack, or that clean up after a failure, keep the records.
pub fn call<T: Returned>(name: &'static str, keep: bool, body: impl FnOnce() -> Outcome<T>) -> T {
    let _in_call = init::InCall::start();
    init::start();
    if !keep {
        error::stack::clear();
    }
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        let text = "an internal error of hyperslab stopped the call";
        Err(Failure::new(codes::INTERNAL, codes::SYSTEM, text))
    });
    match outcome {
        Ok(value) => value,
        Err(failure) => {
            error::stack::push(name, failure);
            error::automatic::report();
            T::FAILURE
        }
    }
}

/// Defines exported C functions. The body of each function returns an [`Outcome`] of the declared
/// type.
#[macro_export]
macro_rules! export {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {$(
        $crate::export_one! { false, $(#[$meta])* fn $name($($argument: $type),*) $(-> $result)? $body }
    )*};
}

/// Defines exported C functions that keep the records of the error stack; see [`call`].
#[macro_export]
macro_rules! export_keeping_errors {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {$(
        $crate::export_one! { true, $(#[$meta])* fn $name($($argument: $type),*) $(-> $result)? $body }
    )*};
}

/// Defines one exported C function; the first argument states whether the function keeps the error
/// stack.
#[macro_export]
macro_rules! export_one {
    ($keep:literal, $(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// The arguments must be valid for the C function of this name; see [`crate::pointer`].
        #[expect(unsafe_code, reason = "the function is called from C by its name")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            let body = move || -> $crate::error::Outcome<$crate::returned_type!($($result)?)> { $body };
            $crate::export::call(stringify!($name), $keep, body)
        }
    };
}

/// Expands to the return type of an exported function, or to `()` for a function without a return
/// type.
#[macro_export]
macro_rules! returned_type {
    () => {
        ()
    };
    ($result:ty) => {
        $result
    };
}

/// Calls a C function pointer of the user.
///
/// The user promises that the function accepts the arguments that the C interface documents. The
/// library holds no borrow and no lock during the call, except the lock that keeps the calls of
/// filter functions apart.
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
