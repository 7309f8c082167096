//! The objects of a file and their first paths, in the order in which the C tools find them.

use std::collections::{HashMap, HashSet};

use hyperslab::{File, LinkTarget, ObjectKind, ObjectToken};

use super::ddl::elements::Names;
use super::ddl::quoted;
use crate::prefetch::{Parts, prefetch};

/// The largest depth of groups that the emulated tools visit.
pub(crate) const MAX_LEVELS: usize = 1024;

/// The objects of a file with their kinds and paths, and a record of the printed objects.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The kind and the first path of each object, by address.
    objects: HashMap<u64, (ObjectKind, String)>,
    order: Vec<ObjectToken>,
    /// Committed datatypes without links that objects use, in the order of these objects.
    pub(crate) unnamed: Vec<ObjectToken>,
    shown: HashSet<u64>,
}

impl Known {
    /// Finds all objects of a file. Visits groups depth first, in ascending order of the names.
    pub(crate) fn of(file: &File) -> Self {
        let mut known = Self::default();
        prefetch(file.root(), MAX_LEVELS, Parts::Attributes);
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

    /// Returns all objects in the order in which the walk found them.
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
                // The level is less than `MAX_LEVELS`.
                ObjectKind::Group if level < MAX_LEVELS => {
                    self.group(file, target, &path, level + 1, used);
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

    /// Returns the kind and the path of an object, from its address.
    fn kind_and_path(&self, token: ObjectToken) -> Option<(ObjectKind, &str)> {
        self.objects.get(&token.address()).map(|(kind, path)| (*kind, path.as_str()))
    }

    /// Returns the path under which the emulated tool prints an object first.
    pub(crate) fn path(&self, token: ObjectToken) -> Option<&str> {
        self.kind_and_path(token).map(|(_, path)| path)
    }

    /// Sets the path under which the emulated tool prints an object first.
    pub(crate) fn name(&mut self, token: ObjectToken, path: &str) {
        if let Some((_, known)) = self.objects.get_mut(&token.address()) {
            path.clone_into(known);
        }
    }

    /// Returns true if the emulated tool has marked the object as printed.
    pub(crate) fn is_shown(&self, token: ObjectToken) -> bool {
        self.shown.contains(&token.address())
    }

    /// Marks the object as printed. Returns true if it was already marked.
    pub(crate) fn was_shown(&mut self, token: ObjectToken) -> bool {
        !self.shown.insert(token.address())
    }
}

/// A provider of object names: kind, file name and path.
pub(crate) struct Paths<'a> {
    pub(crate) name: &'a str,
    pub(crate) known: &'a Known,
}

impl Names for Paths<'_> {
    fn of(&self, token: ObjectToken) -> String {
        let Some((kind, path)) = self.known.kind_and_path(token) else { return token.to_string() };
        let word = match kind {
            ObjectKind::Group => "GROUP",
            ObjectKind::Dataset => "DATASET",
            ObjectKind::Datatype => "DATATYPE",
            _ => return token.to_string(),
        };
        format!("{word} {}", quoted(format!("{}{path}", self.name).as_bytes()))
    }
}
