//! Where the elements that are read go, and as what.

use hyperslab_dataspace::{Canvas, Tile, TileScratch, Tiling};
use hyperslab_datatype::convert::Conversion;

use super::Fill;
use crate::error::{Error, Result};

/// Bytes of fill value that are converted at once.
const FILL_BYTES: usize = 16 << 10;

/// A buffer for the selected elements, one after the other in the order of the selection.
#[derive(Debug)]
pub struct Destination<'a> {
    bytes: &'a mut [u8],
    transform: Transform<'a>,
    zeroed: bool,
}

/// What is done with elements on their way: nothing, or a conversion.
#[derive(Debug, Clone, Copy)]
pub struct Transform<'a> {
    conversion: Option<&'a Conversion>,
    source_size: usize,
    size: usize,
}

impl<'a> Destination<'a> {
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
        self.transform.conversion.is_none().then_some(&mut *self.bytes)
    }

    /// Whether elements that are `fill` need not be written.
    pub fn holds(&self, fill: &Fill) -> bool {
        self.zeroed && fill.is_zero() && self.transform.conversion.is_none()
    }

    /// Makes every element `fill`.
    pub fn fill(&mut self, fill: &Fill) -> Result<()> {
        if self.holds(fill) { Ok(()) } else { self.transform.fill_run(fill, self.bytes) }
    }

    /// The places of a packed selection of that shape.
    pub(super) fn canvas(&mut self, tiling: &Tiling) -> Result<Canvas<'_>> {
        Ok(Canvas::packed(self.bytes, tiling.shape(), self.transform.size)?)
    }

    /// Where `count` elements go of which the first stands at `position` in the selection.
    pub(super) fn run(&mut self, position: u64, count: u64) -> Result<&mut [u8]> {
        let size = self.transform.size;
        let bytes = |elements: u64| usize::try_from(elements).ok()?.checked_mul(size);
        let range =
            bytes(position).zip(bytes(count)).and_then(|(at, length)| Some(at..at.checked_add(length)?));
        let run = range.and_then(|range| self.bytes.get_mut(range));
        run.ok_or_else(|| Error::Misuse("the buffer holds fewer elements than are selected".into()))
    }

    /// Puts stored elements, side by side, to their positions from `position` on.
    pub(crate) fn put(&mut self, position: u64, source: &[u8]) -> Result<()> {
        let transform = self.transform;
        let count = source.len().checked_div(transform.source_size).unwrap_or(0);
        transform.run(source, self.run(position, count as u64)?)
    }
}

impl<'a> Transform<'a> {
    /// Elements stay as they are.
    pub(super) fn copy(element_size: usize) -> Self {
        Self { conversion: None, source_size: element_size, size: element_size }
    }

    /// Elements are converted.
    pub(super) fn conversion(conversion: &'a Conversion) -> Self {
        let (source_size, size) = (conversion.source_size(), conversion.destination_size());
        let conversion = Some(conversion).filter(|conversion| !conversion.is_no_op());
        Self { conversion, source_size, size }
    }

    /// Bytes of an element where it goes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Bytes of an element where it comes from.
    pub(super) fn source_size(&self) -> usize {
        self.source_size
    }

    /// Whether elements go as they are stored.
    pub(super) fn is_copy(&self) -> bool {
        self.conversion.is_none()
    }

    /// Moves elements that lie side by side.
    pub(super) fn run(&self, source: &[u8], to: &mut [u8]) -> Result<()> {
        match self.conversion {
            Some(conversion) => {
                let count = source.len().checked_div(self.source_size).unwrap_or(0);
                Ok(conversion.convert(source, to, count)?)
            }
            None if source.len() == to.len() => {
                to.copy_from_slice(source);
                Ok(())
            }
            None => Err(Error::Misuse("the buffer holds fewer elements than are selected".into())),
        }
    }

    /// Moves the elements of a tile from the bytes of its chunk, which begin with the chunk's element `first`.
    pub(super) fn tile(
        &self,
        tile: &mut Tile<'_>,
        chunk: &[u8],
        first: u64,
        scratch: &mut TileScratch,
    ) -> Result<()> {
        if self.is_copy() {
            return Ok(tile.copy_from(chunk, first)?);
        }
        tile.convert_from(chunk, first, self.source_size, scratch, &mut |from, to| self.run(from, to))
    }

    /// Makes the elements of a tile `fill`.
    pub(super) fn fill_tile(&self, fill: &Fill, tile: &mut Tile<'_>) -> Result<()> {
        tile.for_each_run(|run| self.fill_run(fill, run))
    }

    fn fill_run(&self, fill: &Fill, run: &mut [u8]) -> Result<()> {
        if self.is_copy() {
            fill.write(run);
            return Ok(());
        }
        let (from, to) = (self.source_size.max(1), self.size.max(1));
        let count = (FILL_BYTES / from.max(to)).max(1).min(run.len() / to);
        let mut elements = vec![0; count.saturating_mul(from)];
        fill.write(&mut elements);
        for part in run.chunks_mut(count.saturating_mul(to).max(1)) {
            let source = elements.get(..part.len() / to * from).unwrap_or_default();
            self.run(source, part)?;
        }
        Ok(())
    }
}
