//! Iteration over all objects of a file, each once.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::store::{AddressSet, ObjectHandle};

use crate::prefetch::{TOGETHER, read_metadata};
use crate::{File, Link, LinkTarget, Object, ObjectKind, ObjectToken};

/// The largest number of bytes of an object's name in a walk over a file. If the path of the object
/// is longer, its name is the end of the path.
const MAX_NAME_BYTES: usize = 4096;

/// An iterator over the objects that are reachable from the root group by hard links.
///
/// The order is breadth first, and within a group by the bytes of the link names. Each object is
/// visited once, under its first path, so cycles of links end. If a path is longer than 4096 bytes,
/// the [name](Object::name) of the object is `…` and the end of the path.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
/// let file = hyperslab::File::open(path)?;
/// for visited in file.walk() {
///     println!("{}: {:?}", String::from_utf8_lossy(&visited.path), visited.object?.kind());
/// }
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// Other threads may delete objects during the iteration. The iterator holds a handle of each
/// object that it has not visited yet, and skips objects that have become unlinked.
#[derive(Debug)]
pub struct Walk {
    file: File,
    known: AddressSet<ObjectToken>,
    unvisited: VecDeque<Unvisited>,
    /// The number of unvisited objects, from the first one on, whose metadata was fetched.
    fetched: usize,
    /// The names of all objects, each with the number of its group. Whole paths of nested groups
    /// would need memory in proportion to the square of the depth.
    names: Vec<(usize, Box<[u8]>)>,
    /// The number and the path of the group that was visited last, because most objects are in this
    /// group or in a sibling.
    recent: (usize, Vec<u8>),
}

/// An object that a walk over a file has not visited yet.
#[derive(Debug)]
struct Unvisited {
    token: ObjectToken,
    /// The handle of the object, or the error that occurred when the handle was opened.
    handle: Result<ObjectHandle>,
    /// The index into `Walk::names`.
    number: usize,
}

/// An object that a [`Walk`] over a file visits.
#[derive(Debug)]
pub struct Visited {
    /// The bytes of the first path of the object; `/` for the root group.
    pub path: Vec<u8>,
    /// The identity of the object.
    pub token: ObjectToken,
    /// The object, or the error of opening it. The walk continues in both cases.
    pub object: Result<Object>,
    /// The links of a group, in ascending order of the bytes of their names; `None` for other
    /// objects.
    pub links: Option<Result<Vec<Link>>>,
}

impl Walk {
    pub(crate) fn new(file: &File) -> Self {
        let root = file.root();
        let token = root.token();
        let next = Unvisited { token, handle: Ok(root.handle().clone()), number: 0 };
        Self {
            file: file.clone(),
            known: AddressSet::from_iter([token]),
            unvisited: VecDeque::from([next]),
            fetched: 0,
            names: vec![(0, Box::default())],
            recent: (0, Vec::new()),
        }
    }

    /// Returns the next unvisited object of the walk that still has a link.
    fn next_linked(&mut self) -> Option<Unvisited> {
        let store = &self.file.root().file().container.store;
        loop {
            let next = self.unvisited.pop_front()?;
            // Objects are counted only if reads have to wait for bytes.
            if self.fetched > 0 {
                self.fetched -= 1;
            }
            if !next.handle.as_ref().is_ok_and(|handle| store.is_unlinked(handle.address())) {
                return Some(next);
            }
        }
    }

    /// Returns the path of an object that the walk has found. `number` is the index of the object
    /// in the list of names that the walk has found.
    fn path(&self, number: usize) -> Vec<u8> {
        let (mut names, mut at) = (Vec::new(), number);
        while at != self.recent.0
            && let Some((above, name)) = self.names.get(at).filter(|_| at > 0)
        {
            names.push(name.as_ref());
            at = *above;
        }
        let mut path = if at == self.recent.0 { self.recent.1.clone() } else { Vec::new() };
        for name in names.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        if path.is_empty() { b"/".to_vec() } else { path }
    }

    /// Fetches the metadata of the next unvisited objects together, if reads have to wait for
    /// bytes.
    fn fetch_next(&mut self) {
        let store = &self.file.root().file().container.store;
        if self.fetched > 0 || !store.expects_raw() {
            return;
        }
        let next: Vec<ObjectToken> =
            self.unvisited.iter().take(TOGETHER).map(|unvisited| unvisited.token).collect();
        self.fetched = next.len();
        self.file.prefetch_objects(&next, &mut |object| read_metadata(object));
    }

    /// Opens an object that the walk has not visited and returns it. Adds the targets of a group's
    /// hard links to the unvisited objects.
    fn visit(&mut self, next: Unvisited) -> Visited {
        let Unvisited { token, handle, number } = next;
        let path = self.path(number);
        let file = self.file.root().file();
        let object = handle.and_then(|handle| Object::open_held(Arc::clone(file), handle, &name_of(&path)));
        let links = match &object {
            Ok(object) if object.kind() == Some(ObjectKind::Group) => {
                Some(object.clone().into_group().and_then(|group| group.links()))
            }
            _ => None,
        };
        for link in links.iter().flatten().flatten() {
            if let LinkTarget::Hard(token) = link.target
                && self.known.insert(token)
            {
                let handle = token.hold(&file.container.store);
                self.unvisited.push_back(Unvisited { token, handle, number: self.names.len() });
                self.names.push((number, link.name.as_slice().into()));
            }
        }
        if links.is_some() {
            self.recent = (number, if path == b"/" { Vec::new() } else { path.clone() });
        }
        Visited { path, token, object, links }
    }
}

impl Iterator for Walk {
    type Item = Visited;

    fn next(&mut self) -> Option<Visited> {
        // Hold one lock during the whole step, so that no link changes before its target is opened.
        // The clone of the file leaves `self` unborrowed.
        let file = Arc::clone(self.file.root().file());
        let reading = file.reading();
        self.fetch_next();
        let next = self.next_linked()?;
        Some(match reading {
            Ok(_reading) => self.visit(next),
            Err(error) => {
                let path = self.path(next.number);
                Visited { path, token: next.token, object: Err(error), links: None }
            }
        })
    }
}

/// Returns the name of an object from its path: the whole path, or only its end if the path is
/// long.
pub(crate) fn name_of(path: &[u8]) -> Cow<'_, str> {
    let Some(end) = path.len().checked_sub(MAX_NAME_BYTES).and_then(|from| path.get(from..)) else {
        return String::from_utf8_lossy(path);
    };
    let end = end.iter().position(|byte| *byte == b'/').and_then(|at| end.get(at..)).unwrap_or(end);
    format!("…{}", String::from_utf8_lossy(end)).into()
}
