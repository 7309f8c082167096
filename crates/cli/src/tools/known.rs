//! The objects of a file and their first paths, in the order in which the tools come to them.

use std::collections::{HashMap, HashSet};

use hyperslab::{File, LinkTarget, ObjectKind, ObjectToken};

use super::ddl::elements::Names;
use super::ddl::quoted;

/// Groups on a path beyond which nothing is looked for.
pub(crate) const MOST_LEVELS: usize = 1024;

/// What is known of the objects of a file.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Kind and first path of each object.
    objects: HashMap<u64, (ObjectKind, String)>,
    order: Vec<ObjectToken>,
    /// Committed datatypes that are used and have no link, in the order of the objects that use them.
    pub(crate) unnamed: Vec<ObjectToken>,
    shown: HashSet<u64>,
}

impl Known {
    /// Walks all groups, depth first, by names.
    pub(crate) fn of(file: &File) -> Self {
        let mut known = Self::default();
        let root = file.root().token();
        known.add(root, ObjectKind::Group, "/".into());
        let mut used = Vec::new();
        known.group(file, root, "", 0, &mut used);
        for token in used {
            if !known.objects.contains_key(&token.address()) {
                known.add(token, ObjectKind::Datatype, format!("/#{}", token.address()));
                known.unnamed.push(token);
            }
        }
        known
    }

    fn add(&mut self, token: ObjectToken, kind: ObjectKind, path: String) {
        self.objects.insert(token.address(), (kind, path));
        self.order.push(token);
    }

    /// All objects, in the order in which they were found.
    pub(crate) fn in_order(&self) -> Vec<ObjectToken> {
        self.order.clone()
    }

    fn group(
        &mut self,
        file: &File,
        token: ObjectToken,
        path: &str,
        level: usize,
        used: &mut Vec<ObjectToken>,
    ) {
        let group = file.object_at(token).and_then(hyperslab::Object::into_group);
        let Ok(links) = group.and_then(|group| group.links()) else { return };
        for link in links {
            let LinkTarget::Hard(target) = link.target else { continue };
            if self.objects.contains_key(&target.address()) {
                continue;
            }
            let Ok(object) = file.object_at(target) else { continue };
            let Some(kind) = object.kind() else { continue };
            let path = format!("{path}/{}", String::from_utf8_lossy(&link.name));
            self.add(target, kind, path.clone());
            match kind {
                ObjectKind::Group if level < MOST_LEVELS => {
                    self.group(file, target, &path, level.saturating_add(1), used);
                }
                ObjectKind::Dataset => {
                    let committed =
                        object.into_dataset().ok().and_then(|dataset| dataset.committed_datatype());
                    used.extend(committed);
                }
                _ => {}
            }
        }
    }

    /// The first path of an object.
    pub(crate) fn path(&self, token: ObjectToken) -> Option<&str> {
        self.objects.get(&token.address()).map(|(_, path)| path.as_str())
    }

    /// The kind of an object.
    pub(crate) fn kind(&self, token: ObjectToken) -> Option<ObjectKind> {
        self.objects.get(&token.address()).map(|(kind, _)| *kind)
    }

    /// Gives an object that is shown for the first time the path under which it is.
    pub(crate) fn name(&mut self, token: ObjectToken, path: &str) {
        if let Some((_, known)) = self.objects.get_mut(&token.address()) {
            path.clone_into(known);
        }
    }

    /// Returns whether the object was shown before.
    pub(crate) fn is_shown(&self, token: ObjectToken) -> bool {
        self.shown.contains(&token.address())
    }

    /// Returns whether the object was shown before; it is from now on.
    pub(crate) fn was_shown(&mut self, token: ObjectToken) -> bool {
        !self.shown.insert(token.address())
    }
}

/// Objects by kind and path.
pub(crate) struct Paths<'a> {
    pub(crate) name: &'a str,
    pub(crate) known: &'a Known,
}

impl Names for Paths<'_> {
    fn of(&self, token: ObjectToken) -> String {
        let word = match self.known.kind(token) {
            Some(ObjectKind::Group) => "GROUP",
            Some(ObjectKind::Dataset) => "DATASET",
            Some(ObjectKind::Datatype) => "DATATYPE",
            _ => return token.to_string(),
        };
        let path = self.known.path(token).unwrap_or_default();
        format!("{word} {}", quoted(format!("{}{path}", self.name).as_bytes()))
    }
}
