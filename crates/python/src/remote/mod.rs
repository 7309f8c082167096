//! Files at URLs, by the feature `cloud`.

mod async_file;
mod executor;
mod options;
mod reader;

use hyperslab_cloud::CloudDriver;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(crate) use async_file::{AsyncFile, Task};
pub(crate) use options::cloud_options;

/// The object at a URL that a file reads.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) driver: CloudDriver,
}

#[pymethods]
impl Remote {
    /// Returns the version of the object (its ETag), if the store has versions.
    #[getter]
    fn version(&self) -> Option<&str> {
        self.driver.version()
    }

    /// Returns the counts of requests, bytes and rounds since the file was opened.
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        usage(py, self.driver.usage())
    }
}

/// Returns counts as a dict.
fn usage(py: Python<'_>, usage: hyperslab_cloud::Usage) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("requests", usage.requests)?;
    dict.set_item("bytes", usage.bytes)?;
    dict.set_item("rounds", usage.rounds)?;
    Ok(dict)
}

/// Returns a URL without the user, the password and the query.
#[pyfunction]
pub(crate) fn without_credentials(url: &str) -> String {
    hyperslab_cloud::without_credentials(url)
}
