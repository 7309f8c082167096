//! Memory that the library and the program exchange: blocks of C's `malloc`, streams, and structs
//! of drivers.

#![expect(unsafe_code, reason = "this module calls the allocator of C")]

use std::ffi::{c_char, c_void};

/// Returns a new memory block of `size` bytes that the program frees with `free`. Returns null if
/// `size` is 0 or memory is exhausted.
pub(crate) fn allocate(size: usize, zeroed: bool) -> *mut c_void {
    if size == 0 {
        return std::ptr::null_mut();
    }
    // SAFETY: both functions accept each size and return null or a block of that size.
    unsafe { if zeroed { libc::calloc(1, size) } else { libc::malloc(size) } }
}

/// Changes the size of a memory block from [`allocate`] and returns the block's new address.
pub(crate) fn resize(block: *mut c_void, size: usize) -> *mut c_void {
    if size == 0 {
        free(block);
        return std::ptr::null_mut();
    }
    // SAFETY: the block is null or comes from C's allocator, as the callers of this function state.
    unsafe { libc::realloc(block, size) }
}

/// Frees a memory block from [`allocate`]. A null pointer has no effect.
pub(crate) fn free(block: *mut c_void) {
    // SAFETY: the block is null or comes from C's allocator, as the callers of this function state.
    unsafe { libc::free(block) };
}

/// Copies `bytes` into a new memory block of C's allocator. Returns null if memory is exhausted. If
/// there are no bytes, allocates a block of one byte.
pub(crate) fn copy(bytes: &[u8]) -> *mut c_void {
    let block = allocate(bytes.len().max(1), false);
    if !block.is_null() {
        // SAFETY: the new block has at least `bytes.len()` bytes, and it overlaps nothing.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.cast(), bytes.len()) };
    }
    block
}

/// Copies `text` with a zero byte at its end into a new memory block of C's allocator. Returns null
/// if memory is exhausted.
pub(crate) fn text(text: &[u8]) -> *mut c_char {
    let block = allocate(text.len() + 1, true);
    if !block.is_null() {
        // SAFETY: the new block has one byte more than the text, and it overlaps nothing.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), block.cast(), text.len()) };
    }
    block.cast()
}

// SAFETY: the declarations agree with the C standard, and a stream is an opaque pointer.
unsafe extern "C" {
    /// Writes `count` items of `size` bytes to a C stream (C standard library).
    fn fwrite(bytes: *const c_void, size: usize, count: usize, stream: *mut c_void) -> usize;
    /// Writes the buffered bytes of a C stream to its file (C standard library).
    fn fflush(stream: *mut c_void) -> i32;
}

/// Writes bytes to a C stream (`FILE *`) and flushes the stream.
pub(crate) fn write_to_stream(bytes: &[u8], stream: *mut c_void) {
    // SAFETY: the caller passes an open stream of C, as the documentation of the printing
    // functions states; the bytes live during the call.
    unsafe {
        fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream);
        fflush(stream);
    }
}

/// Closes a file descriptor that the library opened for a program.
pub(crate) fn close_descriptor(descriptor: i32) {
    // SAFETY: the descriptor comes from the library, and no value owns it.
    unsafe { libc::close(descriptor) };
}

/// Asks C to call a function when the program ends.
pub(crate) fn at_exit(function: extern "C" fn()) {
    // SAFETY: the function lives as long as the library, and leaves no panic.
    unsafe { libc::atexit(function) };
}

/// Writes a value to the start of a C struct, such as the struct of a driver's open file. `to`
/// points to the struct.
pub(crate) fn put<T>(to: *mut T, value: T) {
    // SAFETY: the driver returned the pointer to a struct that begins with `T`, as the
    // documentation of `H5FDregister` states.
    unsafe { to.write(value) };
}

/// Copies a value into a memory block of C's allocator that is never freed, and returns the block's
/// address.
pub(crate) fn keep<T: Copy>(value: T) -> *mut T {
    let block = allocate(size_of::<T>(), true).cast::<T>();
    if !block.is_null() {
        put(block, value);
    }
    block
}

/// Returns the `length` bytes of a memory buffer from a user's function.
pub(crate) fn bytes_of_user<'a>(source: *const c_void, length: usize) -> &'a [u8] {
    if source.is_null() {
        return &[];
    }
    // SAFETY: the user's function states the length of its buffer, as its documentation requires.
    unsafe { std::slice::from_raw_parts(source.cast(), length) }
}

use crate::driver::class::{H5FD_class_t, H5FD_t};

/// Returns a copy of the function table of a user's file driver.
pub(crate) fn driver_class(class: *const H5FD_class_t) -> H5FD_class_t {
    // SAFETY: the caller checks that the pointer is not null; the program promises a whole table.
    unsafe { class.read() }
}

/// Returns the function table of the user's driver that opened a file. Returns `None` if a pointer
/// is null.
pub(crate) fn class_of_driver(file: *const H5FD_t) -> Option<H5FD_class_t> {
    if file.is_null() {
        return None;
    }
    // SAFETY: the program passes a file that a driver opened, whose first part the library set.
    let class = unsafe { (*file).cls };
    (!class.is_null()).then(|| driver_class(class))
}

/// Stores the identifier and the function table of a user's driver in the library's part of the
/// driver's open file.
pub(crate) fn set_class(file: *mut H5FD_t, driver: i64, class: &H5FD_class_t) {
    // SAFETY: the driver returned the pointer to a struct that begins with `H5FD_t`; the table
    // lives as long as the driver is registered.
    unsafe {
        (*file).driver_id = driver;
        (*file).cls = class;
    }
}

/// Returns the text of a C string in a function table of the program. Returns an empty text for a
/// null pointer.
pub(crate) fn text_of<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: the owner of the table keeps the C string while the table is registered.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_bytes()
}

/// Returns an array of `count` values from a pointer in a C struct of the program.
///
/// # Errors
/// Fails with a bad value if the pointer is null or not aligned.
pub(crate) fn array_of_user<'a, T>(array: *const T, count: usize) -> crate::error::Outcome<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if array.is_null() || !array.is_aligned() {
        return Err(crate::error::Failure::bad_value(
            "an array pointer in the struct is null or not aligned",
        ));
    }
    // SAFETY: the program promises that the array has `count` values, as the documentation of the
    // struct says.
    Ok(unsafe { std::slice::from_raw_parts(array, count) })
}
