//! Error classes, error messages and error stacks that C programs hold by identifiers.

use std::ffi::CString;
use std::sync::Arc;

use parking_lot::Mutex;

/// An error class: the library or program that defines a set of error messages.
#[derive(Debug)]
pub struct ErrorClass {
    /// The name of the error class.
    pub name: CString,
    /// The name of the library or program that defines the class.
    pub library: CString,
    /// The version of the library or program that defines the class.
    pub version: CString,
}

/// A major or minor error message of an error class.
#[derive(Debug)]
pub struct ErrorMessage {
    /// The error class to which the message belongs.
    pub class: Arc<ErrorClass>,
    /// True for a major message, false for a minor message.
    pub is_major: bool,
    /// The text of the error message.
    pub text: CString,
}

/// An error stack that a program holds by an identifier.
#[derive(Debug, Default)]
pub struct SavedStack {
    /// The records of the stack, the innermost function first.
    pub records: Mutex<Vec<Arc<super::stack::Record>>>,
    /// The failure callback that the program set for this stack.
    pub automatic: Mutex<super::automatic::Automatic>,
    /// The number of pauses of the stack that have not ended.
    pub pauses: Mutex<u32>,
}
