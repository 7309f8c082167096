//! The coordinates that a regular hyperslab selects along one dimension of a dataspace.

use std::ops::Range;

use smallvec::SmallVec;

use crate::error::Result;
use crate::{DataspaceError, UNLIMITED};

/// The selected coordinates of each dimension of the dataspace in a regular hyperslab,
/// slowest-varying dimension first.
pub type Axes = SmallVec<[Axis; 4]>;

/// The selected coordinates of one dimension of a dataspace: blocks of equal size at equal
/// distances. The end of the extent may cut the last block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    start: u64,
    stride: u64,
    count: u64,
    block: u64,
    /// The size of the last block.
    last: u64,
}

/// A run of adjacent selected coordinates of one dimension of a dataspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisRun {
    /// The first coordinate.
    pub start: u64,
    /// The number of coordinates.
    pub length: u64,
    /// The number of selected coordinates before this run.
    pub position: u64,
}

/// A regular pattern of blocks of selected coordinates along one dimension. It has `count` blocks
/// of `block` coordinates. The first block begins at `start`, and the starts are `stride`
/// coordinates apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisPart {
    /// The first coordinate.
    pub start: u64,
    /// The distance between the starts of two neighbouring blocks.
    pub stride: u64,
    /// The number of blocks.
    pub count: u64,
    /// The number of coordinates of a block.
    pub block: u64,
}

impl Axis {
    const EMPTY: Self = Self { start: 0, stride: 1, count: 0, block: 0, last: 0 };

    /// Creates the selection of all coordinates of one dimension of a dataspace. `size` is the size
    /// of the dimension.
    pub fn whole(size: u64) -> Self {
        Self::one_block(0, size)
    }

    /// Creates a selection of `length` contiguous coordinates of one dimension. The first
    /// coordinate is `start`.
    fn one_block(start: u64, length: u64) -> Self {
        if length == 0 {
            return Self::EMPTY;
        }
        Self { start, stride: length, count: 1, block: length, last: length }
    }

    /// Creates the selection of `count` blocks of `block` coordinates along one dimension of a
    /// dataspace. `size` is the size of the dimension. The first block begins at `start`, and the
    /// starts are `stride` coordinates apart.
    ///
    /// Either `count` or `block` may be [`UNLIMITED`]: the selection then extends to the end of the
    /// dimension. The number `dimension` only appears in errors.
    ///
    /// # Errors
    /// [`DataspaceError::Bounds`] if a block reaches beyond the dimension,
    /// [`DataspaceError::Invalid`] if blocks overlap.
    pub fn new(start: u64, stride: u64, count: u64, block: u64, size: u64, dimension: usize) -> Result<Self> {
        let invalid = |problem| DataspaceError::Invalid { subject: "a hyperslab", problem };
        if block == UNLIMITED && count > 1 {
            return Err(invalid("has several blocks of unlimited size"));
        }
        if count > 1 && stride < block.max(1) {
            return Err(invalid("has blocks that overlap"));
        }
        if count == 0 || block == 0 {
            return Ok(Self::EMPTY);
        }
        // An unlimited selection that starts beyond the end of the dimension is empty.
        let to_end = size.max(start) - start;
        if block == UNLIMITED || (count == UNLIMITED && stride == block) {
            return Ok(Self::one_block(start, to_end));
        }
        if count == UNLIMITED {
            let count = to_end.div_ceil(stride);
            let Some(before) = count.checked_sub(1) else { return Ok(Self::EMPTY) };
            let last = (to_end - before * stride).min(block);
            return Ok(Self { start, stride, count, block, last });
        }
        let end = if count == 1 { Some(0) } else { (count - 1).checked_mul(stride) }
            .and_then(|span| span.checked_add(block))
            .and_then(|span| span.checked_add(start));
        if end.is_none_or(|end| end > size) {
            let last = end.map_or(u64::MAX, |end| end - 1);
            return Err(DataspaceError::Bounds { subject: "a hyperslab", dimension, start, last, size });
        }
        if count == 1 || stride == block {
            return Ok(Self::one_block(start, block * count));
        }
        Ok(Self { start, stride, count, block, last: block })
    }

    /// Returns the number of selected coordinates of one dimension.
    pub fn len(&self) -> u64 {
        self.count.checked_sub(1).map_or(0, |before| before * self.block + self.last)
    }

