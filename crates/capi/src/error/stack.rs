//! The error stack of each thread.

use std::cell::RefCell;
use std::ffi::{CString, c_uint};
use std::sync::Arc;

use super::{Failure, codes};
use crate::ctypes::hid_t;

/// The records that a stack keeps. Later records are dropped, as in the C library.
const MAX_RECORDS: usize = 32;

/// One record of an error stack.
#[derive(Debug, Clone)]
pub struct Record {
    /// The identifier of the error class.
    pub class: hid_t,
    /// The identifier of the major message.
    pub major: hid_t,
    /// The identifier of the minor message.
    pub minor: hid_t,
    /// The name of the function.
    pub function: CString,
    /// The name of the source file.
    pub file: CString,
    /// The line in the source file.
    pub line: c_uint,
    /// The description.
    pub text: CString,
}

thread_local! {
    static STACK: RefCell<Vec<Arc<Record>>> = const { RefCell::new(Vec::new()) };
}

/// Returns a text for C: up to its first zero byte.
pub fn text(text: &[u8]) -> CString {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    CString::new(text.get(..end).unwrap_or_default()).unwrap_or_default()
}

/// Removes the records of the thread's stack.
pub fn clear() {
    STACK.with_borrow_mut(Vec::clear);
}

/// Adds the causes of a failure, the innermost first.
pub fn push(function: &str, failure: Failure) {
    for cause in failure.causes {
        add(Record {
            class: codes::ERR_CLS,
            major: cause.major,
            minor: cause.minor,
            function: text(function.as_bytes()),
            file: text(b"hyperslab"),
            line: 0,
            text: text(cause.text.as_bytes()),
        });
    }
}

/// Adds a record to the thread's stack.
pub fn add(record: Record) {
    STACK.with_borrow_mut(|stack| {
        if stack.len() < MAX_RECORDS {
            stack.push(Arc::new(record));
        }
    });
}

/// Returns the records of the thread's stack. The stack keeps them until it is cleared, because
/// programs read their texts after a walk.
pub fn copy() -> Vec<Arc<Record>> {
    STACK.with_borrow(Clone::clone)
}

/// Replaces the records of the thread's stack, and returns the earlier ones.
pub fn replace(records: Vec<Arc<Record>>) -> Vec<Arc<Record>> {
    STACK.with_borrow_mut(|stack| std::mem::replace(stack, records))
}

/// Returns the number of records.
pub fn count() -> usize {
    STACK.with_borrow(Vec::len)
}

/// Removes up to `count` records, the outermost first.
pub fn pop(count: usize) {
    STACK.with_borrow_mut(|stack| stack.truncate(stack.len().saturating_sub(count)));
}
