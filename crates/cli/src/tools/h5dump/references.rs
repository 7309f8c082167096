//! References, with the elements of their targets, in the output of h5dump.

use anyhow::{Result, anyhow};
use hyperslab::datatype::Reference;
use hyperslab::{DatatypeClass, Object, ObjectKind, ObjectToken, ReferenceTarget, Selection, Stored};

use super::Dump;
use crate::tools::ddl::elements::Names as _;
use crate::tools::ddl::region::{ListFormat, region_lines};
use crate::tools::ddl::space::dataspace;
use crate::tools::ddl::types::datatype;
use crate::tools::ddl::{LEVEL, quoted};
use crate::tools::known::Paths;

/// The largest number of datasets of references that h5dump follows one after the other.
const MAX_REFERENCES_IN_PATH: usize = 16;
/// The largest number of datasets of references that h5dump prints as targets of references in one
/// file. Few datasets that refer to each other would otherwise give an endless output.
const MAX_NESTED_LISTS: u32 = 10_000;

/// The place of a reference in the output of h5dump.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// True for the first reference of a list.
    is_first: bool,
    indent: usize,
}

impl Dump<'_> {
    /// Prints references with the elements of their targets for h5dump. Each reference is on
    /// separate lines. `has_before` is true if the references continue a list.
    pub(super) fn references(&mut self, stored: &Stored, has_before: bool, indent: usize) -> Result<()> {
        let DatatypeClass::Reference(kind) = &stored.datatype().class else { return Ok(()) };
        for (number, bytes) in stored.elements().enumerate() {
            let place = Place { is_first: number == 0 && !has_before, indent };
            // If a reference cannot be followed, continue with the next reference.
            if let Err(error) = self.reference(stored, *kind, bytes, place) {
                self.failed(error.context("unable to follow a reference"))?;
            }
        }
        Ok(())
    }

    fn reference(&mut self, stored: &Stored, kind: Reference, bytes: &[u8], place: Place) -> Result<()> {
        let indent = place.indent;
        let target = stored.reference(kind, bytes);
        match target {
            Ok(ReferenceTarget::Object(token)) => self.object_reference(token, indent)?,
            Ok(ReferenceTarget::Region(token, selection)) => self.region(token, &selection, place)?,
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

    /// Prints the elements of a dataset to which a reference leads. If these elements are
    /// references, follows them too, unless they form a cycle.
    fn object_data(&mut self, object: Object, indent: usize) -> Result<()> {
        if object.kind() != Some(ObjectKind::Dataset) {
            return Ok(());
        }
        let dataset = object.into_dataset()?;
        if !matches!(dataset.datatype().class, DatatypeClass::Reference(_)) {
            return self.dataset_data(&dataset, None, indent + LEVEL);
        }
        let token = dataset.token();
        if self.reference_path.contains(&token) {
            return Ok(());
        }
        if self.reference_path.len() >= MAX_REFERENCES_IN_PATH || self.nested_lists >= MAX_NESTED_LISTS {
            return self.stops_at_limit();
        }
        self.nested_lists += 1;
        self.reference_path.push(token);
        let written = self.dataset_data(&dataset, None, indent + LEVEL);
        self.reference_path.pop();
        written
    }

    /// Reports once that some references to references are not followed.
    fn stops_at_limit(&mut self) -> Result<()> {
        if self.is_limit_told {
            return Ok(());
        }
        self.is_limit_told = true;
        self.failed(anyhow!(
            "references to references are followed at most {MAX_REFERENCES_IN_PATH} deep and {MAX_NESTED_LISTS} times"
        ))
    }

    fn region(&mut self, token: ObjectToken, selection: &Selection, place: Place) -> Result<()> {
        let (name, indent) = (self.named(token), place.indent);
        // The C tool prints a space before the brace of each region except the first one of a list,
        // and one more space for blocks.
        let spaces = usize::from(!place.is_first)
            + match selection {
                Selection::Points(_) => 0,
                Selection::Hyperslab(_) => 1,
                // The C tool prints only the path if a region has neither points nor blocks.
                _ => return Ok(self.line(indent, &name)?),
            };
        self.line(indent, &format!("{name}{:spaces$}{{", ""))?;
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
