//! What is in a group and in the groups below it, by path.

use std::cmp::Ordering;
use std::collections::HashSet;

use anyhow::{Result, anyhow};
use hyperslab::{Group, LinkTarget, Object, ObjectKind, ObjectToken};

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

    /// Whether it was found without following a link that leads elsewhere by a name.
    pub(crate) fn is_at_home(&self) -> bool {
        self.home == 0
    }

    /// Whether it leads elsewhere by a name.
    pub(crate) fn is_symbolic(&self) -> bool {
        matches!(self.kind, Kind::Soft(_) | Kind::External { .. })
    }
}

impl Listing {
    /// What is in a group. With `follow` also what is in the groups that soft and external links lead to; of links that lead
    /// to one place only the first one is listed then.
    pub(crate) fn of(group: &Group, follow: bool) -> Self {
        let mut listing = Self { homes: vec![group.clone()], entries: Vec::new() };
        listing.walk(group, &[], 0);
        if follow {
            listing.follow();
            listing.entries.sort_by(in_order);
        }
        let token = group.token();
        let kind = Kind::Object(ObjectKind::Group, token);
        listing.entries.insert(0, Entry { path: Vec::new(), kind, home: 0 });
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

    /// Lists what is in a group, depth first, each object once.
    fn walk(&mut self, group: &Group, prefix: &[u8], home: usize) {
        let mut known = HashSet::from([group.token()]);
        // Groups that are being listed, and the links of each that are still to come.
        let mut open = vec![self.links(group, prefix, home)];
        while let Some(links) = open.last_mut() {
            let Some(entry) = links.pop() else {
                open.pop();
                continue;
            };
            if self.entries.len() >= MOST_ENTRIES {
                self.damaged(entry.path, home, format!("more than {MOST_ENTRIES} names"));
                return;
            }
            let (kind, path) = (entry.kind.clone(), entry.path.clone());
            self.entries.push(entry);
            let Kind::Object(ObjectKind::Group, token) = kind else { continue };
            if !known.insert(token) {
                continue;
            }
            if open.len() >= MOST_LEVELS {
                self.damaged(path, home, format!("groups deeper than {MOST_LEVELS} levels"));
                continue;
            }
            let below = group.object_at(token).and_then(Object::into_group);
            match below {
                Ok(below) => open.push(self.links(&below, &path, home)),
                Err(error) => self.damaged(path, home, crate::output::chain(&error)),
            }
        }
    }

    /// Remembers that something could not be read.
    fn damaged(&mut self, path: Vec<u8>, home: usize, why: String) {
        self.entries.push(Entry { path, kind: Kind::Damaged(why), home });
    }

    /// The links of a group, the last one first.
    fn links(&mut self, group: &Group, prefix: &[u8], home: usize) -> Vec<Entry> {
        let links = match group.links() {
            Ok(links) => links,
            Err(error) => {
                self.damaged(prefix.to_vec(), home, crate::output::chain(&error));
                return Vec::new();
            }
        };
        let entry = |link: hyperslab::Link| {
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

    /// Adds what is in the groups that links lead to.
    fn follow(&mut self) {
        let (mut known, mut again) = (HashSet::new(), HashSet::new());
        let mut at = 0_usize;
        while let Some(entry) = self.entries.get(at).cloned() {
            let place = match &entry.kind {
                Kind::Soft(path) => Some((None, path.clone())),
                Kind::External { file, path } => Some((Some(file.clone()), path.clone())),
                _ => None,
            };
            let object = place.and_then(|place| Some((place, self.target(&entry).ok()?)));
            let Some((place, object)) = object else {
                at = at.saturating_add(1);
                continue;
            };
            let is_new = known.insert(place);
            if !is_new {
                again.insert(at);
            }
            at = at.saturating_add(1);
            let levels = entry.path.iter().filter(|byte| **byte == b'/').count();
            if let Ok(group) = object.into_group()
                && is_new
                && levels < MOST_LEVELS
            {
                let home = self.homes.len();
                self.homes.push(group.clone());
                self.walk(&group, &entry.path, home);
            }
        }
        let mut at = 0_usize;
        self.entries.retain(|_| {
            at = at.saturating_add(1);
            !again.contains(&at.saturating_sub(1))
        });
    }
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
