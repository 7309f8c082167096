//! Links that are not hard.

use anyhow::Result;
use hyperslab::{Link, LinkTarget};

use super::Dump;
use crate::tools::ddl::{LEVEL, quoted};

impl Dump<'_> {
    /// A soft, external or user-defined link.
    pub(super) fn link(&mut self, link: &Link, indent: usize) -> Result<()> {
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
}
