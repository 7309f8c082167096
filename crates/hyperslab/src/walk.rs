//! All objects of a file, each once.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::store::ObjectHandle;

use crate::{File, Link, LinkTarget, Object, ObjectKind, ObjectToken};

/// Walks the objects that hard links lead to from the root group: breadth first, the links of each group in
/// ascending order of their names' bytes. Each object comes once, under its first path, so cycles of links end.
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
}

/// An object that a walk is still to visit.
#[derive(Debug)]
struct Pending {
    token: ObjectToken,
    /// The handle, or why there is none.
    handle: Result<ObjectHandle>,
    path: Vec<u8>,
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
        let pending = Pending { token, handle: Ok(root.handle().clone()), path: b"/".to_vec() };
        Self { file: file.clone(), known: HashSet::from([token]), pending: VecDeque::from([pending]) }
    }

    /// The next object that is still linked.
    fn next_linked(&mut self) -> Option<Pending> {
        let store = &self.file.root().file().container.store;
        loop {
            let pending = self.pending.pop_front()?;
            if !pending.handle.as_ref().is_ok_and(|handle| store.is_unlinked(handle.address())) {
                return Some(pending);
            }
        }
    }

    /// Opens an object and, of a group, takes note of what its links lead to.
    fn visit(&mut self, pending: Pending) -> Visited {
        let Pending { token, handle, path } = pending;
        let file = self.file.root().file();
        let name = String::from_utf8_lossy(&path);
        let object = handle.and_then(|handle| Object::open_held(Arc::clone(file), handle, &name));
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
                let parent = if path == b"/" { b"".as_slice() } else { path.as_slice() };
                let path = [parent, b"/", &link.name].concat();
                let handle = token.hold(&file.container.store);
                self.pending.push_back(Pending { token, handle, path });
            }
        }
        Visited { path, token, object, links }
    }
}

impl Iterator for Walk {
    type Item = Visited;

    fn next(&mut self) -> Option<Visited> {
        // Held by a clone, so that links and what they lead to are those of one moment.
        let file = Arc::clone(self.file.root().file());
        let reading = file.container.reading();
        let pending = self.next_linked()?;
        Some(match reading {
            Ok(_reading) => self.visit(pending),
            Err(error) => {
                Visited { path: pending.path, token: pending.token, object: Err(error), links: None }
            }
        })
    }
}
