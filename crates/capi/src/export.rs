//! The frame of each exported function: it starts the library, clears the error stack, catches
//! panics, and turns a failure into records of the error stack and the failure value of C.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{self, Failure, Outcome, codes};
use crate::init;

/// A value that a C function returns.
pub trait Returned: Copy {
    /// The value of a failed call.
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

/// Runs the body of an exported function.
///
/// The error stack of the thread is cleared first, unless `keep` is true: functions that read or
/// change the stack, or that clean up after a failure, keep the records.
pub fn call<T: Returned>(name: &'static str, keep: bool, body: impl FnOnce() -> Outcome<T>) -> T {
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

/// Defines exported functions. The body of a function returns an [`Outcome`] of the declared type.
#[macro_export]
macro_rules! export {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {$(
        $crate::export_one! { false, $(#[$meta])* fn $name($($argument: $type),*) $(-> $result)? $body }
    )*};
}

/// Defines exported functions that keep the records of the error stack; see [`call`].
#[macro_export]
macro_rules! export_keeping_errors {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {$(
        $crate::export_one! { true, $(#[$meta])* fn $name($($argument: $type),*) $(-> $result)? $body }
    )*};
}

/// Defines one exported function.
#[macro_export]
macro_rules! export_one {
    ($keep:literal, $(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// The arguments are as the C function requires; see [`crate::pointer`].
        #[expect(unsafe_code, reason = "the function is called from C by its name")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            let body = move || -> $crate::error::Outcome<$crate::returned_type!($($result)?)> { $body };
            $crate::export::call(stringify!($name), $keep, body)
        }
    };
}

/// Returns the type that an exported function returns.
#[macro_export]
macro_rules! returned_type {
    () => {
        ()
    };
    ($result:ty) => {
        $result
    };
}

/// Calls a function pointer of the user.
///
/// The user promises that the function accepts the arguments that the C interface documents. No
/// lock is held and no borrow lives during the call.
macro_rules! call_user {
    ($function:expr, $($argument:expr),* $(,)?) => {{
        let function = $function;
        #[expect(unsafe_code, reason = "the user's function is called as the C interface documents")]
        // SAFETY: the pointer came with the call of a C function whose documentation states the
        // arguments, and the caller keeps the function valid.
        let result = unsafe { function($($argument),*) };
        result
    }};
}

pub(crate) use call_user;
