//! A grid of blocks over two datasets of the same shape, for their comparison. Blocks in which
//! neither dataset has stored data need not be compared.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use anyhow::Result;
use hyperslab::{Dataset, Layout, Region};
use hyperslab_exact::{product, to_u64};

/// The largest number of blocks with stored data that a comparison records. If more blocks have
/// stored data, the comparison covers all blocks.
const MAX_BLOCKS: usize = 1 << 20;

/// A grid that divides a dataset into blocks for a comparison.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    dims: Vec<u64>,
    shape: Vec<u64>,
    /// The number of blocks.
    blocks: u64,
}

/// The amount of stored data in a compared dataset: nothing, some chunks, or possibly everything.
#[derive(Debug)]
enum Stored {
    /// No data is stored.
    Nothing,
    /// Some chunks are stored.
    Chunks,
    /// All data is stored, or the stored part is unknown.
    All,
}

impl Grid {
    /// Creates a grid of blocks with a given shape over a dataset.
    ///
    /// # Errors
    /// Returns an error if the number of blocks does not fit in 64 bits.
    pub(super) fn new(dims: &[u64], shape: &[u64]) -> Result<Self> {
        let shape: Vec<u64> = shape.iter().map(|size| (*size).max(1)).collect();
        let counts = dims.iter().zip(&shape).map(|(size, shape)| size.div_ceil(*shape));
        let blocks = product("number of blocks to compare", counts)?;
        Ok(Self { dims: dims.to_vec(), shape, blocks })
    }

    /// Creates a grid whose blocks follow one another in C order. Each block has whole rows, or a
    /// part of one row.
    pub(super) fn in_order(dims: &[u64], elements: u64) -> Result<Self> {
        let mut shape = vec![1; dims.len()];
        let mut remaining = elements.max(1);
        for (side, size) in shape.iter_mut().zip(dims).rev() {
            *side = remaining.min((*size).max(1));
            if *side < *size {
                break;
            }
            remaining = (remaining / *side).max(1);
        }
        Self::new(dims, &shape)
    }

    /// Reduces the blocks of the grid to one coordinate along each dimension that `anywhere` does
    /// not mark. A dimension with a single block stays unchanged.
    pub(super) fn cut(mut self, anywhere: &[bool]) -> Result<Self> {
        for ((side, size), anywhere) in self.shape.iter_mut().zip(&self.dims).zip(anywhere) {
            if *side < *size && !anywhere {
                *side = 1;
            }
        }
        Self::new(&self.dims, &self.shape)
    }

