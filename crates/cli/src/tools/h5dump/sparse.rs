//! Sparse datasets in the output of h5dump: the sections of their chunks, and the blocks of their
//! defined elements.

use std::io::Write;
use std::ops::ControlFlow;

use anyhow::Result;
use hyperslab::{Dataset, Selection, Stored};
use hyperslab_exact::to_usize;

use super::Dump;
use super::properties::compression;
use crate::tools::ddl::LEVEL;
use crate::tools::ddl::elements::{Elements, Style};
use crate::tools::ddl::space::list;
use crate::tools::known::Paths;
use crate::tools::subset::SubsetInDataset;
use crate::values::blocks::{self, Texts};

/// The output form of h5dump for sparse datasets, which replaces the list of all elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sparse {
    /// The positions of the defined elements.
    Locations,
    /// The positions and values of the defined elements.
    Data,
}

impl Dump<'_> {
    /// Prints the sections of a dataset's structured chunks, with their sizes and filters.
    pub(super) fn structured(&mut self, dataset: &Dataset, indent: usize) -> Result<()> {
        let Some(chunking) = dataset.sparse().chunking() else { return Ok(()) };
        self.line(indent, &format!("STRUCTURED_CHUNK {} {{", list(&chunking.shape)))?;
        let inside = indent + LEVEL;
        self.line(inside, if chunking.sparse { "SPARSE_CHUNK" } else { "VL_CHUNK" })?;
        let mut sizes = vec![(0_u128, 0_u128); chunking.sections.len()];
        dataset.sparse().visit_chunks(|chunk| {
            for ((stored, plain), section) in sizes.iter_mut().zip(&chunk.sections) {
                *stored += u128::from(section.size);
                *plain += u128::from(section.unfiltered);
            }
            ControlFlow::Continue(())
        })?;
        for (number, ((section, filters), (stored, plain))) in chunking.sections.iter().zip(sizes).enumerate()
        {
            self.line(inside, &format!("SECTION {number} {} {{", section.name()))?;
            let ratio = if filters.is_empty() { String::new() } else { compression(plain, stored) };
            self.line(inside + LEVEL, &format!("SIZE {stored}{ratio}"))?;
            self.filters(filters, inside + LEVEL)?;
            self.line(inside, "}")?;
        }
        self.line(indent, "}")?;
        Ok(())
    }

    /// Prints the blocks of defined elements of a dataset.
    pub(super) fn blocks(
        &mut self,
        dataset: &Dataset,
        taken: Option<&SubsetInDataset>,
        sparse: Sparse,
        indent: usize,
    ) -> Result<()> {
        let selection = taken.map_or(Selection::All, SubsetInDataset::selection);
        let names = Paths { name: &self.name, known: &self.known };
        let mut texts = Written { style: &self.style, names, indent };
        let out: &mut dyn Write = match &mut self.data {
            Some(data) => *data,
            None => self.out,
        };
        let texts = (sparse == Sparse::Data).then_some(&mut texts as &mut dyn Texts);
        blocks::write(out, dataset, &selection, indent, texts)
    }
}

/// A converter of elements to text in the format of h5dump.
struct Written<'a> {
    style: &'a Style,
    names: Paths<'a>,
    indent: usize,
}

impl Texts for Written<'_> {
    fn each(
        &mut self,
        stored: &Stored,
        bytes: &[u8],
        visit: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let elements = Elements { style: self.style, stored, names: &self.names };
        let size = to_usize(stored.datatype().size.into())?.max(1);
        for element in bytes.chunks_exact(size) {
            visit(&elements.text(stored.datatype(), element, self.indent)?)?;
        }
        Ok(())
    }
}
