//! The elements of datasets and attributes.

use anyhow::Result;
use hyperslab::{
    Attribute, Dataset, Dataspace, Datatype, DatatypeClass, ObjectKind, ObjectToken, ReferenceTarget,
    Selection, Stored,
};

use super::List;
use super::elements::Elements;
use super::place::OpenedFile;
use super::text::{Characters, Lines, Margins};
use crate::output::in_line;
use crate::tools::ddl::elements::Names as _;
use crate::tools::ddl::region::{Places, places};
use crate::tools::ddl::space::dataspace;
use crate::tools::ddl::types::datatype;
use crate::tools::ddl::{LEVEL, spaces};
use crate::tools::pieces::pieces;

/// How far in the elements of a dataset stand, and those of an attribute.
const DATASET: usize = 9;
const ATTRIBUTE: usize = 15;

/// How far the words stand behind that that nothing can be printed.
const APOLOGY: usize = 8;

/// Where elements stand.
#[derive(Debug, Clone, Copy)]
struct Block {
    indent: usize,
    of_attribute: bool,
}

impl List<'_> {
    /// The elements of a dataset, on lines behind a heading.
    pub(super) fn dataset_data(&mut self, place: &OpenedFile, dataset: &Dataset) -> Result<()> {
        writeln!(self.out, "    Data:")?;
        let block = Block { indent: DATASET, of_attribute: false };
        let written = self.dataset_elements(place, dataset, block);
        written.or_else(|error| self.unable(error, block))
    }

    /// The elements of an attribute, on lines behind a heading.
    pub(super) fn attribute_data(&mut self, place: &OpenedFile, attribute: &Attribute) -> Result<()> {
        writeln!(self.out, "        Data:")?;
        let block = Block { indent: ATTRIBUTE, of_attribute: true };
        match attribute.dataspace() {
            // Nothing is wrong with it; so it is said nevertheless.
            Ok(Dataspace::Null) => return self.apology(block),
            Ok(space) if is_empty(&space) => return Ok(self.out.write_all(b"\n")?),
            _ => {}
        }
        let written = match attribute.read_stored() {
            Ok(stored) => {
                let datatype = stored.datatype().clone();
                self.elements(place, &datatype, block, std::iter::once(Ok(stored)))
            }
            Err(error) => Err(error.into()),
        };
        written.or_else(|error| self.unable(error, block))
    }

    fn apology(&mut self, block: Block) -> Result<()> {
        writeln!(self.out, "{}Unable to print data.", spaces(block.indent.saturating_add(APOLOGY)))?;
        Ok(())
    }

    /// Says that elements cannot be printed, and why, unless nobody listens.
    fn unable(&mut self, error: anyhow::Error, block: Block) -> Result<()> {
        self.apology(block)?;
        self.failed(error.context("unable to print data"))
    }

    fn dataset_elements(&mut self, place: &OpenedFile, dataset: &Dataset, block: Block) -> Result<()> {
        let space = dataset.dataspace();
        if is_empty(&space) {
            self.out.write_all(b"\n")?;
            return Ok(());
        }
        let size = u64::from(dataset.datatype().size);
        let read = |selection: Result<Selection>| Ok(dataset.read_stored(&selection?)?);
        let stored = pieces(space.dims(), size).map(read);
        self.elements(place, dataset.datatype(), block, stored)
    }

    /// Elements that come piece by piece.
    fn elements(
        &mut self,
        place: &OpenedFile,
        datatype: &Datatype,
        block: Block,
        mut pieces: impl Iterator<Item = Result<Stored>>,
    ) -> Result<()> {
        if is_reference(datatype) {
            for stored in pieces {
                self.references(place, &stored?, block)?;
            }
            // An empty line closes them.
            self.out.write_all(b"\n")?;
            return Ok(());
        }
        // What cannot be read at all has no lines.
        let Some(first) = pieces.next() else { return Ok(()) };
        let first = first?;
        let pieces = std::iter::once(Ok(first)).chain(pieces);
        let margins = self.margins(block);
        if self.arguments.characters && !self.arguments.hexadecimal && is_character(datatype) {
            let mut characters = Characters::new(self.out, margins);
            for stored in pieces {
                characters.bytes(stored?.bytes())?;
            }
            return Ok(characters.end()?);
        }
        let names = place.names();
        let mut lines = Lines::new(self.out, margins);
        // Whether an element is the last one is known when there is no other one.
        let mut pieces = pieces.peekable();
        while let Some(stored) = pieces.next() {
            let stored = stored?;
            let elements = Elements { style: &self.style, stored: &stored, names: &names };
            let count = stored.len();
            for (number, bytes) in (1..).zip(stored.elements()) {
                let is_last = number == count && pieces.peek().is_none();
                lines.element(&elements.text(datatype, bytes)?, is_last)?;
            }
        }
        Ok(lines.end()?)
    }

    /// Elements of attributes leave three columns at the end of a line empty; parts of elements one more.
    fn margins(&self, block: Block) -> Margins {
        let Block { indent, of_attribute } = block;
        let simple = self.arguments.simple;
        let indent = if simple { indent.saturating_sub(1) } else { indent };
        let width = self.arguments.width.saturating_sub(if of_attribute { 3 } else { 0 });
        let further = usize::from(of_attribute && !simple);
        Margins { indent, further, width, simple }
    }

    /// References, each on lines of its own.
    fn references(&mut self, place: &OpenedFile, stored: &Stored, block: Block) -> Result<()> {
        let DatatypeClass::Reference(kind) = &stored.datatype().class else { return Ok(()) };
        let before = spaces(self.margins(block).indent);
        for bytes in stored.elements() {
            match stored.reference(*kind, bytes) {
                Ok(ReferenceTarget::Object(token)) => {
                    writeln!(self.out, "{before}{}", place.names().of(token))?;
                    self.referred(place, token, block).or_else(|error| self.failed(error))?;
                }
                Ok(ReferenceTarget::Region(token, selection)) => {
                    let shown = self.region(place, token, &selection, block);
                    shown.or_else(|error| self.failed(error))?;
                }
                Ok(ReferenceTarget::Attribute(token, name)) => {
                    let mut path = place.names().of(token);
                    path.pop();
                    writeln!(self.out, "{before}{path}/{}\"", in_line(&name))?;
                }
                Ok(_) => writeln!(self.out, "{before}NULL")?,
                Err(error) => {
                    writeln!(self.out, "{before}NULL")?;
                    self.failed(anyhow::Error::new(error).context("unable to follow a reference"))?;
                }
            }
        }
        Ok(())
    }

    /// What is in an object that is referred to: the elements of a dataset, nothing of others. Those of references are not: they may lead in circles.
    fn referred(&mut self, place: &OpenedFile, token: ObjectToken, block: Block) -> Result<()> {
        let object = place.file.object_at(token)?;
        let dataset = match object.kind() {
            Some(ObjectKind::Dataset) => Some(object.into_dataset()?),
            _ => None,
        };
        if dataset.as_ref().is_some_and(|dataset| is_reference(dataset.datatype())) {
            return Ok(());
        }
        let indent = self.margins(block).indent.saturating_add(LEVEL);
        writeln!(self.out, "{}DATA {{", spaces(indent))?;
        if let Some(dataset) = dataset.filter(|dataset| !is_empty(&dataset.dataspace())) {
            let inside = Block { indent: block.indent.saturating_add(2 * LEVEL), of_attribute: false };
            self.dataset_elements(place, &dataset, inside).or_else(|error| self.unable(error, inside))?;
        }
        writeln!(self.out, "{}}}", spaces(indent))?;
        Ok(())
    }

    fn region(
        &mut self,
        place: &OpenedFile,
        token: ObjectToken,
        selection: &Selection,
        block: Block,
    ) -> Result<()> {
        let dataset = place.file.object_at(token)?.into_dataset()?;
        let Margins { indent, further, .. } = self.margins(block);
        let (before, inside) = (spaces(indent), indent.saturating_add(LEVEL));
        writeln!(self.out, "{before}{} {{", place.names().of(token))?;
        let manner = Places { numbered: true, further: further.saturating_add(1) };
        for line in places(selection, inside, manner) {
            writeln!(self.out, "{}{line}", spaces(inside))?;
        }
        writeln!(self.out, "{}DATATYPE  {}", spaces(inside), datatype(dataset.datatype(), inside))?;
        writeln!(self.out, "{}DATASPACE  {}", spaces(inside), dataspace(&dataset.dataspace()))?;
        writeln!(self.out, "{before}}}")?;
        Ok(())
    }
}

fn is_empty(space: &Dataspace) -> bool {
    matches!(space, Dataspace::Null) || space.dims().contains(&0)
}

fn is_reference(datatype: &Datatype) -> bool {
    matches!(datatype.class, DatatypeClass::Reference(_))
}

fn is_character(datatype: &Datatype) -> bool {
    datatype.size == 1 && matches!(datatype.class, DatatypeClass::FixedPoint(_))
}
