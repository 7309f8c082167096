//! Pointer arguments of the C functions of this library and of `libhdf5.so`.
//!
//! A value of these types comes from a C caller, from a slice, or from a text of this library. The
//! caller of each function makes the promise of the function's documentation: a pointer is null,
//! or it points to memory of the stated type and length that no other thread changes during the
//! call. Only this module dereferences pointers of callers.

#![expect(unsafe_code, reason = "this module alone dereferences pointers of callers")]

use std::ffi::{CStr, CString, c_char, c_void};

use crate::failure::{Failure, Outcome};

/// A C string, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    /// Returns the address of a C string of this library, which must outlive its use.
    pub fn of(text: &CStr) -> Self {
        Self(text.as_ptr())
    }

    /// Returns a copy of the C string, or `None` for a null pointer.
    pub fn get(self) -> Option<CString> {
        // SAFETY: a pointer that is not null points to a text with a zero byte at its end, which
        // the caller keeps during the call (see the module).
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) }.to_owned())
    }

    /// Returns a copy of the C string.
    ///
    /// # Errors
    /// Fails if the pointer is null. `subject` names the argument.
    pub fn value(self, subject: &str) -> Outcome<CString> {
        self.get().ok_or_else(|| Failure::bad_value(format!("no {subject}")))
    }

    /// Returns the same C string.
    ///
    /// # Errors
    /// Fails if the pointer is null. `subject` names the argument.
    pub fn require(self, subject: &str) -> Outcome<Self> {
        if self.0.is_null() { Err(Failure::bad_value(format!("no {subject}"))) } else { Ok(self) }
    }
}

/// A value or an array that a function reads, or null.
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// Returns the null pointer.
    pub fn null() -> Self {
        Self(std::ptr::null())
    }

    /// Returns the address of values of this library, which must outlive their use.
    pub fn to(values: &[T]) -> Self {
        Self(values.as_ptr())
    }

    /// Returns whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns a copy of the caller's `count` values.
    ///
    /// # Errors
    /// Fails if the pointer is null and `count` is not 0. `subject` names the argument.
    pub fn array(self, count: usize, subject: &str) -> Outcome<Vec<T>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let possible = count.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
        if self.0.is_null() || !self.0.is_aligned() || !possible {
            return Err(Failure::bad_value(format!("no {subject}")));
        }
        // SAFETY: the caller's array has `count` values (see the module); it is aligned and
        // possible.
        Ok(unsafe { std::slice::from_raw_parts(self.0, count) }.to_vec())
    }
}

/// Memory that receives values, or null.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T: Copy> Out<T> {
    /// Returns the null pointer.
    pub fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    /// Returns the address of values of this library, which must outlive their use.
    pub fn to(values: &mut [T]) -> Self {
        Self(values.as_mut_ptr())
    }

    /// Returns the address of one value of this library, which must outlive its use.
    pub fn one(value: &mut T) -> Self {
        Self(value)
    }

    /// Returns whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes a value, unless the pointer is null.
    pub fn put(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: a pointer that is not null points to memory for a value (see the module).
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Writes values to the array, unless the pointer is null.
    pub fn fill(self, values: &[T]) {
        if !self.0.is_null() {
            // SAFETY: the documentation of the C function states the length of the array (see the
            // module). The source belongs to this library, so the two do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.0, values.len()) };
        }
    }

    /// Returns the value that the caller stored before the call, or `None` for a null pointer.
    pub fn get(self) -> Option<T> {
        // SAFETY: the caller's value is initialized where a function reads it (see the module).
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }
}

/// Elements or bytes that a function reads, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Data(*const c_void);

impl Data {
    /// Returns the address of bytes of this library, which must outlive their use.
    pub fn to(bytes: &[u8]) -> Self {
        Self(bytes.as_ptr().cast())
    }

    /// Returns the elements behind an array argument.
    pub fn elements<T>(values: In<T>) -> Self {
        Self(values.0.cast())
    }