    /// Returns whether no coordinate of the dimension is selected.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the first selected coordinate of a dimension, and one more than the last selected
    /// coordinate. Returns [`None`] if no coordinate is selected.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        let last = self.count.checked_sub(1)?;
        Some((self.start, self.block_start(last) + self.last))
    }

    /// Returns the number of blocks of selected coordinates of one dimension.
    pub fn block_count(&self) -> u64 {
        self.count
    }

    /// Returns the distance between the starts of two neighbouring blocks of selected coordinates.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// Returns the size of the blocks of selected coordinates of one dimension if all blocks have
    /// the same size.
    pub fn equal_blocks(&self) -> Option<u64> {
        (self.last == self.block).then_some(self.block)
    }

    /// Returns one selected coordinate of a dimension. `position` is its index in the list of
    /// selected coordinates.
    pub fn coordinate(&self, position: u64) -> Option<u64> {
        if position >= self.len() {
            return None;
        }
        let block = position.checked_div(self.block)?;
        Some(self.block_start(block) + position.checked_rem(self.block)?)
    }

    /// Returns the selected coordinates of one dimension that lie in `from..to`, as runs in
    /// ascending order.
    pub fn runs_within(&self, from: u64, to: u64) -> impl Iterator<Item = AxisRun> + use<> {
        let axis = *self;
        let first = (from.max(axis.start) - axis.start) / axis.stride;
        (first..axis.count)
            .map_while(move |block| {
                let start = axis.block_start(block);
                (start < to).then(|| {
                    let end = (start + axis.block_length(block)).min(to);
                    let cut = from.max(start);
                    let position = block * axis.block + (cut - start);
                    AxisRun { start: cut, length: end.max(cut) - cut, position }
                })
            })
            .filter(|run| run.length > 0)
    }

    /// Returns the range of indexes of the selected coordinates in `from..to`. The indexes refer to
    /// the list of all selected coordinates of the dimension.
    pub fn positions_within(&self, from: u64, to: u64) -> Range<u64> {
        // Counts the selected coordinates below `at`: whole blocks, and a part of the block around
        // `at`.
        let before = |at: u64| {
            let Some(from_start) = at.checked_sub(self.start) else { return 0 };
            let block = from_start.checked_div(self.stride).unwrap_or(0);
            let Some(last) = self.count.checked_sub(1) else { return 0 };
            if block > last {
                return self.len();
            }
            let within = from_start - block * self.stride;
            block * self.block + within.min(self.block_length(block))
        };
        let first = before(from);
        first..before(to).max(first)
    }

    /// Returns a part of the selected coordinates of one dimension as a pattern of equal blocks.
    /// `positions` is the range of indexes of these coordinates. Returns [`None`] if they do not
    /// form equal blocks.
    pub fn part(&self, positions: Range<u64>) -> Option<AxisPart> {
        let length = positions.end.checked_sub(positions.start).filter(|length| *length > 0)?;
        let start = self.coordinate(positions.start)?;
        if self.run_from(positions.start) >= length {
            return Some(AxisPart { start, stride: 1, count: 1, block: length });
        }
        let whole = |position: u64| position.checked_rem(self.block) == Some(0);
        if !whole(positions.start) || !whole(positions.end) {
            return None;
        }
        let count = length.checked_div(self.block)?;
        Some(AxisPart { start, stride: self.stride, count, block: self.block })
    }

    /// Returns the longest prefix of `positions` that consists of whole blocks of full size.
    /// `positions` is a range of indexes of selected coordinates. The prefix is empty if the range
    /// begins inside a block.
    pub(crate) fn whole_blocks(&self, positions: Range<u64>) -> Range<u64> {
        if positions.start.checked_rem(self.block) != Some(0) {
            return positions.start..positions.start;
        }
        let end = positions.end - positions.end.checked_rem(self.block).unwrap_or(0);
        positions.start..end.max(positions.start)
    }

    /// Returns the number of selected coordinates from an index to the end of the block that
    /// contains this index. `position` is the index in the list of selected coordinates of one
    /// dimension.
    pub(crate) fn run_from(&self, position: u64) -> u64 {
        let block = position.checked_div(self.block).unwrap_or(0);
        let within = position.checked_rem(self.block).unwrap_or(0);
        self.block_length(block) - within
    }

    /// Returns the first coordinate of a block of selected coordinates of one dimension.
    pub(crate) fn block_start(&self, block: u64) -> u64 {
        self.start + block * self.stride
    }

    /// Returns the number of coordinates in one block of the selected coordinates of a dimension.
    pub fn block_length(&self, block: u64) -> u64 {
        if block + 1 == self.count { self.last } else { self.block }
    }

    /// Returns whether a selection of coordinates contains all coordinates of a dimension. `size`
    /// is the size of the dimension.
    pub(crate) fn is_whole(&self, size: u64) -> bool {
        self.count == 1 && self.start == 0 && self.last == size
    }

    /// Replaces every selected coordinate of a dimension by `factor` coordinates. Returns [`None`]
    /// if a coordinate overflows 64 bits.
    pub(crate) fn scaled(&self, factor: u64) -> Option<Self> {
        Some(Self {
            start: self.start.checked_mul(factor)?,
            stride: self.stride.checked_mul(factor)?,
            count: self.count,
            block: self.block.checked_mul(factor)?,
            last: self.last.checked_mul(factor)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unlimited_ends_with_the_extent() {
        let axis = |count, block, size| Axis::new(2, 5, count, block, size, 0).unwrap();
        let runs =
            |axis: Axis| axis.runs_within(0, u64::MAX).map(|run| (run.start, run.length)).collect::<Vec<_>>();
        assert_eq!(runs(axis(UNLIMITED, 3, 14)), [(2, 3), (7, 3), (12, 2)]);
        assert_eq!(axis(UNLIMITED, 3, 14).equal_blocks(), None);
        assert_eq!(runs(axis(UNLIMITED, 3, 12)), [(2, 3), (7, 3)]);
        assert_eq!(runs(axis(UNLIMITED, 5, 12)), [(2, 10)]);
        assert_eq!(runs(axis(1, UNLIMITED, 12)), [(2, 10)]);
        assert!(axis(UNLIMITED, 3, 2).is_empty() && axis(1, UNLIMITED, 1).is_empty());
        assert!(Axis::new(0, 1, UNLIMITED, UNLIMITED, 9, 0).is_err());
    }

    #[test]
    fn extremes_are_errors() {
        let max = u64::MAX;
        for (start, stride, count, block) in [
            (max, 1, 1, 1),
            (0, max, 3, 1),
            (1, 1, max - 1, 1),
            (max, max, 2, max - 1),
            (0, 0, 2, 1),
            (0, 1, 2, 2),
        ] {
            assert!(Axis::new(start, stride, count, block, 100, 3).is_err());
        }
        assert!(Axis::new(500, 0, 0, 7, 100, 0).unwrap().is_empty());
        assert_eq!(Axis::new(0, 0, 1, max - 1, max, 0).unwrap().len(), max - 1);
    }

    proptest! {
        #[test]
        fn runs_equal_a_bitmap(
            (start, stride, count, block) in (0..5_u64, 1..6_u64, 0..5_u64, 0..5_u64),
            (size, from, to, endless) in (0..30_u64, 0..30_u64, 0..30_u64, any::<bool>()),
        ) {
            let blocks = if endless { 40 } else { count };
            prop_assume!(blocks < 2 || stride >= block);
            let selected: Vec<u64> = (0..blocks).flat_map(|k| (0..block).map(move |j| start + k * stride + j)).collect();
            let axis = Axis::new(start, stride, if endless { UNLIMITED } else { count }, block, size, 0);
            if !endless && selected.iter().any(|at| *at >= size) {
                prop_assert!(axis.is_err());
                return Ok(());
            }
            let (axis, selected) = (axis.unwrap(), selected.into_iter().filter(|at| *at < size).collect::<Vec<u64>>());
            prop_assert_eq!(axis.len(), selected.len() as u64);
            let by_position: Vec<u64> = (0..100).map_while(|position| axis.coordinate(position)).collect();
            prop_assert_eq!(&by_position, &selected);
            prop_assert_eq!(axis.bounds(), selected.first().map(|first| (*first, selected[selected.len() - 1] + 1)));
            let mut inside = Vec::new();
            for run in axis.runs_within(from, to) {
                prop_assert_eq!(selected.get(usize::try_from(run.position).unwrap()), Some(&run.start));
                inside.extend(run.start..run.start + run.length);
            }
            prop_assert_eq!(&inside, &selected.into_iter().filter(|at| (from..to).contains(at)).collect::<Vec<u64>>());
            let positions = axis.positions_within(from, to);
            prop_assert_eq!(positions.clone().map(|at| axis.coordinate(at).unwrap()).collect::<Vec<u64>>(), inside.clone());
            if let Some(part) = axis.part(positions) {
                let again: Vec<u64> = (0..part.count)
                    .flat_map(|k| (0..part.block).map(move |j| part.start + k * part.stride + j))
                    .collect();
                prop_assert_eq!(again, inside);
            }
        }
    }
}
