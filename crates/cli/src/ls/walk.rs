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
    /// An object that was listed before, at that path.
    Same(String),
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
    /// One entry. `path` gives its path, which may be long.
    fn entry(&mut self, entry: &Entry, path: &dyn Fn() -> Option<String>) -> Result<()>;
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
    pub(crate) recursive: bool,
    names: Names,
    seen: HashMap<ObjectToken, usize>,
    failures: usize,
}

/// The names of all entries, from which their paths are made.
#[derive(Default)]
struct Names {
    entries: Vec<(Option<usize>, String)>,
}

impl Names {
    fn add(&mut self, parent: Option<usize>, name: String) -> usize {
        self.entries.push((parent, name));
        self.entries.len().saturating_sub(1)
    }

    /// The path of an entry, and whether it is whole.
    fn path(&self, id: usize) -> (String, bool) {
        let mut names = Vec::new();
        let mut at = Some(id);
        while let Some((parent, name)) = at.and_then(|id| self.entries.get(id)) {
            if names.len() == SHOWN_NAMES {
                names.push("…");
                break;
            }
            names.push(name.trim_end_matches('/'));
            at = *parent;
        }
        let whole = names.last() != Some(&"…") || names.len() <= SHOWN_NAMES;
        names.reverse();
        let path = names.join("/");
        (if path.is_empty() { "/".into() } else { path }, whole)
    }
}

impl<'a> Walk<'a> {
    pub(crate) fn new(file: &'a File, describer: &'a Describer, recursive: bool) -> Self {
        Self { file, describer, recursive, names: Names::default(), seen: HashMap::new(), failures: 0 }
    }

    /// Lists the object and what is in it; gives the number of things that could not be read.
    pub(crate) fn run(mut self, object: &Object, path: &str, sink: &mut dyn Sink) -> Result<usize> {
        let mut levels = Vec::new();
        self.names.add(None, escape(path.as_bytes()));
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
            let id = self.names.add(Some(parent), escape(&link.name));
            let (content, inner) = self.follow(id, &group, link.target);
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
        let names = &self.names;
        sink.entry(entry, &|| Some(names.path(entry.id)).filter(|(_, whole)| *whole).map(|(path, _)| path))
    }

    fn follow(&mut self, id: usize, group: &Group, target: LinkTarget) -> (Content, Option<Level>) {
        match target {
            LinkTarget::Hard(token) => {
                if let Some(first) = self.seen.get(&token) {
                    return (Content::Same(self.names.path(*first).0), None);
                }
                self.seen.insert(token, id);
                match self.file.object_at(token) {
                    Ok(object) => self.describe(id, &object, self.recursive),
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
            Ok(links) => links.map(|(links, group)| Level { id, group, links: links.into_iter() }),
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
}
