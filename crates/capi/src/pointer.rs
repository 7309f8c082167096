//! Pointer arguments of C functions.
//!
//! The types of this module are parameters of the exported functions, so a C caller provides their
//! values. The caller makes the promise of each C function's documentation: a pointer is null, or
//! it points to memory of the stated type and length that no other thread changes during the call.
//! A null pointer is an error or stands for an unused argument; the library never dereferences it.
//! Only this module dereferences pointers of callers.

#![expect(unsafe_code, reason = "this module alone dereferences pointers of callers")]

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;

use crate::error::{Failure, Outcome, codes};

/// A C string that the caller passes to a function, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    /// Returns the bytes of the caller's C string, or `None` for a null pointer.
    pub fn get<'a>(self) -> Option<&'a [u8]> {
        // SAFETY: a pointer that is not null points to a text with a zero byte at its end, which
        // the caller keeps during the call (see the module).
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    /// Returns the bytes of the caller's C string, or an error for a null pointer.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null. `subject` names the argument.
    pub fn bytes<'a>(self, subject: &str) -> Outcome<&'a [u8]> {
        self.get().ok_or_else(|| Failure::arguments(codes::BADVALUE, format!("no {subject}")))
    }

    /// Returns the bytes of the caller's C string, or an error for a null pointer or an empty
    /// string.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null or the text is empty.
    pub fn name<'a>(self, subject: &str) -> Outcome<&'a [u8]> {
        match self.bytes(subject)? {
            [] => Err(Failure::arguments(codes::BADVALUE, format!("the {subject} is empty"))),
            name => Ok(name),
        }
    }

    /// Returns the caller's C string as UTF-8 text, or an error for other bytes.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null or the text is not UTF-8.
    pub fn utf8<'a>(self, subject: &str) -> Outcome<&'a str> {
        std::str::from_utf8(self.bytes(subject)?)
            .map_err(|_| Failure::arguments(codes::BADVALUE, format!("the {subject} is not UTF-8")))
    }

    /// Returns the address of the caller's C string, or null.
    pub fn pointer(self) -> *const c_char {
        self.0
    }

    /// Wraps a C pointer as a C string argument of the caller.
    pub fn of(pointer: *const c_char) -> Self {
        Self(pointer)
    }
}

/// A buffer of the caller that receives a text, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct TextBuffer(*mut c_char);

impl TextBuffer {
    /// Copies `text` and a zero byte into the caller's buffer of `size` bytes, and shortens the
    /// text if necessary. Copies nothing if the buffer pointer is null or the size is zero.
    pub fn put(self, text: &[u8], size: usize) {
        if self.0.is_null() || size == 0 {
            return;
        }
        let length = text.len().min(size - 1);
        // SAFETY: the caller's buffer has `size` bytes (see the module); `length + 1 <= size`.
        let buffer = unsafe { std::slice::from_raw_parts_mut(self.0.cast::<u8>(), length + 1) };
        for (to, from) in buffer.iter_mut().zip(text.iter().take(length).chain([&0])) {
            *to = *from;
        }
    }

    /// Returns whether the caller passed no text buffer (a null pointer).
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Copies `text` and a zero byte into the caller's buffer of `size` bytes. A text that does not
    /// fit is cut without a zero byte. Copies nothing if the buffer pointer is null.
    pub fn put_cut(self, text: &[u8], size: usize) {
        if text.len() < size {
            return self.put(text, size);
        }
        Buffer::of(self.0.cast()).put(text, size);
    }

    /// Checks that the pointer to the caller's text buffer is not null if the buffer has a size.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null and `size` is not 0. `subject` names the
    /// argument.
    pub fn require(self, size: usize, subject: &str) -> Outcome<()> {
        if self.0.is_null() && size != 0 {
            return Err(Failure::arguments(codes::BADVALUE, format!("no {subject}, but a size")));
        }
        Ok(())
    }

    /// Wraps a C pointer as a buffer of the caller that receives a text.
    #[cfg(test)]
    pub fn of(pointer: *mut c_char) -> Self {
        Self(pointer)
    }
}

