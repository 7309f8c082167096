//! Error classes and messages, of the library and of its users.

use std::ffi::CString;
use std::sync::Arc;

use parking_lot::Mutex;

/// A class of errors: a library or program that reports errors.
#[derive(Debug)]
pub struct ErrorClass {
    /// The name of the class.
    pub name: CString,
    /// The name of the library or program.
    pub library: CString,
    /// The version of the library or program.
    pub version: CString,
}

/// A major or minor message of an error class.
#[derive(Debug)]
pub struct ErrorMessage {
    /// The class.
    pub class: Arc<ErrorClass>,
    /// True if the message is a major one.
    pub is_major: bool,
    /// The text.
    pub text: CString,
}

/// An error stack with an identifier.
#[derive(Debug, Default)]
pub struct SavedStack {
    /// The records, the innermost first.
    pub records: Mutex<Vec<Arc<super::stack::Record>>>,
    /// The function that is called for each failure on the stack.
    pub automatic: Mutex<super::automatic::Automatic>,
}
