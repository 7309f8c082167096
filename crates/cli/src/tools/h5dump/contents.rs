//! The table of contents that h5dump prints: the names of the objects in a file (`-n`).

use anyhow::{Result, anyhow};
use hyperslab::{Attribute, Group, LinkTarget, Object, ObjectKind};

use super::Dump;
use crate::output::in_line;
use crate::tools::known::MAX_LEVELS;

impl Dump<'_> {
    /// Prints h5dump's table of contents: the paths of all objects and, if requested, of their
    /// attributes.
    pub(super) fn contents(&mut self, attributes: bool) -> Result<()> {
        self.line(0, "FILE_CONTENTS {")?;
        for token in self.known.unnamed.clone() {
            self.entry("datatype", &format!("/#{}", token.address()))?;
        }
        let root = self.file.root().clone();
        self.entry("group", "/")?;
        self.known.was_shown(root.token());
        self.names_of_attributes(&root, "", attributes)?;
        self.names(&root, "", attributes)?;
        self.line(0, " }")?;
        Ok(())
    }

    fn entry(&mut self, kind: &str, path: &str) -> Result<()> {
        self.line(0, &format!(" {kind:<10} {}", in_line(path)))?;
        Ok(())
    }

    fn names(&mut self, group: &Group, path: &str, attributes: bool) -> Result<()> {
        for link in self.sorted(group)? {
            let path = format!("{path}/{}", String::from_utf8_lossy(&link.name));
            match &link.target {
                LinkTarget::Hard(token) => {
                    let object = self.file.object_at(*token)?;
                    let word = match object.kind() {
                        Some(ObjectKind::Group) => "group",
                        Some(ObjectKind::Dataset) => "dataset",
                        Some(ObjectKind::Datatype) => "datatype",
                        _ => "unknown",
                    };
                    if self.known.was_shown(*token) {
                        let first = self.known.path(*token).unwrap_or("").to_owned();
                        self.entry(word, &format!("{path} -> {first}"))?;
                        continue;
                    }
                    self.known.name(*token, &path);
                    self.entry(word, &path)?;
                    self.names_of_attributes(&object, &path, attributes)?;
                    if path.split('/').count() > MAX_LEVELS {
                        self.failed(anyhow!("{path} is deeper than {MAX_LEVELS} levels"))?;
                    } else if object.kind() == Some(ObjectKind::Group) {
                        self.names(&object.into_group()?, &path, attributes)?;
                    }
                }
                LinkTarget::Soft(target) => {
                    self.entry("link", &format!("{path} -> {}", String::from_utf8_lossy(target)))?;
                }
                LinkTarget::External { file, path: inside } => {
                    let [file, inside] =
                        [file, inside].map(|part| String::from_utf8_lossy(part).into_owned());
                    self.entry("ext link", &format!("{path} -> {file} {inside}"))?;
                }
                _ => self.entry("unknown type of UD link", &format!("{path} -> ???"))?,
            }
        }
        Ok(())
    }

    fn names_of_attributes(&mut self, object: &Object, path: &str, wanted: bool) -> Result<()> {
        if !wanted {
            return Ok(());
        }
        let mut attributes: Vec<Attribute> = object.attributes()?;
        attributes.sort_by(|one, other| one.name_bytes().cmp(other.name_bytes()));
        if self.arguments.descending {
            attributes.reverse();
        }
        for attribute in attributes {
            self.entry("attribute", &format!("{path}/{}", attribute.name()))?;
        }
        Ok(())
    }
}
