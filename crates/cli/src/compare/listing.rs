//! The listing of a group for the comparison of two files: all objects and links below the group,
//! by path.

use std::cmp::Ordering;
use std::collections::HashSet;

use anyhow::{Result, anyhow};
use hyperslab::{Group, Link, LinkTarget, Object, ObjectKind, ObjectToken};

/// The largest depth of groups that a listing for the comparison of two files contains.
const MAX_LEVELS: usize = 1024;

/// The largest number of entries in a listing for the comparison of two files. A limit is
/// necessary, because soft and external links may lead to the same groups repeatedly.
const MAX_ENTRIES: usize = 1 << 26;

/// The objects and links of a group and of all groups below it, ordered by path. A group comes
/// before its own members.
#[derive(Debug)]
pub(crate) struct Listing {
    /// The groups through which entries were found: the listed group, and the targets of symbolic
    /// links. A group opens the objects of its file by token.
    roots: Vec<Group>,
    pub(crate) entries: Vec<Entry>,
}

/// An object or link in the listing of a group.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The path from the listed group, with a slash before each name. Empty for the group itself.
    pub(crate) path: Vec<u8>,
    pub(crate) kind: Kind,
    /// The index of the group through which the entry was found.
    root: usize,
}

/// The kind of a listed entry: an object, a link, or an unreadable entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Object(ObjectKind, ObjectToken),
    Soft(Vec<u8>),
    External {
        file: Vec<u8>,
        path: Vec<u8>,
    },
    UserDefined(u8),
    /// An entry that cannot be read, with the reason.
    Damaged(String),
}

impl Entry {
    /// Returns the path of the listed object or link as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }

    /// Returns a copy of the listed entry that is marked as unreadable, with the reason.
    fn damaged(&self, why: String) -> Self {
        Self { kind: Kind::Damaged(why), ..self.clone() }
    }

    /// Returns true if a chain of hard links alone leads to the listed object.
    pub(crate) fn is_direct(&self) -> bool {
        self.root == 0
    }

    /// Returns true if the listed entry is a soft or external link.
    pub(crate) fn is_symbolic(&self) -> bool {
        matches!(self.kind, Kind::Soft(_) | Kind::External { .. })
    }
}

impl Listing {
    /// Lists the objects of a group. With `follow`, also lists the groups to which soft and
    /// external links lead. If several links have the same target, only the first link is listed.
    pub(crate) fn of(group: &Group, follow: bool) -> Self {
        let kind = Kind::Object(ObjectKind::Group, group.token());
        let entries = vec![Entry { path: Vec::new(), kind, root: 0 }];
        let mut listing = Self { roots: vec![group.clone()], entries };
        let found = walk(group, &[], 0, HashSet::from([group.token()]));
        if follow {
            listing.follow(found);
            listing.entries.sort_by(in_order);
        } else {
            listing.entries.extend(found);
        }
        listing
    }

    /// Opens the object of an entry of the listing.
    pub(crate) fn object(&self, entry: &Entry) -> Result<Object> {
        match &entry.kind {
            Kind::Object(_, token) => {
                let root = self.roots.get(entry.root).ok_or_else(|| anyhow!("the entry has no group"))?;
                Ok(root.object_at(*token)?)
            }
            Kind::Damaged(why) => Err(anyhow!("{why}")),
            _ => Err(anyhow!("{} is a link", entry.text())),
        }
    }

    /// Opens the target of a soft or external link, starting from the listed group.
    pub(crate) fn target(&self, entry: &Entry) -> Result<Object> {
        let root = self.roots.first().ok_or_else(|| anyhow!("the listing has no group"))?;
        let path = std::str::from_utf8(&entry.path)?;
        Ok(root.object(path.trim_start_matches('/'))?)
    }

    /// Adds entries to the listing of a group. If an entry is a soft or external link to a group,
    /// also adds the entries of that group.
    fn follow(&mut self, mut found: Vec<Entry>) {
        let mut known = HashSet::new();
        found.reverse();
        while let Some(entry) = found.pop() {
            if self.entries.len() >= MAX_ENTRIES {
                self.entries.push(entry.damaged(format!("more than {MAX_ENTRIES} names")));
                return;
            }
            let target = if entry.is_symbolic() { self.target(&entry).ok() } else { None };
            if target.is_some() && !known.insert(link_target(&entry)) {
                continue;
            }
            let levels = entry.path.iter().filter(|byte| **byte == b'/').count();
            if let Some(group) = target.and_then(|object| object.into_group().ok())
                && levels < MAX_LEVELS
            {
                let root = self.roots.len();
                let below = walk(&group, &entry.path, root, HashSet::new());
                self.roots.push(group);
                found.extend(below.into_iter().rev());
            }
            self.entries.push(entry);
        }
    }
}

