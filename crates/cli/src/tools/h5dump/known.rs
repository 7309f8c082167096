//! The objects of a file and their first paths, in the order in which h5dump comes to them.

use std::collections::{HashMap, HashSet};

use hyperslab::{File, LinkTarget, ObjectKind, ObjectToken};

/// Groups on a path beyond which nothing is looked for.
pub(super) const MOST_LEVELS: usize = 1024;

/// What is known of the objects of a file.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Kind and first path of each object.
    objects: HashMap<u64, (ObjectKind, String)>,
    order: Vec<ObjectToken>,
    /// Committed datatypes that are used and have no link, in the order of the objects that use them.
    pub(super) unnamed: Vec<ObjectToken>,
    shown: HashSet<u64>,
}

impl Known {
    /// Walks all groups, depth first, by names.
    pub(super) fn of(file: &File) -> Self {
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
    pub(super) fn in_order(&self) -> Vec<ObjectToken> {
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
    pub(super) fn path(&self, token: ObjectToken) -> Option<&str> {
        self.objects.get(&token.address()).map(|(_, path)| path.as_str())
    }

    /// The kind of an object.
    pub(super) fn kind(&self, token: ObjectToken) -> Option<ObjectKind> {
        self.objects.get(&token.address()).map(|(kind, _)| *kind)
    }

    /// Gives an object that is shown for the first time the path under which it is.
    pub(super) fn name(&mut self, token: ObjectToken, path: &str) {
        if let Some((_, known)) = self.objects.get_mut(&token.address()) {
            path.clone_into(known);
        }
    }

    /// Whether the object was shown before.
    pub(super) fn is_shown(&self, token: ObjectToken) -> bool {
        self.shown.contains(&token.address())
    }

    /// Whether the object was shown before; it is from now on.
    pub(super) fn was_shown(&mut self, token: ObjectToken) -> bool {
        !self.shown.insert(token.address())
    }
}
