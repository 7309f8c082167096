//! The walk through the links of a file, without recursion: a file may be as deep as it likes.

use std::collections::HashMap;
use std::vec;

use anyhow::Result;
use hyperslab::{ErrorKind, File, Group, Link, LinkTarget, Object, ObjectKind, ObjectToken};

use super::describe::{Describer, Detail, ObjectFacts, message};
use crate::output::escape;

/// Names of a path that are shown; of longer ones, only the last.
const SHOWN_NAMES: usize = 64;

/// One line of the listing: a link and what it leads to. The first is the object that was asked for.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its number in the listing.
    pub(crate) id: usize,
    /// The number of the group it is in.
    pub(crate) parent: Option<usize>,
    pub(crate) name: Vec<u8>,
    /// Groups between the first entry and this one.
    pub(crate) depth: usize,
    /// Whether it is the last one in its group.
    pub(crate) last: bool,
    /// Whether entries of its own follow.
    pub(crate) open: bool,
    pub(crate) content: Content,
}

/// What a link leads to.
#[derive(Debug)]
pub(crate) enum Content {
    Object(ObjectFacts),
    /// An object that was listed before.
    Same {
        path: String,
        /// Whether the link is in it: the way goes in a circle.
        around: bool,
    },
    Soft {
        path: Vec<u8>,
        /// Whether nothing is there.
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
    /// A kind of link that this version does not know.
    UnknownLink,
    Broken(String),
}

/// Takes the entries, each before those in it.
pub(crate) trait Sink {
    /// One entry.
    fn entry(&mut self, entry: &Entry, place: &EntryPath<'_>) -> Result<()>;
}

/// The place of an entry.
pub(crate) struct EntryPath<'a> {
    names: &'a Names,
    id: usize,
}

impl EntryPath<'_> {
    /// The path, to be shown; nothing if that is very long.
    pub(crate) fn shown(&self) -> Option<String> {
        Some(self.names.path(self.id)).filter(|(_, whole)| *whole).map(|(path, _)| path)
    }

    /// The path as the bytes in the file, however long.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut names = self.names.up(self.id).collect::<Vec<_>>();
        names.reverse();
        let path = names.join(b"/".as_slice());
        if path.is_empty() { b"/".to_vec() } else { path }
    }
}

/// A group on the way from the first entry.
struct Level {
    id: usize,
    group: Group,
    links: vec::IntoIter<Link>,
}

/// The listing under way.
pub(crate) struct Walk<'a> {
    pub(crate) file: &'a File,
    pub(crate) describer: &'a Describer,
    /// Levels of groups whose links are listed.
    levels: usize,
    groups_only: bool,
    again: bool,
    names: Names,
    seen: HashMap<ObjectToken, usize>,
    failures: usize,
}

/// The names of all entries, from which their paths are made.
#[derive(Default)]
struct Names {
    entries: Vec<(Option<usize>, Box<[u8]>)>,
}

impl Names {
    fn add(&mut self, parent: Option<usize>, name: &[u8]) -> usize {
        self.entries.push((parent, name.into()));
        self.entries.len().saturating_sub(1)
    }

    /// The names from an entry up to the first one.
    fn up(&self, id: usize) -> impl Iterator<Item = &[u8]> {
        let mut at = Some(id);
        std::iter::from_fn(move || {
            let (parent, name) = self.entries.get(at?)?;
            at = *parent;
            Some(name.strip_suffix(b"/").unwrap_or(name))
        })
    }

    /// The path of an entry, and whether it is whole.
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
    /// Lists the links of groups on so many levels, of the first object in any case.
    pub(crate) fn new(file: &'a File, describer: &'a Describer, levels: usize) -> Self {
        let (names, seen) = (Names::default(), HashMap::new());
        Self { file, describer, levels, groups_only: false, again: false, names, seen, failures: 0 }
    }

    /// Returns whether links are passed over that do not lead to groups.
    pub(crate) fn groups_only(mut self, yes: bool) -> Self {
        self.groups_only = yes;
        self
    }

    /// Returns whether an object that was met before is described once more, and not only named.
    pub(crate) fn again(mut self, yes: bool) -> Self {
        self.again = yes;
        self
    }

    /// Lists the object and what is in it; gives the number of things that could not be read.
    pub(crate) fn run(mut self, object: &Object, path: &str, sink: &mut dyn Sink) -> Result<usize> {
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
        self.failures = self.failures.saturating_add(match &entry.content {
            Content::Broken(_) => 1,
            Content::Object(facts) => facts.failures(),
            _ => 0,
        });
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

    /// What is said of an object, and its links if it is a group to be listed.
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

    /// The links that are listed.
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
