//! Which objects are described, in which order and under which path: breadth first over hard links, each
//! group's links in the order of their names' bytes.

use std::collections::HashMap;

use hyperslab::{File, Link, Object, ObjectToken};

use super::text;

/// Objects beyond this number are left out.
const MAX_OBJECTS: usize = 50_000;

/// The objects of a file.
#[derive(Debug)]
pub(crate) struct Objects {
    file: File,
    found: Vec<Found>,
    paths: HashMap<ObjectToken, String>,
    pub(crate) truncated: bool,
}

/// One object.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: String,
    pub(crate) object: hyperslab::Result<Object>,
    /// The links of a group.
    pub(crate) links: Option<hyperslab::Result<Vec<Link>>>,
}

/// A path, each of its names as text.
fn text_path(path: &[u8]) -> String {
    path.split(|byte| *byte == b'/').map(text).collect::<Vec<_>>().join("/")
}

impl Objects {
    pub(crate) fn find(file: &File) -> Self {
        let mut objects =
            Self { file: file.clone(), found: Vec::new(), paths: HashMap::new(), truncated: false };
        for visited in file.walk() {
            if objects.found.len() >= MAX_OBJECTS {
                objects.truncated = true;
                break;
            }
            let path = text_path(&visited.path);
            objects.paths.insert(visited.token, path.clone());
            objects.found.push(Found { path, object: visited.object, links: visited.links });
        }
        objects
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Found> {
        self.found.iter()
    }

    /// Whether there is an object, though no path may lead to it.
    pub(crate) fn exists(&self, token: ObjectToken) -> bool {
        self.paths.contains_key(&token)
            || self.file.object_at(token).is_ok_and(|object| object.kind().is_some())
    }

    /// The path under which an object is described.
    pub(crate) fn path(&self, token: ObjectToken) -> Option<&str> {
        self.paths.get(&token).map(String::as_str)
    }
}
