//! Changes of groups.

use crate::ending::Detached as _;
use hyperslab::{CopyOptions, GroupOptions, LinkTarget};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Group;
use crate::dataset::{self, Dataset};
use crate::errors::{OrRaise, key_error, os_error, runtime_error, type_error};
use crate::file::names::Name;
use crate::object::{Object, wrap_named};
use crate::process::in_pool;
use crate::types::Type;

/// Returns a path as text; `None` for an object without a link.
fn text_of(path: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Name>> {
    path.filter(|path| !path.is_none()).map(Name::new).transpose()
}

#[pymethods]
impl Group {
    /// Creates a group, and the groups on the way to it.
    #[pyo3(signature = (path, track_order=false))]
    fn create_group(
        slf: &Bound<'_, Self>,
        path: Option<&Bound<'_, PyAny>>,
        track_order: bool,
    ) -> PyResult<Py<Self>> {
        let (py, group, path) = (slf.py(), slf.get().facade()?, text_of(path)?);
        let options = GroupOptions::new().track_order(track_order);
        let made = match &path {
            None => py.detached(|| in_pool(|| group.create_unlinked_group(options))),
            Some(name) => match name.text() {
                Ok(text) => py.detached(|| in_pool(|| group.create_group_with(text, options))),
                Err(_) => py.detached(|| {
                    in_pool(|| group.by_bytes().create_group(&name.bytes, name.charset, options))
                }),
            },
        };
        let handle = Self::create(slf.get().session(), made.or_raise()?, py)?;
        let name = path.and_then(|path| Self::path_of(slf, path.text().ok()?));
        handle.bind(py).as_super().get().set_name(name);
        Ok(handle)
    }

    /// Creates a dataset.
    fn create_dataset(
        slf: &Bound<'_, Self>,
        path: Option<&Bound<'_, PyAny>>,
        r#type: &Bound<'_, PyAny>,
        shape: Option<Vec<u64>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Py<Dataset>> {
        let (py, group, path) = (slf.py(), slf.get().facade()?, text_of(path)?);
        let text = path.as_ref().map(Name::text).transpose()?;
        let session = slf.get().session();
        let handle =
            dataset::create::create_handle(py, session, &group, text, r#type, shape.as_deref(), options)?;
        let name = text.and_then(|text| Self::path_of(slf, text));
        handle.bind(py).as_super().get().set_name(name);
        Ok(handle)
    }

    /// Stores a datatype as an object.
    fn commit(
        slf: &Bound<'_, Self>,
        path: Option<&Bound<'_, PyAny>>,
        r#type: &Bound<'_, Type>,
    ) -> PyResult<Py<PyAny>> {
        let (py, group, path) = (slf.py(), slf.get().facade()?, text_of(path)?);
        let datatype = &r#type.get().datatype;
        let text = path.as_ref().map(Name::text).transpose()?;
        let committed = py.detached(|| {
            in_pool(|| match text {
                Some(text) => group.commit_datatype(text, datatype),
                None => group.commit_unlinked_datatype(datatype),
            })
        });
        let object = hyperslab::Object::clone(&*committed.or_raise_as(type_error)?);
        let name = text.and_then(|text| Self::path_of(slf, text));
        wrap_named(py, slf.get().session(), object, name)
    }

    /// Creates a hard link to an object of the same file.
    fn link_hard(&self, py: Python<'_>, path: &Bound<'_, PyAny>, target: &Bound<'_, Object>) -> PyResult<()> {
        let (group, name, target) = (self.facade()?, Name::new(path)?, target.get().facade()?);
        py.detached(|| {
            in_pool(|| match std::str::from_utf8(&name.bytes) {
                Ok(text) => group.link_hard(text, &target),
                Err(_) => {
                    group.by_bytes().insert(&name.bytes, name.charset, LinkTarget::Hard(target.token()))
                }
            })
        })
        .or_raise_as(os_error)
    }

    /// Creates a soft link.
    fn link_soft(&self, py: Python<'_>, path: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        let (group, name, target) = (self.facade()?, Name::new(path)?, Name::new(target)?);
        py.detached(|| {
            in_pool(|| match (std::str::from_utf8(&name.bytes), std::str::from_utf8(&target.bytes)) {
                (Ok(text), Ok(target)) => group.link_soft(text, target),
                _ => {
                    group.by_bytes().insert(&name.bytes, name.charset, LinkTarget::Soft(target.bytes.clone()))
                }
            })
        })
        .or_raise_as(os_error)
    }

    /// Creates an external link.
    fn link_external(
        &self,
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        file: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (group, name) = (self.facade()?, Name::new(path)?);
        let (file, target) = (Name::new(file)?.bytes, Name::new(target)?.bytes);
        py.detached(|| {
            let texts =
                (std::str::from_utf8(&name.bytes), std::str::from_utf8(&file), std::str::from_utf8(&target));
            in_pool(|| {
                if let (Ok(text), Ok(file), Ok(target)) = texts {
                    return group.link_external(text, file, target);
                }
                let target = LinkTarget::External { file: file.clone(), path: target.clone() };
                group.by_bytes().insert(&name.bytes, name.charset, target)
            })
        })
        .or_raise_as(os_error)
    }

    /// Removes a link.
    fn remove(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let (group, name) = (self.facade()?, Name::new(path)?);
        py.detached(|| {
            in_pool(|| match std::str::from_utf8(&name.bytes) {
                Ok(text) => group.remove(text),
                Err(_) => group.by_bytes().remove(&name.bytes),
            })
        })
        .or_raise_as(key_error)
    }

    /// Renames or moves a link.
    fn r#move(&self, py: Python<'_>, source: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        let (group, source, target) = (self.facade()?, Name::new(source)?, Name::new(target)?);
        py.detached(|| {
            in_pool(|| match (std::str::from_utf8(&source.bytes), std::str::from_utf8(&target.bytes)) {
                (Ok(source), Ok(target)) => group.rename(source, target),
                _ => group.by_bytes().rename(&source.bytes, &group, &target.bytes, target.charset),
            })
        })
        .or_raise()
    }

    /// Copies an object to a path.
    #[pyo3(signature = (source, path, *, shallow=false, expand_soft=false, expand_external=false, expand_refs=false, without_attrs=false))]
    #[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "the options of h5py")]
    fn copy(
        &self,
        py: Python<'_>,
        source: &Bound<'_, Object>,
        path: &Bound<'_, PyAny>,
        shallow: bool,
        expand_soft: bool,
        expand_external: bool,
        expand_refs: bool,
        without_attrs: bool,
    ) -> PyResult<()> {
        let (group, name, source) = (self.facade()?, Name::new(path)?, source.get().facade()?);
        let path = name.text().map_err(|_| PyValueError::new_err("the name of a copy is not UTF-8"))?;
        let options = CopyOptions {
            shallow,
            expand_soft_links: expand_soft,
            expand_external_links: expand_external,
            expand_references: expand_refs,
            without_attributes: without_attrs,
            ..CopyOptions::default()
        };
        py.detached(|| in_pool(|| group.copy_with(&source, path, options)))
            .or_raise_as(runtime_error)
            .map(drop)
    }
}
