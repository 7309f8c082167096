//! Soft, external and user-defined links in the output of h5dump.

use std::io::Write;

use anyhow::Result;
use hyperslab::{Group, Link, LinkTarget};

use super::Dump;
use crate::tools::ddl::{LEVEL, quoted};
use crate::tools::known::Known;

/// The largest number of external links from file to file that h5dump follows.
const MAX_HOPS: u32 = 16;
/// The largest number of external links for which h5dump prints the targets.
const MAX_FOLLOWED: u32 = 4096;

impl Dump<'_> {
    /// Prints a soft, external or user-defined link for h5dump. If `group` contains the link and
    /// the link is external, also prints its target.
    pub(super) fn link(&mut self, link: &Link, group: Option<&Group>, indent: usize) -> Result<()> {
        let name = quoted(&link.name);
        let inside = indent + LEVEL;
        match &link.target {
            LinkTarget::Soft(path) => {
                self.line(indent, &format!("SOFTLINK {name} {{"))?;
                self.line(inside, &format!("LINKTARGET {}", quoted(path)))?;
            }
            LinkTarget::External { file, path } => {
                self.line(indent, &format!("EXTERNAL_LINK {name} {{"))?;
                self.line(inside, &format!("TARGETFILE {}", quoted(file)))?;
                self.line(inside, &format!("TARGETPATH {}", quoted(path)))?;
                if let Some(group) = group {
                    self.external(group, &link.name, (file, path), inside + LEVEL)?;
                }
            }
            LinkTarget::UserDefined { class, .. } => {
                self.line(indent, &format!("USERDEFINED_LINK {name} {{"))?;
                self.line(inside, &format!("LINKCLASS {class}"))?;
            }
            _ => self.line(indent, &format!("LINK {name} {{"))?,
        }
        self.line(indent, "}")?;
        Ok(())
    }

    /// Prints the target of an external link, if the target can be opened.
    fn external(
        &mut self,
        group: &Group,
        name: &[u8],
        (file, path): (&[u8], &[u8]),
        indent: usize,
    ) -> Result<()> {
        if self.hops >= MAX_HOPS || self.followed >= MAX_FOLLOWED {
            return Ok(());
        }
        let Some(object) = std::str::from_utf8(name).ok().and_then(|name| group.object(name).ok()) else {
            return Ok(());
        };
        let other = object.containing_file()?;
        let mut inner = Dump {
            file: &other,
            name: String::from_utf8_lossy(file).into_owned(),
            arguments: self.arguments,
            known: Known::of(&other),
            style: self.style.clone(),
            out: &mut *self.out,
            data: self.data.as_mut().map(|data| &mut **data as &mut dyn Write),
            is_complete: true,
            hops: self.hops + 1,
            followed: self.followed + 1,
            reference_path: Vec::new(),
            nested_lists: self.nested_lists,
            is_limit_told: self.is_limit_told,
        };
        let shown = inner.linked(&object, &quoted(path), indent);
        (self.is_complete, self.followed) = (self.is_complete && inner.is_complete, inner.followed);
        (self.nested_lists, self.is_limit_told) = (inner.nested_lists, inner.is_limit_told);
        shown
    }
}
