//! A source of matrix entries from columns of coordinates and values (COO).

use anyhow::{Context as _, Result};
use hyperslab_exact::{to_u64, to_usize};

use super::batch::{BATCH_ENTRIES, Batch, Order, Source};
use super::columns::{Column, Indices, check_counts};
use super::element::Element;

/// A source of the entries of a coordinate matrix (COO): a column of indices for each dimension,
/// and a column of values.
pub(crate) struct Coordinates {
    shape: Vec<u64>,
    element: Element,
    indices: Vec<Indices>,
    data: Box<dyn Column>,
    remaining: u64,
    /// The indices of a batch, by dimension.
    read: Vec<Vec<u64>>,
}

impl Coordinates {
    pub(crate) fn new(
        shape: Vec<u64>,
        element: Element,
        indices: Vec<Indices>,
        data: Box<dyn Column>,
    ) -> Result<Self> {
        for indices in &indices {
            check_counts(indices, data.len(), 1)?;
        }
        let (remaining, read) = (data.len(), vec![Vec::new(); indices.len()]);
        Ok(Self { shape, element, indices, data, remaining, read })
    }
}

impl Source for Coordinates {
    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn element(&self) -> Element {
        self.element
    }

    fn count(&self) -> Option<u64> {
        Some(self.data.len())
    }

    fn order(&self) -> Order {
        Order::Any
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.clear();
        let taken = self.remaining.min(to_u64(BATCH_ENTRIES));
        let count = to_usize(taken)?;
        self.remaining -= taken;
        for ((indices, size), read) in self.indices.iter_mut().zip(&self.shape).zip(&mut self.read) {
            read.clear();
            indices.next(count, *size, read)?;
        }
        for entry in 0..count {
            for indices in &self.read {
                batch
                    .coordinates
                    .push(*indices.get(entry).context("an entry of the matrix has no row or column index")?);
            }
        }
        self.data.next(count, &mut batch.values).context("`data`")?;
        Ok(count > 0)
    }
}
