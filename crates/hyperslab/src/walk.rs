//! All objects of a file, each once.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::store::ObjectHandle;

use crate::{File, Link, LinkTarget, Object, ObjectKind, ObjectToken};

/// Bytes of a path beyond which the names of objects have only its end.
const LONGEST_NAME: usize = 4096;

/// Walks the objects that hard links lead to from the root group: breadth first, the links of each group in
/// ascending order of their names' bytes. Each object comes once, under its first path, so cycles of links end. The
/// [name](Object::name) of an object whose path is longer than 4096 bytes is the end of that path, behind `…`.
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
/// Beside threads that delete objects, the walk has a handle of each object that it is still to visit, and passes over those
/// that no link leads to any more when their turn comes.
#[derive(Debug)]
pub struct Walk {
    file: File,
    known: HashSet<ObjectToken>,
    pending: VecDeque<Pending>,
    /// The names of all objects, each with the number of the group that it is in: whole paths of deep groups would take
    /// memory in proportion to the square of the depth.
    names: Vec<(usize, Box<[u8]>)>,
    /// The group that was visited last, and its path: most objects are in it, or in one beside it.
    recent: (usize, Vec<u8>),
}

/// An object that a walk is still to visit.
#[derive(Debug)]
struct Pending {
    token: ObjectToken,
    /// The handle, or why there is none.
    handle: Result<ObjectHandle>,
    /// The number of the object's name.
    number: usize,
}

/// An object on a walk.
#[derive(Debug)]
pub struct Visited {
    /// Its first path, as the bytes in the file; `/` for the root group.
    pub path: Vec<u8>,
    /// What tells it from others.
    pub token: ObjectToken,
    /// The object, or why it cannot be opened. The walk goes on either way.
    pub object: Result<Object>,
    /// The links of a group, in ascending order of their names' bytes.
    pub links: Option<Result<Vec<Link>>>,
}

impl Walk {
    pub(crate) fn new(file: &File) -> Self {
        let root = file.root();
        let token = root.token();
        let pending = Pending { token, handle: Ok(root.handle().clone()), number: 0 };
        Self {
            file: file.clone(),
            known: HashSet::from([token]),
            pending: VecDeque::from([pending]),
            names: vec![(0, Box::default())],
            recent: (0, Vec::new()),
        }
    }

    /// Returns the next object that is still linked.
    fn next_linked(&mut self) -> Option<Pending> {
        let store = &self.file.root().file().container.store;
        loop {
            let pending = self.pending.pop_front()?;
            if !pending.handle.as_ref().is_ok_and(|handle| store.is_unlinked(handle.address())) {
                return Some(pending);
            }
        }
    }

    /// Returns the path of the object with that number.
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

    /// Opens an object and, of a group, notes the targets of its links.
    fn visit(&mut self, pending: Pending) -> Visited {
        let Pending { token, handle, number } = pending;
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
                self.pending.push_back(Pending { token, handle, number: self.names.len() });
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
        // Held by a clone, so that links and what they lead to are those of one moment.
        let file = Arc::clone(self.file.root().file());
        let reading = file.reading();
        let pending = self.next_linked()?;
        Some(match reading {
            Ok(_reading) => self.visit(pending),
            Err(error) => {
                let path = self.path(pending.number);
                Visited { path, token: pending.token, object: Err(error), links: None }
            }
        })
    }
}

/// The name of an object by its path: of a long one, the end.
pub(crate) fn name_of(path: &[u8]) -> Cow<'_, str> {
    let Some(end) = path.len().checked_sub(LONGEST_NAME).and_then(|from| path.get(from..)) else {
        return String::from_utf8_lossy(path);
    };
    let end = end.iter().position(|byte| *byte == b'/').and_then(|at| end.get(at..)).unwrap_or(end);
    format!("…{}", String::from_utf8_lossy(end)).into()
}
