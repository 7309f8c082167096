//! Failures of calls.

use std::ffi::CString;

use crate::ctypes::hid_t;
use crate::pointer::Text;
use crate::sys;

/// A failure of a call.
#[derive(Debug)]
pub enum Failure {
    /// A function of `libhdf5.so` failed and has put its records on the error stack.
    Reported,
    /// A failure of this library: the minor error code, and the cause.
    Own(Minor, String),
}

/// The kinds of failures of this library.
#[derive(Debug, Clone, Copy)]
pub enum Minor {
    /// An argument has a wrong value.
    BadValue,
    /// An argument is outside of the permitted range.
    BadRange,
    /// An identifier or datatype has the wrong kind.
    BadType,
    /// The library does not implement the request.
    Unsupported,
}

/// The result of a step of a call.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// Returns the failure of an argument with a wrong value.
    pub fn bad_value(text: impl Into<String>) -> Self {
        Self::Own(Minor::BadValue, text.into())
    }

    /// Returns the failure of an argument outside of the permitted range.
    pub fn bad_range(text: impl Into<String>) -> Self {
        Self::Own(Minor::BadRange, text.into())
    }

    /// Returns the failure of an identifier or datatype of the wrong kind.
    pub fn bad_type(text: impl Into<String>) -> Self {
        Self::Own(Minor::BadType, text.into())
    }

    /// Returns the failure of a request that the library does not implement.
    pub fn unsupported(text: impl Into<String>) -> Self {
        Self::Own(Minor::Unsupported, text.into())
    }

    /// Puts a record of the function `name` on the error stack, unless the failure has records.
    pub fn report(self, name: &str) {
        let Self::Own(minor, text) = self else { return };
        let minor: hid_t = match minor {
            Minor::BadValue => sys::H5E_BADVALUE_g,
            Minor::BadRange => sys::H5E_BADRANGE_g,
            Minor::BadType => sys::H5E_BADTYPE_g,
            Minor::Unsupported => sys::H5E_UNSUPPORTED_g,
        };
        if let (Ok(name), Ok(text)) = (CString::new(name), CString::new(text)) {
            let file = Text::of(c"hyperslab");
            sys::H5Epush1(file, Text::of(&name), 0, sys::H5E_ARGS_g, minor, Text::of(&text));
        }
    }
}

/// Returns the value of a C function of `libhdf5.so`, or the failure that a negative value states.
///
/// # Errors
/// Fails if the value is negative.
pub fn check<T: Copy + Default + PartialOrd>(value: T) -> Outcome<T> {
    if value < T::default() { Err(Failure::Reported) } else { Ok(value) }
}

/// Returns the truth value of a C function of `libhdf5.so`.
///
/// # Errors
/// Fails if the value is negative.
pub fn truth(value: i32) -> Outcome<bool> {
    check(value).map(|value| value > 0)
}
