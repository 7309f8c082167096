//! HDF5 datatypes and NumPy dtypes.

mod describe;
mod from_numpy;
mod to_numpy;

use hyperslab::serialized::{datatype_from_bytes, datatype_to_bytes};
use hyperslab::{Datatype, DatatypeClass};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

pub(crate) use from_numpy::from_dtype;
pub(crate) use to_numpy::{dtype_class, to_dtype};

use crate::errors::OrRaise;

/// An HDF5 datatype.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) datatype: Datatype,
}

#[pymethods]
impl Type {
    /// Returns the datatype that stores elements of a NumPy dtype.
    #[staticmethod]
    fn of(dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { datatype: from_dtype(dtype)? })
    }

    /// Decodes a datatype from the bytes that `encode` returns.
    #[staticmethod]
    fn decode(data: &[u8]) -> PyResult<Self> {
        Ok(Self { datatype: datatype_from_bytes(data).or_raise()? })
    }

    /// Encodes the datatype as libhdf5's `H5Tencode` does.
    fn encode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &datatype_to_bytes(&self.datatype).or_raise()?))
    }

    /// Returns the NumPy dtype of elements in memory.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_dtype(py, &self.datatype)
    }

    /// Returns the size of a stored element in bytes.
    #[getter]
    fn size(&self) -> u32 {
        self.datatype.size
    }

    /// Returns the size in bytes that an element has for the functions of libhdf5: a
    /// variable-length string counts as a pointer.
    #[getter]
    fn memory_size(&self) -> u32 {
        // Members that overlap have no other places in memory.
        self.datatype.memory_size().unwrap_or(self.datatype.size)
    }

    /// Returns the offset in bytes that a member of the compound at the stored `offset` has for
    /// the functions of libhdf5.
    fn memory_offset(&self, offset: u32) -> u32 {
        match &self.datatype.class {
            DatatypeClass::Compound(compound) => compound.memory_offset(offset).unwrap_or(offset),
            _ => offset,
        }
    }

    /// Returns the name of the datatype's class.
    #[getter]
    fn class_name(&self) -> &'static str {
        describe::class_name(&self.datatype)
    }

    /// Returns all properties of the datatype.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        describe::describe(py, &self.datatype)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().datatype == self.datatype)
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.datatype.size)
    }

    fn __repr__(&self) -> String {
        format!("<HDF5 datatype {}>", self.datatype)
    }
}
