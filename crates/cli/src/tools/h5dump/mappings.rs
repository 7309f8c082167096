//! The mappings of virtual datasets in the output of h5dump.

use anyhow::Result;
use hyperslab::{Block, Dataset, Hyperslab, Selection, UNLIMITED};

use super::Dump;
use crate::tools::ddl::{LEVEL, quoted};

impl Dump<'_> {
    pub(super) fn virtual_mappings(&mut self, dataset: &Dataset, indent: usize) -> Result<()> {
        for (number, mapping) in dataset.virtual_mappings()?.iter().enumerate() {
            let inside = indent + LEVEL;
            // The C tool prints a space after some braces.
            self.line(indent, &format!("MAPPING {number} {{ "))?;
            self.line(inside, "VIRTUAL {")?;
            self.selection(&mapping.selection, inside + LEVEL)?;
            self.line(inside, "}")?;
            self.line(inside, "SOURCE {")?;
            self.line(inside + LEVEL, &format!("FILE {}", quoted(&mapping.file)))?;
            self.line(inside + LEVEL, &format!("DATASET {}", quoted(&mapping.dataset)))?;
            self.selection(&mapping.source_selection, inside + LEVEL)?;
            self.line(inside, "}")?;
            self.line(indent, "}")?;
        }
        Ok(())
    }

    fn selection(&mut self, selection: &Selection, indent: usize) -> Result<()> {
        let inside = indent + LEVEL;
        // Blocks that form a regular hyperslab are printed as one hyperslab, even if the file
        // stores a list of blocks.
        let joined = match selection {
            Selection::Hyperslab(Hyperslab::Irregular { rank, blocks }) => {
                Selection::union_of(*rank, blocks).ok()
            }
            _ => None,
        };
        let regular = joined.filter(|joined| matches!(joined, Selection::Hyperslab(Hyperslab::Regular(_))));
        match regular.as_ref().unwrap_or(selection) {
            Selection::All => self.line(indent, "SELECTION ALL")?,
            Selection::None => self.line(indent, "SELECTION NONE")?,
            Selection::Points(points) => {
                self.line(indent, "SELECTION POINT { ")?;
                let listed: Vec<String> = points.points().map(numbers).collect();
                self.line(inside, &listed.join(", "))?;
                self.line(indent, "}")?;
            }
            Selection::Hyperslab(Hyperslab::Regular(slab)) => {
                self.line(indent, "SELECTION REGULAR_HYPERSLAB { ")?;
                self.line(inside, &format!("START {}", numbers(&slab.start)))?;
                self.line(inside, &format!("STRIDE {}", numbers(&slab.stride)))?;
                self.line(inside, &format!("COUNT {}", numbers(&slab.count)))?;
                self.line(inside, &format!("BLOCK {}", numbers(&slab.block)))?;
                self.line(indent, "}")?;
            }
            Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
                self.line(indent, "SELECTION IRREGULAR_HYPERSLAB { ")?;
                let block = |block: &Block| format!("{}-{}", numbers(&block.start), numbers(&block.end));
                let listed: Vec<String> = blocks.iter().map(block).collect();
                self.line(inside, &listed.join(", "))?;
                self.line(indent, "}")?;
            }
        }
        Ok(())
    }
}

/// Formats a list of numbers, such as `(1,2)`.
fn numbers(numbers: &[u64]) -> String {
    let text = |number: &u64| match *number {
        UNLIMITED => "H5S_UNLIMITED".to_owned(),
        number => number.to_string(),
    };
    format!("({})", numbers.iter().map(text).collect::<Vec<_>>().join(","))
}
