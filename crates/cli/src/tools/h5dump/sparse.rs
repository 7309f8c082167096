//! Sparse datasets: their sections, and their defined elements as blocks.

use std::io::Write;
use std::ops::ControlFlow;

use anyhow::Result;
use hyperslab::{Dataset, Selection, Stored};

use super::Dump;
use super::properties::compression;
use crate::tools::ddl::LEVEL;
use crate::tools::ddl::elements::{Elements, Style};
use crate::tools::ddl::space::list;
use crate::tools::known::Paths;
use crate::tools::subset::Taken;
use crate::values::blocks::{self, Texts};

/// What is printed of sparse datasets instead of all elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sparse {
    /// Where elements are defined.
    Locations,
    /// That, and their values.
    Data,
}

impl Dump<'_> {
    /// The sections of structured chunks, with their bytes and filters.
    pub(super) fn structured(&mut self, dataset: &Dataset, indent: usize) -> Result<()> {
        let Some(chunking) = dataset.sparse().chunking() else { return Ok(()) };
        self.line(indent, &format!("STRUCTURED_CHUNK {} {{", list(&chunking.shape)))?;
        let inside = indent + LEVEL;
        self.line(inside, if chunking.sparse { "SPARSE_CHUNK" } else { "VL_CHUNK" })?;
        let mut sizes = vec![(0_u64, 0_u64); chunking.sections.len()];
        dataset.sparse().visit_chunks(|chunk| {
            for ((stored, plain), section) in sizes.iter_mut().zip(&chunk.sections) {
                *stored = stored.saturating_add(section.size);
                *plain = plain.saturating_add(section.unfiltered);
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

    /// The blocks of defined elements.
    pub(super) fn blocks(
        &mut self,
        dataset: &Dataset,
        taken: Option<&Taken>,
        sparse: Sparse,
        indent: usize,
    ) -> Result<()> {
        let selection = taken.map_or(Selection::All, Taken::selection);
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

/// Elements as h5dump writes them.
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
        let size = usize::try_from(stored.datatype().size)?.max(1);
        for element in bytes.chunks_exact(size) {
            visit(&elements.text(stored.datatype(), element, self.indent)?)?;
        }
        Ok(())
    }
}
