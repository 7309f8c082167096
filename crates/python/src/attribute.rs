//! Attributes.

use std::sync::Arc;

use crate::ending::Detached as _;
use hyperslab::datatype::convert::Conversions;
use hyperslab::{AttributeElements, AttributeForm, CommittedDatatype, Dataspace, Datatype};
use parking_lot::RwLock;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::elements::{self, Encoded};
use crate::ending::hold_at_end;
use crate::errors::OrRaise;
use crate::file::Session;
use crate::file::names::{Name, to_str};
use crate::object::{self, Object};
use crate::process::in_pool;
use crate::selection::tuple;
use crate::types::{Type, to_dtype};

/// A handle of an attribute.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct Attribute {
    session: Arc<Session>,
    object: hyperslab::Object,
    facade: RwLock<hyperslab::Attribute>,
}

/// Returns the names of the attributes of an object: in the order of their creation if the object
/// tracks it, else sorted.
pub(crate) fn names(object: &hyperslab::Object) -> hyperslab::Result<Vec<Vec<u8>>> {
    let mut attributes = object.attributes()?;
    if object.attribute_order()?.is_tracked() {
        attributes.sort_by_key(hyperslab::Attribute::creation_order);
    } else {
        attributes.sort_by(|a, b| a.name_bytes().cmp(b.name_bytes()));
    }
    Ok(attributes.iter().map(|attribute| attribute.name_bytes().to_vec()).collect())
}

/// Returns the datatype of a `Type` or of the handle of a committed datatype.
fn datatype_of(datatype: &Bound<'_, PyAny>) -> PyResult<(Datatype, Option<CommittedDatatype>)> {
    if let Ok(datatype) = datatype.cast::<Type>() {
        return Ok((datatype.get().datatype.clone(), None));
    }
    let object = datatype.cast::<Object>().map_err(|_| PyTypeError::new_err("a datatype is needed"))?;
    let committed = object.get().facade()?.into_datatype().or_raise()?;
    Ok((committed.datatype().clone(), Some(committed)))
}

/// Creates or replaces an attribute of an object.
pub(crate) fn create(
    py: Python<'_>,
    object: &hyperslab::Object,
    name: &Name,
    datatype: &Bound<'_, PyAny>,
    shape: Option<&[u64]>,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (datatype, committed) = datatype_of(datatype)?;
    let dataspace = match shape {
        None => Dataspace::Null,
        Some([]) => Dataspace::Scalar,
        Some(dims) => Dataspace::simple(dims),
    };
    let file = object.containing_file().or_raise()?;
    let encoded = value.map(|value| Encoded::new(value, &datatype, &file)).transpose()?;
    py.detached(|| {
        in_pool(|| {
            if let Some(encoded) = &encoded {
                return set(object, name, (&datatype, committed.as_ref()), &dataspace, encoded);
            }
            if object.has_attribute_named(&name.bytes)? {
                object.remove_attribute_named(&name.bytes)?;
            }
            object.create_attribute(&AttributeForm {
                name: &name.bytes,
                charset: name.charset,
                datatype: &datatype,
                committed: committed.as_ref(),
                dataspace: &dataspace,
            })
        })
    })
    .or_raise()
}

fn set(
    object: &hyperslab::Object,
    name: &Name,
    datatype: (&Datatype, Option<&CommittedDatatype>),
    dataspace: &Dataspace,
    encoded: &Encoded,
) -> hyperslab::Result<()> {
    let mut conversions = Conversions::default().across_charsets();
    if let Some(heap) = &encoded.heap {
        conversions = conversions.with_source_heap(Arc::clone(heap));
    }
    let elements = AttributeElements {
        name: &name.bytes,
        charset: name.charset,
        datatype: datatype.0,
        memory: Some(&encoded.memory),
        committed: datatype.1,
        dataspace,
        bytes: &encoded.bytes,
    };
    object.set_attribute_elements(&elements, &conversions)
}

