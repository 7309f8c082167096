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
mod joined;
pub(crate) mod memory;
mod numpy_strings;

use std::sync::Arc;

use crate::ending::Detached as _;
use hyperslab::Stored;
use hyperslab::datatype::convert::Conversions;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use rayon::prelude::*;

pub(crate) use arena::Arena;
pub(crate) use encode::Encoded;
pub(crate) use form::{Form, Kind};

use self::encode::internal;
use crate::errors::OrRaise;
use crate::process::in_pool;
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
    let dtype = if let Some(dtype) = dtype {
        dtype
    } else {
        own = to_dtype(py, stored.datatype())?;
        &own
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
        if self.is_plain() {
            return py.detached(|| in_pool(|| self.convert_plain(&stored, target))).or_raise();
        }
        let parts = py.detached(|| in_pool(|| self.convert(&stored))).or_raise()?;
        let dtype = array.getattr(pyo3::intern!(py, "dtype"))?;
        let mut rest = target;
        for part in &parts {
            let bytes = part.count.checked_mul(self.size).ok_or_else(too_large).or_raise()?;
            let (target, following) = rest.split_at_mut_checked(bytes).ok_or_else(internal)?;
            rest = following;
            if let Kind::NumpyText = self.kind {
                let mut descriptors = part.buffer.chunks_exact(arena::DESCRIPTOR_BYTES);
                numpy_strings::pack_all(&dtype, target, |_, put| {
                    descriptors.next().is_some_and(|descriptor| part.arena.with(descriptor, 1, put).is_some())
                })?;
            } else {
                self.place(py, &stored, &part.arena, &part.buffer, target)?;
            }
        }
        Ok(())
    }

    /// Converts stored elements directly into the memory of an array.
    fn convert_plain(&self, stored: &Stored, target: &mut [u8]) -> hyperslab::Result<()> {
        let conversions = Conversions::default().across_charsets();
        Ok(stored.plan(&self.memory, &conversions)?.convert(stored.bytes(), target, stored.len())?)
    }

    /// Converts stored elements to the datatype of the buffer, in parts that threads share.
    fn convert(&self, stored: &Stored) -> hyperslab::Result<Vec<Converted>> {
        let (size, part_bytes) = part_size(stored)?;
        let parts = stored.bytes().par_chunks(part_bytes);
        parts.map(|bytes| self.convert_part(stored, bytes, bytes.len() / size)).collect()
    }

    fn convert_part(&self, stored: &Stored, source: &[u8], count: usize) -> hyperslab::Result<Converted> {
        let arena = Arc::new(Arena::default());
        let conversions =
            Conversions::default().across_charsets().with_destination_heap(Arc::clone(&arena) as _);
        let plan = stored.plan(&self.memory, &conversions)?;
        let bytes = count.checked_mul(self.memory.size as usize).ok_or_else(too_large)?;
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(bytes).map_err(|_| too_large())?;
        buffer.resize(bytes, 0);
        plan.convert(source, &mut buffer, count)?;
        Ok(Converted { arena, buffer, count })
    }
}

/// The smallest number of elements of a part that one thread converts.
const PART_ELEMENTS: usize = 8192;

/// Returns the size of a stored element and of a part that one thread converts, in bytes.
fn part_size(stored: &Stored) -> hyperslab::Result<(usize, usize)> {
    let size = (stored.datatype().size as usize).max(1);
    let threads = rayon::current_num_threads().max(1);
    let elements = stored.len().div_ceil(threads).max(PART_ELEMENTS);
    Ok((size, elements.checked_mul(size).ok_or_else(too_large)?))
}

/// A part of the elements of a read, in the datatype of the buffer.
struct Converted {
    arena: Arc<Arena>,
    buffer: Vec<u8>,
    count: usize,
}

/// Returns the error for elements that do not fit into memory.
pub(crate) fn too_large() -> hyperslab::Error {
    hyperslab::Error::Memory { subject: "elements", bytes: u64::MAX }
}
