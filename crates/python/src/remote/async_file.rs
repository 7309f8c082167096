//! Files at URLs for asyncio.

use std::io;
use std::sync::{Arc, Weak};

use hyperslab::vfd::DriverError;
use hyperslab_cloud::{AsyncFile as CloudFile, RangeReader as _};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::executor::{self, Job};
use super::reader::PythonReader;
use super::{cloud_options, usage, without_credentials};
use crate::errors::{interpreter_ended, raise};
use crate::file::{File, read_options};

/// A file at a URL whose reads note missing bytes.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct AsyncFile {
    cloud: CloudFile,
    #[pyo3(get)]
    file: Py<File>,
}

/// Work that runs, and that can be cancelled.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
pub(crate) struct Task {
    job: Weak<Job>,
}

#[pymethods]
impl Task {
    /// Ends the work. Its requests are cancelled.
    fn cancel(&self) {
        if let Some(job) = self.job.upgrade() {
            job.cancel();
        }
    }
}

/// Calls `done` with the result that `outcome` makes and no exception, or with no result and an
/// exception. A program that ends waits for no result, so nothing is called then.
fn report(done: &Py<PyAny>, outcome: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>) {
    Python::try_attach(|py| {
        let arguments = match outcome(py) {
            Ok(value) => (value, py.None()),
            Err(error) => (py.None(), error.into_value(py).into_any()),
        };
        if let Err(error) = done.call1(py, arguments) {
            error.write_unraisable(py, Some(done.bind(py)));
        }
    });
}

#[pymethods]
impl AsyncFile {
    /// Opens the file at a URL, and calls `done` with it.
    #[staticmethod]
    fn open(
        url: String,
        options: &Bound<'_, PyDict>,
        storage: &Bound<'_, PyDict>,
        done: Py<PyAny>,
    ) -> PyResult<Task> {
        let cloud = cloud_options(storage, read_options(options)?)?;
        let job = executor::spawn(async move {
            let outcome = open(&url, cloud).await;
            report(&done, |_| outcome);
        });
        Ok(Task { job })
    }

    /// Opens the file that an object with the method `ranges(starts, ends)` reads, and calls `done`
    /// with it.
    #[staticmethod]
    fn open_ranges(
        reader: &Bound<'_, PyAny>,
        options: &Bound<'_, PyDict>,
        storage: &Bound<'_, PyDict>,
        done: Py<PyAny>,
    ) -> PyResult<Task> {
        let cloud = cloud_options(storage, read_options(options)?)?;
        let reader = Arc::new(PythonReader::new(reader)?);
        let job = executor::spawn(async move {
            let name = reader.name().to_owned();
            let opened = CloudFile::open_reader(reader, cloud).await.map_err(raise);
            let outcome = match opened {
                Ok(cloud) => finish(cloud, name).await,
                Err(error) => Err(error),
            };
            report(&done, |_| outcome);
        });
        Ok(Task { job })
    }

    /// Calls `work` until all bytes that it reads are there, and calls `done` with its result.
    fn run(&self, work: Py<PyAny>, done: Py<PyAny>) -> Task {
        let cloud = self.cloud.clone();
        let job = executor::spawn(async move {
            let outcome = cloud.run(|_| call(&work)).await;
            report(&done, |_| outcome.map_err(raise));
        });
        Task { job }
    }

    /// Fetches the metadata of an object and of all objects below it, and calls `done`.
    fn prefetch(&self, path: String, done: Py<PyAny>) -> Task {
        let cloud = self.cloud.clone();
        let job = executor::spawn(async move {
            let outcome = cloud.prefetch_metadata(&path).await;
            report(&done, |py| outcome.map(|()| py.None()).map_err(raise));
        });
        Task { job }
    }

    /// Returns the counts of requests, bytes and rounds since the file was opened.
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        usage(py, self.cloud.usage())
    }
}

async fn open(url: &str, options: hyperslab_cloud::CloudOptions) -> PyResult<Py<PyAny>> {
    let cloud = CloudFile::open(url, options).await.map_err(raise)?;
    finish(cloud, without_credentials(url)).await
}

/// Returns the object of Python for an open file.
async fn finish(cloud: CloudFile, name: String) -> PyResult<Py<PyAny>> {
    let facade = cloud.run(|file| Ok(file.clone())).await.map_err(raise)?;
    let file = File::of_url(facade, name)?;
    let opened = Python::try_attach(|py| {
        let opened = AsyncFile { cloud, file: Py::new(py, file)? };
        Ok(Py::new(py, opened)?.into_any())
    });
    opened.unwrap_or_else(|| Err(interpreter_ended()))
}

/// Calls a function of Python. Its exception is the cause of the error.
fn call(work: &Py<PyAny>) -> hyperslab::Result<Py<PyAny>> {
    let outcome = Python::try_attach(|py| work.call1(py, PyTuple::empty(py)));
    outcome.unwrap_or_else(|| Err(interpreter_ended())).map_err(|error| hyperslab::Error::Io {
        action: "asynchronous work failed".into(),
        source: DriverError::Io { name: "Python".into(), operation: "call", source: io::Error::other(error) },
    })
}
