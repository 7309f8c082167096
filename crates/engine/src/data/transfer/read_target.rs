//! The target of a read: the caller's buffer and the conversion of the elements.

use hyperslab_dataspace::{Canvas, Tiling};
use hyperslab_datatype::convert::Conversion;

use super::{FillElement, Transform};
use crate::error::{Error, Result};

/// The target of a read: the buffer that the read fills with the selected elements, in the order of
/// the selection, and the conversion to memory.
#[derive(Debug)]
pub struct ReadTarget<'a> {
    bytes: &'a mut [u8],
    transform: Transform<'a>,
    zeroed: bool,
}

impl<'a> ReadTarget<'a> {
    /// Creates a read target for elements without conversion, which have `element_size` bytes each.
    pub fn stored(bytes: &'a mut [u8], element_size: usize) -> Self {
        Self { bytes, transform: Transform::copy(element_size), zeroed: false }
    }

    /// Creates a read target for converted elements. Members that the conversion skips keep their
    /// bytes.
    pub fn converted(bytes: &'a mut [u8], conversion: &'a Conversion) -> Self {
        Self { bytes, transform: Transform::conversion(conversion), zeroed: false }
    }

    /// Declares that the buffer of the read target holds zeros. A fill value of zeros is then not
    /// written.
    #[must_use]
    pub fn zeroed(mut self) -> Self {
        self.zeroed = true;
        self
    }

    /// Returns the transform of a read target: the copy or conversion of the elements between the
    /// file and the buffer.
    pub fn transform(&self) -> Transform<'a> {
        self.transform
    }

    /// Returns the buffer of the read target if the elements are not converted. Returns `None` if
    /// they are converted.
    pub fn as_stored(&mut self) -> Option<&mut [u8]> {
        self.transform.is_copy().then_some(&mut *self.bytes)
    }

    /// Returns whether the buffer of the read target already holds the fill value in all elements.
    pub fn holds(&self, fill: &FillElement) -> bool {
        self.zeroed && fill.is_zero() && self.transform.is_copy()
    }

    /// Writes the fill value to all elements of the read target's buffer.
    pub fn fill(&mut self, fill: &FillElement) -> Result<()> {
        if self.holds(fill) { Ok(()) } else { self.transform.fill_run(fill, self.bytes) }
    }

    /// Returns the buffer of the read target as a canvas, into which reads copy tiles: the parts of
    /// the selection in single chunks.
    pub(in crate::data) fn canvas(&mut self, tiling: &Tiling) -> Result<Canvas<'_>> {
        Ok(Canvas::packed(self.bytes, tiling.shape(), self.transform.size())?)
    }

    /// Returns the bytes of the read target's buffer for `count` elements. The first of them is the
    /// selection's element with the index `position`.
    pub(in crate::data) fn run(&mut self, position: u64, count: u64) -> Result<&mut [u8]> {
        let size = self.transform.size();
        let bytes = |elements: u64| usize::try_from(elements).ok()?.checked_mul(size);
        let range =
            bytes(position).zip(bytes(count)).and_then(|(at, length)| Some(at..at.checked_add(length)?));
        let run = range.and_then(|range| self.bytes.get_mut(range));
        run.ok_or_else(|| Error::Misuse("the buffer is smaller than the selected elements".into()))
    }

    /// Converts stored elements and writes them to the read target's buffer. The first of them is
    /// the selection's element with the index `position`.
    pub(crate) fn put(&mut self, position: u64, source: &[u8]) -> Result<()> {
        let transform = self.transform;
        let count = source.len().checked_div(transform.source_size()).unwrap_or(0);
        transform.run(source, self.run(position, count as u64)?)
    }
}
