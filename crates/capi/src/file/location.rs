//! The location of an object: its file and its name.

use std::sync::Arc;

use hyperslab::Object;
use parking_lot::RwLock;

use super::SharedFile;
use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::id::{self, Entry};

/// The name of an object: the absolute path by which the program opened the object. The name
/// changes when a link of the path is renamed. An object without a link has no name.
#[derive(Debug, Clone, Default)]
pub struct Name(Arc<RwLock<Option<Vec<u8>>>>);

impl Name {
    /// Returns the name of an object whose absolute path is known.
    pub fn known(path: Vec<u8>) -> Self {
        Self(Arc::new(RwLock::new(Some(path))))
    }

    /// Returns the absolute path in the object name, or `None` if the object has no name.
    pub fn get(&self) -> Option<Vec<u8>> {
        self.0.read().clone()
    }

    /// Sets the absolute path in the object name, or removes the name.
    pub fn set(&self, path: Option<Vec<u8>>) {
        *self.0.write() = path;
    }

    /// Returns the name of another object: the object at `path`, relative to the object with this
    /// name.
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

/// The location of an open object: its file and its name.
#[derive(Debug, Clone)]
pub struct Location {
    /// The file that contains the object.
    pub shared: Arc<SharedFile>,
    /// The name of the object.
    pub name: Name,
    /// The number of the file handle through which the program reached the object; see
    /// [`super::FileHandle`].
    pub handle: u64,
}

impl Location {
    /// Returns the location (file and name) of another object in the same file, with the name
    /// `name`.
    #[must_use]
    pub fn with_name(&self, name: Name) -> Self {
        Self { name, ..self.clone() }
    }
}

/// Returns the object to which an identifier refers, and its location. A file stands for its root
/// group, and an attribute stands for its object.
///
/// # Errors
/// Fails with a bad type if the identifier is neither a file nor an object in a file.
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
