//! Long reads and writes in parts. Between the parts of a read the interpreter handles signals,
//! such as Ctrl-C. Between all parts, the progress is reported.

use hyperslab::{Hyperslab, RegularHyperslab, Selection as Facade};
use hyperslab_exact::{to_u64, to_usize};
use pyo3::prelude::*;

use crate::errors::OrRaise;
use crate::progress;
use crate::selection::Selection;

/// The parts of a read or write of a box of elements: ranges of coordinates in one dimension, of
/// whole chunks each.
#[derive(Debug)]
pub(super) struct Parts {
    start: Vec<u64>,
    count: Vec<u64>,
    /// The first dimension of more than one coordinate. Its ranges are consecutive in memory.
    axis: usize,
    /// The size of a chunk in that dimension.
    chunk: u64,
    /// The number of coordinates of a part.
    step: u64,
    /// The number of bytes of one coordinate of that dimension.
    bytes: u64,
    /// The next coordinate.
    next: u64,
    end: u64,
}

impl Parts {
    /// Returns the parts of a read of `length` bytes; `None` if the read is short or selects no
    /// box.
    ///
    /// # Errors
    /// Raises an exception if the selection does not fit the shape.
    pub(super) fn of(
        dataset: &hyperslab::Dataset,
        selection: &Selection,
        length: usize,
    ) -> PyResult<Option<Self>> {
        let part_bytes = progress::part_bytes(length);
        if length <= part_bytes || !selection.is_plain() {
            return Ok(None);
        }
        let region = selection.facade().as_region(selection.dims()).map_err(Into::into).or_raise()?;
        let Some(region) = region else { return Ok(None) };
        let Some(axis) = region.count.iter().position(|count| *count > 1) else { return Ok(None) };
        let (Some(start), Some(count)) = (region.start.get(axis), region.count.get(axis)) else {
            return Ok(None);
        };
        let chunk = dataset.chunking().and_then(|chunking| chunking.shape.get(axis).copied());
        let chunk = chunk.unwrap_or(1).max(1);
        let bytes = (to_u64(length) / count).max(1);
        let step = to_u64(part_bytes).div_ceil(bytes).next_multiple_of(chunk);
        let end = start.saturating_add(*count);
        let (next, count) = (*start, region.count.to_vec());
        Ok(Some(Self { start: region.start.to_vec(), count, axis, chunk, step, bytes, next, end }))
    }
}

impl Iterator for Parts {
    /// A selection and its number of bytes.
    type Item = (Facade, usize);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        // All parts but the last one end where a chunk ends.
        let stop = self.next.saturating_add(self.step);
        let stop = (stop - stop % self.chunk).max(self.next.saturating_add(1)).min(self.end);
        *self.start.get_mut(self.axis)? = self.next;
        *self.count.get_mut(self.axis)? = stop - self.next;
        let bytes = to_usize((stop - self.next).checked_mul(self.bytes)?).ok()?;
        self.next = stop;
        let ones = vec![1; self.start.len()];
        let slab = RegularHyperslab::strided(&self.start, &ones, &self.count);
        Some((Facade::Hyperslab(Hyperslab::Regular(slab)), bytes))
    }
}
