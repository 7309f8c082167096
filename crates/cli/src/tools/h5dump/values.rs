//! The `DATA` blocks of elements in the output of h5dump.

use std::io::Write;

use anyhow::Result;
use hyperslab::{Attribute, Dataset, Datatype, DatatypeClass, Selection, Stored};
use hyperslab_exact::{product, to_u64};

use super::Dump;
use crate::tools::ddl::LEVEL;
use crate::tools::ddl::data::Lines;
use crate::tools::ddl::elements::{Elements, Style};
use crate::tools::known::Paths;
use crate::tools::pieces::pieces;
use crate::tools::subset::SubsetInDataset;

/// The shape of the elements that h5dump prints, and their selection in the dataset.
struct Shape<'a> {
    dims: Vec<u64>,
    taken: Option<&'a SubsetInDataset>,
}

impl Shape<'_> {
    /// Returns the coordinates in the dataset of the element with a given number in the selection.
    fn coordinates(&self, number: u64) -> Vec<u64> {
        let mut rest = number;
        let mut positions = vec![0; self.dims.len()];
        for (position, size) in positions.iter_mut().zip(&self.dims).rev() {
            *position = rest.checked_rem(*size).unwrap_or(0);
            rest = rest.checked_div(*size).unwrap_or(0);
        }
        self.taken.map_or_else(|| positions.clone(), |taken| taken.coordinates(&positions))
    }

    fn count(&self) -> Result<u64> {
        Ok(product("number of elements", self.dims.iter().copied())?)
    }

    /// Returns two numbers for the printed elements: the elements in a row, and the elements in a
    /// plane (the last two dimensions).
    fn row(&self) -> Result<(u64, u64)> {
        let row = self.dims.last().copied().unwrap_or(1).max(1);
        let rows = self.dims.iter().rev().nth(1).copied().unwrap_or(1).max(1);
        Ok((row, product("number of elements in a plane", [row, rows])?))
    }
}

/// The options of h5dump for printing a block of elements.
struct Block<'a> {
    shape: Shape<'a>,
    style: &'a Style,
    names: Paths<'a>,
    indent: usize,
}

impl Block<'_> {
    /// Writes the elements of `stored` to h5dump's output. `first` is the number of the first
    /// element.
    fn write(&self, lines: &mut Lines<'_>, stored: &Stored, first: u64) -> Result<()> {
        let elements = Elements { style: self.style, stored, names: &self.names };
        let (count, (row, plane)) = (self.shape.count()?, self.shape.row()?);
        for (number, bytes) in (first..).zip(stored.elements()) {
            let text = elements.text(stored.datatype(), bytes, self.indent + 2 * LEVEL)?;
            let end = number + 1;
            // The planes of a selection are printed one by one.
            let ends_plane = self.shape.taken.is_some() && self.shape.dims.len() > 1 && end % plane == 0;
            let is_last = end == count || ends_plane;
            lines.element(&self.shape.coordinates(number), &text, number % row == 0, is_last)?;
        }
        Ok(())
    }
}

impl Block<'_> {
    /// Writes the elements of a part of the selection as one row of the output.
    fn write_row(
        &self,
        lines: &mut Lines<'_>,
        stored: &Stored,
        row: &SubsetInDataset,
        ends_plane: bool,
    ) -> Result<()> {
        let elements = Elements { style: self.style, stored, names: &self.names };
        let columns = row.shape().last().copied().unwrap_or(1).max(1);
        let count = to_u64(stored.len());
        for (number, bytes) in (0..).zip(stored.elements()) {
            let text = elements.text(stored.datatype(), bytes, self.indent + 2 * LEVEL)?;
            let mut positions = vec![0; row.start.len()];
            positions.last_mut().into_iter().for_each(|position| *position = number % columns);
            let is_last = ends_plane && number + 1 == count;
            lines.element(&row.coordinates(&positions), &text, number == 0, is_last)?;
        }
        Ok(())
    }
}

