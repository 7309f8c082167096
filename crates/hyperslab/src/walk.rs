//! All objects of a file, each once.

use std::collections::{HashSet, VecDeque};

use hyperslab_engine::Result;

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
#[derive(Debug)]
pub struct Walk {
    file: File,
    known: HashSet<ObjectToken>,
    pending: VecDeque<(ObjectToken, Vec<u8>)>,
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
        let root = file.root().token();
        Self {
            file: file.clone(),
            known: HashSet::from([root]),
            pending: VecDeque::from([(root, b"/".to_vec())]),
        }
    }
}

impl Iterator for Walk {
    type Item = Visited;

    fn next(&mut self) -> Option<Visited> {
        let (token, path) = self.pending.pop_front()?;
        let object = self.file.object_named(token, &String::from_utf8_lossy(&path));
        let links = match &object {
            Ok(object) if object.kind() == Some(ObjectKind::Group) => {
                Some(object.clone().into_group().and_then(|group| group.links()))
            }
            _ => None,
        };
        for link in links.iter().flatten().flatten() {
            if let LinkTarget::Hard(target) = link.target
                && self.known.insert(target)
            {
                let parent = if path == b"/" { b"".as_slice() } else { path.as_slice() };
                self.pending.push_back((target, [parent, b"/", &link.name].concat()));
            }
        }
        Some(Visited { path, token, object, links })
    }
}
