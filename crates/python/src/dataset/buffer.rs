//! The buffer protocol of stored bytes.

#![expect(unsafe_code, reason = "the buffer protocol of Python consists of C functions")]

use std::os::raw::c_int;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::chunks::StoredBytes;

#[pymethods]
impl StoredBytes {
    /// Fills a request for the stored bytes, read-only.
    ///
    /// # Safety
    /// `view` is a null pointer or points to a valid request, as the buffer protocol demands of
    /// the caller.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("the request for a buffer is null"));
        }
        let bytes = slf.get().bytes();
        let length =
            isize::try_from(bytes.len()).map_err(|_| PyBufferError::new_err("the bytes are too many"))?;
        let pointer = bytes.as_ptr().cast_mut().cast();
        // SAFETY: `view` is valid; the object owns the bytes, which live as long as it does, and
        // `PyBuffer_FillInfo` keeps a reference to the object. The last argument 1 is "read-only".
        let status = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), pointer, length, 1, flags) };
        if status == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
