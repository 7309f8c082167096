//! The walk over the objects of a digest: breadth first over hard links, with the links of each
//! group in the byte order of their names.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use hyperslab::{File, Link, LinkTarget, Object, ObjectToken};

use super::text;

/// The largest number of objects in a digest.
const MAX_OBJECTS: usize = 50_000;

/// The largest number of names of a path that the command `digest` prints. If a path has more
/// names, the command prints the last names.
const MAX_NAMES: usize = 512;

/// The objects of a file for a digest. Paths are built on demand. If every object stored its path,
/// deeply nested groups would take memory in proportion to the square of the depth.
#[derive(Debug)]
pub(crate) struct Objects {
    file: File,
    found: Vec<DigestObject>,
    /// The numbers of all known objects, including objects that the walk has not reached yet.
    numbers: HashMap<ObjectToken, usize>,
    names: Vec<Name>,
    pub(crate) truncated: bool,
}

/// The name of an object, and the group in which the digest found this name first.
#[derive(Debug)]
struct Name {
    group: usize,
    name: Box<str>,
    /// A hash of the whole path.
    hash: u64,
    /// The number of names in the path.
    depth: usize,
}

/// An object in the digest of a file.
#[derive(Debug)]
pub(crate) struct DigestObject {
    number: usize,
    pub(crate) object: hyperslab::Result<Object>,
    /// The links of a group.
    pub(crate) links: Option<hyperslab::Result<Vec<Link>>>,
}

impl Objects {
    pub(crate) fn find(file: &File) -> Self {
        let root = Name { group: 0, name: "".into(), hash: 0, depth: 0 };
        let mut objects = Self {
            file: file.clone(),
            found: Vec::new(),
            numbers: HashMap::from([(file.root().token(), 0)]),
            names: vec![root],
            truncated: false,
        };
        for visited in file.walk() {
            if objects.found.len() >= MAX_OBJECTS {
                objects.truncated = true;
                break;
            }
            let Some(number) = objects.numbers.get(&visited.token).copied() else { continue };
            for link in visited.links.iter().flatten().flatten() {
                objects.number_target(number, link);
            }
            objects.found.push(DigestObject { number, object: visited.object, links: visited.links });
        }
        // Objects that were omitted have no path.
        let found = objects.found.len();
        objects.numbers.retain(|_, number| *number < found);
        objects
    }

    /// Assigns the next number to the target of a hard link, unless the object already has a
    /// number. The digest visits the objects in the order of their numbers.
    fn number_target(&mut self, group: usize, link: &Link) {
        let LinkTarget::Hard(token) = link.target else { return };
        let next = self.names.len();
        if *self.numbers.entry(token).or_insert(next) != next {
            return;
        }
        let name = text(&link.name).into_boxed_str();
        let mut hasher = DefaultHasher::new();
        (self.names.get(group).map(|group| group.hash), &name).hash(&mut hasher);
        let depth = self.names.get(group).map_or(0, |group| group.depth) + 1;
        self.names.push(Name { group, name, hash: hasher.finish(), depth });
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &DigestObject> {
        self.found.iter()
    }

    /// Returns true if the object exists in the file. It may exist even if no path leads to it.
    pub(crate) fn exists(&self, token: ObjectToken) -> bool {
        self.numbers.contains_key(&token)
            || self.file.object_at(token).is_ok_and(|object| object.kind().is_some())
    }

    /// Returns the path of an object in a digest. Returns `None` if no chain of hard links leads to
    /// the object.
    pub(crate) fn path(&self, token: ObjectToken) -> Option<String> {
        self.numbers.get(&token).map(|number| self.path_of(*number))
    }

    /// Returns the path of an object that the digest has found. If the path has more than 512
    /// names, returns the last names and the number of omitted names.
    pub(crate) fn path_to(&self, found: &DigestObject) -> String {
        self.path_of(found.number)
    }

    /// Returns a hash of the object's full path. Long paths are compared by their hashes.
    pub(crate) fn hash(&self, found: &DigestObject) -> u64 {
        self.names.get(found.number).map_or(0, |name| name.hash)
    }

    fn path_of(&self, number: usize) -> String {
        let depth = self.names.get(number).map_or(0, |name| name.depth);
        let left_out = depth.checked_sub(MAX_NAMES).filter(|count| *count > 0);
        let (mut names, mut at) = (Vec::new(), number);
        while let Some(name) = self.names.get(at).filter(|_| at > 0 && names.len() < MAX_NAMES) {
            names.push(&*name.name);
            at = name.group;
        }
        names.reverse();
        let path = format!("/{}", names.join("/"));
        left_out.map_or_else(|| path.clone(), |count| format!("…({count}){path}"))
    }
}
