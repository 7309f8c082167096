//! References, with the elements of their targets, in the output of h5dump.

use anyhow::Result;
use hyperslab::datatype::Reference;
use hyperslab::{DatatypeClass, Object, ObjectKind, ObjectToken, ReferenceTarget, Selection, Stored};

use super::Dump;
use crate::tools::ddl::elements::Names as _;
use crate::tools::ddl::region::{ListFormat, region_lines};
use crate::tools::ddl::space::dataspace;
use crate::tools::ddl::types::datatype;
use crate::tools::ddl::{LEVEL, quoted};
use crate::tools::known::Paths;

impl Dump<'_> {
    /// Prints references with the elements of their targets for h5dump. Each reference is on
    /// separate lines.
    pub(super) fn references(&mut self, stored: &Stored, indent: usize) -> Result<()> {
        let DatatypeClass::Reference(kind) = &stored.datatype().class else { return Ok(()) };
        for bytes in stored.elements() {
            // If a reference cannot be followed, continue with the next reference.
            if let Err(error) = self.reference(stored, *kind, bytes, indent) {
                self.failed(error.context("unable to follow a reference"))?;
            }
        }
        Ok(())
    }

    fn reference(&mut self, stored: &Stored, kind: Reference, bytes: &[u8], indent: usize) -> Result<()> {
        let target = stored.reference(kind, bytes);
        match target {
            Ok(ReferenceTarget::Object(token)) => self.object_reference(token, indent)?,
            Ok(ReferenceTarget::Region(token, selection)) => self.region(token, &selection, indent)?,
            Ok(ReferenceTarget::Attribute(token, name)) => {
                let path = self.named(token);
                self.line(indent, &path)?;
                let attribute = self.file.object_at(token)?.attribute(&String::from_utf8_lossy(&name))?;
                // References may form cycles.
                if !matches!(attribute.datatype()?.class, DatatypeClass::Reference(_)) {
                    self.attribute_data(&attribute, indent + LEVEL)?;
                }
            }
            Ok(ReferenceTarget::External { file, .. }) => {
                let object = stored.follow(kind, bytes)?.object()?;
                let word = match object.kind() {
                    Some(ObjectKind::Dataset) => "DATASET",
                    Some(ObjectKind::Datatype) => "DATATYPE",
                    _ => "GROUP",
                };
                let path = [&file, b" ".as_slice(), object.name().as_bytes()].concat();
                self.line(indent, &format!("{word} {}", quoted(&path)))?;
                self.object_data(object, indent)?;
            }
            Ok(_) => self.line(indent, "NULL")?,
            Err(error) => {
                self.line(indent, "NULL")?;
                return Err(error.into());
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
        self.object_data(self.file.object_at(token)?, indent)
    }

    /// Prints the elements of a dataset to which a reference leads.
    fn object_data(&mut self, object: Object, indent: usize) -> Result<()> {
        if object.kind() == Some(ObjectKind::Dataset) {
            let dataset = object.into_dataset()?;
            if !matches!(dataset.datatype().class, DatatypeClass::Reference(_)) {
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
        for line in region_lines(selection, inside, ListFormat::default())? {
            self.line(inside, &line)?;
        }
        self.line(inside, &format!("DATATYPE  {}", datatype(dataset.datatype(), inside)))?;
        self.line(inside, &format!("DATASPACE  {}", dataspace(&dataset.dataspace())))?;
        // References may form cycles.
        if self.arguments.regions && !matches!(dataset.datatype().class, DatatypeClass::Reference(_)) {
            self.region_data(&dataset, selection, inside)?;
        }
        self.line(indent, "}")?;
        Ok(())
    }
}
