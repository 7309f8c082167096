//! Visits of all objects or links below a group.

use std::collections::HashSet;

use crate::ending::Detached as _;
use hyperslab::{LinkTarget, ObjectKind, ObjectToken};
use pyo3::prelude::*;

use super::{Group, link_names};
use crate::errors::OrRaise;
use crate::file::names::to_str;
use crate::object::{absolute, wrap_named};

/// A group whose links are being visited.
struct Level {
    group: hyperslab::Group,
    /// The path from the start of the visit, with a slash at its end; empty at the start.
    path: Vec<u8>,
    names: std::vec::IntoIter<Vec<u8>>,
}

impl Level {
    fn new(py: Python<'_>, group: hyperslab::Group, path: Vec<u8>) -> PyResult<Self> {
        let found = py.detached(|| link_names(&group)).or_raise()?;
        let mut names: Vec<Vec<u8>> = found.iter().map(<[u8]>::to_vec).collect();
        // As in libhdf5, a visit follows the names even if the group tracks the creation order.
        names.sort_unstable();
        Ok(Self { group, path, names: names.into_iter() })
    }
}

#[pymethods]
impl Group {
    /// Calls `function` with the path and the object of all objects below the group, each once, or
    /// with the path of all links. Ends at a result that is not `None`, and returns it.
    fn visit(slf: &Bound<'_, Self>, function: &Bound<'_, PyAny>, links: bool) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let start = slf.get().facade()?;
        let base = slf.as_super().get().known_name();
        let mut seen: HashSet<ObjectToken> = HashSet::from([start.token()]);
        let mut levels = vec![Level::new(py, start, Vec::new())?];
        while let Some(level) = levels.last_mut() {
            let Some(name) = level.names.next() else {
                levels.pop();
                continue;
            };
            let (group, path) = (level.group.clone(), [level.path.as_slice(), &name].concat());
            let Some(link) = group.by_bytes().link(&name).or_raise()? else { continue };
            let object = match link.target {
                LinkTarget::Hard(token) if seen.insert(token) => Some(group.object_at(token).or_raise()?),
                _ => None,
            };
            let text = to_str(py, &path)?;
            let result = match &object {
                _ if links => function.call1((text, py.None()))?,
                None => continue,
                Some(object) => {
                    let full = base.as_ref().map(|base| absolute(base, &String::from_utf8_lossy(&path)));
                    let handle = wrap_named(py, slf.get().session(), object.clone(), full)?;
                    function.call1((text, handle))?
                }
            };
            if !result.is_none() {
                return Ok(result.unbind());
            }
            if let Some(object) = object.filter(|object| object.kind() == Some(ObjectKind::Group)) {
                let below = [path.as_slice(), b"/"].concat();
                levels.push(Level::new(py, object.into_group().or_raise()?, below)?);
            }
        }
        Ok(py.None())
    }
}
