//! Links that are not hard, and what they lead to.

use anyhow::Result;
use hyperslab::{ErrorKind, Group, Link, LinkTarget, Object, ObjectKind};

use super::list::{Shown, Walked};
use super::place::OpenedFile;
use super::{List, complain};
use crate::output::in_line;

/// Links behind each other that are looked through for one that leads to another file.
const MOST_LINKS: usize = 16;

/// How often the C tool opens the file that a link leads to until the object's place is printed, and until all of it
/// is; each time counts in the numbers of files.
const LOOKS: u64 = 3;
const ALL_LOOKS: u64 = 4;
/// How often if it lists what is in a group.
const LOOKS_INSIDE: u64 = 6;
/// How often if the link leads nowhere.
const VAIN_LOOKS: u64 = 2;

impl List<'_> {
    /// A soft, external or user-defined link, and what it leads to if it is to be followed. It is shown as `name`; what is
    /// in it with `path` before its names.
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
                let target = [walked.place.name.as_bytes(), b"\0", target.as_slice()].concat();
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
                    self.opened = self.opened.saturating_add(VAIN_LOOKS);
                }
                self.is_complete &= !self.arguments.no_dangling;
                // That it is not there has been said; why it cannot be followed else has not.
                if error.kind() != ErrorKind::NotFound {
                    complain(&format!("{error}: {}", cause(&error)));
                }
                Ok(())
            }
        }
    }

    /// What a link leads to, in braces, and what is in it if it is a group. `out` is the other file that it is in.
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
        let shown = self.object(other.as_ref().unwrap_or(walked.place), object, true);
        self.out.write_all(b"}\n")?;
        shown?;
        if !is_entered {
            return Ok(());
        }
        let held = self.held.len();
        let other = other.map(|place| {
            let number = self.number_of(&place.name).unwrap_or(before.saturating_add(LOOKS_INSIDE));
            self.held.push((place.name.clone(), number));
            place.numbered(number)
        });
        // In it a walk of its own begins, before which nothing was shown.
        let mut shown = Shown::from([(object.token(), from_root.clone())]);
        let inside = Walked {
            place: other.as_ref().unwrap_or(walked.place),
            group: object.clone().into_group()?,
            path,
            from_root,
            level: walked.level.saturating_add(1),
        };
        let listed = self.members(&inside, &mut shown);
        self.held.truncate(held);
        listed
    }

    /// The number of a file that is being listed.
    fn number_of(&self, name: &str) -> Option<u64> {
        self.held.iter().rev().find(|(held, _)| held == name).map(|(_, number)| *number)
    }

    /// The other file that an object is in.
    fn other(&mut self, name: &str, object: &Object, is_entered: bool) -> Result<OpenedFile> {
        let number = self.number_of(name);
        let (looks, all) =
            if is_entered { (LOOKS.saturating_add(1), LOOKS_INSIDE) } else { (LOOKS, ALL_LOOKS) };
        let next = self.opened.saturating_add(looks);
        self.opened = self.opened.saturating_add(all);
        let shared = number.unwrap_or(next.saturating_add(1));
        Ok(OpenedFile::new(object.containing_file()?, name.to_owned(), number.unwrap_or(next), shared))
    }
}

/// What an error comes from in the end: of links that lead in circles there is a long way to it.
fn cause(error: &hyperslab::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// The name of the other file that a link leads to, itself or through others.
fn leads_out(group: &Group, target: &LinkTarget, depth: usize) -> Option<String> {
    let path = match target {
        LinkTarget::External { file, .. } => return Some(String::from_utf8_lossy(file).into_owned()),
        LinkTarget::Soft(path) if depth < MOST_LINKS => String::from_utf8_lossy(path).into_owned(),
        _ => return None,
    };
    let mut at = match path.strip_prefix('/') {
        Some(_) => group.containing_file().ok()?.root().clone(),
        None => group.clone(),
    };
    let mut names = path.split('/').filter(|name| !name.is_empty() && *name != ".").peekable();
    while let Some(name) = names.next() {
        let link = at.link(name).ok()??;
        if let Some(file) = leads_out(&at, &link.target, depth.saturating_add(1)) {
            return Some(file);
        }
        if names.peek().is_some() {
            at = at.group(name).ok()?;
        }
    }
    None
}
