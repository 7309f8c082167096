//! Errors of the library as Python exceptions.

use hyperslab::{Error, ErrorKind};
use pyo3::exceptions::{
    PyKeyError, PyMemoryError, PyNotImplementedError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

/// The details of an error, in the attribute `hyperslab` of the exception.
#[pyclass(frozen, get_all, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct ErrorInfo {
    /// The kind of the error.
    kind: &'static str,
    /// The on-disk structure that contradicts the specification.
    structure: Option<String>,
    /// The address of the structure in the file, in bytes.
    address: Option<u64>,
    /// The text of the error.
    message: String,
}

#[pymethods]
impl ErrorInfo {
    fn __repr__(&self) -> String {
        format!("<{} error: {}>", self.kind, self.message)
    }
}

/// Returns the name of the kind of an error.
fn name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Corrupt => "corrupt",
        ErrorKind::Exists => "exists",
        ErrorKind::Internal => "internal",
        ErrorKind::Io => "io",
        ErrorKind::Limit => "limit",
        ErrorKind::Locked => "locked",
        ErrorKind::Misuse => "misuse",
        ErrorKind::NotFound => "not found",
        ErrorKind::Unsupported => "unsupported",
        _ => "other",
    }
}

/// The error number of an operation that another user's lock excludes (`EAGAIN`).
const LOCKED: i32 = 11;

/// Converts an error to the exception that h5py raises in the same case, with the details in the
/// attribute `hyperslab`.
pub(crate) fn raise(error: Error) -> PyErr {
    if let Some(raised) = crate::file::python_driver::take_exception() {
        return raised;
    }
    let message = error.to_string();
    let exception = match error.without_context() {
        Error::NotHdf5 { .. } => {
            PyOSError::new_err(format!("Unable to open file (file signature not found): {message}"))
        }
        Error::Memory { .. } => PyMemoryError::new_err(message.clone()),
        _ => match error.kind() {
            ErrorKind::Corrupt => PyOSError::new_err(message.clone()),
            ErrorKind::Io => io(&error, &message),
            ErrorKind::Locked => {
                PyOSError::new_err((LOCKED, format!("unable to lock file, errno = {LOCKED}: {message}")))
            }
            ErrorKind::NotFound => PyKeyError::new_err(message.clone()),
            ErrorKind::Unsupported => PyNotImplementedError::new_err(message.clone()),
            ErrorKind::Exists => PyValueError::new_err(format!("{message} (name already exists)")),
            ErrorKind::Limit | ErrorKind::Misuse => PyValueError::new_err(message.clone()),
            _ => PyRuntimeError::new_err(message.clone()),
        },
    };
    Python::attach(|py| {
        let (structure, address) = place(&error);
        let info = ErrorInfo { kind: name(error.kind()), structure, address, message };
        // An exception without the details still names the error.
        if let Ok(info) = Bound::new(py, info) {
            let _ = exception.value(py).setattr("hyperslab", info);
        }
    });
    exception
}

/// Returns the structure and the address that an error names.
fn place(error: &Error) -> (Option<String>, Option<u64>) {
    match error.without_context() {
        Error::Corrupt(corrupt) => (Some(corrupt.structure.to_owned()), corrupt.address),
        Error::Filter { address, .. } => (Some("chunk".to_owned()), address.get()),
        Error::Internal { structure, .. } => (Some((*structure).to_owned()), None),
        _ => (None, None),
    }
}

/// Returns the exception of a failed access to a file. The class follows the error number.
fn io(error: &Error, message: &str) -> PyErr {
    match error.io_error().and_then(std::io::Error::raw_os_error) {
        Some(number) => PyOSError::new_err((number, message.to_owned())),
        None => PyOSError::new_err(message.to_owned()),
    }
}

/// The conversion of results of the library to results of Python.
pub(crate) trait OrRaise<T> {
    /// Converts an error to an exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for hyperslab::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(raise)
    }
}
