//! Failures of library calls, and the error stacks that C programs read.

pub mod automatic;
pub mod codes;
pub mod describe;
pub mod message;
pub mod stack;

use std::borrow::Cow;

use crate::ctypes::hid_t;

/// The result of a library call: a value or a failure.
pub type Outcome<T> = Result<T, Failure>;

/// One error record of a failed call, without the function name.
#[derive(Debug, Clone)]
pub struct Cause {
    /// The identifier of the major error message.
    pub major: hid_t,
    /// The identifier of the minor error message.
    pub minor: hid_t,
    /// The description of the error in this record.
    pub text: Cow<'static, str>,
}

/// The error records of a failed library call, the innermost first. The last record belongs to the
/// exported function. Programs may choose an exception type by the codes of the last record.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The error records, the innermost first; never empty.
    pub causes: Vec<Cause>,
}

impl Failure {
    /// Returns a failure of a library call with one error record.
    pub fn new(major: hid_t, minor: hid_t, text: impl Into<Cow<'static, str>>) -> Self {
        Self { causes: vec![Cause { major, minor, text: text.into() }] }
    }

    /// Returns the failure for wrong arguments of a library call (major code `H5E_ARGS`), with the
    /// given minor code.
    pub fn arguments(minor: hid_t, text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(codes::ARGS, minor, text)
    }

    /// Returns the failure for an argument with a bad value (`H5E_BADVALUE`).
    pub fn bad_value(text: impl Into<Cow<'static, str>>) -> Self {
        Self::arguments(codes::BADVALUE, text)
    }

    /// Returns the failure for an argument of a bad type (`H5E_BADTYPE`), such as an identifier of
    /// the wrong kind.
    pub fn bad_type(text: impl Into<Cow<'static, str>>) -> Self {
        Self::arguments(codes::BADTYPE, text)
    }

    /// Returns the failure for a feature that hyperslab does not support (`H5E_UNSUPPORTED`). The
    /// error record also contains the name of the C function.
    pub fn unsupported(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(codes::FUNC, codes::UNSUPPORTED, text)
    }

    /// Appends an outer error record to the failure of a library call.
    #[must_use]
    pub fn then(mut self, major: hid_t, minor: hid_t, text: impl Into<Cow<'static, str>>) -> Self {
        self.causes.push(Cause { major, minor, text: text.into() });
        self
    }

    /// Returns the major and the minor code of the outermost error record of the failure.
    pub fn code(&self) -> (hid_t, hid_t) {
        self.causes.last().map_or((codes::NONE_MAJOR, codes::NONE_MINOR), |cause| (cause.major, cause.minor))
    }
}

/// A result of a library call. In case of a failure, an exported function adds an error record that
/// states the reason.
pub trait Because<T> {
    /// Returns the value of the result, or the failure with an additional outer error record.
    ///
    /// # Errors
    /// Returns the failure with the additional record.
    fn because(self, major: hid_t, minor: hid_t, text: &'static str) -> Outcome<T>;
}

impl<T> Because<T> for Outcome<T> {
    fn because(self, major: hid_t, minor: hid_t, text: &'static str) -> Outcome<T> {
        self.map_err(|failure| failure.then(major, minor, text))
    }
}

impl<T> Because<T> for hyperslab::Result<T> {
    fn because(self, major: hid_t, minor: hid_t, text: &'static str) -> Outcome<T> {
        self.map_err(|error| Failure::from(error).then(major, minor, text))
    }
}

impl<T> Because<T> for Option<T> {
    fn because(self, major: hid_t, minor: hid_t, text: &'static str) -> Outcome<T> {
        self.ok_or_else(|| Failure::new(major, minor, text))
    }
}
