//! Batches of matrix entries, with the traits for sources and receivers of entries.

use anyhow::Result;

use super::element::Element;

/// The approximate number of matrix entries in a batch.
pub(crate) const BATCH_ENTRIES: usize = 1 << 17;

/// A batch of matrix entries: their coordinates and values.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    /// The coordinates of each entry, one entry after the other.
    pub(crate) coordinates: Vec<u64>,
    /// The values, as bytes of the source's element type.
    pub(crate) values: Vec<u8>,
}

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.coordinates.clear();
        self.values.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// Returns the number of entries in a batch of a matrix with `rank` dimensions.
    pub(crate) fn len(&self, rank: usize) -> usize {
        // A matrix without dimensions has no coordinates.
        self.coordinates.len() / rank.max(1)
    }

    /// Returns an iterator over the entries of a batch: the coordinates and the value bytes of each
    /// entry.
    pub(crate) fn entries(&self, rank: usize, size: usize) -> impl Iterator<Item = (&[u64], &[u8])> {
        self.coordinates.chunks_exact(rank.max(1)).zip(self.values.chunks_exact(size.max(1)))
    }
}

/// The order of the coordinates in which a source returns matrix entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// No order.
    Any,
    /// Bands of this many rows, from row 0 on. All entries of a band precede those of the next
    /// band.
    Bands(u64),
}

/// A source of matrix entries. Entries with the same coordinates are summed.
pub(crate) trait Source {
    /// Returns the size of each dimension of the source's matrix.
    fn shape(&self) -> &[u64];

    /// Returns the number type of the matrix values.
    fn element(&self) -> Element;

    /// Returns an upper limit for the number of the source's matrix entries, if one is known.
    fn count(&self) -> Option<u64>;

    fn order(&self) -> Order;

    /// Replaces the batch with the next matrix entries of the source. Returns false, with an empty
    /// batch, after the last entry.
    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool>;
}

/// A receiver of matrix entries. The caller calls `begin`, then passes batches with distinct
/// coordinates in C order, then calls `finish`.
pub(crate) trait Sink {
    fn begin(&mut self, shape: &[u64], element: Element) -> Result<()>;

    fn put(&mut self, batch: &Batch) -> Result<()>;

    /// Completes the written matrix after the last batch.
    fn finish(self: Box<Self>) -> Result<()>;
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn shape(&self) -> &[u64] {
        (**self).shape()
    }

    fn element(&self) -> Element {
        (**self).element()
    }

    fn count(&self) -> Option<u64> {
        (**self).count()
    }

    fn order(&self) -> Order {
        (**self).order()
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool> {
        (**self).next_batch(batch)
    }
}
