//! A driver whose bytes a Python object with the methods of a binary file stores.

use std::io;
use std::time::Duration;

use crate::ending::Detached as _;
use hyperslab::vfd::{Driver, DriverError, FileIdentity, LockKind, Result};
use hyperslab_exact::{to_u64, to_usize};
use parking_lot::Mutex;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

use crate::errors::interpreter_ended;

/// The largest number of bytes of one call of the methods of the object.
const PART: usize = 16 << 20;

/// The time between two attempts to use an object that another thread uses.
const WAIT: Duration = Duration::from_micros(50);

/// The driver of a Python object with the methods of a binary file.
#[derive(Debug)]
pub(super) struct PythonDriver {
    /// The object. The lock keeps a call of `seek` and the read or write after it together.
    object: Mutex<Py<PyAny>>,
    name: String,
    read_only: bool,
}

impl PythonDriver {
    /// Creates the driver of an object. `truncate` discards the bytes that the object has.
    ///
    /// # Errors
    /// Raises the exceptions of the methods of the object.
    pub(super) fn new(object: &Bound<'_, PyAny>, read_only: bool, truncate: bool) -> PyResult<Self> {
        object.getattr("seek")?;
        if truncate {
            object.call_method1("truncate", (0,))?;
        }
        let name = object.repr()?.to_string_lossy().into_owned();
        Ok(Self { object: Mutex::new(object.clone().unbind()), name, read_only })
    }

    /// Calls `work` with the object. An exception becomes the cause of the error.
    fn with<T: Send>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T> + Send,
    ) -> Result<T> {
        // The interpreter may switch threads inside of a method, so the lock is needed. A thread
        // that waits for the lock is detached: the owner of the lock needs the interpreter.
        let outcome = Python::try_attach(|py| {
            let object = loop {
                match self.object.try_lock() {
                    Some(object) => break object,
                    None => py.detached(|| std::thread::sleep(WAIT)),
                }
            };
            work(object.bind(py))
        });
        outcome
            .unwrap_or_else(|| Err(interpreter_ended()))
            .map_err(|error| DriverError::io(self.name.as_str(), operation, io::Error::other(error)))
    }

    /// Checks that the file can be written.
    fn check_writable(&self) -> Result<()> {
        if self.read_only { Err(DriverError::ReadOnly { name: self.name.clone() }) } else { Ok(()) }
    }
}

/// Fills a buffer with bytes from the current position of an object. Returns the number of bytes
/// before the end of the file.
fn fill(object: &Bound<'_, PyAny>, buffer: &mut [u8]) -> PyResult<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        let count = read_part(object, rest)?;
        if count == 0 {
            break;
        }
        done += count;
    }
    Ok(done)
}

/// Reads bytes from the current position of an object with one call of its methods.
fn read_part(object: &Bound<'_, PyAny>, buffer: &mut [u8]) -> PyResult<usize> {
    let py = object.py();
    let length = buffer.len().min(PART);
    let bytes = if object.hasattr("readinto")? {
        let array = PyByteArray::new_with(py, length, |_| Ok(()))?;
        let count = object.call_method1("readinto", (&array,))?.extract::<Option<usize>>()?.unwrap_or(0);
        let mut bytes = array.to_vec();
        bytes.truncate(count);
        bytes
    } else {
        let bytes = object.call_method1("read", (length,))?;
        bytes.cast::<PyBytes>()?.as_bytes().to_vec()
    };
    let (Some(target), count) = (buffer.get_mut(..bytes.len()), bytes.len()) else {
        return Err(PyOSError::new_err("the file object returned more bytes than requested"));
    };
    target.copy_from_slice(&bytes);
    Ok(count)
}

/// Returns the length of the file of an object.
fn length(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    object.call_method1("seek", (0, 2))?;
    object.call_method0("tell")?.extract()
}

/// Writes bytes at the current position of an object.
fn write_all(object: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<()> {
    for mut part in bytes.chunks(PART) {
        while !part.is_empty() {
            let written = object.call_method1("write", (PyBytes::new(object.py(), part),))?;
            // Some objects return nothing and have written everything.
            let count = written.extract::<Option<usize>>()?.unwrap_or(part.len());
            if count == 0 {
                return Err(PyOSError::new_err("the file object wrote no bytes"));
            }
            part = part.get(count..).unwrap_or_default();
        }
    }
    Ok(())
}

impl Driver for PythonDriver {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> Option<FileIdentity> {
        None
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn len(&self) -> Result<u64> {
        self.with("cannot read the length", length)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let wanted = buf.len();
        let missing = self.with("cannot read", |object| {
            object.call_method1("seek", (offset,))?;
            let count = fill(object, buf)?;
            if count == wanted { Ok(None) } else { Ok(Some(length(object)?)) }
        })?;
        let Some(end) = missing else { return Ok(()) };
        Err(DriverError::PastEnd { name: self.name.clone(), offset, length: to_u64(wanted), end })
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check_writable()?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.with("cannot write", |object| {
            let mut end = length(object)?;
            let zeros = vec![0; to_usize(offset.saturating_sub(end)).unwrap_or(PART).min(PART)];
            while end < offset {
                let part = to_usize(offset - end).unwrap_or(PART).min(zeros.len());
                write_all(object, zeros.get(..part).unwrap_or(&zeros))?;
                end = end.saturating_add(to_u64(part));
            }
            object.call_method1("seek", (offset,))?;
            write_all(object, bytes)
        })
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.check_writable()?;
        let end = self.len()?;
        if end < len {
            // `truncate` of some objects does not extend the file.
            return self.write_at(len - 1, &[0]);
        }
        self.with("cannot truncate", |object| object.call_method1("truncate", (len,)).map(drop))
    }

    fn flush(&self) -> Result<()> {
        self.with("cannot flush", |object| {
            if object.hasattr("flush")? { object.call_method0("flush").map(drop) } else { Ok(()) }
        })
    }

    fn sync_data(&self) -> Result<()> {
        if self.read_only { Ok(()) } else { self.flush() }
    }

    fn lock(&self, _: LockKind) -> Result<()> {
        Ok(())
    }

    fn unlock(&self) -> Result<()> {
        Ok(())
    }
}
