//! The exceptions of the package: the classes that h5py raises, with the details of the error.

use hyperslab::vfd::DriverError;
use hyperslab::{Error, ErrorKind};
use pyo3::exceptions::{
    PyKeyError, PyMemoryError, PyNotImplementedError, PyOSError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;

/// The number of the system error for a lock that another program holds.
const AGAIN: i32 = 11;

/// The details of an error: the attribute `hyperslab` of exceptions that this package raises.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
pub(crate) struct ErrorInfo {
    /// The kind of the error, such as "corrupt" or "not found".
    #[pyo3(get)]
    kind: &'static str,
    /// The structure of the file that is damaged.
    #[pyo3(get)]
    structure: Option<String>,
    /// The address of the damaged structure.
    #[pyo3(get)]
    address: Option<u64>,
    /// The whole text of the error.
    #[pyo3(get)]
    message: String,
}

#[pymethods]
impl ErrorInfo {
    fn __repr__(&self) -> String {
        format!("<ErrorInfo {}: {}>", self.kind, self.message)
    }
}

impl ErrorInfo {
    /// Returns the details of an error of the library.
    fn of(error: &Error) -> Self {
        let (structure, address) = match error.without_context() {
            Error::Corrupt(corrupt) => (Some(corrupt.structure.to_owned()), corrupt.address),
            Error::Filter { address, .. } => (Some("chunk".to_owned()), address.get()),
            Error::Internal { structure, .. } => (Some((*structure).to_owned()), None),
            _ => (None, None),
        };
        Self { kind: kind_name(error.kind()), structure, address, message: error.to_string() }
    }
}

/// Returns the name of an error kind for Python.
fn kind_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Corrupt => "corrupt",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::Limit => "limit",
        ErrorKind::NotFound => "not found",
        ErrorKind::Exists => "exists",
        ErrorKind::Misuse => "misuse",
        ErrorKind::Locked => "locked",
        ErrorKind::Io => "io",
        _ => "internal",
    }
}

/// Converts an error of the library to the exception that h5py raises in the same case. Exceptions
/// of Python objects that store the bytes of a file come out unchanged.
#[expect(clippy::needless_pass_by_value, reason = "the function is the argument of `map_err`")]
pub(crate) fn raise(error: Error) -> PyErr {
    if let Some(own) = own_exception(&error) {
        return own;
    }
    with_info(&error, exception(&error))
}

/// Returns the exception of a Python object that stores the bytes of the file; `None` if the error
/// has another cause.
pub(crate) fn own_exception(error: &Error) -> Option<PyErr> {
    let own = error.io_error().and_then(std::io::Error::get_ref)?.downcast_ref::<PyErr>()?;
    Python::try_attach(|py| own.clone_ref(py))
}

/// Returns an exception with the details of an error of the library.
///
/// A thread that runs while Python ends gets the exception without details: such a thread must not
/// attach to the interpreter, and the thread ends before it raises the exception.
pub(crate) fn with_info(error: &Error, exception: PyErr) -> PyErr {
    let mut plain = Some(exception);
    let detailed = Python::try_attach(|py| attach_info(py, plain.take()?, ErrorInfo::of(error))).flatten();
    detailed.or(plain).unwrap_or_else(interpreter_ended)
}

/// Converts an error of the library to an exception with the attribute `hyperslab`, of a class that
/// `make` chooses.
fn raise_as(error: &Error, make: fn(String) -> PyErr) -> PyErr {
    with_info(error, make(text_of(error)))
}

/// Sets the attribute `hyperslab` of an exception.
fn attach_info(py: Python<'_>, exception: PyErr, info: ErrorInfo) -> Option<PyErr> {
    // A raised and taken exception has its value. Otherwise, `value` would detach the thread from
    // the interpreter to make the value, and attach it again, which fails if Python ends meanwhile.
    exception.restore(py);
    let exception = PyErr::take(py)?;
    // An exception without details is better than another exception.
    if let Ok(info) = Py::new(py, info) {
        drop(exception.value(py).setattr("hyperslab", info));
    }
    Some(exception)
}

/// Returns the text of an error. Programs that were written for h5py look for some words.
fn text_of(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Exists => format!("{error} (name already exists)"),
        _ => error.to_string(),
    }
}

/// Returns the exception for an error of the library, without details.
fn exception(error: &Error) -> PyErr {
    let text = error.to_string();
    match error.without_context() {
        Error::NotHdf5 { .. } => return PyOSError::new_err(format!("{text} (file signature not found)")),
        Error::Memory { .. } => return PyMemoryError::new_err(text),
        Error::Filter { .. } if error.kind() != ErrorKind::Internal => return PyOSError::new_err(text),
        Error::Convert(_) if error.kind() == ErrorKind::Misuse => return PyTypeError::new_err(text),
        Error::Io { source: DriverError::ReadOnly { .. }, .. } => return PyValueError::new_err(text),
        _ => {}
    }
    match error.kind() {
        ErrorKind::NotFound => PyKeyError::new_err(text),
        ErrorKind::Exists => PyValueError::new_err(text_of(error)),
        ErrorKind::Misuse | ErrorKind::Limit => PyValueError::new_err(text),
        ErrorKind::Unsupported => PyNotImplementedError::new_err(text),
        ErrorKind::Locked => {
            PyOSError::new_err((AGAIN, format!("unable to lock file, errno = {AGAIN}: {text}")))
        }
        ErrorKind::Corrupt => PyOSError::new_err(text),
        ErrorKind::Io => match error.io_error().and_then(std::io::Error::raw_os_error) {
            Some(number) => PyOSError::new_err((number, text)),
            None => PyOSError::new_err(text),
        },
        _ => PyRuntimeError::new_err(text),
    }
}

/// The conversion of results of the library to results with Python exceptions.
pub(crate) trait OrRaise<T> {
    /// Converts the error of the result to an exception.
    ///
    /// # Errors
    /// Returns the error of the result.
    fn or_raise(self) -> PyResult<T>;

    /// Converts the error of the result to an exception that `make` makes from the text, if the
    /// caller's arguments are the cause; else as [`or_raise`](Self::or_raise).
    ///
    /// # Errors
    /// Returns the error of the result.
    fn or_raise_as(self, make: fn(String) -> PyErr) -> PyResult<T>;
}

impl<T> OrRaise<T> for hyperslab::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(raise)
    }

    fn or_raise_as(self, make: fn(String) -> PyErr) -> PyResult<T> {
        self.map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::Exists | ErrorKind::Misuse => raise_as(&error, make),
            _ if is_read_only(&error) => raise_as(&error, make),
            _ => raise(error),
        })
    }
}

/// Returns whether an error is the refusal to change a file that is open for reading only.
fn is_read_only(error: &Error) -> bool {
    matches!(error.without_context(), Error::Io { source: DriverError::ReadOnly { .. }, .. })
}

/// Makes the exception of work that needs Python after Python has ended.
pub(crate) fn interpreter_ended() -> PyErr {
    PyOSError::new_err("the interpreter has ended")
}

/// Makes the exception `KeyError`.
pub(crate) fn key_error(text: String) -> PyErr {
    PyKeyError::new_err(text)
}

/// Makes the exception `TypeError`.
pub(crate) fn type_error(text: String) -> PyErr {
    PyTypeError::new_err(text)
}

/// Makes the exception `OSError`.
pub(crate) fn os_error(text: String) -> PyErr {
    PyOSError::new_err(text)
}

/// Makes the exception `RuntimeError`.
pub(crate) fn runtime_error(text: String) -> PyErr {
    PyRuntimeError::new_err(text)
}
