//! What is in a group and in the groups below it, by path.

use std::cmp::Ordering;
use std::collections::HashSet;

use anyhow::{Result, anyhow};
use hyperslab::{Group, Link, LinkTarget, Object, ObjectKind, ObjectToken};

/// Groups on a path beyond which nothing is looked for.
const MOST_LEVELS: usize = 1024;

/// Names in a list, at most: links may lead to the same groups over and over.
const MOST_ENTRIES: usize = 1 << 26;

/// What is in a group, in the order of the names, what is in a group behind its name.
#[derive(Debug)]
pub(crate) struct Listing {
    /// The groups of which objects are known by their tokens: one of each file.
    homes: Vec<Group>,
    pub(crate) entries: Vec<Entry>,
}

/// A name in a group.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// From the group on, with a slash before each name; nothing for the group itself.
    pub(crate) path: Vec<u8>,
    pub(crate) kind: Kind,
    home: usize,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Object(ObjectKind, ObjectToken),
    Soft(Vec<u8>),
    External {
        file: Vec<u8>,
        path: Vec<u8>,
    },
    UserDefined(u8),
    /// It cannot be read, for that reason.
    Damaged(String),
}

impl Entry {
    /// The path as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }

    /// The same path, with why it cannot be read.
    fn damaged(&self, why: String) -> Self {
        Self { kind: Kind::Damaged(why), ..self.clone() }
    }

    /// Returns whether it was found without following a link that leads elsewhere by a name.
    pub(crate) fn is_at_home(&self) -> bool {
        self.home == 0
    }

    /// Returns whether it leads elsewhere by a name.
    pub(crate) fn is_symbolic(&self) -> bool {
        matches!(self.kind, Kind::Soft(_) | Kind::External { .. })
    }
}

impl Listing {
    /// What is in a group. With `follow` also what is in the groups that soft and external links lead to; of links that lead
    /// to one place only the first one is listed then.
    pub(crate) fn of(group: &Group, follow: bool) -> Self {
        let kind = Kind::Object(ObjectKind::Group, group.token());
        let entries = vec![Entry { path: Vec::new(), kind, home: 0 }];
        let mut listing = Self { homes: vec![group.clone()], entries };
        let found = walk(group, &[], 0, HashSet::from([group.token()]));
        if follow {
            listing.follow(found);
            listing.entries.sort_by(in_order);
        } else {
            listing.entries.extend(found);
        }
        listing
    }

    /// The object of an entry.
    pub(crate) fn object(&self, entry: &Entry) -> Result<Object> {
        match &entry.kind {
            Kind::Object(_, token) => {
                let home = self.homes.get(entry.home).ok_or_else(|| anyhow!("no group"))?;
                Ok(home.object_at(*token)?)
            }
            Kind::Damaged(why) => Err(anyhow!("{why}")),
            _ => Err(anyhow!("{} is a link", entry.text())),
        }
    }

    /// What a soft or external link leads to, from the group that is listed.
    pub(crate) fn target(&self, entry: &Entry) -> Result<Object> {
        let root = self.homes.first().ok_or_else(|| anyhow!("no group"))?;
        let path = std::str::from_utf8(&entry.path)?;
        Ok(root.object(path.trim_start_matches('/'))?)
    }

    /// Adds what was found, and what is in the groups that links among it lead to.
    fn follow(&mut self, mut found: Vec<Entry>) {
        let mut known = HashSet::new();
        found.reverse();
        while let Some(entry) = found.pop() {
            if self.entries.len() >= MOST_ENTRIES {
                self.entries.push(entry.damaged(format!("more than {MOST_ENTRIES} names")));
                return;
            }
            let target = if entry.is_symbolic() { self.target(&entry).ok() } else { None };
            if target.is_some() && !known.insert(place(&entry)) {
                continue;
            }
            let levels = entry.path.iter().filter(|byte| **byte == b'/').count();
            if let Some(group) = target.and_then(|object| object.into_group().ok())
                && levels < MOST_LEVELS
            {
                let home = self.homes.len();
                let below = walk(&group, &entry.path, home, HashSet::new());
                self.homes.push(group);
                found.extend(below.into_iter().rev());
            }
            self.entries.push(entry);
        }
    }
}

/// Where a link leads, in the words of the file: a file, a path in it, and for a path from its group that group.
fn place(entry: &Entry) -> (Option<Vec<u8>>, Vec<u8>, Option<Vec<u8>>) {
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

/// Lists what is in a group, depth first; what is in the groups that are known is not listed.
fn walk(group: &Group, prefix: &[u8], home: usize, mut known: HashSet<ObjectToken>) -> Vec<Entry> {
    let mut found = Vec::new();
    // Groups that are being listed: the links of each that are still to come.
    let mut open = vec![links(group, prefix, home)];
    while let Some(links_left) = open.last_mut() {
        let Some(entry) = links_left.pop() else {
            open.pop();
            continue;
        };
        if found.len() >= MOST_ENTRIES {
            found.push(entry.damaged(format!("more than {MOST_ENTRIES} names")));
            break;
        }
        found.push(entry.clone());
        let Kind::Object(ObjectKind::Group, token) = entry.kind else { continue };
        if !known.insert(token) {
            continue;
        }
        if open.len() >= MOST_LEVELS {
            found.push(entry.damaged(format!("groups deeper than {MOST_LEVELS} levels")));
            continue;
        }
        match group.object_at(token).and_then(Object::into_group) {
            Ok(below) => open.push(links(&below, &entry.path, home)),
            Err(error) => found.push(entry.damaged(crate::output::chain(&error))),
        }
    }
    found
}

/// The links of a group, the last one first.
fn links(group: &Group, prefix: &[u8], home: usize) -> Vec<Entry> {
    let links = match group.links() {
        Ok(links) => links,
        Err(error) => {
            let kind = Kind::Damaged(crate::output::chain(&error));
            return vec![Entry { path: prefix.to_vec(), kind, home }];
        }
    };
    let entry = |link: Link| {
        let kind = match link.target {
            LinkTarget::Hard(token) => match group.object_at(token).map(|object| object.kind()) {
                Ok(Some(kind)) => Kind::Object(kind, token),
                Ok(None) => Kind::Damaged("an object of no known kind".into()),
                Err(error) => Kind::Damaged(crate::output::chain(&error)),
            },
            LinkTarget::Soft(path) => Kind::Soft(path),
            LinkTarget::External { file, path } => Kind::External { file, path },
            LinkTarget::UserDefined { class, .. } => Kind::UserDefined(class),
            _ => Kind::Damaged("a link of no known kind".into()),
        };
        Entry { path: [prefix, b"/", &link.name].concat(), kind, home }
    };
    links.into_iter().map(entry).rev().collect()
}

/// The order of entries: that of their paths, name by name.
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
    fn what_is_in_a_group_stands_behind_it() {
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
    fn groups_stand_before_what_is_in_them() {
        let entry = |path: &str| Entry { path: path.into(), kind: Kind::UserDefined(70), home: 0 };
        let mut entries = ["/a-b", "/a/c", "/b", "", "/a"].map(entry);
        entries.sort_by(in_order);
        assert_eq!(entries.map(|entry| entry.text()), ["", "/a", "/a/c", "/a-b", "/b"]);
    }
}
