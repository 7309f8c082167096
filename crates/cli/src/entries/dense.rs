//! A source of matrix entries from the nonzero elements of a dense dataset.

use anyhow::{Result, bail};
use hyperslab::{Blocks, Dataset, Region};
use hyperslab_exact::{product, to_u64, to_usize};

use super::batch::{Batch, Order, Source};
use super::element::Element;

/// The size in bytes of the largest region of a dense dataset that the program reads at once.
const MAX_READ_BYTES: u64 = 4 << 20;

/// A source of matrix entries that reads the nonzero elements of a dense dataset.
pub(crate) struct Nonzero {
    dataset: Dataset,
    element: Element,
    shape: Vec<u64>,
    blocks: Blocks,
}

impl Nonzero {
    pub(crate) fn new(dataset: Dataset) -> Result<Self> {
        let element = Element::of(dataset.datatype())?;
        let shape = dataset.dataspace().dims().to_vec();
        if shape.is_empty() {
            bail!("the dataset has no dimensions, and so is not a matrix");
        }
        let blocks = dataset.blocks(MAX_READ_BYTES);
        Ok(Self { dataset, element, shape, blocks })
    }

    fn read(&self, region: &Region, batch: &mut Batch) -> Result<()> {
        let size = self.element.size();
        let length = product("size of the elements", [region.element_count()?, to_u64(size)])?;
        let mut bytes = vec![0; to_usize(length)?];
        self.dataset.read_bytes(region, &self.element.datatype(), &mut bytes)?;
        let (start, count) = (&region.start, &region.count);
        let mut at = start.to_vec();
        for value in bytes.chunks_exact(size.max(1)) {
            if !self.element.is_zero(value) {
                batch.coordinates.extend_from_slice(&at);
                batch.values.extend_from_slice(value);
            }
            for ((at, start), count) in at.iter_mut().zip(start).zip(count).rev() {
                // No overflow: the coordinates lie in the dataset.
                *at += 1;
                if *at - *start < *count {
                    break;
                }
                *at = *start;
            }
        }
        Ok(())
    }
}

impl Source for Nonzero {
    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn element(&self) -> Element {
        self.element
    }

    fn count(&self) -> Option<u64> {
        None
    }

    fn order(&self) -> Order {
        Order::Bands(self.blocks.shape().first().copied().unwrap_or(1).max(1))
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.clear();
        while let Some(region) = self.blocks.next() {
            self.read(&region, batch)?;
            if !batch.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
