//! The functions of the WebAssembly module: numbers, and one buffer for each direction.
//!
//! The caller writes an argument of bytes into the memory at the address that
//! [`hyperslab_input`] returned, and then calls the function that takes it. A result of bytes is at
//! [`hyperslab_output`] until the next call.

use std::cell::RefCell;

use crate::{Outcome, Range, Session};

/// The state of the module.
#[derive(Default)]
struct Module {
    session: Session,
    input: Vec<u8>,
    output: Vec<u8>,
    status: u16,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

/// Makes room for an argument of `length` bytes, and returns its address.
#[expect(unsafe_code, reason = "the function is called from outside by its name")]
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn hyperslab_input(length: u32) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        module.input.clear();
        module.input.resize(length as usize, 0);
        module.input.as_mut_ptr()
    })
}

/// Adds a source of `size` bytes. The argument is its name. Returns the number of the source.
#[expect(unsafe_code, reason = "the function is called from outside by its name")]
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn hyperslab_add(size: u64) -> u32 {
    MODULE.with_borrow_mut(|module| module.session.add(&String::from_utf8_lossy(&module.input), size))
}

/// Takes the argument as the bytes of a source from `offset` on.
#[expect(unsafe_code, reason = "the function is called from outside by its name")]
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn hyperslab_provide(source: u32, offset: u64) {
    MODULE.with_borrow_mut(|module| {
        module.session.provide(source, offset, &module.input);
        module.input = Vec::new();
    });
}

/// Tries to answer the request in the argument. Returns the length of the result: the body of the
/// answer, or, if [`hyperslab_status`] is 0, the missing ranges as triples of a source, a start and
/// an end: little-endian integers of 64 bits.
#[expect(unsafe_code, reason = "the function is called from outside by its name")]
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn hyperslab_ask() -> usize {
    MODULE.with_borrow_mut(|module| {
        match module.session.ask(&String::from_utf8_lossy(&module.input)) {
            Outcome::Answered { status, body, .. } => {
                (module.status, module.output) = (status, body);
            }
            Outcome::Missing(ranges) => {
                module.status = 0;
                module.output = ranges.iter().flat_map(triple).collect();
            }
        }
        module.output.len()
    })
}

fn triple(range: &Range) -> Vec<u8> {
    [u64::from(range.source), range.start, range.end].iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Returns the status of HTTP of the last answer; 0 if bytes were missing.
#[expect(unsafe_code, reason = "the function is called from outside by its name")]
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn hyperslab_status() -> u32 {
    MODULE.with_borrow(|module| module.status.into())
}

/// Returns the address of the last result.
#[expect(unsafe_code, reason = "the function is called from outside by its name")]
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn hyperslab_output() -> *const u8 {
    MODULE.with_borrow(|module| module.output.as_ptr())
}

/// Ends a request: releases the memory of its result, and of bytes that do not stay.
#[expect(unsafe_code, reason = "the function is called from outside by its name")]
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn hyperslab_finish() {
    MODULE.with_borrow_mut(|module| {
        module.output = Vec::new();
        module.session.finish();
    });
}
