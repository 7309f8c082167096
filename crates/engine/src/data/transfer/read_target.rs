//! The caller's buffer for elements that are read.

use hyperslab_dataspace::{Canvas, Tiling};
use hyperslab_datatype::convert::Conversion;

use super::{Fill, Transform};
use crate::error::{Error, Result};

/// A buffer for the selected elements, one after the other in the order of the selection.
#[derive(Debug)]
pub struct ReadTarget<'a> {
    bytes: &'a mut [u8],
    transform: Transform<'a>,
    zeroed: bool,
}

impl<'a> ReadTarget<'a> {
    /// Elements go into `bytes` as the file stores them, `element_size` bytes each.
    pub fn stored(bytes: &'a mut [u8], element_size: usize) -> Self {
        Self { bytes, transform: Transform::copy(element_size), zeroed: false }
    }

    /// Elements are converted. What the conversion leaves as it is, keeps what `bytes` held.
    pub fn converted(bytes: &'a mut [u8], conversion: &'a Conversion) -> Self {
        Self { bytes, transform: Transform::conversion(conversion), zeroed: false }
    }

    /// The buffer holds zeros, which need not be written again.
    #[must_use]
    pub fn zeroed(mut self) -> Self {
        self.zeroed = true;
        self
    }

    /// What is done with elements on their way.
    pub fn transform(&self) -> Transform<'a> {
        self.transform
    }

    /// The buffer, where elements go into it as they are stored.
    pub fn as_stored(&mut self) -> Option<&mut [u8]> {
        self.transform.is_copy().then_some(&mut *self.bytes)
    }

    /// Whether elements that are `fill` need not be written.
    pub fn holds(&self, fill: &Fill) -> bool {
        self.zeroed && fill.is_zero() && self.transform.is_copy()
    }

    /// Makes every element `fill`.
    pub fn fill(&mut self, fill: &Fill) -> Result<()> {
        if self.holds(fill) { Ok(()) } else { self.transform.fill_run(fill, self.bytes) }
    }

    /// The places of a packed selection of that shape.
    pub(in crate::data) fn canvas(&mut self, tiling: &Tiling) -> Result<Canvas<'_>> {
        Ok(Canvas::packed(self.bytes, tiling.shape(), self.transform.size())?)
    }

    /// Where `count` elements go of which the first stands at `position` in the selection.
    pub(in crate::data) fn run(&mut self, position: u64, count: u64) -> Result<&mut [u8]> {
        let size = self.transform.size();
        let bytes = |elements: u64| usize::try_from(elements).ok()?.checked_mul(size);
        let range =
            bytes(position).zip(bytes(count)).and_then(|(at, length)| Some(at..at.checked_add(length)?));
        let run = range.and_then(|range| self.bytes.get_mut(range));
        run.ok_or_else(|| Error::Misuse("the buffer holds fewer elements than are selected".into()))
    }

    /// Puts stored elements, side by side, to their positions from `position` on.
    pub(crate) fn put(&mut self, position: u64, source: &[u8]) -> Result<()> {
        let transform = self.transform;
        let count = source.len().checked_div(transform.source_size()).unwrap_or(0);
        transform.run(source, self.run(position, count as u64)?)
    }
}
