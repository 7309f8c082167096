//! Names of files, links and attributes from Python.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use hyperslab::CharacterSet;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Returns a path from a `str`, `bytes` or `os.PathLike`.
pub(crate) fn path(path: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let plain = path.py().import("os")?.call_method1("fsencode", (path,))?;
    let bytes = plain.cast::<PyBytes>()?.as_bytes();
    if bytes.contains(&0) {
        return Err(PyValueError::new_err("embedded null byte"));
    }
    Ok(PathBuf::from(OsString::from_vec(bytes.to_vec())))
}

/// The name of a link or an attribute, as bytes with a character set.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) bytes: Vec<u8>,
    pub(crate) charset: CharacterSet,
}

impl Name {
    /// Returns a name from `bytes` or `str`. In a `str`, lone surrogates stand for bytes that are
    /// not UTF-8.
    pub(crate) fn new(name: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = if let Ok(text) = name.cast::<PyString>() {
            match text.to_str() {
                Ok(text) => text.as_bytes().to_vec(),
                Err(_) => text.call_method1("encode", ("utf-8", "surrogateescape"))?.extract()?,
            }
        } else if let Ok(bytes) = name.cast::<PyBytes>() {
            bytes.as_bytes().to_vec()
        } else {
            let class = name.get_type().name()?;
            return Err(PyTypeError::new_err(format!("Expected bytes or str, got {class}")));
        };
        if bytes.contains(&0) {
            return Err(PyValueError::new_err("embedded null byte"));
        }
        let charset = if bytes.is_ascii() { CharacterSet::Ascii } else { CharacterSet::Utf8 };
        Ok(Self { bytes, charset })
    }

    /// Returns the name as text, if it is UTF-8.
    pub(crate) fn text(&self) -> PyResult<&str> {
        std::str::from_utf8(&self.bytes).map_err(|_| PyValueError::new_err("the name is not UTF-8"))
    }
}

/// Returns a name of the file as `str`. Bytes that are not UTF-8 become lone surrogates.
pub(crate) fn to_str<'py>(py: Python<'py>, name: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match std::str::from_utf8(name) {
        Ok(name) => Ok(PyString::new(py, name).into_any()),
        Err(_) => PyBytes::new(py, name).call_method1("decode", ("utf-8", "surrogateescape")),
    }
}
