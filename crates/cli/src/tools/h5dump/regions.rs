//! The elements of regions that references lead to (`-R`): a row on a line, points each on a line of its own.

use anyhow::Result;
use hyperslab::{Block, Dataset, Points, Region, Selection, Stored};

use super::Dump;
use crate::tools::ddl::LEVEL;
use crate::tools::ddl::elements::Elements;
use crate::tools::known::Paths;
use crate::values::blocks::blocks;

/// Elements that are read at once.
const AT_ONCE: u64 = 1 << 16;

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
        let at_once = usize::try_from(AT_ONCE)?;
        let mut number = 0;
        for some in points.coordinates.chunks(at_once.saturating_mul(rank)) {
            let some = Points { rank: points.rank, coordinates: some.to_vec() };
            for text in self.texts(&dataset.read_stored(Selection::Points(some))?, indent)? {
                number += 1;
                self.line(indent, &format!("{text}{}", if number < count { "," } else { "" }))?;
            }
        }
        Ok(())
    }

    /// The rows of a block; the last one of all has no comma behind it.
    fn block_rows(&mut self, dataset: &Dataset, block: &Block, is_last: bool, indent: usize) -> Result<()> {
        let lengths: Vec<u64> = block
            .start
            .iter()
            .zip(&block.end)
            .map(|(start, end)| end.saturating_sub(*start).saturating_add(1))
            .collect();
        let (Some(length), Some(outer)) =
            (lengths.last().copied(), lengths.get(..lengths.len().saturating_sub(1)))
        else {
            return Ok(());
        };
        let rows = outer.iter().fold(1_u64, |product, length| product.saturating_mul(*length));
        for row in 0..rows {
            let mut start = block.start.to_vec();
            let mut rest = row;
            for (at, length) in start.iter_mut().zip(outer).rev() {
                *at = at.saturating_add(rest % length);
                rest /= length;
            }
            let mut texts = Vec::new();
            let mut done = 0;
            while done < length {
                let count = AT_ONCE.min(length - done);
                let mut part = start.clone();
                part.last_mut().into_iter().for_each(|at| *at = at.saturating_add(done));
                let mut shape = vec![1; part.len()];
                shape.last_mut().into_iter().for_each(|size| *size = count);
                let region = Selection::region(&Region::new(&part, &shape)?);
                texts.extend(self.texts(&dataset.read_stored(&region)?, indent)?);
                done = done.saturating_add(count);
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
