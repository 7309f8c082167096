//! Groups and their members in the output of h5ls.

use std::collections::HashMap;

use anyhow::{Result, anyhow};
use hyperslab::{Group, Link, LinkTarget, Object, ObjectKind, ObjectToken};

use super::List;
use super::names::{Quotes, escaped};
use super::source::SourceFile;
use crate::tools::known::MAX_LEVELS;

/// The width of h5ls's name column.
const NAME_COLUMNS: usize = 24;

/// The objects that h5ls has printed during one walk, each with the path at which it was printed
/// first.
pub(super) type Shown = HashMap<ObjectToken, Vec<u8>>;

/// A group whose members h5ls is listing.
pub(super) struct Walked<'a> {
    pub(super) source: &'a SourceFile,
    pub(super) group: Group,
    /// The path that is printed before the names of links. It begins where the walk began.
    pub(super) path: Vec<u8>,
    /// The path from the root group. Later entries of the same object show this path.
    pub(super) from_root: Vec<u8>,
    pub(super) level: usize,
}

impl Walked<'_> {
    fn below(path: &[u8], name: &[u8]) -> Vec<u8> {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        [path, b"/", name].concat()
    }
}

impl List<'_> {
    /// Prints a name in h5ls's name column.
    pub(super) fn name(&mut self, path: &[u8]) -> Result<()> {
        self.at = String::from_utf8_lossy(path).into_owned();
        let shown = if self.arguments.full || self.arguments.recursive {
            [&self.prefix, path].concat()
        } else {
            path.rsplit(|byte| *byte == b'/').next().unwrap_or(path).to_vec()
        };
        write!(self.out, "{:<NAME_COLUMNS$} ", escaped(&shown, Quotes::No))?;
        Ok(())
    }

    /// Prints the members of a group for h5ls. If `shown` contains a member, prints only its
    /// earlier path.
    pub(super) fn members(&mut self, walked: &Walked<'_>, shown: &mut Shown) -> Result<()> {
        if walked.level > MAX_LEVELS {
            let path = String::from_utf8_lossy(&walked.from_root);
            return Err(anyhow!("group {path} is deeper than {MAX_LEVELS} levels"));
        }
        for link in walked.group.links()? {
            let listed = self.member(walked, &link, shown);
            listed.or_else(|error| self.failed(error))?;
        }
        Ok(())
    }

    fn member(&mut self, walked: &Walked<'_>, link: &Link, shown: &mut Shown) -> Result<()> {
        let path = Walked::below(&walked.path, &link.name);
        let from_root = Walked::below(&walked.from_root, &link.name);
        let LinkTarget::Hard(token) = link.target else {
            return self.link(walked, link, &path, &path, &from_root);
        };
        self.name(&path)?;
        let object = match walked.source.file.object_at(token) {
            Ok(object) => object,
            Err(error) => {
                writeln!(self.out, "*ERROR*")?;
                return Err(error.into());
            }
        };
        if let Some(first) = shown.get(&token) {
            let first = escaped(first, Quotes::No);
            writeln!(self.out, "{}, same as {first}", word(&object))?;
            return Ok(());
        }
        shown.insert(token, from_root.clone());
        self.object(walked.source, &object, false).or_else(|error| self.failed(error))?;
        if !self.arguments.recursive || object.kind() != Some(ObjectKind::Group) {
            return Ok(());
        }
        let level = walked.level + 1;
        let group = object.into_group()?;
        self.members(&Walked { source: walked.source, group, path, from_root, level }, shown)
    }
}

fn word(object: &Object) -> &'static str {
    match object.kind() {
        Some(ObjectKind::Group) => "Group",
        Some(ObjectKind::Dataset) => "Dataset",
        Some(ObjectKind::Datatype) => "Type",
        _ => "Unknown type",
    }
}
