//! The intermediate buffer from elements of arrays.

use std::sync::Arc;

use hyperslab::datatype::convert::{VariableSink, VariableSource};
use hyperslab::{Datatype, File, ReferenceTarget};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyString};

use super::arena::DESCRIPTOR_BYTES;
use super::{Arena, Form, Kind, memory, numpy_strings};
use crate::errors::OrRaise;
use crate::reference;

/// Elements in memory, ready for a write to elements of a datatype of a file.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) memory: Datatype,
    pub(crate) bytes: Vec<u8>,
    pub(crate) heap: Option<Arc<dyn VariableSource>>,
}

impl Encoded {
    /// Encodes the elements of a C-contiguous array. `datatype` is their datatype in the file.
    ///
    /// # Errors
    /// Returns a `TypeError` if an object is no text, sequence or reference.
    pub(crate) fn new(array: &Bound<'_, PyAny>, datatype: &Datatype, file: &File) -> PyResult<Self> {
        let form = Form::of_array(array, datatype)?;
        Self::of(&form, array, file)
    }

    /// Takes the bytes of a C-contiguous array as elements of a datatype.
    ///
    /// # Errors
    /// Returns a `TypeError` if the elements of the array have another size, or are objects.
    pub(crate) fn stored(array: &Bound<'_, PyAny>, datatype: &Datatype) -> PyResult<Self> {
        let dtype = array.getattr("dtype")?;
        let has_objects: bool = dtype.getattr("hasobject")?.extract()?;
        if has_objects || dtype.getattr("itemsize")?.extract::<u32>()? != datatype.size {
            return Err(PyTypeError::new_err("the array does not have the size of the datatype in memory"));
        }
        Ok(Self { memory: datatype.clone(), bytes: memory::bytes(array)?.to_vec(), heap: None })
    }

    /// Encodes the elements of a C-contiguous array that has the dtype of `form`.
    pub(crate) fn of(form: &Form, array: &Bound<'_, PyAny>, file: &File) -> PyResult<Self> {
        let source = memory::bytes(array)?;
        if form.is_plain() {
            return Ok(Self { memory: form.memory.clone(), bytes: source.to_vec(), heap: None });
        }
        let arena = Arena::default();
        if let Kind::NumpyText = form.kind {
            let bytes = packed_texts(array, source, &arena)?;
            return Ok(Self { memory: form.memory.clone(), bytes, heap: Some(Arc::new(arena)) });
        }
        let bytes = form.collect(array.py(), file, &arena, source)?;
        Ok(Self { memory: form.memory.clone(), bytes, heap: Some(Arc::new(arena)) })
    }
}

/// Stores the texts of an array of NumPy's `StringDType` in the arena. Returns their descriptors.
fn packed_texts(array: &Bound<'_, PyAny>, source: &[u8], arena: &Arena) -> PyResult<Vec<u8>> {
    let count = source.len().checked_div(numpy_strings::PACKED_BYTES).unwrap_or(0);
    let mut bytes = vec![0; count.checked_mul(DESCRIPTOR_BYTES).ok_or_else(internal)?];
    let mut descriptors = bytes.chunks_exact_mut(DESCRIPTOR_BYTES);
    let mut outcome = Ok(());
    let mut has_null = false;
    numpy_strings::load_all(&array.getattr("dtype")?, source, |_, text| {
        has_null |= text.contains(&0);
        if let Some(descriptor) = descriptors.next()
            && outcome.is_ok()
        {
            outcome = arena.store(text, text.len(), descriptor);
        }
    })?;
    outcome.map_err(Into::into).or_raise()?;
    if has_null { Err(embedded_null()) } else { Ok(bytes) }
}

fn embedded_null() -> PyErr {
    PyValueError::new_err("VLEN strings do not support embedded NULLs")
}

/// Returns the error for elements whose sizes do not agree with their form.
pub(super) fn internal() -> PyErr {
    PyRuntimeError::new_err("internal error: an element has another size than its form")
}

