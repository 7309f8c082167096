//! Failures of calls, and the error stacks that C programs read.

pub mod automatic;
pub mod codes;
pub mod describe;
pub mod message;
pub mod stack;

use std::borrow::Cow;

use crate::ctypes::hid_t;

/// The outcome of a call.
pub type Outcome<T> = Result<T, Failure>;

/// One record of a failure.
#[derive(Debug, Clone)]
pub struct Cause {
    /// The identifier of the major message.
    pub major: hid_t,
    /// The identifier of the minor message.
    pub minor: hid_t,
    /// The description.
    pub text: Cow<'static, str>,
}

/// A failed call: its causes, the innermost first. The last cause is the one of the exported
/// function, from which clients choose their exceptions.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The causes; never empty.
    pub causes: Vec<Cause>,
}

impl Failure {
    /// Returns a failure with one cause.
    pub fn new(major: hid_t, minor: hid_t, text: impl Into<Cow<'static, str>>) -> Self {
        Self { causes: vec![Cause { major, minor, text: text.into() }] }
    }

    /// Returns a failure of the arguments of a call.
    pub fn arguments(minor: hid_t, text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(codes::ARGS, minor, text)
    }

    /// Returns the failure of a bad argument.
    pub fn bad_value(text: impl Into<Cow<'static, str>>) -> Self {
        Self::arguments(codes::BADVALUE, text)
    }

    /// Returns the failure of an identifier of the wrong kind.
    pub fn bad_type(text: impl Into<Cow<'static, str>>) -> Self {
        Self::arguments(codes::BADTYPE, text)
    }

    /// Returns the failure of a part of the interface that hyperslab does not have. The function's
    /// name is in the record.
    pub fn unsupported(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(codes::FUNC, codes::UNSUPPORTED, text)
    }

    /// Returns this failure as the cause of another one.
    #[must_use]
    pub fn then(mut self, major: hid_t, minor: hid_t, text: impl Into<Cow<'static, str>>) -> Self {
        self.causes.push(Cause { major, minor, text: text.into() });
        self
    }

    /// Returns the major and minor message of the outermost cause.
    pub fn code(&self) -> (hid_t, hid_t) {
        self.causes.last().map_or((codes::NONE_MAJOR, codes::NONE_MINOR), |cause| (cause.major, cause.minor))
    }
}

/// Adds the cause that the exported function states to the errors of the layers below.
pub trait Because<T> {
    /// Returns the value, or the failure with an outer cause.
    ///
    /// # Errors
    /// Returns the failure with the added cause.
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
