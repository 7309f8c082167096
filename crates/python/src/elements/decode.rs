//! Elements of arrays from the intermediate buffer.

use hyperslab::Stored;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::encode::internal;
use super::{Arena, Form, Kind, empty, memory};
use crate::errors::OrRaise;
use crate::reference;

impl Form {
    /// Puts the elements of a buffer into the memory of an array. `stored` resolves references.
    pub(super) fn place(
        &self,
        py: Python<'_>,
        stored: &Stored,
        arena: &Arena,
        buffer: &[u8],
        target: &mut [u8],
    ) -> PyResult<()> {
        let (from, to) = (self.memory.size as usize, self.size);
        if from == 0 || to == 0 {
            return Ok(());
        }
        for (source, target) in buffer.chunks_exact(from).zip(target.chunks_exact_mut(to)) {
            self.place_one(py, stored, arena, source, target)?;
        }
        Ok(())
    }

    fn place_one(
        &self,
        py: Python<'_>,
        stored: &Stored,
        arena: &Arena,
        source: &[u8],
        target: &mut [u8],
    ) -> PyResult<()> {
        match &self.kind {
            Kind::Plain => target.copy_from_slice(source.get(..target.len()).ok_or_else(internal)?),
            Kind::Text { errors: None } => {
                let text = arena.with(source, 1, |bytes| PyBytes::new(py, bytes)).ok_or_else(outside)?;
                memory::put_object(py, target, text.into_any())?;
            }
            Kind::Text { errors: Some(errors) } => {
                let text =
                    arena.with(source, 1, |bytes| decoded(py, bytes, errors)).ok_or_else(outside)??;
                memory::put_object(py, target, text)?;
            }
            Kind::NumpyText => return Err(internal()),
            Kind::Sequence { item, dtype } => {
                let items =
                    arena.with(source, item.memory.size as usize, <[u8]>::to_vec).ok_or_else(outside)?;
                let count = items.len().checked_div(item.memory.size as usize).unwrap_or(0);
                let array = empty(py, &[count], dtype.bind(py))?;
                item.place(py, stored, arena, &items, memory::bytes_mut(&array)?)?;
                memory::put_object(py, target, array)?;
            }
            Kind::Reference(kind) => {
                let reference = stored.follow(*kind, source).or_raise()?;
                memory::put_object(py, target, reference::wrap(py, *kind, reference)?)?;
            }
            Kind::Members(parts) => {
                for part in parts {
                    let source =
                        source.get(part.in_buffer..).and_then(|s| s.get(..part.form.memory.size as usize));
                    let target = target.get_mut(part.in_array..).and_then(|t| t.get_mut(..part.form.size));
                    let (source, target) = source.zip(target).ok_or_else(internal)?;
                    part.form.place_one(py, stored, arena, source, target)?;
                }
            }
            Kind::Items(item) => item.place(py, stored, arena, source, target)?,
        }
        Ok(())
    }
}

/// Returns bytes as a `str`. `errors` is the treatment of bytes that are not UTF-8.
fn decoded<'py>(py: Python<'py>, bytes: &[u8], errors: &str) -> PyResult<Bound<'py, PyAny>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(_) => PyBytes::new(py, bytes).call_method1("decode", ("utf-8", errors)),
    }
}

fn outside() -> PyErr {
    PyRuntimeError::new_err("internal error: an element refers to data outside of the arena")
}
