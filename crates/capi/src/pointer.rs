//! Pointers as arguments of C calls.
//!
//! Values of these types exist only as arguments of the exported functions: a C caller creates
//! them. The caller promises what the documentation of each C function says: a pointer is null, or
//! it points to memory of the stated type and length that no other thread changes during the call.
//! A null pointer is an error or means "not wanted"; it is never dereferenced. All code that
//! dereferences pointers of callers is in this module.

#![expect(unsafe_code, reason = "this module alone dereferences pointers of callers")]

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;

use crate::error::{Failure, Outcome, codes};

/// A text of the caller that ends with a zero byte.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    /// Returns the bytes of the text, or `None` for a null pointer.
    pub fn get<'a>(self) -> Option<&'a [u8]> {
        // SAFETY: a pointer that is not null points to a text with a zero byte at its end, which
        // the caller keeps during the call (see the module).
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    /// Returns the bytes of the text.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null. `subject` names the argument.
    pub fn bytes<'a>(self, subject: &str) -> Outcome<&'a [u8]> {
        self.get().ok_or_else(|| Failure::arguments(codes::BADVALUE, format!("no {subject}")))
    }

    /// Returns the bytes of a name, which must not be empty.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null or the text is empty.
    pub fn name<'a>(self, subject: &str) -> Outcome<&'a [u8]> {
        match self.bytes(subject)? {
            [] => Err(Failure::arguments(codes::BADVALUE, format!("the {subject} is empty"))),
            name => Ok(name),
        }
    }

    /// Returns the text as UTF-8.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null or the text is not UTF-8.
    pub fn utf8<'a>(self, subject: &str) -> Outcome<&'a str> {
        std::str::from_utf8(self.bytes(subject)?)
            .map_err(|_| Failure::arguments(codes::BADVALUE, format!("the {subject} is not UTF-8")))
    }

    /// Returns the pointer.
    pub fn pointer(self) -> *const c_char {
        self.0
    }

    /// Returns the argument that a pointer makes. The pointer comes from C.
    pub fn of(pointer: *const c_char) -> Self {
        Self(pointer)
    }
}

/// A buffer of the caller for a text.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct TextBuffer(*mut c_char);

impl TextBuffer {
    /// Copies as much of `text` as fits in `size` bytes, with a zero byte at its end. A null
    /// pointer or a size of zero copies nothing.
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

    /// Returns whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Copies `text` and a zero byte, or the first `size` bytes of both without a zero byte at the
    /// end. A null pointer copies nothing.
    pub fn put_cut(self, text: &[u8], size: usize) {
        if text.len() < size {
            return self.put(text, size);
        }
        Buffer::of(self.0.cast()).put(text, size);
    }

    /// Returns an error if the pointer is null although the buffer has a size.
    ///
    /// # Errors
    /// Fails with a bad value. `subject` names the argument.
    pub fn require(self, size: usize, subject: &str) -> Outcome<()> {
        if self.0.is_null() && size != 0 {
            return Err(Failure::arguments(codes::BADVALUE, format!("no {subject}, but a size")));
        }
        Ok(())
    }

    /// Returns the argument that a pointer makes.
    #[cfg(test)]
    pub fn of(pointer: *mut c_char) -> Self {
        Self(pointer)
    }
}

/// Values that the caller passes: a single value or an array.
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
    /// Returns the argument that a pointer makes. The pointer comes from C.
    pub fn of(pointer: *const T) -> Self {
        Self(pointer, PhantomData)
    }

    /// Returns whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the value, or `None` for a null pointer.
    pub fn get(self) -> Option<T> {
        // SAFETY: a pointer that is not null points to a value (see the module). The value may be
        // unaligned in packed structs of callers.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// Returns the value.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null. `subject` names the argument.
    pub fn value(self, subject: &str) -> Outcome<T> {
        self.get().ok_or_else(|| Failure::arguments(codes::BADVALUE, format!("no {subject}")))
    }

    /// Returns an array of `count` values. An array of no values may be null.
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

    /// Returns an array of `count` values, or `None` for a null pointer.
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

    /// Returns the pointer.
    pub fn pointer(self) -> *const T {
        self.0
    }
}

