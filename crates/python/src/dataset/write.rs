//! Writes of datasets.

use crate::ending::Detached as _;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::parts::Parts;
use super::subscript::{as_array, kind_of, length, shape_of};
use super::{Dataset, sizes};
use crate::elements::{Encoded, Form, memory};
use crate::ending::hold_at_end;
use crate::errors::OrRaise;
use crate::process::in_pool;
use crate::progress;
use crate::selection::{Selection, Wanted};

/// The size of a broadcast array from which a write goes by parts, in bytes.
const BROADCAST_BYTES: u64 = 64 << 20;

impl Dataset {
    /// Writes an array to the selected elements, with broadcasting.
    pub(crate) fn write_array(
        &self,
        py: Python<'_>,
        selection: &Selection,
        array: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let count = selection.elements()?;
        let inner = self.inner_shape(py)?;
        if count == 0 {
            broadcast(array, selection.result(), &inner)?;
            return Ok(());
        }
        let facade = self.facade()?;
        // Texts of NumPy with fixed lengths have no datatype: the file gets them as UTF-8.
        if kind_of(array)? == b'U' {
            return self.write_array(py, selection, &encoded(array)?);
        }
        let form = Form::of_array(array, facade.datatype())?;
        if length(array)? == 1 && inner.is_empty() {
            let bytes = count.saturating_mul(hyperslab_exact::to_u64(form.size)); // Only compared.
            if bytes > BROADCAST_BYTES {
                return self.write_repeated(py, selection, array, &form);
            }
        }
        let array = broadcast(array, selection.result(), &inner)?;
        let array = as_array(&array, None)?;
        if form.is_plain() && progress::is_wanted() {
            return write_reported(py, &facade, selection, &form, memory::bytes(&array)?);
        }
        write_form(py, &facade, selection.wanted(), &form, &array)
    }

    /// Returns the dimensions that the dtype of an array datatype adds.
    fn inner_shape(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        let native = self.native(py)?;
        if native.is_simple { Ok(Vec::new()) } else { native.dtype.bind(py).getattr("shape")?.extract() }
    }

    /// Writes one element to many selected elements, by parts of the selection.
    fn write_repeated(
        &self,
        py: Python<'_>,
        selection: &Selection,
        array: &Bound<'_, PyAny>,
        form: &Form,
    ) -> PyResult<()> {
        let facade = self.facade()?;
        let file = self.session().file()?;
        let element = Encoded::of(form, &as_array(&array.call_method1("reshape", (1,))?, None)?, &file)?;
        let dims = selection.dims().to_vec();
        let selected = selection.facade();
        let blocks = facade.blocks(BROADCAST_BYTES);
        py.detached(|| {
            in_pool(|| {
                for block in blocks {
                    let block = hyperslab::Selection::region(&block);
                    let part = selected.combine(hyperslab::SetOperation::And, &block, &dims)?;
                    let count = hyperslab_exact::to_usize(part.element_count(&dims)?)?;
                    if count == 0 {
                        continue;
                    }
                    let bytes = element.bytes.repeat(count);
                    match &element.heap {
                        None => facade.write_bytes(&part, &element.memory, &bytes)?,
                        Some(heap) => {
                            facade.write_bytes_from(&part, &element.memory, &bytes, heap.clone())?;
                        }
                    }
                }
                Ok(())
            })
        })
        .or_raise()
    }
}

/// Writes the elements of a C-contiguous array to the selected elements, and reports the progress.
fn write_reported(
    py: Python<'_>,
    facade: &hyperslab::Dataset,
    selection: &Selection,
    form: &Form,
    bytes: &[u8],
) -> PyResult<()> {
    let write = |wanted: Wanted<'_>, bytes: &[u8]| {
        py.detached(|| in_pool(|| facade.write_bytes(wanted, &form.memory, bytes))).or_raise()
    };
    let all = bytes.len();
    let Some(parts) = Parts::of(facade, selection, all)? else {
        write(selection.wanted(), bytes)?;
        return progress::report(py, all, all);
    };
    let mut rest = bytes;
    for (part, length) in parts {
        let Some((bytes, after)) = rest.split_at_checked(length) else { break };
        write(Wanted::Selection(&part), bytes)?;
        rest = after;
        progress::report(py, all - rest.len(), all)?;
    }
    Ok(())
}

