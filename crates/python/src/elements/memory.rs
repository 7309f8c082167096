//! The memory of NumPy arrays.

#![expect(unsafe_code, reason = "NumPy gives access to the memory of arrays by pointers")]
#![expect(clippy::host_endian_bytes, reason = "elements of arrays contain pointers to objects")]

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::encode::internal;

/// The size of a pointer to an object in the elements of an array, in bytes.
pub(crate) const POINTER_BYTES: usize = size_of::<usize>();

/// Returns the pointer and the length in bytes of the memory of a C-contiguous array.
fn memory(array: &Bound<'_, PyAny>) -> PyResult<(*mut u8, usize)> {
    let array =
        array.cast::<PyUntypedArray>().map_err(|_| PyTypeError::new_err("a NumPy array is needed"))?;
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("Array must be C-contiguous"));
    }
    let length: usize = array.getattr(pyo3::intern!(array.py(), "nbytes"))?.extract()?;
    // SAFETY: the pointer to the array object is valid as long as the array lives.
    let data = unsafe { (*array.as_array_ptr()).fields.data };
    Ok((data.cast(), length))
}

/// Returns the memory of a C-contiguous, writable array.
///
/// The caller must not use the slice after the array is gone, and no other slice of the same array
/// at the same time. Python code that changes the array during a call races with the call, as with
/// every NumPy function that releases the interpreter.
#[expect(clippy::mut_from_ref, reason = "the memory belongs to NumPy, and the object refers to it")]
pub(crate) fn bytes_mut<'a>(array: &'a Bound<'_, PyAny>) -> PyResult<&'a mut [u8]> {
    let flags = array.getattr(pyo3::intern!(array.py(), "flags"))?;
    if !flags.getattr(pyo3::intern!(array.py(), "writeable"))?.extract::<bool>()? {
        return Err(PyValueError::new_err("the destination array is read-only"));
    }
    let (data, length) = memory(array)?;
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: a C-contiguous array of `length` bytes begins at `data`, and the array lives as long
    // as the slice.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, length) })
}

/// Returns the memory of a C-contiguous array.
pub(crate) fn bytes<'a>(array: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    let (data, length) = memory(array)?;
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: as in `bytes_mut`.
    Ok(unsafe { std::slice::from_raw_parts(data, length) })
}

/// Replaces the object in an element of an array of objects. `slot` is the memory of the element.
pub(crate) fn put_object(py: Python<'_>, slot: &mut [u8], object: Bound<'_, PyAny>) -> PyResult<()> {
    let slot: &mut [u8; POINTER_BYTES] = slot.try_into().map_err(|_| internal())?;
    let old = usize::from_ne_bytes(*slot) as *mut pyo3::ffi::PyObject;
    *slot = (object.into_ptr() as usize).to_ne_bytes();
    if !old.is_null() {
        // SAFETY: the element owned a reference to the old object, and does not have it any more.
        drop(unsafe { Bound::from_owned_ptr(py, old) });
    }
    Ok(())
}

/// Returns the object in an element of an array of objects; `None` for a null pointer.
pub(crate) fn object<'py>(py: Python<'py>, slot: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
    let slot: [u8; POINTER_BYTES] = slot.try_into().map_err(|_| internal())?;
    let pointer = usize::from_ne_bytes(slot) as *mut pyo3::ffi::PyObject;
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: an element of an array of objects is a null pointer or a valid object, to which the
    // element owns a reference.
    Ok(Some(unsafe { Bound::from_borrowed_ptr(py, pointer) }))
}
