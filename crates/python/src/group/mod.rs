//! Groups and their links.

mod edit;
mod visit;

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::ending::Detached as _;
use hyperslab::{ErrorKind, Found, LinkTarget};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::{OrRaise, own_exception, raise, with_info};
use crate::file::names::{Name, to_str};
use crate::file::{Session, Slot};
use crate::object::{self, Object, absolute};
use crate::process::in_pool;
use crate::reference::{Reference, RegionReference};
use crate::selection::Selection;

/// A handle of a group.
#[pyclass(extends = Object, frozen, module = "hyperslab._hyperslab")]
#[derive(Debug)]
pub(crate) struct Group {
    slot: Arc<Slot<hyperslab::Group>>,
}

impl Group {
    /// Creates the Python handle of a group.
    pub(crate) fn create(
        session: &Arc<Session>,
        group: hyperslab::Group,
        py: Python<'_>,
    ) -> PyResult<Py<Self>> {
        let object = Object::new(session, hyperslab::Object::clone(&group));
        let handle = Self { slot: Slot::new(session, group) };
        Py::new(py, PyClassInitializer::from(object).add_subclass(handle))
    }

    /// Returns the façade group.
    ///
    /// # Errors
    /// Returns a `ValueError` if the group or its file is closed.
    pub(crate) fn facade(&self) -> PyResult<hyperslab::Group> {
        self.slot.get()
    }

    /// Returns the session of the group.
    pub(crate) fn session(&self) -> &Arc<Session> {
        self.slot.session()
    }

    /// Returns the absolute path of a path relative to the group; `None` if the group has no path.
    fn path_of(slf: &Bound<'_, Self>, path: &str) -> Option<String> {
        if path.starts_with('/') {
            return Some(absolute("/", path));
        }
        slf.as_super().get().known_name().map(|name| absolute(&name, path))
    }
}

/// The names of a group's links, one after the other in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Names {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Names {
    fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    /// Returns an iterator over the names.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let name = self.bytes.get(start..*end).unwrap_or(&[]); // The ends lie in the buffer.
            start = *end;
            name
        })
    }
}

/// Returns the names of a group's links: in the order of their creation if the group tracks it,
/// else sorted.
pub(crate) fn link_names(group: &hyperslab::Group) -> hyperslab::Result<Names> {
    let mut names = Names::default();
    if !group.link_order()?.is_tracked() {
        // The façade visits the links in the order of their names.
        group.visit_links(|link| {
            names.push(link.name());
            ControlFlow::Continue(())
        })?;
        return Ok(names);
    }
    let mut links = Vec::new();
    group.visit_links(|link| {
        links.push((link.creation_order(), link.name().to_vec()));
        ControlFlow::Continue(())
    })?;
    links.sort_by_key(|(order, _)| *order);
    links.iter().for_each(|(_, name)| names.push(name));
    Ok(names)
}

/// Returns the object at a path of bytes.
pub(crate) fn find(group: &hyperslab::Group, path: &Name) -> hyperslab::Result<hyperslab::Object> {
    if let Ok(text) = std::str::from_utf8(&path.bytes) {
        return group.object(text);
    }
    match group.by_bytes().find(&path.bytes)? {
        Found::Object(object) => Ok(object),
        _ => Err(hyperslab::Error::unsupported("a link out of the file with a name that is not UTF-8")),
    }
}

/// Returns the session of an object that was found from `session`: another one if an external link
/// led to another file. Also returns the object as that session opens it.
fn session_of(
    session: &Arc<Session>,
    object: hyperslab::Object,
) -> PyResult<(Arc<Session>, hyperslab::Object)> {
    let own = session.file()?;
    let file = object.containing_file().or_raise()?;
    if file.is_same(&own) { Ok((Arc::clone(session), object)) } else { session.of_other(&file, object) }
}

#[pymethods]
impl Group {
    /// Returns the object at a path.
    fn get(slf: &Bound<'_, Self>, path: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let (py, name) = (slf.py(), Name::new(path)?);
        let group = slf.get().facade()?;
        let found = py.detached(|| in_pool(|| find(&group, &name)));
        let object = found.map_err(|error| not_found(&error, &name).unwrap_or_else(|| raise(error)))?;
        let known = object.name().to_owned();
        let (session, object) = session_of(slf.get().session(), object)?;
        let path = if Arc::ptr_eq(&session, slf.get().session()) {
            std::str::from_utf8(&name.bytes).ok().and_then(|text| Self::path_of(slf, text))
        } else {
            Some(known).filter(|name| name.starts_with('/'))
        };
        object::wrap_named(py, &session, object, path)
    }