impl Form {
    /// Returns the buffer of the elements in the memory `source` of an array.
    fn collect(&self, py: Python<'_>, file: &File, arena: &Arena, source: &[u8]) -> PyResult<Vec<u8>> {
        let (from, to) = (self.size, self.memory.size as usize);
        let count = source.len().checked_div(from).unwrap_or(0);
        let mut buffer = vec![0; count.checked_mul(to).ok_or_else(internal)?];
        if to > 0 && from > 0 {
            for (source, target) in source.chunks_exact(from).zip(buffer.chunks_exact_mut(to)) {
                self.collect_one(py, file, arena, source, target)?;
            }
        }
        Ok(buffer)
    }

    fn collect_one(
        &self,
        py: Python<'_>,
        file: &File,
        arena: &Arena,
        source: &[u8],
        target: &mut [u8],
    ) -> PyResult<()> {
        match &self.kind {
            Kind::Plain => target.copy_from_slice(source.get(..target.len()).ok_or_else(internal)?),
            Kind::Text { .. } => put_text(memory::object(py, source)?, arena, target)?,
            Kind::NumpyText => return Err(internal()),
            Kind::Sequence { item, dtype } => match memory::object(py, source)? {
                None => arena.store(&[], 0, target).map_err(Into::into).or_raise()?,
                Some(object) if object.is_none() => {
                    arena.store(&[], 0, target).map_err(Into::into).or_raise()?;
                }
                Some(object) => {
                    let array = as_items(&object, dtype.bind(py))?;
                    let items = item.collect(py, file, arena, memory::bytes(&array)?)?;
                    let count = array.cast::<PyUntypedArray>()?.len();
                    arena.store(&items, count, target).map_err(Into::into).or_raise()?;
                }
            },
            Kind::Reference(kind) => {
                let object = memory::object(py, source)?.filter(|object| !object.is_none());
                let reference =
                    object.map_or(Ok(ReferenceTarget::Null), |object| reference::target(&object))?;
                let bytes = file.store_reference(*kind, target.len(), &reference).or_raise()?;
                target.copy_from_slice(bytes.get(..target.len()).ok_or_else(internal)?);
            }
            Kind::Members(parts) => {
                for part in parts {
                    let target = target.get_mut(part.in_buffer..);
                    let target = target.and_then(|t| t.get_mut(..part.form.memory.size as usize));
                    let source = source.get(part.in_array..).and_then(|s| s.get(..part.form.size));
                    let (source, target) = source.zip(target).ok_or_else(internal)?;
                    part.form.collect_one(py, file, arena, source, target)?;
                }
            }
            Kind::Items(item) => {
                let buffer = item.collect(py, file, arena, source)?;
                target.copy_from_slice(buffer.get(..target.len()).ok_or_else(internal)?);
            }
        }
        Ok(())
    }
}

/// Returns an array of one dimension with the items of a sequence.
fn as_items<'py>(object: &Bound<'py, PyAny>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let arguments = PyDict::new(py);
    arguments.set_item("dtype", dtype)?;
    arguments.set_item("order", "C")?;
    let array = AS_ARRAY.import(py, "numpy", "asarray")?.call((object,), Some(&arguments))?;
    array.call_method1("reshape", (-1,))
}

/// Stores the text of an object in the arena.
fn put_text(object: Option<Bound<'_, PyAny>>, arena: &Arena, target: &mut [u8]) -> PyResult<()> {
    let mut store = |bytes: &[u8]| {
        if bytes.contains(&0) {
            return Err(embedded_null());
        }
        arena.store(bytes, bytes.len(), target).map_err(Into::into).or_raise()
    };
    let Some(object) = object.filter(|object| !object.is_none()) else { return store(b"") };
    if let Ok(text) = object.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => store(text.as_bytes()),
            // Lone surrogates stand for bytes that are not UTF-8.
            Err(_) => store(
                text.call_method1("encode", ("utf-8", "surrogateescape"))?.cast::<PyBytes>()?.as_bytes(),
            ),
        };
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return store(bytes.as_bytes());
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        return store(&bytes.to_vec());
    }
    if object.hasattr("dtype")? && object.hasattr("item")? {
        let item = object.call_method0("item")?;
        if item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>() {
            return put_text(Some(item), arena, target);
        }
    }
    Err(PyTypeError::new_err("Can't implicitly convert non-string objects to strings"))
}
