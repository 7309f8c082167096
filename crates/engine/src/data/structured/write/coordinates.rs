//! The coordinates of points for a write to structured chunks.

use std::ops::Range;

use hyperslab_dataspace::Points;

use crate::error::{Error, Result};

/// The name of a write of points to structured chunks in error messages.
pub(super) const POINTS: &str = "write of points";

/// A trait of lists of point coordinates for a write. The list of points and the list of the
/// written values have the same order.
pub trait PointCoordinates: Sync {
    /// Returns the number of points in the list of coordinates to write.
    fn len(&self) -> usize;

    /// Returns whether the list of coordinates to write has no points.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls a function with the number and the coordinates of each point in a range of the list to
    /// write.
    ///
    /// # Errors
    /// Returns the errors of `visit`.
    fn for_each(
        &self,
        points: Range<usize>,
        visit: &mut impl FnMut(usize, &[u64]) -> Result<()>,
    ) -> Result<()>;
}

impl PointCoordinates for Points {
    fn len(&self) -> usize {
        self.coordinates.len().checked_div(self.rank).unwrap_or(0)
    }

    fn for_each(
        &self,
        points: Range<usize>,
        visit: &mut impl FnMut(usize, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let rows = self.coordinates.chunks_exact(self.rank.max(1));
        let (first, count) = (points.start, points.len());
        if points.end > rows.len() {
            return Err(Error::internal(POINTS, "the requested points exist"));
        }
        rows.skip(first).take(count).zip(points).try_for_each(|(point, number)| visit(number, point))
    }
}

/// A trait of integers into which a write packs a point of a structured chunk: the upper half is
/// the offset of the point in its chunk, and the lower half is the number of the point.
pub(super) trait Packed: Copy + Ord + Send + Sync {
    fn pack(offset: u64, number: u64) -> Self;
    fn offset(self) -> u64;
    fn number(self) -> u64;
}

impl Packed for u64 {
    fn pack(offset: u64, number: u64) -> Self {
        offset << 32 | number
    }

    fn offset(self) -> u64 {
        self >> 32
    }

    fn number(self) -> u64 {
        self & u64::from(u32::MAX)
    }
}

impl Packed for u128 {
    fn pack(offset: u64, number: u64) -> Self {
        Self::from(offset) << 64 | Self::from(number)
    }

    fn offset(self) -> u64 {
        (self >> 64) as u64
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    fn number(self) -> u64 {
        self as u64
    }
}

/// Returns the error for a point outside the dataset.
pub(super) fn outside(point: &[u64], extent: &[u64]) -> Error {
    Error::Misuse(format!("the point {point:?} is outside a dataset of shape {extent:?}"))
}
