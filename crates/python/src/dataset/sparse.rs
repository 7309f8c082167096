//! Sparse datasets: structured chunks with defined elements.

use crate::ending::Detached as _;
use half::f16;
use hyperslab::Points;
use num_complex::Complex;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::Dataset;
use super::subscript::as_array;
use crate::elements::{self, Form, memory};
use crate::errors::OrRaise;
use crate::process::in_pool;
use crate::selection::Selection;

/// Starts, indices and values of a compressed matrix.
type Compressed<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Calls a generic function with the Rust type of a NumPy dtype of numbers.
macro_rules! with_number {
    ($dtype:expr, $name:ident => $call:expr) => {{
        let dtype: String = $dtype.getattr("str")?.extract()?;
        match dtype.get(1..).unwrap_or_default() {
            "i1" => {
                type $name = i8;
                $call
            }
            "i2" => {
                type $name = i16;
                $call
            }
            "i4" => {
                type $name = i32;
                $call
            }
            "i8" => {
                type $name = i64;
                $call
            }
            "u1" => {
                type $name = u8;
                $call
            }
            "u2" => {
                type $name = u16;
                $call
            }
            "u4" => {
                type $name = u32;
                $call
            }
            "u8" => {
                type $name = u64;
                $call
            }
            "f2" => {
                type $name = f16;
                $call
            }
            "f4" => {
                type $name = f32;
                $call
            }
            "f8" => {
                type $name = f64;
                $call
            }
            "c8" => {
                type $name = Complex<f32>;
                $call
            }
            "c16" => {
                type $name = Complex<f64>;
                $call
            }
            other => Err(PyTypeError::new_err(format!("no sparse matrices of the dtype {other:?}"))),
        }
    }};
}

/// Returns points from an array with one row of coordinates for each point.
fn points(coordinates: &Bound<'_, PyAny>, rank: usize) -> PyResult<Points> {
    let array = as_array(coordinates, Some(coordinates.py().get_type::<pyo3::types::PyInt>().as_any()))?;
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    if shape.get(1) != Some(&rank) || shape.len() != 2 {
        return Err(PyTypeError::new_err(format!(
            "coordinates of the shape {shape:?} for a dataset of rank {rank}"
        )));
    }
    let flat = array.call_method1("astype", ("uint64",))?.call_method0("ravel")?;
    let flat: PyReadonlyArray1<'_, u64> = flat.cast::<PyArray1<u64>>()?.readonly();
    let coordinates = flat.as_slice().map_err(|error| PyTypeError::new_err(error.to_string()))?.to_vec();
    Ok(Points { rank, coordinates })
}

/// Returns the coordinates of points as an array.
fn coordinates<'py>(py: Python<'py>, points: Points) -> PyResult<Bound<'py, PyAny>> {
    let shape = [points.len(), points.rank];
    Ok(PyArray1::from_vec(py, points.coordinates).reshape(shape)?.into_any())
}

#[pymethods]
impl Dataset {
    /// Returns the coordinates of the defined elements of a selection.
    fn sparse_defined<'py>(
        &self,
        py: Python<'py>,
        selection: &Bound<'py, Selection>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let facade = self.facade()?;
        let selected = selection.get().facade();
        let (found, _) = py.detached(|| in_pool(|| facade.sparse().read_stored(selected))).or_raise()?;
        coordinates(py, found)
    }

    /// Returns the number of defined elements.
    fn sparse_count(&self, py: Python<'_>) -> PyResult<u64> {
        let facade = self.facade()?;
        py.detached(|| in_pool(|| facade.sparse().defined_count())).or_raise()
    }

    /// Returns coordinates and values of the defined elements of a selection.
    fn sparse_read<'py>(
        &self,
        py: Python<'py>,
        selection: &Bound<'py, Selection>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let facade = self.facade()?;
        let selected = selection.get().facade();
        let (found, stored) = py.detached(|| in_pool(|| facade.sparse().read_stored(selected))).or_raise()?;
        let dtype = self.native(py)?.dtype.bind(py);
        let values = elements::to_array(py, stored, &[found.len()], Some(dtype))?;
        Ok((coordinates(py, found)?, values))
    }

    /// Writes values of single elements, which become defined.
    fn sparse_write(
        &self,
        py: Python<'_>,
        coordinates: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let facade = self.facade()?;
        let points = points(coordinates, facade.ndim())?;
        let array = as_array(values, None)?;
        let form = Form::new(&array.getattr("dtype")?, facade.datatype())?;
        if form.is_plain() {
            let bytes = memory::bytes(&array)?;
            return py
                .detached(|| in_pool(|| facade.sparse().write_bytes(&points, &form.memory, bytes)))
                .or_raise();
        }
        let texts = array.call_method0("tolist")?;
        let texts: Vec<Bound<'_, PyAny>> = texts.extract()?;
        let texts = texts.iter().map(text).collect::<PyResult<Vec<_>>>()?;
        py.detached(|| in_pool(|| facade.sparse().write_strings(&points, &texts))).or_raise()
    }

    /// Makes the selected elements undefined.
    fn sparse_erase(&self, py: Python<'_>, selection: &Bound<'_, Selection>) -> PyResult<()> {
        let facade = self.facade()?;
        let selected = selection.get().facade();
        py.detached(|| in_pool(|| facade.sparse().erase(selected))).or_raise()
    }

    /// Returns starts, indices and values of the rows `first..last` of a matrix, as CSR. The
    /// indices have 32 bits if all columns fit, as in SciPy.
    fn sparse_read_csr<'py>(&self, py: Python<'py>, first: u64, last: u64) -> PyResult<Compressed<'py>> {
        let facade = self.facade()?;
        let dtype = self.native(py)?.dtype.bind(py).clone();
        let is_small = facade.shape().iter().all(|length| i32::try_from(*length).is_ok());
        with_number!(dtype, T => {
            if is_small {
                let read = || facade.sparse().read_csr_rows::<T, i32>(first..last);
                compressed(py, py.detached(|| in_pool(read)).or_raise()?)
            } else {
                let read = || facade.sparse().read_csr_rows::<T, i64>(first..last);
                compressed(py, py.detached(|| in_pool(read)).or_raise()?)
            }
        })
    }

    /// Returns starts, indices and values of a matrix, as CSC. The indices have 32 bits if all rows
    /// fit, as in SciPy.
    fn sparse_read_csc<'py>(&self, py: Python<'py>) -> PyResult<Compressed<'py>> {
        let facade = self.facade()?;
        let dtype = self.native(py)?.dtype.bind(py).clone();
        let is_small = facade.shape().iter().all(|length| i32::try_from(*length).is_ok());
        with_number!(dtype, T => {
            if is_small {
                let read = || facade.sparse().read_csc::<T, i32>();
                compressed(py, py.detached(|| in_pool(read)).or_raise()?)
            } else {
                let read = || facade.sparse().read_csc::<T, i64>();
                compressed(py, py.detached(|| in_pool(read)).or_raise()?)
            }
        })
    }

    /// Writes rows of a matrix in the form of CSR, from the row `first_row` on.
    fn sparse_write_csr(
        &self,
        py: Python<'_>,
        first_row: u64,
        starts: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (starts, indices) = (integers(starts)?, integers(indices)?);
        self.write_values(
            py,
            values,
            &Matrix { first_row, by_columns: false, starts: &starts, indices: &indices },
        )
    }

    /// Writes a matrix in the form of CSC.
    fn sparse_write_csc(
        &self,
        py: Python<'_>,
        starts: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (starts, indices) = (integers(starts)?, integers(indices)?);
        self.write_values(
            py,
            values,
            &Matrix { first_row: 0, by_columns: true, starts: &starts, indices: &indices },
        )
    }
}

