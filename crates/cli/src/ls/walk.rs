//! The walk of a listing through the links of a file. It does not recurse, so that files may have
//! any depth.

use std::collections::HashMap;
use std::vec;

use anyhow::Result;
use hyperslab::{ErrorKind, File, Group, Link, LinkTarget, Object, ObjectKind, ObjectToken};

use super::describe::{Detail, ObjectFacts};
use super::describer::{Describer, message};
use crate::output::escape;
use crate::prefetch::{Parts, prefetch};

/// The largest number of names in a printed path. If a path has more names, only its last names are
/// printed.
const SHOWN_NAMES: usize = 64;

/// A link and its target in a listing. The first entry is the object at which the listing begins,
/// without a link.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The number of the entry.
    pub(crate) id: usize,
    /// The number of the entry's group.
    pub(crate) parent: Option<usize>,
    pub(crate) name: Vec<u8>,
    /// The number of groups from the first entry to this one.
    pub(crate) depth: usize,
    /// True for the last entry of a group.
    pub(crate) last: bool,
    /// True for a group whose members follow.
    pub(crate) open: bool,
    pub(crate) content: Content,
}

/// The target of a listed link: an object with its description, or a link that is not followed.
#[derive(Debug)]
pub(crate) enum Content {
    Object(ObjectFacts),
    /// An object that the listing already shows under another path.
    Same {
        path: String,
        /// True if the object contains the link: the links form a cycle.
        around: bool,
    },
    Soft {
        path: Vec<u8>,
        /// True if the path does not exist.
        dangling: bool,
    },
    External {
        file: Vec<u8>,
        path: Vec<u8>,
    },
    UserDefined {
        class: u8,
        value: Vec<u8>,
    },
    /// A link of an unknown class.
    UnknownLink,
    Broken(String),
}

/// A receiver of the entries of a listing. A group comes before its members.
pub(crate) trait Sink {
    /// Receives the next entry of the listing.
    fn entry(&mut self, entry: &Entry, entry_path: &EntryPath<'_>) -> Result<()>;
}

/// The path of an entry in a listing.
pub(crate) struct EntryPath<'a> {
    names: &'a Names,
    id: usize,
}

impl EntryPath<'_> {
    /// Returns the path of a listed entry with unsafe characters escaped. Returns `None` if the
    /// path has more than `SHOWN_NAMES` names.
    pub(crate) fn shown(&self) -> Option<String> {
        Some(self.names.path(self.id)).filter(|(_, whole)| *whole).map(|(path, _)| path)
    }

    /// Returns the complete path of a listed entry, in the bytes that the file stores.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut names = self.names.up(self.id).collect::<Vec<_>>();
        names.reverse();
        let path = names.join(b"/".as_slice());
        if path.is_empty() { b"/".to_vec() } else { path }
    }
}

/// A group whose members the listing is visiting.
struct Level {
    id: usize,
    group: Group,
    links: vec::IntoIter<Link>,
}

/// The state of a listing that visits the links of groups.
pub(crate) struct Walk<'a> {
    pub(crate) file: &'a File,
    pub(crate) describer: &'a Describer,
    /// The number of levels of groups whose links are listed.
    levels: usize,
    groups_only: bool,
    again: bool,
    names: Names,
    seen: HashMap<ObjectToken, usize>,
    failures: usize,
}

/// The names of all entries of a listing. The paths of entries are built from them.
#[derive(Default)]
struct Names {
    entries: Vec<(Option<usize>, Box<[u8]>)>,
}

impl Names {
    /// Adds the name of a listed entry and returns the number of the name.
    fn add(&mut self, parent: Option<usize>, name: &[u8]) -> usize {
        let id = self.entries.len();
        self.entries.push((parent, name.into()));
        id
    }

    /// Returns an iterator over the name of a listed entry and the names of the groups above it, up
    /// to the first entry.
    fn up(&self, id: usize) -> impl Iterator<Item = &[u8]> {
        let mut at = Some(id);
        std::iter::from_fn(move || {
            let (parent, name) = self.entries.get(at?)?;
            at = *parent;
            Some(name.strip_suffix(b"/").unwrap_or(name))
        })
    }

    /// Returns the path of a listed entry, and a flag that is true if the path is complete.
    fn path(&self, id: usize) -> (String, bool) {
        let mut all = self.up(id);
        let mut names: Vec<String> = all.by_ref().take(SHOWN_NAMES).map(escape).collect();
        let whole = all.next().is_none();
        if !whole {
            names.push("…".into());
        }
        names.reverse();
        let path = names.join("/");
        (if path.is_empty() { "/".into() } else { path }, whole)
    }
}

impl<'a> Walk<'a> {
    /// Creates a listing that visits the links of groups on `levels` levels. It always visits the
    /// links of the first object.
    pub(crate) fn new(file: &'a File, describer: &'a Describer, levels: usize) -> Self {
        let (names, seen) = (Names::default(), HashMap::new());
        Self { file, describer, levels, groups_only: false, again: false, names, seen, failures: 0 }
    }

