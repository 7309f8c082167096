//! The conversion of elements between the file and a buffer.

use hyperslab_dataspace::{Tile, TileScratch};
use hyperslab_datatype::convert::Conversion;

use super::FillElement;
use crate::error::{Error, Result};

/// Number of bytes of fill values that a transform converts with one call.
const FILL_BYTES: usize = 16 << 10;

/// The transform of elements between the file and a buffer in memory: none, or a conversion.
#[derive(Debug, Clone, Copy)]
pub struct Transform<'a> {
    conversion: Option<&'a Conversion>,
    source_size: usize,
    size: usize,
}

impl<'a> Transform<'a> {
    /// Creates the transform that copies elements without conversion between the file and a buffer.
    pub(in crate::data) fn copy(element_size: usize) -> Self {
        Self { conversion: None, source_size: element_size, size: element_size }
    }

    /// Creates the transform that converts elements with the conversion `conversion`.
    pub(in crate::data) fn conversion(conversion: &'a Conversion) -> Self {
        let (source_size, size) = (conversion.source_size(), conversion.destination_size());
        let conversion = Some(conversion).filter(|conversion| !conversion.is_no_op());
        Self { conversion, source_size, size }
    }

    /// Returns the size in bytes of an element after the transform (a copy or a conversion).
    pub(in crate::data) fn size(&self) -> usize {
        self.size
    }

    /// Returns the size in bytes of an element before the transform (a copy or a conversion).
    pub(in crate::data) fn source_size(&self) -> usize {
        self.source_size
    }

    /// Returns whether the transform only copies elements, without conversion.
    pub(in crate::data) fn is_copy(&self) -> bool {
        self.conversion.is_none()
    }

    /// Copies or converts contiguous elements from the buffer `from` to the buffer `to`.
    pub(in crate::data) fn run(&self, from: &[u8], to: &mut [u8]) -> Result<()> {
        match self.conversion {
            Some(conversion) => {
                // A type of size 0 has no bytes, so no elements are converted.
                let count = from.len().checked_div(self.source_size).unwrap_or(0);
                Ok(conversion.convert(from, to, count)?)
            }
            None if from.len() == to.len() => {
                to.copy_from_slice(from);
                Ok(())
            }
            None => Err(Error::Misuse("the buffer is smaller than the selected elements".into())),
        }
    }

    /// Copies or converts the selected elements of one chunk into a tile, which is their part of
    /// the read target. `chunk` holds the bytes of the chunk from its element `first` on.
    pub(in crate::data) fn tile(
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

    /// Fills a tile of the read target, the part for the selected elements of one chunk, with the
    /// fill value.
    pub(in crate::data) fn fill_tile(&self, fill: &FillElement, tile: &mut Tile<'_>) -> Result<()> {
        tile.for_each_run(|run| self.fill_run(fill, run))
    }

    pub(super) fn fill_run(&self, fill: &FillElement, run: &mut [u8]) -> Result<()> {
        if self.is_copy() {
            fill.write(run);
            return Ok(());
        }
        let (from, to) = (self.source_size.max(1), self.size.max(1));
        let count = (FILL_BYTES / from.max(to)).max(1).min(run.len() / to);
        let mut elements = vec![0; count * from];
        fill.write(&mut elements);
        for part in run.chunks_mut((count * to).max(1)) {
            let source = elements.split_at(part.len() / to * from).0;
            self.run(source, part)?;
        }
        Ok(())
    }
}