    /// Returns the bytes of a C string argument.
    pub fn text(text: &CStr) -> Self {
        Self(text.as_ptr().cast())
    }

    /// Returns whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the bytes from `offset` on.
    pub fn at(self, offset: usize) -> Self {
        Self(self.0.cast::<u8>().wrapping_add(offset).cast())
    }

    /// Returns a copy of the caller's `length` bytes.
    ///
    /// # Errors
    /// Fails if the pointer is null and `length` is not 0. `subject` names the argument.
    pub fn bytes(self, length: usize, subject: &str) -> Outcome<Vec<u8>> {
        In(self.0.cast::<u8>()).array(length, subject)
    }
}

/// Memory that receives elements or bytes, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Buffer(*mut c_void);

impl Buffer {
    /// Returns the address of bytes of this library, which must outlive their use.
    pub fn to(bytes: &mut [u8]) -> Self {
        Self(bytes.as_mut_ptr().cast())
    }

    /// Returns the address of values of this library, which must outlive their use.
    pub fn values<T: Copy>(values: &mut [T]) -> Self {
        Self(values.as_mut_ptr().cast())
    }

    /// Returns the memory behind an array argument.
    pub fn elements<T>(values: Out<T>) -> Self {
        Self(values.0.cast())
    }

    /// Returns whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the same memory as a source.
    pub fn data(self) -> Data {
        Data(self.0)
    }

    /// Copies bytes into the memory from `offset` on. The documentation of the C function states
    /// the length of the memory.
    pub fn put(self, offset: usize, bytes: &[u8]) {
        if !self.0.is_null() {
            let to = self.0.cast::<u8>().wrapping_add(offset);
            // SAFETY: the caller's memory has space for the bytes (see the module); the source
            // belongs to this library, so the two do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
    }

    /// Returns the memory to C's allocator, from which the caller took it.
    pub fn free(self) {
        // SAFETY: the documentation of the C function gives the memory to the library.
        unsafe { libc::free(self.0) };
    }
}

/// Memory that receives a text, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct TextBuffer(*mut c_char);

impl TextBuffer {
    /// Wraps a pointer of the caller to memory for a text.
    pub fn of(pointer: *mut c_char) -> Self {
        Self(pointer)
    }

    /// Returns whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the memory as a buffer of elements.
    pub fn elements(self) -> Buffer {
        Buffer(self.0.cast())
    }

    /// Copies a text and a zero byte into the memory of `size` bytes, and cuts the text if
    /// necessary. Copies nothing if the pointer is null or the size is 0.
    pub fn put(self, text: &[u8], size: usize) {
        let Some(space) = size.checked_sub(1) else { return };
        let text = text.get(..space).unwrap_or(text);
        self.elements().put(0, text);
        self.elements().put(text.len(), &[0]);
    }

    /// Copies a whole text and a zero byte into the memory, whose size the C function does not get.
    pub fn put_whole(self, text: &[u8]) {
        self.elements().put(0, text);
        self.elements().put(text.len(), &[0]);
    }
}

/// Bytes at an address that `libhdf5.so` wrote into a buffer: the items of a variable-length
/// sequence, or a text of variable length.
#[derive(Debug, Clone, Copy)]
pub struct Foreign(*mut c_void);

impl Foreign {
    /// Returns the items of a sequence in memory that `libhdf5.so` filled.
    pub fn of(pointer: *mut c_void) -> Self {
        Self(pointer)
    }

    /// Returns a copy of the `length` bytes. A null pointer has no bytes.
    pub fn bytes(self, length: usize) -> Vec<u8> {
        if self.0.is_null() || length == 0 {
            return Vec::new();
        }
        // SAFETY: `libhdf5.so` stated the address and the length together.
        unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), length) }.to_vec()
    }

    /// Returns a copy of the text at the address. A null pointer has no text.
    pub fn text(self) -> Option<CString> {
        Text(self.0.cast()).get()
    }
}

/// A pointer of the user that the library passes back to a function of the user.
pub type Opaque = *mut c_void;
