//! Which objects are described, in which order and under which path: breadth first over hard links, each
//! group's links in the order of their names' bytes.

use std::collections::HashMap;

use hyperslab::{File, Link, LinkTarget, Object, ObjectKind, ObjectToken};

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

impl Objects {
    pub(crate) fn find(file: &File) -> Self {
        let root = file.root().token();
        let mut objects =
            Self { file: file.clone(), found: Vec::new(), paths: HashMap::new(), truncated: false };
        objects.paths.insert(root, "/".into());
        let mut queue = vec![root];
        let mut next = 0;
        while let Some(token) = queue.get(next).copied() {
            next += 1;
            objects.visit(file, token, &mut queue);
        }
        objects
    }

    fn visit(&mut self, file: &File, token: ObjectToken, queue: &mut Vec<ObjectToken>) {
        let path = self.paths.get(&token).cloned().unwrap_or_default();
        let object = super::open(file, token);
        let links = match &object {
            Ok(object) if object.kind() == Some(ObjectKind::Group) => {
                Some(object.clone().into_group().and_then(|group| group.links()))
            }
            _ => None,
        };
        for link in links.iter().flatten().flatten() {
            let LinkTarget::Hard(target) = link.target else { continue };
            if self.paths.contains_key(&target) {
                continue;
            }
            if queue.len() >= MAX_OBJECTS {
                self.truncated = true;
                continue;
            }
            self.paths.insert(target, format!("{}/{}", path.trim_end_matches('/'), text(&link.name)));
            queue.push(target);
        }
        self.found.push(Found { path, object, links });
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
