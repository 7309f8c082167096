//! A table from the addresses of objects to their paths, for the text of references.

use std::cell::OnceCell;
use std::collections::{HashMap, VecDeque};

use hyperslab::{File, LinkTarget, Object, ObjectKind};

use crate::output::escape;

/// The largest number of objects for which the program searches paths. For further objects, it
/// shows the address.
const MAX_OBJECTS: usize = 20_000;

/// The largest depth of groups that the path search visits.
const MAX_LEVELS: usize = 64;

/// The shortest path to each object of a file. The first call of `Paths::of` searches the file.
#[derive(Debug)]
pub(crate) struct Paths {
    file: File,
    found: OnceCell<HashMap<u64, String>>,
}

impl Paths {
    pub(crate) fn new(file: &File) -> Self {
        Self { file: file.clone(), found: OnceCell::new() }
    }

    /// Returns the shortest path of an object. Returns `None` if the search has not found the
    /// object.
    pub(crate) fn of(&self, address: u64) -> Option<String> {
        self.found.get_or_init(|| gather(&self.file)).get(&address).cloned()
    }
}

/// Finds the shortest path of each object of a file. Visits groups breadth first. Skips groups that
/// cannot be read.
fn gather(file: &File) -> HashMap<u64, String> {
    let mut found = HashMap::from([(file.token().address(), "/".to_owned())]);
    let root: Object = Object::clone(file.root());
    let mut groups = VecDeque::from([(root, String::new(), 0_usize)]);
    while let Some((object, path, level)) = groups.pop_front() {
        let Ok(links) = object.into_group().and_then(|group| group.links()) else { continue };
        for link in links {
            let LinkTarget::Hard(token) = link.target else { continue };
            if found.len() >= MAX_OBJECTS {
                return found;
            }
            if found.contains_key(&token.address()) {
                continue;
            }
            let path = format!("{path}/{}", escape(&link.name));
            found.insert(token.address(), path.clone());
            if level >= MAX_LEVELS {
                continue;
            }
            if let Ok(object) = file.object_at(token)
                && object.kind() == Some(ObjectKind::Group)
            {
                groups.push_back((object, path, level + 1));
            }
        }
    }
    found
}
