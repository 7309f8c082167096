//! Objects: groups, datasets and committed datatypes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ending::Detached as _;
use hyperslab::{LinkTarget, ObjectKind};
use numpy::PyUntypedArray;
use parking_lot::RwLock;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;

use crate::attribute::{self, Attribute};
use crate::dataset::Dataset;
use crate::errors::{OrRaise, raise, with_info};
use crate::file::names::{Name, to_str};
use crate::file::{File, Session, Slot};
use crate::group::Group;
use crate::process::in_pool;
use crate::reference::Reference;

/// A handle of an object: a group, a dataset or a committed datatype.
#[pyclass(subclass, frozen, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct Object {
    slot: Arc<Slot<hyperslab::Object>>,
    /// The path by which the object was found last; `None` for an object without a link.
    name: RwLock<Option<String>>,
}

/// Returns a path relative to the group `group` as an absolute path, without repeated or trailing
/// slashes.
pub(crate) fn absolute(group: &str, path: &str) -> String {
    let mut absolute = String::new();
    let parts = if path.starts_with('/') { path.to_owned() } else { format!("{group}/{path}") };
    for part in parts.split('/').filter(|part| !part.is_empty() && *part != ".") {
        absolute.push('/');
        absolute.push_str(part);
    }
    if absolute.is_empty() { "/".to_owned() } else { absolute }
}

impl Object {
    /// Creates the handle of an object. Its name is the path of the façade object.
    pub(crate) fn new(session: &Arc<Session>, object: hyperslab::Object) -> Self {
        let name = Some(object.name()).filter(|name| name.starts_with('/')).map(|name| absolute("/", name));
        Self { slot: Slot::new(session, object), name: RwLock::new(name) }
    }

    /// Returns the façade object.
    ///
    /// # Errors
    /// Returns a `ValueError` if the object or its file is closed.
    pub(crate) fn facade(&self) -> PyResult<hyperslab::Object> {
        self.slot.get()
    }

    /// Returns the session of the object.
    pub(crate) fn session(&self) -> &Arc<Session> {
        self.slot.session()
    }

    /// Sets the path by which the object was found.
    pub(crate) fn set_name(&self, name: Option<String>) {
        *self.name.write() = name;
    }

    /// Returns the path by which the object was found last.
    pub(crate) fn known_name(&self) -> Option<String> {
        self.name.read().clone()
    }

    /// Returns a path of the object that exists: the known path, or the path that a search finds.
    fn find_name(&self) -> PyResult<Option<String>> {
        let object = self.facade()?;
        let file = object.containing_file().or_raise()?;
        if let Some(name) = self.known_name()
            && file.object(&name).is_ok_and(|found| found.token() == object.token())
        {
            return Ok(Some(name));
        }
        let found = if object.token() == file.root().token() {
            Some("/".to_owned())
        } else {
            search(&file, object.token()).or_raise()?
        };
        self.set_name(found.clone());
        Ok(found)
    }
}

/// Returns the path of a hard link to an object; `None` if the object has no link.
fn search(file: &hyperslab::File, token: hyperslab::ObjectToken) -> hyperslab::Result<Option<String>> {
    let mut seen = HashMap::from([(file.root().token(), ())]);
    let mut groups = vec![(file.root().clone(), String::new())];
    while let Some((group, path)) = groups.pop() {
        for link in group.links()? {
            let LinkTarget::Hard(target) = link.target else { continue };
            let below = format!("{path}/{}", link.name_lossy());
            if target == token {
                return Ok(Some(below));
            }
            if seen.insert(target, ()).is_none()
                && let Ok(object) = file.object_at(target)
                && object.kind() == Some(ObjectKind::Group)
            {
                groups.push((object.into_group()?, below));
            }
        }
    }
    Ok(None)
}

/// Makes the Python handle of an object, of the class of its kind.
pub(crate) fn wrap(py: Python<'_>, session: &Arc<Session>, object: hyperslab::Object) -> PyResult<Py<PyAny>> {
    match object.kind() {
        Some(ObjectKind::Group) => {
            let group = object.into_group().or_raise()?;
            Ok(Group::create(session, group, py)?.into_any())
        }
        Some(ObjectKind::Dataset) => {
            let dataset = py.detached(|| object.into_dataset()).or_raise()?;
            Ok(Dataset::create(session, dataset, py)?.into_any())
        }
        _ => Ok(Py::new(py, Object::new(session, object))?.into_any()),
    }
}

/// Makes the Python handle of an object that was found at a path.
pub(crate) fn wrap_named(
    py: Python<'_>,
    session: &Arc<Session>,
    object: hyperslab::Object,
    name: Option<String>,
) -> PyResult<Py<PyAny>> {
    let handle = wrap(py, session, object)?;
    handle.bind(py).cast::<Object>()?.get().set_name(name);
    Ok(handle)
}

#[pymethods]
impl Object {
    /// Returns the file of the object.
    #[getter]
    fn file(&self) -> PyResult<File> {
        self.session().check()?;
        Ok(File { session: Arc::clone(self.session()) })
    }

    /// Returns whether the object and its file are open.
    #[getter]
    fn is_open(&self) -> bool {
        self.slot.is_live() && self.session().check().is_ok()
    }

