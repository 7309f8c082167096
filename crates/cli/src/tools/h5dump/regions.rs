//! The elements of referenced regions in the output of h5dump (`-R`): a row of a block on each
//! line, or a point on each line.

use anyhow::{Context as _, Result};
use hyperslab::{Block, Dataset, Points, Region, Selection, Stored};
use hyperslab_exact::{product, to_usize};

use super::Dump;
use crate::tools::ddl::LEVEL;
use crate::tools::ddl::elements::Elements;
use crate::tools::known::Paths;
use crate::values::blocks::blocks;

/// The largest number of region elements that are read in one step.
const BATCH_ELEMENTS: u64 = 1 << 16;

impl Dump<'_> {
    pub(super) fn region_data(
        &mut self,
        dataset: &Dataset,
        selection: &Selection,
        indent: usize,
    ) -> Result<()> {
        self.line(indent, "DATA {")?;
        let inside = indent + LEVEL;
        if let Selection::Points(points) = selection {
            self.point_rows(dataset, points, inside)?;
        } else {
            let blocks = blocks(selection.clone(), dataset.dataspace().dims())?;
            for (number, block) in blocks.iter().enumerate() {
                self.block_rows(dataset, block, number + 1 == blocks.len(), inside)?;
            }
        }
        self.line(indent, "}")?;
        Ok(())
    }

    fn point_rows(&mut self, dataset: &Dataset, points: &Points, indent: usize) -> Result<()> {
        let rank = points.rank.max(1);
        let count = points.coordinates.len() / rank;
        let batch = to_usize(BATCH_ELEMENTS)? * rank;
        let mut number = 0;
        for some in points.coordinates.chunks(batch) {
            let some = Points { rank: points.rank, coordinates: some.to_vec() };
            for text in self.texts(&dataset.read_stored(Selection::Points(some))?, indent)? {
                number += 1;
                self.line(indent, &format!("{text}{}", if number < count { "," } else { "" }))?;
            }
        }
        Ok(())
    }

    /// Prints the rows of a block of a region. With `is_last`, no comma follows the last row.
    fn block_rows(&mut self, dataset: &Dataset, block: &Block, is_last: bool, indent: usize) -> Result<()> {
        let lengths: Option<Vec<u64>> = block
            .start
            .iter()
            .zip(&block.end)
            .map(|(start, end)| end.checked_sub(*start)?.checked_add(1))
            .collect();
        let lengths = lengths.context("a block of the region ends before it begins")?;
        let Some((length, outer)) = lengths.split_last() else {
            return Ok(());
        };
        let rows = product("number of rows", outer.iter().copied())?;
        for row in 0..rows {
            let mut start = block.start.to_vec();
            let mut rest = row;
            for (at, length) in start.iter_mut().zip(outer).rev() {
                *at += rest % length;
                rest /= length;
            }
            let mut texts = Vec::new();
            let mut done = 0;
            while done < *length {
                let count = BATCH_ELEMENTS.min(*length - done);
                let mut part = start.clone();
                part.last_mut().into_iter().for_each(|at| *at += done);
                let mut shape = vec![1; part.len()];
                shape.last_mut().into_iter().for_each(|size| *size = count);
                let region = Selection::region(&Region::new(&part, &shape)?);
                texts.extend(self.texts(&dataset.read_stored(&region)?, indent)?);
                done += count;
            }
            let comma = if is_last && row + 1 == rows { "" } else { "," };
            self.line(indent, &format!("{}{comma}", texts.join(", ")))?;
        }
        Ok(())
    }

    fn texts(&self, stored: &Stored, indent: usize) -> Result<Vec<String>> {
        let names = Paths { name: &self.name, known: &self.known };
        let elements = Elements { style: &self.style, stored, names: &names };
        stored.elements().map(|bytes| elements.text(stored.datatype(), bytes, indent + LEVEL)).collect()
    }
}