/// Writes the elements of a C-contiguous array to the selected elements.
fn write_form(
    py: Python<'_>,
    facade: &hyperslab::Dataset,
    selection: Wanted<'_>,
    form: &Form,
    array: &Bound<'_, PyAny>,
) -> PyResult<()> {
    if form.is_plain() {
        let bytes = memory::bytes(array)?;
        return py.detached(|| in_pool(|| facade.write_bytes(selection, &form.memory, bytes))).or_raise();
    }
    let file = facade.containing_file().or_raise()?;
    let encoded = Encoded::of(form, array, &file)?;
    py.detached(|| {
        in_pool(|| match encoded.heap {
            None => facade.write_bytes(selection, &encoded.memory, &encoded.bytes),
            Some(heap) => facade.write_bytes_from(selection, &encoded.memory, &encoded.bytes, heap),
        })
    })
    .or_raise()
}

/// Returns an array of texts as bytes in UTF-8.
fn encoded<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static ENCODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let encode = ENCODE.get_or_try_init(array.py(), || {
        PyResult::Ok(array.py().import("numpy")?.getattr("char")?.getattr("encode")?.unbind())
    })?;
    encode.bind(array.py()).call1((array, "utf-8"))
}

/// Broadcasts an array to the shape of a selection, as an assignment of NumPy does: surplus first
/// dimensions of size 1 are dropped.
fn broadcast<'py>(array: &Bound<'py, PyAny>, result: &[u64], inner: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    static BROADCAST_TO: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = array.py();
    let shape = shape_of(array)?;
    let own: Vec<u64> = result.iter().chain(inner).copied().collect();
    if shape == own {
        return Ok(array.clone());
    }
    let wrong = || {
        PyTypeError::new_err(format!(
            "Can't broadcast {} -> {}",
            text(&shape),
            text(if inner.is_empty() { result } else { &own })
        ))
    };
    let to = BROADCAST_TO.import(py, "numpy", "broadcast_to")?;
    let leading = shape.len().saturating_sub(own.len()); // A shorter array has no surplus dimension.
    let surplus = shape.get(..leading).unwrap_or_default();
    if surplus.iter().any(|size| *size != 1) {
        return Err(wrong());
    }
    let array =
        array.call_method1("reshape", (sizes(shape.get(leading..).unwrap_or_default())?.to_vec(),))?;
    to.call1((array, sizes(&own)?.to_vec()))
        .map_err(|error| if error.is_instance_of::<PyValueError>(py) { wrong() } else { error })
}

/// Returns a shape in the notation of Python.
fn text(shape: &[u64]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[pymethods]
impl Dataset {
    /// Writes the bytes of an array as elements in the stored form to the selected elements.
    fn write_stored(
        &self,
        py: Python<'_>,
        selection: &Bound<'_, Selection>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        hold_at_end(|| {
            let facade = self.facade()?;
            let encoded = Encoded::stored(&as_array(values, None)?, facade.datatype())?;
            let wanted = selection.get().wanted();
            py.detached(|| in_pool(|| facade.write_bytes(wanted, &encoded.memory, &encoded.bytes))).or_raise()
        })
    }

    /// Writes the elements of an array to the selected elements.
    #[pyo3(signature = (selection, values, dtype=None))]
    fn write(
        &self,
        py: Python<'_>,
        selection: &Bound<'_, Selection>,
        values: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        hold_at_end(|| {
            let selection = selection.get();
            let dtype = dtype.filter(|dtype| !dtype.is_none());
            let array = as_array(values, dtype)?;
            self.write_array(py, selection, &array)
        })
    }
}