impl Dump<'_> {
    pub(super) fn dataset_data(
        &mut self,
        dataset: &Dataset,
        taken: Option<&SubsetInDataset>,
        indent: usize,
    ) -> Result<()> {
        let bits = self.arguments.bits.clone();
        if bits.is_empty() || !is_integers(dataset.datatype()) {
            return self.dataset_block(dataset, taken, indent);
        }
        for (first, count) in bits {
            self.line(indent, &format!("PACKED_BITS OFFSET={first} LENGTH={count} {{"))?;
            self.style.bits = Some((first, count));
            let written = self.dataset_block(dataset, taken, indent + LEVEL);
            self.style.bits = None;
            written?;
            self.line(indent, "}")?;
        }
        Ok(())
    }

    fn dataset_block(
        &mut self,
        dataset: &Dataset,
        taken: Option<&SubsetInDataset>,
        indent: usize,
    ) -> Result<()> {
        self.line(indent, "DATA {")?;
        let space = dataset.dataspace();
        let dims = taken.map_or_else(|| space.dims().to_vec(), SubsetInDataset::shape);
        let is_empty = matches!(space, hyperslab::Dataspace::Null) || dims.contains(&0);
        if !is_empty {
            let sparse = self.arguments.sparse.filter(|_| dataset.sparse().chunking().is_some());
            let written = match sparse {
                Some(sparse) => self.blocks(dataset, taken, sparse, indent + LEVEL),
                None => self.dataset_elements(dataset, taken, dims, indent),
            };
            written.or_else(|error| self.failed(error.context("unable to print data")))?;
        }
        self.line(indent, "}")?;
        Ok(())
    }

    fn dataset_elements(
        &mut self,
        dataset: &Dataset,
        taken: Option<&SubsetInDataset>,
        dims: Vec<u64>,
        indent: usize,
    ) -> Result<()> {
        let selections = selections(dataset, taken, &dims);
        if is_references(dataset.datatype()) {
            for (number, selection) in selections.enumerate() {
                self.references(&dataset.read_stored(&selection?)?, number > 0, indent + LEVEL)?;
            }
            return Ok(());
        }
        if self.arguments.characters && is_characters(dataset.datatype()) {
            let mut text = String::new();
            for selection in selections {
                self.characters(&dataset.read_stored(&selection?)?, &mut text, indent)?;
            }
            return self.last_characters(&text, indent);
        }
        if let Some(form) = self.arguments.binary {
            return self.binary(dataset, selections, form);
        }
        let (width, indices, indent) = self.layout(indent);
        let shape = Shape { dims, taken };
        let names = Paths { name: &self.name, known: &self.known };
        let block = Block { shape, style: &self.style, names, indent };
        let values_only = self.data.is_some();
        let out: &mut dyn Write = match &mut self.data {
            Some(data) => *data,
            None => self.out,
        };
        let mut lines = Lines::new(out, values_only, indent, width, indices);
        lines.single =
            self.arguments.float_given && matches!(dataset.datatype().class, DatatypeClass::FloatingPoint(_));
        if let Some(rows) = taken.and_then(SubsetInDataset::rows) {
            for (row, ends_plane) in rows {
                let stored = dataset.read_stored(row.selection())?;
                block.write_row(&mut lines, &stored, &row, ends_plane)?;
            }
            lines.end()?;
            return Ok(());
        }
        let mut first = 0_u64;
        for selection in selections {
            let stored = dataset.read_stored(&selection?)?;
            block.write(&mut lines, &stored, first)?;
            first += to_u64(stored.len());
        }
        lines.end()?;
        Ok(())
    }

    /// Returns three properties of h5dump's output lines: the width, a flag for coordinates at
    /// their start, and the indentation.
    fn layout(&self, indent: usize) -> (usize, bool, usize) {
        let indices = self.arguments.indices;
        (self.arguments.width, indices, if indices { indent } else { indent + LEVEL })
    }

    pub(super) fn attribute_data(&mut self, attribute: &Attribute, indent: usize) -> Result<()> {
        self.line(indent, "DATA {")?;
        let space = attribute.dataspace()?;
        let is_empty = matches!(space, hyperslab::Dataspace::Null) || space.dims().contains(&0);
        if !is_empty {
            let written = self.attribute_elements(attribute, space.dims().to_vec(), indent);
            written.or_else(|error| self.failed(error.context("unable to print data")))?;
        }
        self.line(indent, "}")?;
        Ok(())
    }

    fn attribute_elements(&mut self, attribute: &Attribute, dims: Vec<u64>, indent: usize) -> Result<()> {
        let stored = attribute.read_stored()?;
        if is_references(stored.datatype()) {
            return self.references(&stored, false, indent + LEVEL);
        }
        if self.arguments.characters && is_characters(stored.datatype()) {
            let mut text = String::new();
            self.characters(&stored, &mut text, indent)?;
            return self.last_characters(&text, indent);
        }
        let (width, indices, indent) = self.layout(indent);
        let names = Paths { name: &self.name, known: &self.known };
        let block = Block { shape: Shape { dims, taken: None }, style: &self.style, names, indent };
        let values_only = self.data.is_some();
        let out: &mut dyn Write = match &mut self.data {
            Some(data) => *data,
            None => self.out,
        };
        let mut lines = Lines::new(out, values_only, indent, width, indices);
        block.write(&mut lines, &stored, 0)?;
        lines.end()?;
        Ok(())
    }

    /// Prints bytes as text, on lines of equal width. Keeps the rest that does not fill a line in
    /// `text`.
    fn characters(&mut self, stored: &Stored, text: &mut String, indent: usize) -> Result<()> {
        // The indent and five more columns are not available. The text has at least one column.
        let taken = indent + LEVEL + 5;
        let columns = self.arguments.width.max(taken + 1) - taken;
        for byte in stored.bytes() {
            if text.len() >= columns {
                self.last_characters(text, indent)?;
                text.clear();
            }
            crate::tools::ddl::escape(text, &[*byte], self.style.escaped);
        }
        Ok(())
    }

    fn last_characters(&mut self, text: &str, indent: usize) -> Result<()> {
        self.line(indent + LEVEL, &format!("\"{text}\""))?;
        Ok(())
    }
}

fn is_integers(datatype: &Datatype) -> bool {
    matches!(datatype.class, DatatypeClass::FixedPoint(_))
}

fn is_characters(datatype: &Datatype) -> bool {
    is_integers(datatype) && datatype.size == 1
}

fn is_references(datatype: &Datatype) -> bool {
    matches!(datatype.class, DatatypeClass::Reference(_))
}

/// Divides the elements to print into selections (pieces) that h5dump reads one after the other. A
/// selection of the user stays one piece.
fn selections(
    dataset: &Dataset,
    taken: Option<&SubsetInDataset>,
    dims: &[u64],
) -> Box<dyn Iterator<Item = Result<Selection>>> {
    match taken {
        Some(taken) => Box::new(std::iter::once(Ok(taken.selection()))),
        None => Box::new(pieces(dims, u64::from(dataset.datatype().size))),
    }
}