    /// Returns the number of blocks of the grid along each dimension.
    fn counts(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator {
        self.dims.iter().zip(&self.shape).map(|(size, shape)| size.div_ceil(*shape))
    }

    /// Returns the number of blocks in the grid.
    pub(super) fn len(&self) -> u64 {
        self.blocks
    }

    /// Returns the region of the dataset that a block of the grid covers. The number of the block
    /// is less than `Self::len`.
    pub(super) fn region(&self, number: u64) -> Result<Region> {
        let mut rest = number;
        let (mut start, mut count) = (vec![0; self.dims.len()], self.shape.clone());
        let sides = start.iter_mut().zip(count.iter_mut());
        let sizes = self.dims.iter().zip(&self.shape);
        for (((start, count), (size, shape)), blocks) in sides.zip(sizes).zip(self.counts()).rev() {
            // The start is less than the size: a block begins inside the dataset.
            *start = rest.checked_rem(blocks).unwrap_or(0) * *shape;
            *count = (*shape).min(*size - *start);
            rest = rest.checked_div(blocks).unwrap_or(0);
        }
        Ok(Region::new(&start, &count)?)
    }

    /// Returns the numbers of the grid's blocks that may have stored data in a dataset. Returns
    /// `None` if all blocks may have stored data.
    pub(super) fn stored(&self, datasets: [&Dataset; 2]) -> Result<Option<BTreeSet<u64>>> {
        let mut blocks = Some(BTreeSet::new());
        for dataset in datasets {
            match stored(dataset) {
                Stored::Nothing => {}
                Stored::All => return Ok(None),
                Stored::Chunks => self.add_chunks(dataset, &mut blocks)?,
            }
        }
        Ok(blocks)
    }

    /// Adds to `blocks` all blocks of the grid that overlap with stored chunks of a dataset. Sets
    /// `blocks` to `None` if there are too many blocks.
    fn add_chunks(&self, dataset: &Dataset, blocks: &mut Option<BTreeSet<u64>>) -> Result<()> {
        if let Some(chunking) = dataset.sparse().chunking() {
            dataset.sparse().visit_chunks(|chunk| {
                self.add(&chunk.offset, &chunking.shape, blocks);
                ControlFlow::Continue(())
            })?;
        } else if let Some(chunking) = dataset.chunking() {
            dataset.chunks().visit(|chunk| {
                self.add(&chunk.offset, &chunking.shape, blocks);
                ControlFlow::Continue(())
            })?;
        }
        Ok(())
    }

    fn add(&self, offset: &[u64], chunk: &[u64], all: &mut Option<BTreeSet<u64>>) {
        let Some(blocks) = all else { return };
        // The first and the last block along each dimension.
        let mut ranges = Vec::with_capacity(self.dims.len());
        let sizes = offset.iter().zip(chunk).zip(self.dims.iter().zip(&self.shape));
        for ((start, chunk), (size, shape)) in sizes {
            // Chunk offsets come from the file, so that the sum may overflow.
            let end = start.checked_add((*chunk).max(1)).map_or(*size, |end| end.min(*size));
            if end <= *start {
                return;
            }
            ranges.push((start / shape, (end - 1) / shape));
        }
        let touched =
            ranges.iter().try_fold(1_u64, |touched, (first, last)| touched.checked_mul(*last - *first + 1));
        let free = to_u64(MAX_BLOCKS - blocks.len());
        let Some(touched) = touched.filter(|touched| *touched <= free) else {
            *all = None;
            return;
        };
        for number in 0..touched {
            blocks.insert(self.number(&ranges, number));
        }
    }

    /// Converts a block's number inside the block ranges `ranges` to its number in the whole grid.
    /// No operation overflows, because both numbers are less than the number of blocks.
    fn number(&self, ranges: &[(u64, u64)], within: u64) -> u64 {
        let (mut rest, mut factor, mut number) = (within, 1_u64, 0_u64);
        for ((first, last), blocks) in ranges.iter().zip(self.counts()).rev() {
            let count = *last - *first + 1;
            let at = *first + rest % count;
            rest /= count;
            number += at * factor;
            factor *= blocks;
        }
        number
    }
}

/// Returns the amount of stored data in a dataset.
fn stored(dataset: &Dataset) -> Stored {
    match dataset.layout() {
        Layout::Contiguous { address: None } if dataset.external_files().is_empty() => Stored::Nothing,
        Layout::Chunked(_) | Layout::Structured => Stored::Chunks,
        _ => Stored::All,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(grid: &Grid) -> Vec<(Vec<u64>, Vec<u64>)> {
        let region = |number| grid.region(number).unwrap();
        (0..grid.len()).map(region).map(|region| (region.start.to_vec(), region.count.to_vec())).collect()
    }

    #[test]
    fn blocks_in_order_are_rows_or_parts_of_rows() {
        let rows = Grid::in_order(&[5, 4], 8).unwrap();
        assert_eq!(
            regions(&rows),
            [(vec![0, 0], vec![2, 4]), (vec![2, 0], vec![2, 4]), (vec![4, 0], vec![1, 4])]
        );
        let parts = Grid::in_order(&[2, 5], 3).unwrap();
        assert_eq!(
            regions(&parts).iter().map(|(start, _)| start.clone()).collect::<Vec<_>>(),
            [[0, 0], [0, 3], [1, 0], [1, 3]]
        );
        assert_eq!(regions(&Grid::in_order(&[], 3).unwrap()), [(vec![], vec![])]);
        assert!(regions(&Grid::in_order(&[3, 0], 3).unwrap()).is_empty());
    }

    #[test]
    fn chunks_touch_blocks() {
        let grid = Grid::new(&[10, 10], &[4, 5]).unwrap();
        let mut boxes = Some(BTreeSet::new());
        grid.add(&[3, 3], &[3, 3], &mut boxes);
        assert_eq!(boxes.clone().unwrap().into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
        grid.add(&[9, 9], &[3, 3], &mut boxes);
        assert!(boxes.as_ref().unwrap().contains(&5));
        let vast = Grid::new(&[1 << 40, 1 << 20], &[1, 1]).unwrap();
        vast.add(&[0, 0], &[1 << 20, 1 << 20], &mut boxes);
        assert_eq!(boxes, None);
        assert!(Grid::new(&[u64::MAX, 2], &[1, 1]).is_err());
    }
}