/// A pointer to a value or an array that the caller passes to a function, or null.
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T, PhantomData<T>);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// Wraps a C pointer as an input argument: a value or an array of the caller.
    pub fn of(pointer: *const T) -> Self {
        Self(pointer, PhantomData)
    }

    /// Returns whether the caller passed no input value (a null pointer).
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the caller's input value, or `None` for a null pointer.
    pub fn get(self) -> Option<T> {
        // SAFETY: a pointer that is not null points to a value (see the module). The value may be
        // unaligned in packed structs of callers.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// Returns the caller's input value, or an error for a null pointer.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null. `subject` names the argument.
    pub fn value(self, subject: &str) -> Outcome<T> {
        self.get().ok_or_else(|| Failure::arguments(codes::BADVALUE, format!("no {subject}")))
    }

    /// Returns the caller's input array of `count` values. A null pointer is valid only if `count`
    /// is 0.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null or not aligned.
    pub fn array<'a>(self, count: usize, subject: &str) -> Outcome<&'a [T]> {
        if count == 0 {
            return Ok(&[]);
        }
        self.optional(count, subject)?
            .ok_or_else(|| Failure::arguments(codes::BADVALUE, format!("no {subject}")))
    }

    /// Returns the caller's input array of `count` values, or `None` for a null pointer.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is not aligned.
    pub fn optional<'a>(self, count: usize, subject: &str) -> Outcome<Option<&'a [T]>> {
        if self.0.is_null() {
            return Ok(None);
        }
        check(self.0, count, subject)?;
        // SAFETY: the caller's array has `count` values (see the module); `check` has seen that
        // the pointer is aligned and the length is possible.
        Ok(Some(unsafe { std::slice::from_raw_parts(self.0, count) }))
    }

    /// Returns the address of the caller's input value or array, or null.
    pub fn pointer(self) -> *const T {
        self.0
    }
}

/// A pointer to memory of the caller that receives values from a function, or null.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T, PhantomData<T>);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T: Copy> Out<T> {
    /// Wraps a C pointer as an output argument: memory of the caller that receives values.
    pub fn of(pointer: *mut T) -> Self {
        Self(pointer, PhantomData)
    }

    /// Returns whether the caller wants no output value (a null pointer).
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes an output value to the caller's memory, unless the pointer is null.
    pub fn put(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: a pointer that is not null points to memory for a value (see the module).
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Returns the value that the caller stored in the output memory before the call, or `None` for
    /// a null pointer.
    pub fn get(self) -> Option<T> {
        // SAFETY: the caller's value is initialized where a function reads it (see the module).
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// Returns the output argument, or an error if the pointer is null.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null. `subject` names the argument.
    pub fn require(self, subject: &str) -> Outcome<Self> {
        if self.0.is_null() {
            return Err(Failure::arguments(codes::BADVALUE, format!("no {subject}")));
        }
        Ok(self)
    }

    /// Writes the first `count` of `values` to the caller's output array of `count` values.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is not aligned.
    pub fn fill(self, values: &[T], count: usize) -> Outcome<()> {
        if self.0.is_null() {
            return Ok(());
        }
        let count = count.min(values.len());
        check(self.0, count, "array")?;
        // SAFETY: the caller's array has `count` values; see `check` and the module. Source and
        // array do not overlap, because the source belongs to the library.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.0, count) };
        Ok(())
    }

    /// Returns the address of the caller's output memory, or null.
    pub fn pointer(self) -> *mut T {
        self.0
    }

    /// Wraps a slice of the library as an output argument. The slice must stay valid as long as the
    /// argument is in use.
    pub fn to(values: &mut [T]) -> Self {
        Self(values.as_mut_ptr(), PhantomData)
    }
}

/// Checks that a pointer of the caller is aligned and that an array of `count` values at it fits in
/// the address space.
fn check<T>(pointer: *const T, count: usize, subject: &str) -> Outcome<()> {
    let possible = count.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if !pointer.is_aligned() || !possible {
        return Err(Failure::arguments(codes::BADVALUE, format!("{subject}: not an array")));
    }
    Ok(())
}

/// A pointer to elements or bytes that the caller passes to a function, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Data(*const c_void);

/// An encoded datatype, dataspace or property list in the memory of the caller, which the library
/// decodes step by step. Only the encoding itself states its length.
#[derive(Debug)]
pub struct Stream {
    /// The address of the next byte of the encoding.
    next: *const u8,
    /// The number of bytes of the stream's limit that remain.
    remaining: usize,
}

impl Stream {
    /// Returns a pointer to the first byte of the caller's encoding that is not decoded yet.
    pub fn rest(&self) -> Data {
        Data(self.next.cast())
    }

    /// Returns the next `count` bytes of the caller's encoding. Returns `None` if the bytes exceed
    /// the limit of the stream.
    pub fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        self.remaining = self.remaining.checked_sub(count)?;
        // SAFETY: the bytes before these bytes state that the encoding continues, and the
        // documentation of the C function requires a complete encoding.
        let bytes = unsafe { std::slice::from_raw_parts(self.next, count) }.to_vec();
        // SAFETY: the pointer stays within the encoding, or moves to the byte after its end.
        self.next = unsafe { self.next.add(count) };
        Some(bytes)
    }
}

