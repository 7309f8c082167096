//! Reads and writes by subscripts, with the meaning of h5py.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyEllipsis, PyTuple};

use super::Dataset;
use crate::ending::hold_at_end;
use crate::selection::Selection;

impl Dataset {
    /// Returns the current shape; `None` for a null dataspace.
    pub(crate) fn current_shape(facade: &hyperslab::Dataset) -> Option<Vec<u64>> {
        match facade.dataspace() {
            hyperslab::Dataspace::Null => None,
            space => Some(space.dims().to_vec()),
        }
    }
}

/// Returns an array as a NumPy scalar if the array has no dimensions.
fn scalar_or_array<'py>(array: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    array.get_item(PyTuple::empty(array.py()))
}

/// Converts a value to a C-contiguous array, with the dtype `dtype` if the value has none itself.
pub(crate) fn as_array<'py>(
    value: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    let arguments = PyDict::new(py);
    arguments.set_item("order", "C")?;
    if let Some(dtype) = dtype {
        arguments.set_item("dtype", dtype)?;
    }
    AS_ARRAY.import(py, "numpy", "asarray")?.call((value,), Some(&arguments))
}

#[pymethods]
impl Dataset {
    /// Returns the elements of a subscript: an array, or a scalar if all indices are integers.
    fn get<'py>(&self, py: Python<'py>, args: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        hold_at_end(|| {
            let facade = self.facade()?;
            let Some(shape) = Self::current_shape(&facade) else {
                return Err(PyTypeError::new_err("the dataset has no elements: its dataspace is null"));
            };
            let selection = Selection::parse(args, &shape)?;
            let array = self.read_selection(py, &selection, None)?;
            let scalar = selection.result().is_empty() && !(shape.is_empty() && is_ellipsis(args));
            if scalar { scalar_or_array(array) } else { Ok(array) }
        })
    }

    /// Writes the elements of a subscript, with NumPy's broadcasting.
    fn set(&self, py: Python<'_>, args: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        hold_at_end(|| {
            let facade = self.facade()?;
            let Some(shape) = Self::current_shape(&facade) else {
                return Err(PyTypeError::new_err("the dataset has no elements: its dataspace is null"));
            };
            let selection = Selection::parse(args, &shape)?;
            let native = self.native(py)?;
            let has_dtype = value.hasattr(pyo3::intern!(py, "dtype"))?;
            let dtype = native.dtype.bind(py);
            let base = if native.is_simple { dtype.clone() } else { dtype.getattr("base")? };
            let array = as_array(value, (!has_dtype).then_some(&base))?;
            self.write_array(py, &selection, &array)
        })
    }
}

/// Returns `true` for the subscripts `...` and `(...,)`.
fn is_ellipsis(args: &Bound<'_, PyAny>) -> bool {
    let ellipsis = PyEllipsis::get(args.py());
    args.is(ellipsis) || args.cast::<PyTuple>().is_ok_and(|tuple| tuple.iter().any(|item| item.is(ellipsis)))
}

/// Returns the number of elements of an array.
pub(crate) fn length(array: &Bound<'_, PyAny>) -> PyResult<u64> {
    Ok(hyperslab_exact::to_u64(array.cast::<PyUntypedArray>()?.len()))
}

/// Returns the shape of an array.
pub(crate) fn shape_of(array: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    Ok(array.cast::<PyUntypedArray>()?.shape().iter().map(|size| hyperslab_exact::to_u64(*size)).collect())
}

/// Returns the kind character of the dtype of an array.
pub(crate) fn kind_of(array: &Bound<'_, PyAny>) -> PyResult<u8> {
    Ok(array.cast::<PyUntypedArray>()?.dtype().kind())
}
