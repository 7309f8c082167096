//! The place of an object: its file and its name.

use std::sync::Arc;

use hyperslab::Object;
use parking_lot::RwLock;

use super::SharedFile;
use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::id::{self, Entry};

/// The name of an object: the path by which it was opened, which follows renames. An object
/// without a link has no name.
#[derive(Debug, Clone, Default)]
pub struct Name(Arc<RwLock<Option<Vec<u8>>>>);

impl Name {
    /// Returns a known name: an absolute path.
    pub fn known(path: Vec<u8>) -> Self {
        Self(Arc::new(RwLock::new(Some(path))))
    }

    /// Returns the name.
    pub fn get(&self) -> Option<Vec<u8>> {
        self.0.read().clone()
    }

    /// Sets the name.
    pub fn set(&self, path: Option<Vec<u8>>) {
        *self.0.write() = path;
    }

    /// Returns the name of the object at `path`, which starts at this object.
    #[must_use]
    pub fn join(&self, path: &[u8]) -> Self {
        let start: Vec<u8> = match self.get() {
            _ if path.first() == Some(&b'/') => Vec::new(),
            Some(start) => start,
            None => return Self::default(),
        };
        let parts = start.split(|byte| *byte == b'/').chain(path.split(|byte| *byte == b'/'));
        let mut name = Vec::new();
        for part in parts.filter(|part| !part.is_empty() && *part != b".") {
            name.push(b'/');
            name.extend_from_slice(part);
        }
        Self::known(if name.is_empty() { b"/".to_vec() } else { name })
    }
}

/// The place of an object.
#[derive(Debug, Clone)]
pub struct Location {
    /// The file.
    pub shared: Arc<SharedFile>,
    /// The name.
    pub name: Name,
    /// The number of the identifier of the file by which the object was reached; see
    /// [`super::FileHandle`].
    pub handle: u64,
}

impl Location {
    /// Returns the place of another object that was reached from this one.
    #[must_use]
    pub fn with_name(&self, name: Name) -> Self {
        Self { name, ..self.clone() }
    }
}

/// Returns the object of an identifier that may stand for a location: a file stands for its root
/// group, an attribute for its object.
///
/// # Errors
/// Fails with a bad type for other identifiers.
pub fn find(id: hid_t) -> Outcome<(Object, Location)> {
    match id::find(id) {
        Some(Entry::File(file)) => Ok(((**file.shared.file.root()).clone(), file.root())),
        Some(Entry::Group(group)) => Ok(((*group.group).clone(), group.location.clone())),
        Some(Entry::Dataset(dataset)) => Ok(((*dataset.dataset).clone(), dataset.location.clone())),
        Some(Entry::Datatype(datatype)) => match &datatype.0.read().committed {
            Some((committed, location)) => Ok(((***committed).clone(), location.clone())),
            None => Err(Failure::bad_type("the datatype is not in a file")),
        },
        Some(Entry::Attribute(attribute)) => Ok((attribute.owner.clone(), attribute.location.clone())),
        _ => Err(Failure::bad_type("not a location: neither a file nor an object in a file")),
    }
}
