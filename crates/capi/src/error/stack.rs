//! The error stack of each thread, to which failed calls add records.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_uint};
use std::sync::Arc;

use super::{Failure, codes};
use crate::ctypes::hid_t;

/// The maximum number of records of an error stack. The stack drops later records, as in the C
/// library.
const MAX_RECORDS: usize = 32;

/// One record of an error stack (`H5E_error2_t`).
#[derive(Debug, Clone)]
pub struct Record {
    /// The identifier of the record's error class.
    pub class: hid_t,
    /// The identifier of the major error message.
    pub major: hid_t,
    /// The identifier of the minor error message.
    pub minor: hid_t,
    /// The name of the function that failed.
    pub function: CString,
    /// The name of the source file in which the error occurred.
    pub file: CString,
    /// The line in the source file at which the error occurred.
    pub line: c_uint,
    /// The description of the error.
    pub text: CString,
}

thread_local! {
    /// The error stack of the current thread: its error records, the innermost function first.
    static STACK: RefCell<Vec<Arc<Record>>> = const { RefCell::new(Vec::new()) };
    /// The number of pauses of the thread's error stack that have not ended.
    static PAUSES: Cell<u32> = const { Cell::new(0) };
}

/// Calls a function with the records of the thread's error stack. Functions that run at the exit of
/// the program, after the thread has freed its stack, get an empty stack, which is dropped
/// afterwards.
fn with<T>(use_records: impl FnOnce(&mut Vec<Arc<Record>>) -> T) -> T {
    if STACK.try_with(|_| ()).is_ok() {
        STACK.with_borrow_mut(use_records)
    } else {
        use_records(&mut Vec::new())
    }
}

/// Converts the bytes of an error text before the first zero byte to a C string.
pub fn text(text: &[u8]) -> CString {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    CString::new(text.get(..end).unwrap_or_default()).unwrap_or_default()
}

/// Removes all records of the thread's error stack.
pub fn clear() {
    with(Vec::clear);
}

/// Returns the number of pauses of the thread's error stack that have not ended.
pub fn pauses() -> u32 {
    PAUSES.get()
}

/// Sets the number of pauses of the thread's error stack. A paused stack gets no records of failed
/// calls.
pub fn set_pauses(pauses: u32) {
    PAUSES.set(pauses);
}

/// Adds the error records of a failed call to the thread's error stack, the innermost first. Adds
/// nothing to a paused stack.
pub fn push(function: &str, failure: Failure) {
    if pauses() > 0 {
        return;
    }
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

/// Adds an error record to the thread's error stack, unless the stack is full.
pub fn add(record: Record) {
    with(|stack| {
        if stack.len() < MAX_RECORDS {
            stack.push(Arc::new(record));
        }
    });
}

/// Returns a copy of the records of the thread's error stack. The stack keeps its records until the
/// next clear. Programs may therefore read the texts after they have visited the records.
pub fn copy() -> Vec<Arc<Record>> {
    with(|stack| stack.clone())
}

/// Replaces the records of the thread's error stack and returns the earlier records.
pub fn replace(records: Vec<Arc<Record>>) -> Vec<Arc<Record>> {
    with(|stack| std::mem::replace(stack, records))
}

/// Returns the number of records of the thread's error stack.
pub fn count() -> usize {
    with(|stack| stack.len())
}

/// Removes up to `count` error records from the thread's error stack, the outermost first.
pub fn pop(count: usize) {
    with(|stack| stack.truncate(stack.len().saturating_sub(count)));
}
