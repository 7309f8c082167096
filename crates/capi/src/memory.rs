//! Memory that crosses the boundary: blocks of C's `malloc`.

#![expect(unsafe_code, reason = "this module calls the allocator of C")]

use std::ffi::{c_char, c_void};

/// Returns a block of `size` bytes that the caller frees with `free`; null if there is no memory.
/// A block of no bytes is null.
pub fn allocate(size: usize, zeroed: bool) -> *mut c_void {
    if size == 0 {
        return std::ptr::null_mut();
    }
    // SAFETY: both functions accept each size and return null or a block of that size.
    unsafe { if zeroed { libc::calloc(1, size) } else { libc::malloc(size) } }
}

/// Changes the size of a block of [`allocate`], and returns the block's new place.
pub fn resize(block: *mut c_void, size: usize) -> *mut c_void {
    if size == 0 {
        free(block);
        return std::ptr::null_mut();
    }
    // SAFETY: the block is null or comes from C's allocator, as the callers of this function state.
    unsafe { libc::realloc(block, size) }
}

/// Frees a block of [`allocate`]. Null is ignored.
pub fn free(block: *mut c_void) {
    // SAFETY: the block is null or comes from C's allocator, as the callers of this function state.
    unsafe { libc::free(block) };
}

/// Returns a copy of `bytes` in a block of C's allocator; null if there is no memory. The copy of
/// no bytes is a block of one byte.
pub fn copy(bytes: &[u8]) -> *mut c_void {
    let block = allocate(bytes.len().max(1), false);
    if !block.is_null() {
        // SAFETY: the new block has at least `bytes.len()` bytes, and it overlaps nothing.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.cast(), bytes.len()) };
    }
    block
}

/// Returns a copy of `text` with a zero byte at its end, in a block of C's allocator; null if
/// there is no memory.
pub fn text(text: &[u8]) -> *mut c_char {
    let block = allocate(text.len() + 1, true);
    if !block.is_null() {
        // SAFETY: the new block has one byte more than the text, and it overlaps nothing.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), block.cast(), text.len()) };
    }
    block.cast()
}