/// Returns the stored target of a soft or external link: the external file, the path, and the group
/// of the link if the path is relative.
fn link_target(entry: &Entry) -> (Option<Vec<u8>>, Vec<u8>, Option<Vec<u8>>) {
    match &entry.kind {
        Kind::External { file, path } => (Some(file.clone()), path.clone(), None),
        Kind::Soft(path) if path.starts_with(b"/") => (None, path.clone(), None),
        Kind::Soft(path) => {
            let end = entry.path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
            (None, path.clone(), entry.path.get(..end).map(<[u8]>::to_vec))
        }
        _ => (None, Vec::new(), None),
    }
}

/// Walks through a group and the groups below it, depth first, and lists all objects and links.
/// Skips groups in `known`.
fn walk(group: &Group, prefix: &[u8], root: usize, mut known: HashSet<ObjectToken>) -> Vec<Entry> {
    let mut found = Vec::new();
    // The entries that are not listed yet, of each group on the path.
    let mut open = vec![links(group, prefix, root)];
    while let Some(links_left) = open.last_mut() {
        let Some(entry) = links_left.pop() else {
            open.pop();
            continue;
        };
        if found.len() >= MAX_ENTRIES {
            found.push(entry.damaged(format!("more than {MAX_ENTRIES} names")));
            break;
        }
        found.push(entry.clone());
        let Kind::Object(ObjectKind::Group, token) = entry.kind else { continue };
        if !known.insert(token) {
            continue;
        }
        if open.len() >= MAX_LEVELS {
            found.push(entry.damaged(format!("groups deeper than {MAX_LEVELS} levels")));
            continue;
        }
        match group.object_at(token).and_then(Object::into_group) {
            Ok(below) => open.push(links(&below, &entry.path, root)),
            Err(error) => found.push(entry.damaged(crate::output::chain(&error))),
        }
    }
    found
}

/// Returns the links of a group in reverse order.
fn links(group: &Group, prefix: &[u8], root: usize) -> Vec<Entry> {
    let links = match group.links() {
        Ok(links) => links,
        Err(error) => {
            let kind = Kind::Damaged(crate::output::chain(&error));
            return vec![Entry { path: prefix.to_vec(), kind, root }];
        }
    };
    let entry = |link: Link| {
        let kind = match link.target {
            LinkTarget::Hard(token) => match group.object_at(token).map(|object| object.kind()) {
                Ok(Some(kind)) => Kind::Object(kind, token),
                Ok(None) => Kind::Damaged("an object of unknown kind".into()),
                Err(error) => Kind::Damaged(crate::output::chain(&error)),
            },
            LinkTarget::Soft(path) => Kind::Soft(path),
            LinkTarget::External { file, path } => Kind::External { file, path },
            LinkTarget::UserDefined { class, .. } => Kind::UserDefined(class),
            _ => Kind::Damaged("a link of unknown kind".into()),
        };
        Entry { path: [prefix, b"/", &link.name].concat(), kind, root }
    };
    links.into_iter().map(entry).rev().collect()
}

/// Compares two listed entries by their paths, name by name, for sorting.
pub(crate) fn in_order(one: &Entry, other: &Entry) -> Ordering {
    let (one, other) = (&one.path, &other.path);
    one.split(|byte| *byte == b'/').cmp(other.split(|byte| *byte == b'/'))
}

#[cfg(test)]
mod tests {
    use hyperslab::FileOptions;

    use super::*;

    fn paths(listing: &Listing) -> Vec<String> {
        listing.entries.iter().map(Entry::text).collect()
    }

    #[test]
    fn entries_of_a_group_follow_the_group() {
        let file = FileOptions::new().create_in_memory().unwrap();
        for path in ["a", "a/c", "a-b"] {
            file.create_group(path).unwrap();
        }
        file.link_hard("a/loop", file.root()).unwrap();
        file.link_soft("soft", "/a").unwrap();
        file.link_soft("soft2", "/a").unwrap();
        file.link_soft("nowhere", "/b").unwrap();
        let listing = Listing::of(file.root(), false);
        assert_eq!(paths(&listing), ["", "/a", "/a/c", "/a/loop", "/a-b", "/nowhere", "/soft", "/soft2"]);
        let followed = Listing::of(file.root(), true);
        assert_eq!(
            paths(&followed),
            [
                "",
                "/a",
                "/a/c",
                "/a/loop",
                "/a-b",
                "/nowhere",
                "/soft",
                "/soft/c",
                "/soft/loop",
                "/soft/loop/a",
                "/soft/loop/a/c",
                "/soft/loop/a/loop",
                "/soft/loop/a-b",
                "/soft/loop/nowhere"
            ]
        );
    }

    #[test]
    fn paths_are_compared_name_by_name() {
        let entry = |path: &str| Entry { path: path.into(), kind: Kind::UserDefined(70), root: 0 };
        let mut entries = ["/a-b", "/a/c", "/b", "", "/a"].map(entry);
        entries.sort_by(in_order);
        assert_eq!(entries.map(|entry| entry.text()), ["", "/a", "/a/c", "/a-b", "/b"]);
    }
}
