//! Matrices for tests.

use anyhow::Result;
use hyperslab::H5Type;

use super::batch::{Batch, Order, Sink, Source};
use super::element::Element;
use super::sorted::{Keys, Sorted};

/// A matrix whose entries are listed, for tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) shape: Vec<u64>,
    pub(crate) element: Element,
    pub(crate) batch: Batch,
}

impl Given {
    pub(crate) fn new<T: H5Type>(shape: &[u64], entries: &[(Vec<u64>, T)]) -> Self {
        let mut batch = Batch::default();
        for (at, value) in entries {
            batch.coordinates.extend(at);
            batch.values.extend_from_slice(&T::to_bytes(&[*value]));
        }
        // Two numbers are the parts of a complex number.
        let complex = [(<[f32; 2]>::datatype(), Element::C64), (<[f64; 2]>::datatype(), Element::C128)];
        let complex = complex.into_iter().find(|(datatype, _)| *datatype == T::datatype());
        let element = complex.map_or_else(|| Element::of(&T::datatype()).unwrap(), |(_, element)| element);
        Self { shape: shape.to_vec(), element, batch }
    }

    /// Returns a source with a few entries in each batch.
    pub(crate) fn source(self, order: Order) -> impl Source {
        Pieces { given: self, order, at: 0 }
    }

    /// Writes the entries, which are sorted, to a sink.
    pub(crate) fn put(&self, mut sink: Box<dyn Sink + '_>) -> Result<()> {
        sink.begin(&self.shape, self.element)?;
        let mut source = self.clone().source(Order::Any);
        let mut batch = Batch::default();
        while source.next_batch(&mut batch)? {
            sink.put(&batch)?;
        }
        sink.finish()
    }

    /// Reads and sorts all entries of a source.
    pub(crate) fn read(source: impl Source) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let keys = Keys::rows(source.shape())?;
        let mut sorted = Sorted::new(source, keys, folder.path());
        let (mut batch, mut all) = (Batch::default(), Batch::default());
        while sorted.next_batch(&mut batch)? {
            all.coordinates.extend(&batch.coordinates);
            all.values.extend(&batch.values);
        }
        Ok(Self { shape: sorted.shape().to_vec(), element: sorted.element(), batch: all })
    }
}

struct Pieces {
    given: Given,
    order: Order,
    at: usize,
}

impl Source for Pieces {
    fn shape(&self) -> &[u64] {
        &self.given.shape
    }

    fn element(&self) -> Element {
        self.given.element
    }

    fn count(&self) -> Option<u64> {
        None
    }

    fn order(&self) -> Order {
        self.order
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        let (rank, size) = (self.given.shape.len(), self.given.element.size());
        batch.clear();
        for (at, value) in self.given.batch.entries(rank, size).skip(self.at).take(7) {
            batch.coordinates.extend_from_slice(at);
            batch.values.extend_from_slice(value);
        }
        self.at += 7;
        Ok(!batch.is_empty())
    }
}

/// Returns the coordinates and values of a batch.
pub(crate) fn entries<T: H5Type>(batch: &Batch, rank: usize) -> Vec<(Vec<u64>, T)> {
    batch.entries(rank, T::SIZE).map(|(at, value)| (at.to_vec(), T::decode(value).unwrap())).collect()
}
