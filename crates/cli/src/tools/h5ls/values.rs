//! The elements of datasets and attributes in the output of h5ls.

use anyhow::Result;
use hyperslab::{
    Attribute, Dataset, Dataspace, Datatype, DatatypeClass, ObjectKind, ObjectToken, ReferenceTarget,
    Selection, Stored,
};

use super::List;
use super::elements::Elements;
use super::source::SourceFile;
use super::text::{Characters, Lines, Margins};
use crate::output::in_line;
use crate::tools::ddl::elements::Names as _;
use crate::tools::ddl::region::{ListFormat, region_lines};
use crate::tools::ddl::space::dataspace;
use crate::tools::ddl::types::datatype;
use crate::tools::ddl::{LEVEL, spaces};
use crate::tools::pieces::pieces;

/// The indentation of a dataset's elements in h5ls's output.
const DATASET_INDENT: usize = 9;
/// The indentation of an attribute's elements in h5ls's output.
const ATTRIBUTE_INDENT: usize = 15;

/// The additional indentation of h5ls's message that data cannot be printed.
const MESSAGE_INDENT: usize = 8;

/// The indentation of elements that h5ls prints, and a flag that is true for elements of an
/// attribute.
#[derive(Debug, Clone, Copy)]
struct Block {
    indent: usize,
    of_attribute: bool,
}

impl List<'_> {
    /// Prints the elements of a dataset after a heading for h5ls.
    pub(super) fn dataset_data(&mut self, source: &SourceFile, dataset: &Dataset) -> Result<()> {
        writeln!(self.out, "    Data:")?;
        let block = Block { indent: DATASET_INDENT, of_attribute: false };
        let written = self.dataset_elements(source, dataset, block);
        written.or_else(|error| self.unable(error, block))
    }

    /// Prints the elements of an attribute after a heading for h5ls.
    pub(super) fn attribute_data(&mut self, source: &SourceFile, attribute: &Attribute) -> Result<()> {
        writeln!(self.out, "        Data:")?;
        let block = Block { indent: ATTRIBUTE_INDENT, of_attribute: true };
        match attribute.dataspace() {
            // The C tool prints the same message for a null dataspace, although a null dataspace is
            // not an error.
            Ok(Dataspace::Null) => return self.cannot_print(block),
            Ok(space) if is_empty(&space) => return Ok(self.out.write_all(b"\n")?),
            _ => {}
        }
        let written = match attribute.read_stored() {
            Ok(stored) => {
                let datatype = stored.datatype().clone();
                self.elements(source, &datatype, block, std::iter::once(Ok(stored)))
            }
            Err(error) => Err(error.into()),
        };
        written.or_else(|error| self.unable(error, block))
    }

    fn cannot_print(&mut self, block: Block) -> Result<()> {
        writeln!(self.out, "{}Unable to print data.", spaces(block.indent + MESSAGE_INDENT))?;
        Ok(())
    }

    /// Prints a message that elements cannot be printed, with the reason.
    fn unable(&mut self, error: anyhow::Error, block: Block) -> Result<()> {
        self.cannot_print(block)?;
        self.failed(error.context("unable to print data"))
    }

    fn dataset_elements(&mut self, source: &SourceFile, dataset: &Dataset, block: Block) -> Result<()> {
        let space = dataset.dataspace();
        if is_empty(&space) {
            self.out.write_all(b"\n")?;
            return Ok(());
        }
        let size = u64::from(dataset.datatype().size);
        let read = |selection: Result<Selection>| Ok(dataset.read_stored(&selection?)?);
        let stored = pieces(space.dims(), size).map(read);
        self.elements(source, dataset.datatype(), block, stored)
    }

    /// Prints the elements of a dataset or attribute, piece by piece.
    fn elements(
        &mut self,
        source: &SourceFile,
        datatype: &Datatype,
        block: Block,
        mut pieces: impl Iterator<Item = Result<Stored>>,
    ) -> Result<()> {
        if is_reference(datatype) {
            for stored in pieces {
                self.references(source, &stored?, block)?;
            }
            // An empty line follows references.
            self.out.write_all(b"\n")?;
            return Ok(());
        }
        // If no data can be read, no lines are printed.
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
        let names = source.names();
        let mut lines = Lines::new(self.out, margins);
        // An element is the last one if no further piece follows.
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

    /// Returns the margins of h5ls's output lines. For elements of attributes, three columns at the
    /// end of a line stay empty, and a line that continues an element begins with one more space.
    fn margins(&self, block: Block) -> Margins {
        let Block { indent, of_attribute } = block;
        let simple = self.arguments.simple;
        let indent = if simple { indent - 1 } else { indent };
        // If the width is less than three columns, no column is left.
        let width = self.arguments.width.saturating_sub(if of_attribute { 3 } else { 0 });
        let further = usize::from(of_attribute && !simple);
        Margins { indent, further, width, simple }
    }

    /// Prints references with the elements of their targets for h5ls. Each reference is on separate
    /// lines.
    fn references(&mut self, source: &SourceFile, stored: &Stored, block: Block) -> Result<()> {
        let DatatypeClass::Reference(kind) = &stored.datatype().class else { return Ok(()) };
        let before = spaces(self.margins(block).indent);
        for bytes in stored.elements() {
            match stored.reference(*kind, bytes) {
                Ok(ReferenceTarget::Object(token)) => {
                    writeln!(self.out, "{before}{}", source.names().of(token))?;
                    self.referred(source, token, block).or_else(|error| self.failed(error))?;
                }
                Ok(ReferenceTarget::Region(token, selection)) => {
                    let shown = self.region(source, token, &selection, block);
                    shown.or_else(|error| self.failed(error))?;
                }
                Ok(ReferenceTarget::Attribute(token, name)) => {
                    let mut path = source.names().of(token);
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

    /// Prints the elements of a dataset to which a reference leads. Prints nothing for other
    /// objects, and nothing for elements that are references, because references may form cycles.
    fn referred(&mut self, source: &SourceFile, token: ObjectToken, block: Block) -> Result<()> {
        let object = source.file.object_at(token)?;
        let dataset = match object.kind() {
            Some(ObjectKind::Dataset) => Some(object.into_dataset()?),
            _ => None,
        };
        if dataset.as_ref().is_some_and(|dataset| is_reference(dataset.datatype())) {
            return Ok(());
        }
        let indent = self.margins(block).indent + LEVEL;
        writeln!(self.out, "{}DATA {{", spaces(indent))?;
        if let Some(dataset) = dataset.filter(|dataset| !is_empty(&dataset.dataspace())) {
            let inside = Block { indent: block.indent + 2 * LEVEL, of_attribute: false };
            self.dataset_elements(source, &dataset, inside).or_else(|error| self.unable(error, inside))?;
        }
        writeln!(self.out, "{}}}", spaces(indent))?;
        Ok(())
    }

    fn region(
        &mut self,
        source: &SourceFile,
        token: ObjectToken,
        selection: &Selection,
        block: Block,
    ) -> Result<()> {
        let dataset = source.file.object_at(token)?.into_dataset()?;
        let Margins { indent, further, .. } = self.margins(block);
        let (before, inside) = (spaces(indent), indent + LEVEL);
        writeln!(self.out, "{before}{} {{", source.names().of(token))?;
        let format = ListFormat { numbered: true, further: further + 1 };
        for line in region_lines(selection, inside, format)? {
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
