//! Entries on their way: batches, where they come from and where they go.

use anyhow::Result;

use super::element::Element;

/// About how many entries a batch has.
pub(crate) const BATCH: usize = 1 << 17;

/// Entries: where they are and what they are.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    /// The coordinates of each entry, one entry after the other.
    pub(crate) coordinates: Vec<u64>,
    /// The values as bytes of the source's element.
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

    /// How many entries there are, of a matrix of that many dimensions.
    pub(crate) fn len(&self, rank: usize) -> usize {
        self.coordinates.len().checked_div(rank).unwrap_or(0)
    }

    /// Coordinates and bytes of each entry.
    pub(crate) fn entries(&self, rank: usize, size: usize) -> impl Iterator<Item = (&[u64], &[u8])> {
        self.coordinates.chunks_exact(rank.max(1)).zip(self.values.chunks_exact(size.max(1)))
    }
}

/// In which order entries come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// In any.
    Any,
    /// All entries of so many rows come before those of the next rows, and the first of these bands begins with row 0.
    Bands(u64),
}

/// What entries are read from. Those of one place stand for their sum.
pub(crate) trait Source {
    /// The size of each dimension.
    fn shape(&self) -> &[u64];

    /// What the values are.
    fn element(&self) -> Element;

    /// How many entries there are at most, if that is known beforehand.
    fn count(&self) -> Option<u64>;

    fn order(&self) -> Order;

    /// Puts the next entries in place of those in the batch; none and `false` if there are no more.
    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool>;
}

/// What entries are written to: `begin`, batches in C order and without two entries of one place, `finish`.
pub(crate) trait Sink {
    fn begin(&mut self, shape: &[u64], element: Element) -> Result<()>;

    fn put(&mut self, batch: &Batch) -> Result<()>;

    /// Ends writing.
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
