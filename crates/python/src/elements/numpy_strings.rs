//! Texts in arrays of NumPy's `StringDType`. The crate `numpy` lacks these functions of NumPy's C
//! interface.

#![expect(unsafe_code, reason = "NumPy gives access to packed texts by C functions")]

use std::ffi::{c_char, c_int, c_void};

use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::encode::internal;

/// The size of a packed text in an array, in bytes.
pub(super) const PACKED_BYTES: usize = 16;

/// The positions of the functions in the table of NumPy's C interface (`numpy_api.py`).
const LOAD: usize = 313;
const PACK: usize = 314;
const ACQUIRE: usize = 316;
const RELEASE: usize = 318;

/// A text of NumPy (`npy_static_string`).
#[repr(C)]
struct StaticString {
    size: usize,
    bytes: *const c_char,
}

type Load = unsafe extern "C" fn(*mut c_void, *const c_void, *mut StaticString) -> c_int;
type Pack = unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_char, usize) -> c_int;
type Acquire = unsafe extern "C" fn(*mut ffi::PyObject) -> *mut c_void;
type Release = unsafe extern "C" fn(*mut c_void);

/// The functions of NumPy for packed texts.
#[derive(Clone, Copy)]
struct Functions {
    load: Load,
    pack: Pack,
    acquire: Acquire,
    release: Release,
}

impl Functions {
    /// Finds the functions in the table of the loaded NumPy.
    fn find(py: Python<'_>) -> PyResult<Self> {
        static TABLE: PyOnceLock<usize> = PyOnceLock::new();
        let table = TABLE.get_or_try_init(py, || {
            let capsule = py.import("numpy._core._multiarray_umath")?.getattr("_ARRAY_API")?;
            // SAFETY: the object is a capsule without a name; its pointer is the table.
            let table = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), std::ptr::null()) };
            if table.is_null() { Err(PyErr::fetch(py)) } else { Ok(table as usize) }
        })?;
        let table = *table as *const *const c_void;
        // SAFETY: the table of NumPy 2 has more than 320 entries, and the entries at these
        // positions are functions of these types.
        unsafe {
            Ok(Self {
                load: std::mem::transmute::<*const c_void, Load>(*table.add(LOAD)),
                pack: std::mem::transmute::<*const c_void, Pack>(*table.add(PACK)),
                acquire: std::mem::transmute::<*const c_void, Acquire>(*table.add(ACQUIRE)),
                release: std::mem::transmute::<*const c_void, Release>(*table.add(RELEASE)),
            })
        }
    }
}

/// The owner of the texts of one dtype, locked. No Python code may run while it exists.
struct Allocator {
    functions: Functions,
    allocator: *mut c_void,
}

impl Allocator {
    fn new(dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        let kind: char = dtype.getattr("kind")?.extract()?;
        if kind != 'T' {
            return Err(internal());
        }
        let functions = Functions::find(dtype.py())?;
        // SAFETY: the object is a `StringDType`.
        let allocator = unsafe { (functions.acquire)(dtype.as_ptr()) };
        Ok(Self { functions, allocator })
    }
}

impl Drop for Allocator {
    fn drop(&mut self) {
        // SAFETY: the constructor acquired the allocator.
        unsafe { (self.functions.release)(self.allocator) };
    }
}

fn not_utf8() -> PyErr {
    PyValueError::new_err("a text is not UTF-8: NumPy's StringDType cannot hold it")
}

fn no_memory() -> PyErr {
    PyMemoryError::new_err("NumPy cannot store a text")
}

/// Packs texts into the memory of an array of the dtype `dtype`. `text` calls its
/// second argument with the text of the element of a number, which must be UTF-8, and returns false
/// if there is none.
pub(super) fn pack_all(
    dtype: &Bound<'_, PyAny>,
    target: &mut [u8],
    mut text: impl FnMut(usize, &mut dyn FnMut(&[u8])) -> bool,
) -> PyResult<()> {
    let allocator = Allocator::new(dtype)?;
    let mut failure = None;
    for (at, slot) in target.chunks_exact_mut(PACKED_BYTES).enumerate() {
        let found = text(at, &mut |bytes| {
            if std::str::from_utf8(bytes).is_err() {
                failure = Some(not_utf8 as fn() -> PyErr);
                return;
            }
            // SAFETY: `slot` is an element of an array of the dtype of the allocator.
            let status = unsafe {
                let slot = slot.as_mut_ptr().cast();
                (allocator.functions.pack)(allocator.allocator, slot, bytes.as_ptr().cast(), bytes.len())
            };
            if status != 0 {
                failure = Some(no_memory);
            }
        });
        if !found {
            failure = Some(internal);
        }
        if failure.is_some() {
            break;
        }
    }
    drop(allocator);
    failure.map_or(Ok(()), |error| Err(error()))
}

/// Calls `store` with the text of each element of an array of the dtype `dtype`. A missing text is
/// empty.
pub(super) fn load_all(
    dtype: &Bound<'_, PyAny>,
    source: &[u8],
    mut store: impl FnMut(usize, &[u8]),
) -> PyResult<()> {
    let allocator = Allocator::new(dtype)?;
    let mut failed = false;
    for (at, slot) in source.chunks_exact(PACKED_BYTES).enumerate() {
        let mut found = StaticString { size: 0, bytes: std::ptr::null() };
        let (load, slot) = (allocator.functions.load, slot.as_ptr().cast());
        // SAFETY: `slot` is an element of an array of the dtype of the allocator.
        let status = unsafe { load(allocator.allocator, slot, &raw mut found) };
        match status {
            0 if found.size > 0 => {
                // SAFETY: NumPy returned the position of a text, which lives as long as the lock.
                let text = unsafe { std::slice::from_raw_parts(found.bytes.cast(), found.size) };
                store(at, text);
            }
            0 | 1 => store(at, &[]),
            _ => {
                failed = true;
                break;
            }
        }
    }
    drop(allocator);
    if failed { Err(PyRuntimeError::new_err("NumPy cannot read a text")) } else { Ok(()) }
}