impl Attribute {
    /// Creates the handle of an attribute of an object.
    pub(crate) fn new(
        session: &Arc<Session>,
        object: hyperslab::Object,
        facade: hyperslab::Attribute,
    ) -> Self {
        Self { session: Arc::clone(session), object, facade: RwLock::new(facade) }
    }

    fn dataspace(&self) -> PyResult<Dataspace> {
        self.session.check()?;
        self.facade.read().dataspace().or_raise()
    }
}

#[pymethods]
impl Attribute {
    /// Returns the name.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_str(py, self.facade.read().name_bytes())
    }

    /// Returns the shape; `None` for the null dataspace.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match self.dataspace()? {
            Dataspace::Null => Ok(None),
            space => tuple(py, space.dims()).map(Some),
        }
    }

    /// Returns the datatype.
    #[getter]
    fn r#type(&self) -> PyResult<Type> {
        Ok(Type { datatype: self.facade.read().datatype().or_raise()? })
    }

    /// Returns the NumPy dtype.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let datatype = self.facade.read().datatype().or_raise()?;
        to_dtype(py, &datatype)
    }

    /// Returns the committed datatype of the attribute.
    #[getter]
    fn committed(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(token) = self.facade.read().committed_datatype().or_raise()? else { return Ok(None) };
        let object = self.object.containing_file().and_then(|file| file.object_at(token)).or_raise()?;
        object::wrap(py, &self.session, object).map(Some)
    }

    /// Returns the number of attributes of the object that were created earlier.
    #[getter]
    fn creation_order(&self) -> Option<u32> {
        self.facade.read().creation_order()
    }

    /// Returns the size of the stored value in bytes.
    #[getter]
    fn storage_size(&self) -> PyResult<u64> {
        let size = u64::from(self.facade.read().datatype().or_raise()?.size);
        Ok(self.dataspace()?.element_count().and_then(|count| count.checked_mul(size)).unwrap_or(0)) // No elements.
    }

    /// Returns the value as an array of the shape of the attribute.
    #[pyo3(signature = (dtype=None))]
    fn read<'py>(&self, py: Python<'py>, dtype: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        hold_at_end(|| {
            let space = self.dataspace()?;
            let shape = crate::dataset::sizes(space.dims())?;
            let facade = self.facade.read().clone();
            let stored = py.detached(|| in_pool(|| facade.read_stored())).or_raise()?;
            elements::to_array(py, stored, &shape, dtype.filter(|dtype| !dtype.is_none()))
        })
    }

    /// Replaces the value by an array of the same number of elements. `type` is the datatype of the
    /// bytes of the array, where NumPy's dtype does not say it: texts that end with a zero byte.
    #[pyo3(signature = (value, r#type=None))]
    fn write(
        &self,
        py: Python<'_>,
        value: &Bound<'_, PyAny>,
        r#type: Option<&Bound<'_, Type>>,
    ) -> PyResult<()> {
        hold_at_end(|| {
            let (space, facade) = (self.dataspace()?, self.facade.read().clone());
            let datatype = facade.datatype().or_raise()?;
            let committed = match facade.committed_datatype().or_raise()? {
                Some(token) => {
                    let file = self.object.containing_file().or_raise()?;
                    Some(file.object_at(token).and_then(hyperslab::Object::into_datatype).or_raise()?)
                }
                None => None,
            };
            let file = self.object.containing_file().or_raise()?;
            let encoded = match r#type.map(|memory| &memory.get().datatype) {
                Some(memory) if *memory == datatype => Encoded::stored(value, memory)?,
                _ => Encoded::new(value, &datatype, &file)?,
            };
            let name = Name { bytes: facade.name_bytes().to_vec(), charset: facade.charset() };
            let new = py.detached(|| {
                in_pool(|| {
                    set(&self.object, &name, (&datatype, committed.as_ref()), &space, &encoded)?;
                    self.object.attribute_named(&name.bytes)
                })
            });
            *self.facade.write() = new.or_raise()?;
            Ok(())
        })
    }
}
