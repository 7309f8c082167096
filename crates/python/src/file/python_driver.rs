//! Files that are Python objects with the methods of a binary file.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyperslab::vfd::{Driver, DriverError, DriverKind, FileIdentity, LockKind};
use parking_lot::Mutex;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

/// The time between two attempts to use a Python file that another thread uses.
const WAIT: Duration = Duration::from_micros(50);

/// The last exception that a Python file raised.
static LAST: Mutex<Option<PyErr>> = Mutex::new(None);

/// Returns and removes the exception that a Python file raised in the current operation.
pub(crate) fn take_exception() -> Option<PyErr> {
    LAST.lock().take()
}

/// A driver over a Python object.
#[derive(Debug)]
pub(super) struct PythonFile {
    object: Py<PyAny>,
    name: String,
    read_only: bool,
    /// A lock around a change of the position and the access after it.
    access: Mutex<()>,
}

type Result<T> = std::result::Result<T, DriverError>;

impl PythonFile {
    /// Creates a driver over a Python object.
    pub(super) fn new(object: Py<PyAny>, name: String, read_only: bool) -> Arc<Self> {
        Arc::new(Self { object, name, read_only, access: Mutex::new(()) })
    }

    /// Calls `work` with the object while the interpreter is attached.
    fn call<T>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        Python::attach(|py| {
            // The interpreter may switch threads inside of a method, so the lock is needed. A thread
            // that waits for it must not hold the interpreter.
            let guard = loop {
                match self.access.try_lock() {
                    Some(guard) => break guard,
                    None => py.detach(|| std::thread::sleep(WAIT)),
                }
            };
            let done = work(self.object.bind(py));
            drop(guard);
            done.map_err(|error| {
                let source = io::Error::other(error.to_string());
                *LAST.lock() = Some(error);
                DriverError::io(self.name.clone(), operation, source)
            })
        })
    }
}

/// Returns the position `offset` for a method of a Python file.
fn seek(object: &Bound<'_, PyAny>, offset: u64) -> PyResult<()> {
    object.call_method1("seek", (offset,)).map(drop)
}

impl Driver for PythonFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> DriverKind {
        DriverKind::Other
    }

    fn identity(&self) -> Option<FileIdentity> {
        None
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    // A Python object has no other users, as far as this library knows.
    fn lock(&self, _: LockKind) -> Result<()> {
        Ok(())
    }

    fn unlock(&self) -> Result<()> {
        Ok(())
    }

    fn len(&self) -> Result<u64> {
        self.call("seek", |object| {
            object.call_method1("seek", (0, 2))?;
            object.call_method0("tell")?.extract()
        })
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.call("read", |object| {
            seek(object, offset)?;
            let mut done = 0;
            while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
                let read = read_some(object, rest)?;
                if read == 0 {
                    return Err(PyOSError::new_err("the Python file ends before the requested bytes"));
                }
                done += read;
            }
            Ok(())
        })
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.call("write", |object| {
            seek(object, offset)?;
            let py = object.py();
            let mut rest = bytes;
            while !rest.is_empty() {
                let written = object.call_method1("write", (PyBytes::new(py, rest),))?;
                // A file that is not buffered may write less.
                let written: usize = if written.is_none() { rest.len() } else { written.extract()? };
                if written == 0 {
                    return Err(PyOSError::new_err("the Python file wrote no bytes"));
                }
                rest = rest.get(written..).unwrap_or_default();
            }
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.call("truncate", |object| object.call_method1("truncate", (len,)).map(drop))
    }

    fn flush(&self) -> Result<()> {
        self.call("flush", |object| match object.getattr_opt("flush")? {
            Some(flush) => flush.call0().map(drop),
            None => Ok(()),
        })
    }

    fn sync_data(&self) -> Result<()> {
        Driver::flush(self)
    }
}

/// Reads bytes from the position of a Python file. Returns their number.
fn read_some(object: &Bound<'_, PyAny>, target: &mut [u8]) -> PyResult<usize> {
    let py = object.py();
    if let Some(method) = object.getattr_opt("readinto")? {
        let buffer = PyByteArray::new_with(py, target.len(), |_| Ok(()))?;
        let read: usize = method.call1((&buffer,))?.extract()?;
        let bytes = buffer.to_vec();
        let (from, to) = (bytes.get(..read), target.get_mut(..read));
        if let (Some(from), Some(to)) = (from, to) {
            to.copy_from_slice(from);
        }
        return Ok(read);
    }
    let bytes = object.call_method1("read", (target.len(),))?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes();
    if let Some(to) = target.get_mut(..bytes.len()) {
        to.copy_from_slice(bytes);
    }
    Ok(bytes.len())
}
