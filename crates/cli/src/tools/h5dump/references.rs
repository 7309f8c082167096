//! References: what they lead to, with its values.

use anyhow::Result;
use hyperslab::{ObjectKind, ObjectToken, ReferenceTarget, Selection, Stored};

use super::Dump;
use crate::tools::ddl::LEVEL;
use crate::tools::ddl::elements::Names as _;
use crate::tools::ddl::region::{Places, places};
use crate::tools::ddl::space::dataspace;
use crate::tools::ddl::types::datatype;
use crate::tools::known::Paths;

impl Dump<'_> {
    /// References, each on lines of its own.
    pub(super) fn references(&mut self, stored: &Stored, indent: usize) -> Result<()> {
        let hyperslab::DatatypeClass::Reference(kind) = &stored.datatype().class else { return Ok(()) };
        for bytes in stored.elements() {
            match stored.reference(*kind, bytes) {
                Ok(ReferenceTarget::Object(token)) => self.object_reference(token, indent)?,
                Ok(ReferenceTarget::Region(token, selection)) => self.region(token, &selection, indent)?,
                Ok(ReferenceTarget::Attribute(token, name)) => {
                    let object = self.file.object_at(token)?;
                    let attribute = object.attr(&String::from_utf8_lossy(&name))?;
                    let path = self.named(token);
                    self.line(indent, &path)?;
                    // References may lead in circles.
                    if !matches!(attribute.datatype()?.class, hyperslab::DatatypeClass::Reference(_)) {
                        self.attribute_data(&attribute, indent + LEVEL)?;
                    }
                }
                Ok(_) => self.line(indent, "NULL")?,
                Err(error) => {
                    self.failed(anyhow::Error::new(error).context("unable to follow a reference"))?;
                    self.line(indent, "NULL")?;
                }
            }
        }
        Ok(())
    }

    fn named(&self, token: ObjectToken) -> String {
        Paths { name: &self.name, known: &self.known }.of(token)
    }

    fn object_reference(&mut self, token: ObjectToken, indent: usize) -> Result<()> {
        let name = self.named(token);
        self.line(indent, &name)?;
        let object = self.file.object_at(token)?;
        if object.kind() == Some(ObjectKind::Dataset) {
            let dataset = object.into_dataset()?;
            if !matches!(dataset.datatype().class, hyperslab::DatatypeClass::Reference(_)) {
                self.dataset_data(&dataset, None, indent + LEVEL)?;
            }
        }
        Ok(())
    }

    fn region(&mut self, token: ObjectToken, selection: &Selection, indent: usize) -> Result<()> {
        let name = self.named(token);
        self.line(indent, &format!("{name} {{"))?;
        let inside = indent + LEVEL;
        let dataset = self.file.object_at(token)?.into_dataset()?;
        for line in places(selection, inside, Places::default()) {
            self.line(inside, &line)?;
        }
        self.line(inside, &format!("DATATYPE  {}", datatype(dataset.datatype(), inside)))?;
        self.line(inside, &format!("DATASPACE  {}", dataspace(&dataset.dataspace())))?;
        self.line(indent, "}")?;
        Ok(())
    }
}
