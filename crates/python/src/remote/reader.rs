//! An object of another package's store, which an object of Python reads.

use std::io;
use std::ops::Range;

use hyperslab_cloud::RangeReader;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::interpreter_ended;

/// An object of Python with the attributes `path` and `size`, and the method
/// `ranges(starts, ends)`, which returns a list of bytes.
pub(super) struct PythonReader {
    object: Py<PyAny>,
    path: String,
    size: u64,
}

impl PythonReader {
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (path, size) = (object.getattr("path")?.extract()?, object.getattr("size")?.extract()?);
        Ok(Self { object: object.clone().unbind(), path, size })
    }
}

impl RangeReader for PythonReader {
    fn name(&self) -> &str {
        &self.path
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let outcome = Python::try_attach(|py| -> PyResult<Vec<u8>> {
            let found = self.object.bind(py).call_method1("ranges", (vec![range.start], vec![range.end]))?;
            let first = found.try_iter()?.next();
            let bytes = first.unwrap_or_else(|| Err(PyOSError::new_err("the store returned no bytes")))?;
            Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
        });
        outcome.unwrap_or_else(|| Err(interpreter_ended())).map_err(io::Error::other)
    }
}