    /// Closes the handle.
    fn close(&self) {
        self.slot.close_one();
    }

    /// Returns the kind of the object.
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        Ok(match self.facade()?.kind() {
            Some(ObjectKind::Group) => "group",
            Some(ObjectKind::Dataset) => "dataset",
            _ => "datatype",
        })
    }

    /// Returns the address of the object in the file, in bytes.
    #[getter]
    fn address(&self) -> PyResult<u64> {
        Ok(self.facade()?.token().address())
    }

    /// Returns the absolute path of the object; `None` if the object has no link.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detached(|| self.find_name())
    }

    /// Returns the number of hard links to the object.
    #[getter]
    fn link_count(&self, py: Python<'_>) -> PyResult<u32> {
        let object = self.facade()?;
        py.detached(|| object.link_count()).or_raise()
    }

    /// Returns the time of the last change, in seconds since 1970.
    #[getter]
    fn modified(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        let object = self.facade()?;
        py.detached(|| object.modified()).or_raise()
    }

    /// Returns whether two handles are of the same object.
    fn same(&self, other: &Bound<'_, Self>) -> PyResult<bool> {
        Ok(self.facade()?.token() == other.get().facade()?.token())
    }

    /// Returns a number of the object: handles of the same object have the same number.
    #[getter]
    fn number(&self) -> PyResult<(u64, u64)> {
        Ok((self.session().identity, self.facade()?.token().address()))
    }

    /// Returns a reference to the object.
    fn reference(&self) -> PyResult<Reference> {
        Ok(Reference::to(&self.facade()?))
    }

    /// Returns the comment of the object.
    fn comment(&self, py: Python<'_>) -> PyResult<Option<Vec<u8>>> {
        let object = self.facade()?;
        py.detached(|| object.comment()).or_raise()
    }

    /// Sets the comment of the object.
    fn set_comment(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        let object = self.facade()?;
        py.detached(|| object.set_comment(text)).or_raise()
    }

    /// Returns the datatype of a committed datatype.
    #[getter]
    fn committed_type(&self) -> PyResult<crate::types::Type> {
        let object = self.facade()?.into_datatype().or_raise()?;
        Ok(crate::types::Type { datatype: object.datatype().clone() })
    }

    /// Returns the names of all attributes, in their order.
    fn attribute_names<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let object = self.facade()?;
        let names = py.detached(|| in_pool(|| attribute::names(&object))).or_raise()?;
        names.iter().map(|name| to_str(py, name)).collect()
    }

    /// Returns the number of attributes.
    fn attribute_count(&self, py: Python<'_>) -> PyResult<u64> {
        let object = self.facade()?;
        py.detached(|| object.attribute_count()).or_raise()
    }

    /// Returns whether the object tracks the creation order of its attributes.
    fn attribute_order_tracked(&self, py: Python<'_>) -> PyResult<bool> {
        let object = self.facade()?;
        Ok(py.detached(|| object.attribute_order()).or_raise()?.is_tracked())
    }

    /// Returns whether an attribute exists.
    fn has_attribute(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (object, name) = (self.facade()?, Name::new(name)?);
        py.detached(|| object.has_attribute_named(&name.bytes)).or_raise()
    }

    /// Returns an attribute.
    fn attribute(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Attribute> {
        let (object, name) = (self.facade()?, Name::new(name)?);
        match py.detached(|| object.attribute_named(&name.bytes)) {
            Ok(found) => Ok(Attribute::new(self.session(), object, found)),
            Err(error) if error.kind() == hyperslab::ErrorKind::NotFound => {
                let text = format!(
                    "Unable to synchronously open attribute (can't locate attribute: '{}')",
                    String::from_utf8_lossy(&name.bytes)
                );
                Err(with_info(&error, PyKeyError::new_err(text)))
            }
            Err(error) => Err(raise(error)),
        }
    }

    /// Creates or replaces an attribute.
    #[pyo3(signature = (name, r#type, shape, value))]
    fn create_attribute(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        r#type: &Bound<'_, PyAny>,
        shape: Option<Vec<u64>>,
        value: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Attribute> {
        let (object, name) = (self.facade()?, Name::new(name)?);
        let value = value.filter(|value| !value.is_none());
        if value.is_some_and(|value| value.cast::<PyUntypedArray>().is_err()) {
            return Err(PyTypeError::new_err("the value of an attribute is a NumPy array here"));
        }
        attribute::create(py, &object, &name, r#type, shape.as_deref(), value)?;
        let found = py.detached(|| object.attribute_named(&name.bytes)).or_raise()?;
        Ok(Attribute::new(self.session(), object, found))
    }

    /// Removes an attribute.
    fn delete_attribute(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<()> {
        let (object, name) = (self.facade()?, Name::new(name)?);
        py.detached(|| in_pool(|| object.remove_attribute_named(&name.bytes))).or_raise()
    }

    /// Renames an attribute.
    fn rename_attribute(
        &self,
        py: Python<'_>,
        old: &Bound<'_, PyAny>,
        new: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (object, old, new) = (self.facade()?, Name::new(old)?, Name::new(new)?);
        py.detached(|| in_pool(|| object.rename_attribute_named(&old.bytes, &new.bytes, new.charset)))
            .or_raise()
    }
}
