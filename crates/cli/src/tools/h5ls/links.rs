//! Soft, external and user-defined links, and their targets, in the output of h5ls.

use anyhow::Result;
use hyperslab::{ErrorKind, Group, Link, LinkTarget, Object, ObjectKind};

use super::list::{Shown, Walked};
use super::source::SourceFile;
use super::{List, complain};
use crate::output::in_line;

/// The largest number of soft links that h5ls follows to find an external link.
const MAX_LINKS: usize = 16;

/// The number of times that the C tool h5ls opens the file of a link before it prints the location
/// of the object. Each opening increases the file numbers.
const OPENS_BEFORE_LOCATION: u64 = 3;
/// The total number of times that the C tool h5ls opens the file of a link.
const OPENS_IN_ALL: u64 = 4;
/// The total number of times that the C tool h5ls opens the file of a link to a group, if it lists
/// the members of the group.
const OPENS_FOR_GROUP: u64 = 6;
/// The total number of times that the C tool h5ls opens the file of a link without a target.
const OPENS_WITHOUT_TARGET: u64 = 2;

impl List<'_> {
    /// Prints a soft, external or user-defined link under `name` for h5ls. If links are followed,
    /// also prints the target. `path` precedes the names of a group's members.
    pub(super) fn link(
        &mut self,
        walked: &Walked<'_>,
        link: &Link,
        name: &[u8],
        path: &[u8],
        from_root: &[u8],
    ) -> Result<()> {
        self.name(name)?;
        let (target, is_swmr_writer) = match &link.target {
            LinkTarget::Soft(target) => {
                write!(self.out, "Soft Link {{{}}}", in_line(target))?;
                let target = [walked.source.name.as_bytes(), b"\0", target.as_slice()].concat();
                (target, self.arguments.soft)
            }
            LinkTarget::External { file, path } => {
                let slashes = if path.starts_with(b"/") { "/" } else { "//" };
                write!(self.out, "External Link {{{}{slashes}{}}}", in_line(file), in_line(path))?;
                ([file.as_slice(), b"\0\0", path].concat(), self.arguments.external)
            }
            _ => {
                writeln!(self.out, "UD Link {{cannot follow UD links}}")?;
                return Ok(());
            }
        };
        if !is_swmr_writer {
            self.out.write_all(b"\n")?;
            return Ok(());
        }
        if !self.visited.insert(target) {
            writeln!(self.out, " {{Already Visited}}")?;
            return Ok(());
        }
        let out = leads_out(&walked.group, &link.target, 0);
        match walked.group.object(&link.name_lossy()) {
            Ok(object) => {
                let inside = (path.to_vec(), from_root.to_vec());
                self.target(walked, &object, out, inside)
            }
            Err(error) => {
                writeln!(self.out, " {{**NOT FOUND**}}")?;
                if out.is_some() {
                    self.opened += OPENS_WITHOUT_TARGET;
                }
                self.is_complete &= !self.arguments.no_dangling;
                // The line above says that the target is missing. Other reasons are reported here.
                if error.kind() != ErrorKind::NotFound {
                    complain(&format!("{error}: {}", cause(&error)));
                }
                Ok(())
            }
        }
    }

    /// Prints the target of a link in braces, and the members of a group. If the target lies in
    /// another file, `out` is the name of that file.
    fn target(
        &mut self,
        walked: &Walked<'_>,
        object: &Object,
        out: Option<String>,
        (path, from_root): (Vec<u8>, Vec<u8>),
    ) -> Result<()> {
        let is_entered = self.arguments.recursive && object.kind() == Some(ObjectKind::Group);
        let before = self.opened;
        let other = out.as_deref().map(|name| self.other(name, object, is_entered)).transpose()?;
        self.out.write_all(b" {")?;
        let shown = self.object(other.as_ref().unwrap_or(walked.source), object, true);
        self.out.write_all(b"}\n")?;
        shown?;
        if !is_entered {
            return Ok(());
        }
        let held = self.held.len();
        let other = other.map(|source| {
            let number = self.number_of(&source.name).unwrap_or(before + OPENS_FOR_GROUP);
            self.held.push((source.name.clone(), number));
            source.numbered(number)
        });
        // A new walk begins with the group, so that no other object counts as shown.
        let mut shown = Shown::from([(object.token(), from_root.clone())]);
        let inside = Walked {
            source: other.as_ref().unwrap_or(walked.source),
            group: object.clone().into_group()?,
            path,
            from_root,
            level: walked.level + 1,
        };
        let listed = self.members(&inside, &mut shown);
        self.held.truncate(held);
        listed
    }

    /// Returns the file number that h5ls shows for a file. Returns `None` if h5ls is not listing
    /// the file.
    fn number_of(&self, name: &str) -> Option<u64> {
        self.held.iter().rev().find(|(held, _)| held == name).map(|(_, number)| *number)
    }

    /// Returns the file that contains the target of an external link, with the file number that the
    /// C tool h5ls shows.
    fn other(&mut self, name: &str, object: &Object, is_entered: bool) -> Result<SourceFile> {
        let number = self.number_of(name);
        let (before_location, all) = if is_entered {
            (OPENS_BEFORE_LOCATION + 1, OPENS_FOR_GROUP)
        } else {
            (OPENS_BEFORE_LOCATION, OPENS_IN_ALL)
        };
        let next = self.opened + before_location;
        self.opened += all;
        let shared = number.unwrap_or(next + 1);
        Ok(SourceFile::new(object.containing_file()?, name.to_owned(), number.unwrap_or(next), shared))
    }
}

/// Returns the message of an error's innermost cause. Links in a cycle produce a long chain of
/// contexts.
fn cause(error: &hyperslab::Error) -> String {
    error.without_context().to_string()
}

/// Returns the name of the other file to which a link leads, directly or through further links.
fn leads_out(group: &Group, target: &LinkTarget, depth: usize) -> Option<String> {
    let path = match target {
        LinkTarget::External { file, .. } => return Some(String::from_utf8_lossy(file).into_owned()),
        LinkTarget::Soft(path) if depth < MAX_LINKS => String::from_utf8_lossy(path).into_owned(),
        _ => return None,
    };
    let mut at = match path.strip_prefix('/') {
        Some(_) => group.containing_file().ok()?.root().clone(),
        None => group.clone(),
    };
    let mut names = path.split('/').filter(|name| !name.is_empty() && *name != ".").peekable();
    while let Some(name) = names.next() {
        let link = at.link(name).ok()??;
        if let Some(file) = leads_out(&at, &link.target, depth + 1) {
            return Some(file);
        }
        if names.peek().is_some() {
            at = at.group(name).ok()?;
        }
    }
    None
}