    /// Returns whether a path leads to an object.
    fn contains(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (group, name) = (self.facade()?, Name::new(path)?);
        if name.bytes.is_empty() {
            return Ok(false);
        }
        // A link without a target counts as a member.
        if let Ok(Some(_)) = py.detached(|| in_pool(|| link_at(&group, &name))) {
            return Ok(true);
        }
        match py.detached(|| in_pool(|| find(&group, &name))) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            // The file of an external link on the way cannot be opened.
            Err(error) if error.kind() == ErrorKind::Io => Ok(false),
            Err(error) => Err(raise(error)),
        }
    }

    /// Returns the names of the links, in their order.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let group = self.facade()?;
        let names = py.detached(|| in_pool(|| link_names(&group))).or_raise()?;
        names.iter().map(|name| to_str(py, name)).collect()
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let group = self.facade()?;
        py.detached(|| in_pool(|| group.len())).or_raise()
    }

    /// Returns whether the group tracks the creation order of its links.
    fn order_tracked(&self, py: Python<'_>) -> PyResult<bool> {
        let group = self.facade()?;
        Ok(py.detached(|| group.link_order()).or_raise()?.is_tracked())
    }

    /// Returns the last link of a path: its kind and its targets.
    fn link<'py>(&self, py: Python<'py>, path: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let (group, name) = (self.facade()?, Name::new(path)?);
        let text = |bytes: &[u8]| to_str(py, bytes);
        let found = py.detached(|| in_pool(|| link_at(&group, &name))).or_raise()?;
        let Some(link) = found else { return Ok(None) };
        match link.target {
            LinkTarget::Hard(_) => PyTuple::new(py, ["hard"]).map(Some),
            LinkTarget::Soft(target) => ("soft", text(&target)?).into_pyobject(py).map(Some),
            LinkTarget::External { file, path } => {
                ("external", text(&file)?, text(&path)?).into_pyobject(py).map(Some)
            }
            LinkTarget::UserDefined { class, value } => {
                ("user", class, PyBytes::new(py, &value)).into_pyobject(py).map(Some)
            }
            _ => Err(PyValueError::new_err("a link of an unknown kind")),
        }
    }

    /// Returns the object to which a reference refers.
    fn dereference(slf: &Bound<'_, Self>, reference: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let group = slf.get().facade()?;
        let object = referred(&group, reference)?;
        let (session, object) = session_of(slf.get().session(), object)?;
        object::wrap_named(py, &session, object, None)
    }

    /// Returns the selection to which a reference refers.
    fn region(&self, reference: &Bound<'_, RegionReference>) -> PyResult<Selection> {
        let group = self.facade()?;
        let dataset = referred(&group, reference.as_any())?.into_dataset().or_raise()?;
        let hyperslab::ReferenceTarget::Region(_, selection) = &reference.get().target else {
            return Err(PyValueError::new_err("Invalid region reference (the reference is null)"));
        };
        Selection::from_facade(selection.clone(), &dataset.shape()).or_raise()
    }
}

/// Returns the object to which a reference refers. `group` is any group of the file.
fn referred(group: &hyperslab::Group, reference: &Bound<'_, PyAny>) -> PyResult<hyperslab::Object> {
    let facade = match reference.cast::<Reference>() {
        Ok(reference) => reference.get().facade.clone(),
        Err(_) => {
            reference.cast::<RegionReference>().ok().and_then(|reference| reference.get().facade.clone())
        }
    };
    match (facade, crate::reference::target(reference)?) {
        (_, hyperslab::ReferenceTarget::Null) => Err(PyValueError::new_err(
            "Invalid HDF5 object reference (unable to dereference object: the reference is null)",
        )),
        (Some(facade), hyperslab::ReferenceTarget::External { .. }) => facade.object().or_raise(),
        (
            _,
            hyperslab::ReferenceTarget::Object(token)
            | hyperslab::ReferenceTarget::Region(token, _)
            | hyperslab::ReferenceTarget::Attribute(token, _),
        ) => {
            group.object_at_address(token.address()).map_err(|error| PyValueError::new_err(error.to_string()))
        }
        _ => Err(PyValueError::new_err("Invalid HDF5 object reference")),
    }
}

/// Returns the `KeyError` of a path that leads to no object; `None` for another error.
fn not_found(error: &hyperslab::Error, name: &Name) -> Option<PyErr> {
    let name = String::from_utf8_lossy(&name.bytes);
    let text = match error.kind() {
        ErrorKind::NotFound => format!("(object '{name}' doesn't exist)"),
        ErrorKind::Io if own_exception(error).is_some() => return None,
        // The file of an external link cannot be opened.
        ErrorKind::Io | ErrorKind::Misuse => "(component not found)".to_owned(),
        _ => return None,
    };
    let text = format!("Unable to synchronously open object {text}: {error}");
    Some(with_info(error, PyKeyError::new_err(text)))
}

/// Returns the last link of a path.
pub(crate) fn link_at(group: &hyperslab::Group, path: &Name) -> hyperslab::Result<Option<hyperslab::Link>> {
    let bytes = path.bytes.strip_suffix(b"/").unwrap_or(&path.bytes);
    let Some(slash) = bytes.iter().rposition(|byte| *byte == b'/') else {
        return group.by_bytes().link(bytes);
    };
    let (parent, name) = bytes.split_at(slash);
    let parent = Name {
        bytes: if parent.is_empty() { b"/".to_vec() } else { parent.to_vec() },
        charset: path.charset,
    };
    let parent = match find(group, &parent) {
        Ok(parent) => parent.into_group()?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    parent.by_bytes().link(name.get(1..).unwrap_or_default())
}
