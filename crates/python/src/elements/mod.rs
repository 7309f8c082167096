//! Elements between files and NumPy arrays.
//!
//! Most elements have the same form in the array as in the buffer of a façade read or write. An
//! element with Python objects (texts, sequences, references) passes through an intermediate
//! buffer: the façade converts the stored elements to the datatype [`Form::memory`], with
//! variable-length data in an [`Arena`], and this module makes the objects.

mod arena;
mod decode;
mod encode;
mod form;
pub(crate) mod memory;
mod numpy_strings;

use std::sync::Arc;

use hyperslab::Stored;
use hyperslab::datatype::convert::Conversions;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

pub(crate) use arena::Arena;
pub(crate) use encode::Encoded;
pub(crate) use form::{Form, Kind};

use crate::errors::OrRaise;
use crate::types::to_dtype;

/// Creates a NumPy array with unspecified elements, or with `None` for each object.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[usize],
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let shape = PyTuple::new(py, shape)?;
    EMPTY.import(py, "numpy", "empty")?.call1((shape, dtype))
}

/// Converts stored elements to a NumPy array of the shape `shape`. `dtype` is the dtype of the
/// array; by default the dtype of the datatype.
pub(crate) fn to_array<'py>(
    py: Python<'py>,
    stored: Stored,
    shape: &[usize],
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let own;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => {
            own = to_dtype(py, stored.datatype())?;
            &own
        }
    };
    let form = Form::new(dtype, stored.datatype())?;
    let array = empty(py, shape, dtype)?;
    form.put(&array, stored)?;
    Ok(array)
}

impl Form {
    /// Converts stored elements and puts them into a C-contiguous array with the dtype of this
    /// form.
    pub(crate) fn put(&self, array: &Bound<'_, PyAny>, stored: Stored) -> PyResult<()> {
        let py = array.py();
        let target = memory::bytes_mut(array)?;
        let (arena, buffer, stored) = py.detach(|| self.convert(stored, target)).or_raise()?;
        let Some(buffer) = buffer else { return Ok(()) };
        if let Kind::NumpyText = self.kind {
            let mut descriptors = buffer.chunks_exact(arena::DESCRIPTOR_BYTES);
            return numpy_strings::pack_all(&array.getattr("dtype")?, target, |_, put| {
                descriptors.next().is_some_and(|descriptor| arena.with(descriptor, 1, put).is_some())
            });
        }
        self.place(py, &stored, &arena, &buffer, target)?;
        Ok(())
    }

    /// Converts stored elements to the datatype in memory: directly into `target` if the array has
    /// the same form, else into a new buffer.
    fn convert(
        &self,
        stored: Stored,
        target: &mut [u8],
    ) -> hyperslab::Result<(Arc<Arena>, Option<Vec<u8>>, Stored)> {
        let arena = Arc::new(Arena::default());
        let conversions =
            Conversions::default().across_charsets().with_destination_heap(Arc::clone(&arena) as _);
        let plan = stored.plan(&self.memory, &conversions)?;
        let count = stored.len();
        if self.is_plain() {
            plan.convert(stored.bytes(), target, count)?;
            return Ok((arena, None, stored));
        }
        let bytes = count.checked_mul(self.memory.size as usize).ok_or_else(too_large)?;
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(bytes).map_err(|_| too_large())?;
        buffer.resize(bytes, 0);
        plan.convert(stored.bytes(), &mut buffer, count)?;
        Ok((arena, Some(buffer), stored))
    }
}

impl Form {
    /// Converts stored texts to the positions of the texts and the bytes of all texts.
    pub(crate) fn joined_texts(&self, stored: Stored) -> hyperslab::Result<(Vec<i64>, Vec<u8>)> {
        let mut none = [];
        let (arena, buffer, stored) = self.convert(stored, &mut none)?;
        let mut offsets = Vec::with_capacity(stored.len() + 1);
        let mut bytes = Vec::new();
        offsets.push(0);
        for descriptor in buffer.unwrap_or_default().chunks_exact(arena::DESCRIPTOR_BYTES) {
            arena.with(descriptor, 1, |text| bytes.extend_from_slice(text));
            offsets.push(i64::try_from(bytes.len()).map_err(|_| too_large())?);
        }
        Ok((offsets, bytes))
    }
}

/// Returns the error for elements that do not fit into memory.
pub(crate) fn too_large() -> hyperslab::Error {
    hyperslab::Error::Memory { subject: "elements", bytes: u64::MAX }
}