/// Values that a function returns through a pointer.
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
    /// Returns the argument that a pointer makes. The pointer comes from C.
    pub fn of(pointer: *mut T) -> Self {
        Self(pointer, PhantomData)
    }

    /// Returns whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Stores a value, unless the pointer is null.
    pub fn put(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: a pointer that is not null points to memory for a value (see the module).
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Returns the value that the caller stored; `None` for a null pointer.
    pub fn get(self) -> Option<T> {
        // SAFETY: the caller's value is initialized where a function reads it (see the module).
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// Returns an error if the pointer is null.
    ///
    /// # Errors
    /// Fails with a bad value. `subject` names the argument.
    pub fn require(self, subject: &str) -> Outcome<Self> {
        if self.0.is_null() {
            return Err(Failure::arguments(codes::BADVALUE, format!("no {subject}")));
        }
        Ok(self)
    }

    /// Stores as many values as the caller's array of `count` values takes.
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

    /// Returns the pointer.
    pub fn pointer(self) -> *mut T {
        self.0
    }

    /// Returns the argument that leads to values of the library. The values must live as long as
    /// the argument is used.
    pub fn to(values: &mut [T]) -> Self {
        Self(values.as_mut_ptr(), PhantomData)
    }
}

/// Returns an error unless a pointer is aligned and an array of `count` values is possible.
fn check<T>(pointer: *const T, count: usize, subject: &str) -> Outcome<()> {
    let possible = count.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if !pointer.is_aligned() || !possible {
        return Err(Failure::arguments(codes::BADVALUE, format!("{subject}: not an array")));
    }
    Ok(())
}

/// Elements that the caller passes.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Data(*const c_void);

/// Bytes of the caller that are read one after another, because their format tells their end.
#[derive(Debug)]
pub struct Stream {
    next: *const u8,
    remaining: usize,
}

impl Stream {
    /// Returns the next bytes, or `None` after the largest number of bytes.
    pub fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        self.remaining = self.remaining.checked_sub(count)?;
        // SAFETY: the caller's encoding has these bytes: the bytes before them say so, and the
        // documentation of the C function asks for a complete encoding.
        let bytes = unsafe { std::slice::from_raw_parts(self.next, count) }.to_vec();
        // SAFETY: the pointer stays in the encoding, or one byte after it.
        self.next = unsafe { self.next.add(count) };
        Some(bytes)
    }
}

impl Data {
    /// Returns the bytes of an encoding that tells its end, up to `limit` bytes; `None` for a null
    /// pointer.
    pub fn stream(self, limit: usize) -> Option<Stream> {
        (!self.0.is_null()).then(|| Stream { next: self.0.cast(), remaining: limit })
    }

    /// Returns the argument that a pointer makes. The pointer comes from C.
    pub fn of(pointer: *const c_void) -> Self {
        Self(pointer)
    }

    /// Returns the bytes, or `None` for a null pointer.
    pub fn get<'a>(self, length: usize) -> Option<&'a [u8]> {
        if self.0.is_null() || isize::try_from(length).is_err() {
            return None;
        }
        // SAFETY: the caller's buffer has the elements that the selection and the datatype of the
        // call need (see the module).
        Some(unsafe { std::slice::from_raw_parts(self.0.cast(), length) })
    }

    /// Returns the bytes. A buffer of no bytes may be null.
    ///
    /// # Errors
    /// Fails with a bad value if the pointer is null.
    pub fn bytes<'a>(self, length: usize, subject: &str) -> Outcome<&'a [u8]> {
        if length == 0 {
            return Ok(&[]);
        }
        self.get(length).ok_or_else(|| Failure::arguments(codes::BADVALUE, format!("no {subject}")))
    }

    /// Returns the pointer.
    pub fn pointer(self) -> *const c_void {
        self.0
    }
}

/// A buffer of the caller for elements.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct Buffer(*mut c_void);

impl Buffer {
    /// Returns whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the bytes. A buffer of no bytes may be null.
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

    /// Copies as much of `bytes` as fits in `size` bytes. A null pointer copies nothing.
    pub fn put(self, bytes: &[u8], size: usize) {
        let length = bytes.len().min(size);
        if !self.0.is_null() {
            // SAFETY: the caller's buffer has `size` bytes; source and buffer do not overlap,
            // because the source belongs to the library.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast::<u8>(), length) };
        }
    }

    /// Returns the pointer.
    pub fn pointer(self) -> *mut c_void {
        self.0
    }

    /// Returns the argument that a pointer makes. The pointer comes from C.
    pub fn of(pointer: *mut c_void) -> Self {
        Self(pointer)
    }
}