    /// Sets an option of the listing: only links to groups are listed.
    pub(crate) fn groups_only(mut self, yes: bool) -> Self {
        self.groups_only = yes;
        self
    }

    /// Sets an option of the listing: an object is described at each of its links. Without the
    /// option, an object is described at its first link only.
    pub(crate) fn again(mut self, yes: bool) -> Self {
        self.again = yes;
        self
    }

    /// Visits an object and its members for the listing. Returns the number of parts that could not
    /// be read.
    pub(crate) fn run(mut self, object: &Object, path: &str, sink: &mut dyn Sink) -> Result<usize> {
        let parts = if self.describer.storage { Parts::AttributesAndStorage } else { Parts::Attributes };
        prefetch(object, self.levels.max(1), parts);
        let mut levels = Vec::new();
        self.names.add(None, path.as_bytes());
        self.seen.insert(object.token(), 0);
        let (content, level) = self.describe(0, object, true);
        levels.extend(level);
        let name = path.as_bytes().to_vec();
        let open = !levels.is_empty();
        self.emit(&Entry { id: 0, parent: None, name, depth: 0, last: true, open, content }, sink)?;
        while let Some(level) = levels.last_mut() {
            let Some(link) = level.links.next() else {
                levels.pop();
                continue;
            };
            let last = level.links.as_slice().is_empty();
            let (parent, group) = (level.id, level.group.clone());
            let id = self.names.add(Some(parent), &link.name);
            let around = |first| levels.iter().any(|level: &Level| level.id == first);
            let list = levels.len() < self.levels;
            let (content, inner) = self.follow(id, &group, link.target, (list, &around));
            let (depth, open) = (levels.len(), inner.is_some());
            let entry = Entry { id, parent: Some(parent), name: link.name, depth, last, open, content };
            self.emit(&entry, sink)?;
            levels.extend(inner);
        }
        Ok(self.failures)
    }

    fn emit(&mut self, entry: &Entry, sink: &mut dyn Sink) -> Result<()> {
        self.failures += match &entry.content {
            Content::Broken(_) => 1,
            Content::Object(facts) => facts.failures(),
            _ => 0,
        };
        sink.entry(entry, &EntryPath { names: &self.names, id: entry.id })
    }

    fn follow(
        &mut self,
        id: usize,
        group: &Group,
        target: LinkTarget,
        (list, around): (bool, &dyn Fn(usize) -> bool),
    ) -> (Content, Option<Level>) {
        match target {
            LinkTarget::Hard(token) => {
                let known = self.seen.get(&token);
                if let Some(first) = known.filter(|_| !self.again) {
                    let path = self.names.path(*first).0;
                    return (Content::Same { path, around: around(*first) }, None);
                }
                let list = list && known.is_none();
                self.seen.entry(token).or_insert(id);
                match self.file.object_at(token) {
                    Ok(object) => self.describe(id, &object, list),
                    Err(error) => (Content::Broken(message(&error)), None),
                }
            }
            LinkTarget::Soft(path) => {
                let found = str::from_utf8(&path).ok().map(|path| group.object(path));
                let dangling = matches!(found, Some(Err(error)) if error.kind() == ErrorKind::NotFound);
                (Content::Soft { path, dangling }, None)
            }
            LinkTarget::External { file, path } => (Content::External { file, path }, None),
            LinkTarget::UserDefined { class, value } => (Content::UserDefined { class, value }, None),
            _ => (Content::UnknownLink, None),
        }
    }

    /// Describes an object for the listing. If the object is a group whose members will be visited,
    /// also returns its links.
    fn describe(&self, id: usize, object: &Object, list: bool) -> (Content, Option<Level>) {
        let links = if list && object.kind() == Some(ObjectKind::Group) {
            object.clone().into_group().and_then(|group| Ok((group.links()?, group))).map(Some)
        } else {
            Ok(None)
        };
        let count = links.as_ref().map_or(Some(0), |links| links.as_ref().map(|(links, _)| links.len()));
        let mut facts = match self.describer.object(object, count) {
            Ok(facts) => facts,
            Err(error) => return (Content::Broken(message(&error)), None),
        };
        let level = match links {
            Ok(links) => links
                .map(|(links, group)| (self.wanted(links), group))
                .map(|(links, group)| Level { id, group, links: links.into_iter() }),
            Err(error) => {
                facts.problems.insert(0, message(&error));
                if let Detail::Group(group) = &mut facts.detail {
                    group.members = None;
                }
                None
            }
        };
        (Content::Object(facts), level.filter(|level| !level.links.as_slice().is_empty()))
    }

    /// Returns the links of a group that the listing visits. If only groups are listed, returns the
    /// hard links to groups.
    fn wanted(&self, mut links: Vec<Link>) -> Vec<Link> {
        if self.groups_only {
            let group = |token| {
                self.file.object_at(token).is_ok_and(|object| object.kind() == Some(ObjectKind::Group))
            };
            links.retain(|link| matches!(link.target, LinkTarget::Hard(token) if group(token)));
        }
        links
    }
}