impl Data {
    /// Returns a stream of at most `limit` bytes over the caller's encoding, which states its own
    /// length. Returns `None` for a null pointer.
    pub fn stream(self, limit: usize) -> Option<Stream> {
        (!self.0.is_null()).then(|| Stream { next: self.0.cast(), remaining: limit })
    }

    /// Wraps a C pointer as an input argument for elements or bytes.
    pub fn of(pointer: *const c_void) -> Self {
        Self(pointer)
    }

    /// Returns the caller's `length` input bytes, or `None` for a null pointer.
    pub fn get<'a>(self, length: usize) -> Option<&'a [u8]> {
        if self.0.is_null() || isize::try_from(length).is_err() {
            return None;
        }
        // SAFETY: the caller's buffer has the elements that the selection and the datatype of the
        // call need (see the module).
        Some(unsafe { std::slice::from_raw_parts(self.0.cast(), length) })
    }

    /// Returns the caller's `length` input bytes. A null pointer is valid only if `length` is 0.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null.
    pub fn bytes<'a>(self, length: usize, subject: &str) -> Outcome<&'a [u8]> {
        if length == 0 {
            return Ok(&[]);
        }
        self.get(length).ok_or_else(|| Failure::arguments(codes::BADVALUE, format!("no {subject}")))
    }

    /// Returns the address of the caller's elements or bytes, or null.
    pub fn pointer(self) -> *const c_void {
        self.0
    }
}

/// A buffer of the caller that receives elements or bytes, or null.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Buffer(*mut c_void);

impl Buffer {
    /// Returns whether the caller passed no buffer for elements or bytes (a null pointer).
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the `length` bytes of the caller's buffer. A null pointer is valid only if `length`
    /// is 0.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null.
    pub fn bytes<'a>(self, length: usize, subject: &str) -> Outcome<&'a mut [u8]> {
        if length == 0 {
            return Ok(&mut []);
        }
        if self.0.is_null() || isize::try_from(length).is_err() {
            return Err(Failure::arguments(codes::BADVALUE, format!("no {subject}")));
        }
        // SAFETY: the caller's buffer has space for the elements that the selection and the
        // datatype of the call need, and nothing else uses it during the call (see the module).
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0.cast(), length) })
    }

    /// Copies at most `size` bytes of `bytes` into the caller's buffer. Copies nothing if the
    /// buffer pointer is null.
    pub fn put(self, bytes: &[u8], size: usize) {
        let length = bytes.len().min(size);
        if !self.0.is_null() {
            // SAFETY: the caller's buffer has `size` bytes; source and buffer do not overlap,
            // because the source belongs to the library.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast::<u8>(), length) };
        }
    }

    /// Returns the address of the caller's buffer for elements or bytes, or null.
    pub fn pointer(self) -> *mut c_void {
        self.0
    }

    /// Wraps a C pointer as a buffer of the caller that receives elements or bytes.
    pub fn of(pointer: *mut c_void) -> Self {
        Self(pointer)
    }
}