/// The positions of the values of a compressed matrix.
struct Matrix<'a, 'py> {
    first_row: u64,
    by_columns: bool,
    starts: &'a PyReadonlyArray1<'py, i64>,
    indices: &'a PyReadonlyArray1<'py, i64>,
}

impl Dataset {
    fn write_values(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        matrix: &Matrix<'_, '_>,
    ) -> PyResult<()> {
        let facade = self.facade()?;
        // The numbers below have the byte order of the machine.
        let native = values.getattr("dtype")?.call_method1("newbyteorder", ("=",))?;
        let values = as_array(values, Some(&native))?;
        let dtype = values.getattr("dtype")?;
        let slice = |array: &PyReadonlyArray1<'_, i64>| {
            array.as_slice().map(<[i64]>::to_vec).map_err(|error| PyTypeError::new_err(error.to_string()))
        };
        let (starts, indices) = (slice(matrix.starts)?, slice(matrix.indices)?);
        let (first_row, by_columns) = (matrix.first_row, matrix.by_columns);
        with_number!(dtype, T => {
            let bytes = memory::bytes(&values)?;
            let numbers = <T as hyperslab::H5Type>::from_bytes(bytes).map_err(hyperslab::Error::from).or_raise()?;
            let write = || {
                let sparse = facade.sparse();
                if by_columns {
                    sparse.write_csc(&starts, &indices, &numbers)
                } else {
                    sparse.write_csr_rows(first_row, &starts, &indices, &numbers)
                }
            };
            py.detached(|| in_pool(write)).or_raise()
        })
    }
}

/// Returns an array of integers as `i64`.
fn integers<'py>(array: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, i64>> {
    let array = as_array(array, None)?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind, 'i' | 'u') {
        return Err(PyTypeError::new_err("starts and indices of a matrix are integers"));
    }
    let array = as_array(&array.call_method1("astype", ("int64",))?, None)?;
    Ok(array.cast::<PyArray1<i64>>()?.readonly())
}

/// Returns the parts of a compressed matrix as NumPy arrays. The starts have 32 bits if the indices
/// have 32 bits and all starts fit, as in SciPy.
fn compressed<'py, T, I>(py: Python<'py>, matrix: hyperslab::Compressed<T, I>) -> PyResult<Compressed<'py>>
where
    T: hyperslab::H5Type + numpy::Element,
    I: numpy::Element,
{
    let starts = matrix.starts.iter().map(|start| i64::try_from(*start)).collect::<Result<Vec<i64>, _>>()?;
    let is_small = size_of::<I>() == size_of::<i32>();
    let small: Option<Vec<i32>> = starts.iter().map(|start| i32::try_from(*start).ok()).collect();
    let starts = match small {
        Some(small) if is_small => PyArray1::from_vec(py, small).into_any(),
        _ => PyArray1::from_vec(py, starts).into_any(),
    };
    let indices = PyArray1::from_vec(py, matrix.indices).into_any();
    Ok((starts, indices, PyArray1::from_vec(py, matrix.values).into_any()))
}

/// Returns the text of a Python text or of bytes in UTF-8.
fn text(object: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(bytes) = object.cast::<pyo3::types::PyBytes>() {
        let text = std::str::from_utf8(bytes.as_bytes());
        return text.map(str::to_owned).map_err(|_| PyTypeError::new_err("a text is not UTF-8"));
    }
    object.extract()
}
