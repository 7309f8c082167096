//! Which objects are described, in which order and under which path: breadth first over hard links, each
//! group's links in the order of their names' bytes.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use hyperslab::{File, Link, LinkTarget, Object, ObjectToken};

use super::text;

/// Objects beyond this number are left out.
const MAX_OBJECTS: usize = 50_000;

/// Names of a path beyond which only so many of the last ones are told.
const MOST_NAMES: usize = 512;

/// The objects of a file. Their paths are put together when they are asked for: those of deep groups would take memory in
/// proportion to the square of the depth.
#[derive(Debug)]
pub(crate) struct Objects {
    file: File,
    found: Vec<DigestObject>,
    /// The numbers of objects, those that are yet to be found included.
    numbers: HashMap<ObjectToken, usize>,
    names: Vec<Name>,
    pub(crate) truncated: bool,
}

/// The name of an object in the group in which it was found first.
#[derive(Debug)]
struct Name {
    group: usize,
    name: Box<str>,
    /// A hash of the whole path.
    hash: u64,
    /// How many names the path has.
    depth: usize,
}

/// An object of the digest.
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
                objects.expect(number, link);
            }
            objects.found.push(DigestObject { number, object: visited.object, links: visited.links });
        }
        // What was left out has no path.
        let found = objects.found.len();
        objects.numbers.retain(|_, number| *number < found);
        objects
    }

    /// Gives what a hard link of a group leads to the next number, unless it has one: the walk comes to objects in the order
    /// of these numbers.
    fn expect(&mut self, group: usize, link: &Link) {
        let LinkTarget::Hard(token) = link.target else { return };
        let next = self.names.len();
        if *self.numbers.entry(token).or_insert(next) != next {
            return;
        }
        let name = text(&link.name).into_boxed_str();
        let mut hasher = DefaultHasher::new();
        (self.names.get(group).map(|group| group.hash), &name).hash(&mut hasher);
        let depth = self.names.get(group).map_or(0, |group| group.depth).saturating_add(1);
        self.names.push(Name { group, name, hash: hasher.finish(), depth });
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &DigestObject> {
        self.found.iter()
    }

    /// Returns whether there is an object, though no path may lead to it.
    pub(crate) fn exists(&self, token: ObjectToken) -> bool {
        self.numbers.contains_key(&token)
            || self.file.object_at(token).is_ok_and(|object| object.kind().is_some())
    }

    /// The path under which an object is described.
    pub(crate) fn path(&self, token: ObjectToken) -> Option<String> {
        self.numbers.get(&token).map(|number| self.path_of(*number))
    }

    /// The path of an object that was found; of more than 512 names, the last ones, behind how many there are before them.
    pub(crate) fn path_to(&self, found: &DigestObject) -> String {
        self.path_of(found.number)
    }

    /// What paths are compared by.
    pub(crate) fn hash(&self, found: &DigestObject) -> u64 {
        self.names.get(found.number).map_or(0, |name| name.hash)
    }

    fn path_of(&self, number: usize) -> String {
        let depth = self.names.get(number).map_or(0, |name| name.depth);
        let left_out = depth.saturating_sub(MOST_NAMES);
        let (mut names, mut at) = (Vec::new(), number);
        while let Some(name) = self.names.get(at).filter(|_| at > 0 && names.len() < MOST_NAMES) {
            names.push(&*name.name);
            at = name.group;
        }
        names.reverse();
        let path = format!("/{}", names.join("/"));
        if left_out == 0 { path } else { format!("…({left_out}){path}") }
    }
}
