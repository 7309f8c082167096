//! Selections of elements of a dataspace.

use std::borrow::Cow;

use hyperslab_exact::to_u64;

use crate::blocks::BlockRuns;
use crate::error::{Result, product, same_rank};
use crate::runs::{PointRuns, RegularRuns, Source};
use crate::spans::Spans;
use crate::{Axes, Axis, DataspaceError, Dims, LinearRun, LinearRuns, Points, Region, Runs};

/// The count or block size of a hyperslab that extends to the end of the dataspace's extent
/// (H5S_UNLIMITED).
pub const UNLIMITED: u64 = u64::MAX;

/// A selection of elements of a dataspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// No element.
    None,
    /// Every element.
    All,
    /// A list of single elements. Its order is the order of the selection.
    Points(Points),
    /// Blocks of elements, in C order.
    Hyperslab(Hyperslab),
}

/// A selection of blocks of elements of a dataspace: a regular pattern, or a list of blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hyperslab {
    /// Blocks of equal size at equal distances.
    Regular(RegularHyperslab),
    /// Arbitrary blocks. [`Selection::validate`] requires disjoint blocks.
    Irregular {
        /// The number of dimensions.
        rank: usize,
        /// The blocks.
        blocks: Vec<Block>,
    },
}

/// A regular pattern of blocks of selected elements. In each dimension it has `count` blocks of
/// `block` elements. The first block begins at `start`, and the starts are `stride` elements apart.
#[derive(Debug, PartialEq, Eq)]
pub struct RegularHyperslab {
    /// The first selected coordinate in each dimension.
    pub start: Dims,
    /// The distance between the starts of two neighbouring blocks.
    pub stride: Dims,
    /// The number of blocks, or [`UNLIMITED`].
    pub count: Dims,
    /// The size of a block in elements, or [`UNLIMITED`].
    pub block: Dims,
}

/// A box of selected elements, given by its two corners. Both corners belong to the box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The lowest coordinate in each dimension.
    pub start: Dims,
    /// The highest coordinate in each dimension.
    pub end: Dims,
}

const ELEMENTS: &str = "number of elements";

impl Selection {
    /// Creates a selection of one box of elements.
    pub fn region(region: &Region) -> Self {
        let hyperslab = RegularHyperslab::region(&region.start, &region.count);
        Self::Hyperslab(Hyperslab::Regular(hyperslab))
    }

    /// Returns the number of elements that this selection selects from a dataspace of the shape
    /// `dims`.
    ///
    /// Overlapping blocks and repeated points are counted repeatedly.
    ///
    /// # Errors
    /// [`DataspaceError::Overflow`] if the number does not fit in 64 bits; the errors of
    /// [`Selection::validate`].
    pub fn element_count(&self, dims: &[u64]) -> Result<u64> {
        match self {
            Self::None => Ok(0),
            Self::All => product(ELEMENTS, dims.iter().copied()),
            Self::Points(points) => {
                points.check(dims)?;
                Ok(to_u64(points.coordinates.len().checked_div(points.rank).unwrap_or(0)))
            }
            Self::Hyperslab(Hyperslab::Regular(hyperslab)) => hyperslab.element_count(dims),
            Self::Hyperslab(Hyperslab::Irregular { rank, blocks }) => {
                check_blocks(*rank, blocks, dims)?;
                blocks.iter().try_fold(0_u64, |sum, block| {
                    let count = Region::from(block).element_count()?;
                    sum.checked_add(count).ok_or(DataspaceError::Overflow { subject: ELEMENTS })
                })
            }
        }
    }

    /// Checks that the selection is valid for a dataspace of the shape `dims`.
    ///
    /// Blocks must be disjoint. The check takes time in proportion to the square of the number of
    /// blocks at worst.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] if the ranks differ, [`DataspaceError::Bounds`] if the selection
    /// reaches beyond the extent, [`DataspaceError::Invalid`] if blocks overlap or the selection is
    /// invalid for every extent.
    pub fn validate(&self, dims: &[u64]) -> Result<()> {
        match self {
            Self::None | Self::All => Ok(()),
            Self::Points(points) => points.check(dims),
            Self::Hyperslab(Hyperslab::Regular(hyperslab)) => hyperslab.axes(dims).map(|_| ()),
            Self::Hyperslab(Hyperslab::Irregular { rank, blocks }) => {
                check_blocks(*rank, blocks, dims)?;
                check_disjoint(*rank, blocks)
            }
        }
    }

    /// Returns the smallest box that contains all selected elements; [`None`] if no element is
    /// selected.
    ///
    /// # Errors
    /// The errors of [`Selection::validate`], except that blocks may overlap.
    pub fn bounding_box(&self, dims: &[u64]) -> Result<Option<Region>> {
        let bounds: Option<Vec<(u64, u64)>> = match self {
            Self::None => None,
            Self::All => dims.iter().map(|size| Axis::whole(*size).bounds()).collect(),
            Self::Points(points) => {
                points.check(dims)?;
                enclose(points.points().map(|point| (point, point)))
            }
            Self::Hyperslab(Hyperslab::Regular(hyperslab)) => {
                hyperslab.axes(dims)?.iter().map(Axis::bounds).collect()
            }
            Self::Hyperslab(Hyperslab::Irregular { rank, blocks }) => {
                check_blocks(*rank, blocks, dims)?;
                enclose(blocks.iter().map(|block| (block.start.as_slice(), block.end.as_slice())))
            }
        };
        Ok(bounds.map(|bounds| Region {
            start: bounds.iter().map(|(start, _)| *start).collect(),
            count: bounds.iter().map(|(start, end)| end - *start).collect(),
        }))
    }

    /// Returns the selected elements as runs along the fastest dimension: in C order, or in list
    /// order for points.
    ///
    /// The iterator computes each run on demand. It visits an element of several overlapping blocks
    /// once.
    ///
    /// # Errors
    /// The errors of [`Selection::validate`], except that blocks may overlap.
    pub fn runs(&self, dims: &[u64]) -> Result<Runs<'_>> {
        let source = match self {
            Self::None => Source::Empty,
            Self::All => {
                let axes: Axes = dims.iter().map(|size| Axis::whole(*size)).collect();
                Source::Regular(RegularRuns::new(&axes))
            }
            Self::Points(points) => {
                points.check(dims)?;
                Source::Points(PointRuns::new(points))
            }
            Self::Hyperslab(Hyperslab::Regular(hyperslab)) => {
                Source::Regular(RegularRuns::new(&hyperslab.axes(dims)?))
            }
            Self::Hyperslab(Hyperslab::Irregular { rank, blocks }) => {
                check_blocks(*rank, blocks, dims)?;
                Source::Blocks(BlockRuns::new(*rank, Cow::Borrowed(blocks)))
            }
        };
        Ok(Runs { source })
    }

    /// Returns the selected elements as contiguous runs in a C-order array of the shape `dims`, in
    /// the order of [`Selection::runs`]. Adjacent runs are merged.
    ///
    /// # Errors
    /// The errors of [`Selection::runs`]; [`DataspaceError::Overflow`] if the number of elements of
    /// the array does not fit in 64 bits.
    pub fn linear_runs(&self, dims: &[u64]) -> Result<LinearRuns<'_>> {
        let mut axes = None;
        match self {
            Self::None | Self::All => {}
            Self::Points(points) => points.check(dims)?,
            Self::Hyperslab(Hyperslab::Regular(hyperslab)) => axes = Some(hyperslab.axes(dims)?),
            Self::Hyperslab(Hyperslab::Irregular { rank, blocks }) => check_blocks(*rank, blocks, dims)?,
        }
        LinearRuns::new(self, axes, dims)
    }

    /// Returns the only run of selected elements. Returns `None` unless the selection is a box that
    /// is contiguous in a C-order array of the shape `dims`.
    ///
    /// Returns [`None`] for empty selections, for points, for several blocks, for boxes that are
    /// not contiguous, and for selections that are not valid. A caller that gets [`None`] uses
    /// [`Selection::linear_runs`].
    pub fn single_run(&self, dims: &[u64]) -> Option<LinearRun> {
        match self {
            Self::All => {
                let length = product(ELEMENTS, dims.iter().copied()).ok()?;
                (length > 0).then_some(LinearRun { offset: 0, length })
            }
            Self::Hyperslab(Hyperslab::Regular(hyperslab)) => hyperslab.single_run(dims),
            _ => None,
        }
    }
}

impl Clone for RegularHyperslab {
    fn clone(&self) -> Self {
        // Copies of whole arrays take less time than the copies by element of `SmallVec::clone`.
        Self {
            start: Dims::from_slice(&self.start),
            stride: Dims::from_slice(&self.stride),
            count: Dims::from_slice(&self.count),
            block: Dims::from_slice(&self.block),
        }
    }
}

impl RegularHyperslab {
    /// Creates a regular hyperslab of one box of elements.
    pub fn region(start: &[u64], count: &[u64]) -> Self {
        let ones = Dims::from_elem(1, start.len());
        Self {
            start: Dims::from_slice(start),
            stride: ones.clone(),
            count: ones,
            block: Dims::from_slice(count),
        }
    }

    /// Creates a regular hyperslab of single elements at equal distances.
    pub fn strided(start: &[u64], stride: &[u64], count: &[u64]) -> Self {
        Self {
            start: Dims::from_slice(start),
            stride: Dims::from_slice(stride),
            count: Dims::from_slice(count),
            block: Dims::from_elem(1, start.len()),
        }
    }

    /// Returns the number of dimensions of the regular hyperslab.
    pub fn rank(&self) -> usize {
        self.start.len()
    }

    /// Returns whether the regular hyperslab extends to the end of the dataspace's extent in any
    /// dimension.
    pub fn is_unlimited(&self) -> bool {
        self.count.contains(&UNLIMITED) || self.block.contains(&UNLIMITED)
    }

    /// Returns the coordinates that the regular hyperslab selects in each dimension of a dataspace
    /// of the shape `dims`. An unlimited count or block ends at the end of the dimension.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] if the ranks differ, [`DataspaceError::Bounds`] if the hyperslab
    /// reaches beyond the extent, [`DataspaceError::Invalid`] if blocks overlap.
    pub fn axes(&self, dims: &[u64]) -> Result<Axes> {
        self.check_rank(dims.len())?;
        self.each_axis(dims).collect()
    }

    /// Returns an iterator over the dimensions of a regular hyperslab, with the selected
    /// coordinates of each. Stops after the shorter of the hyperslab's rank and the length of
    /// `dims`.
    fn each_axis(&self, dims: &[u64]) -> impl DoubleEndedIterator<Item = Result<Axis>> {
        let ends = self.count.iter().zip(&self.block);
        let parts = self.start.iter().zip(&self.stride).zip(ends).zip(dims).enumerate();
        parts.map(|(dimension, (((start, stride), (count, block)), size))| {
            Axis::new(*start, *stride, *count, *block, *size, dimension)
        })
    }

    /// Checks that a regular hyperslab has `rank` dimensions. Compares the rank of its start,
    /// stride, count and block size.
    fn check_rank(&self, rank: usize) -> Result<()> {
        let parts = [&self.start, &self.stride, &self.count, &self.block];
        parts.into_iter().try_for_each(|part| same_rank("a hyperslab", rank, part.len()))
    }

    /// Returns the number of coordinates that the regular hyperslab selects in each dimension of a
    /// dataspace of the shape `dims`.
    ///
    /// # Errors
    /// The errors of [`RegularHyperslab::axes`].
    pub fn shape(&self, dims: &[u64]) -> Result<Dims> {
        self.check_rank(dims.len())?;
        let mut shape = Dims::new();
        for axis in self.each_axis(dims) {
            shape.push(axis?.len());
        }
        Ok(shape)
    }

    /// Returns the number of elements that the regular hyperslab selects from a dataspace of the
    /// shape `dims`.
    fn element_count(&self, dims: &[u64]) -> Result<u64> {
        self.check_rank(dims.len())?;
        let (mut count, mut is_empty) = (Some(1_u64), false);
        for axis in self.each_axis(dims) {
            let length = axis?.len();
            is_empty |= length == 0;
            count = count.and_then(|count| count.checked_mul(length));
        }
        if is_empty { Ok(0) } else { count.ok_or(DataspaceError::Overflow { subject: ELEMENTS }) }
    }

    /// Returns the only run of selected elements of a regular hyperslab. Returns `None` unless the
    /// hyperslab is a box that is contiguous in a C-order array of the shape `dims`. See
    /// [`Selection::single_run`].
    fn single_run(&self, dims: &[u64]) -> Option<LinearRun> {
        self.check_rank(dims.len()).ok()?;
        let (mut offset, mut length, mut stride) = (0_u64, 1_u64, 1_u64);
        for (axis, size) in self.each_axis(dims).rev().zip(dims.iter().rev()) {
            let (start, end) = axis.ok().filter(|axis| axis.block_count() == 1)?.bounds()?;
            // Several rows are one run only if the faster dimensions select whole rows.
            if length != stride && end - start > 1 {
                return None;
            }
            offset = offset.checked_add(start.checked_mul(stride)?)?;
            length = length.checked_mul(end - start)?;
            stride = stride.checked_mul(*size)?;
        }
        Some(LinearRun { offset, length })
    }
}

/// Checks the blocks of a hyperslab: their rank, the order of their corners, and that they lie in a
/// dataspace of the shape `dims`.
pub(crate) fn check_blocks(rank: usize, blocks: &[Block], dims: &[u64]) -> Result<()> {
    same_rank("a hyperslab", dims.len(), rank)?;
    if rank == 0 {
        return Err(DataspaceError::Invalid { subject: "a block", problem: "has no dimensions" });
    }
    for block in blocks {
        same_rank("a block", rank, block.start.len())?;
        same_rank("a block", rank, block.end.len())?;
        for (dimension, ((start, last), size)) in block.start.iter().zip(&block.end).zip(dims).enumerate() {
            if start > last {
                return Err(DataspaceError::Invalid { subject: "a block", problem: "ends before it starts" });
            }
            if last >= size {
                let (start, last, size) = (*start, *last, *size);
                return Err(DataspaceError::Bounds { subject: "a block", dimension, start, last, size });
            }
        }
    }
    Ok(())
}

/// Checks that no two blocks of a hyperslab overlap. Compares the number of elements in the union
/// of the blocks with the sum of the block sizes.
fn check_disjoint(rank: usize, blocks: &[Block]) -> Result<()> {
    let counted = Spans::of_blocks(rank, blocks)?.count();
    let sum = blocks.iter().try_fold(0_u64, |sum, block| {
        let count = Region::from(block).element_count()?;
        sum.checked_add(count).ok_or(DataspaceError::Overflow { subject: ELEMENTS })
    })?;
    if counted == sum {
        return Ok(());
    }
    Err(DataspaceError::Invalid { subject: "a hyperslab", problem: "has blocks that overlap" })
}

/// Returns the bounding box of a list of boxes of elements. In each dimension, the result has the
/// lowest coordinate, and one more than the highest coordinate.
fn enclose<'a>(mut corners: impl Iterator<Item = (&'a [u64], &'a [u64])>) -> Option<Vec<(u64, u64)>> {
    let (start, end) = corners.next()?;
    let mut bounds: Vec<(u64, u64)> = start.iter().copied().zip(end.iter().copied()).collect();
    for (start, end) in corners {
        for ((low, high), (start, end)) in bounds.iter_mut().zip(start.iter().zip(end)) {
            *low = (*low).min(*start);
            *high = (*high).max(*end);
        }
    }
    // Saturates: no extent contains the coordinate `u64::MAX`.
    bounds.iter_mut().for_each(|(_, high)| *high = high.saturating_add(1));
    Some(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather, scatter};
    use proptest::prelude::*;

    fn irregular(blocks: &[(&[u64], &[u64])]) -> Selection {
        let block = |(start, end): &(&[u64], &[u64])| Block {
            start: Dims::from_slice(start),
            end: Dims::from_slice(end),
        };
        let rank = blocks.first().map_or(1, |block| block.0.len());
        Selection::Hyperslab(Hyperslab::Irregular { rank, blocks: blocks.iter().map(block).collect() })
    }

    #[test]
    fn extents_without_dimensions_have_one_element() {
        let runs: Vec<_> =
            Selection::All.runs(&[]).unwrap().map(|run| (run.start.to_vec(), run.length)).collect();
        assert_eq!(runs, [(vec![], 1)]);
        let linear: Vec<_> = Selection::All.linear_runs(&[]).unwrap().collect();
        assert_eq!(linear, [LinearRun { offset: 0, length: 1 }]);
        assert_eq!(Selection::All.bounding_box(&[]).unwrap(), Some(Region::whole(&[])));
        assert_eq!(Selection::None.runs(&[]).unwrap().count(), 0);
    }

    #[test]
    fn huge_selections_are_not_enumerated() {
        let huge = [1 << 20, 1 << 20, 1 << 20];
        let run = LinearRun { offset: 0, length: 1 << 60 };
        assert_eq!(Selection::All.linear_runs(&huge).unwrap().collect::<Vec<_>>(), [run]);
        let last = (1 << 20) - 1;
        let blocks = irregular(&[(&[5, 0, 0], &[last, last, last]), (&[0, 0, 0], &[3, last, last])]);
        let runs: Vec<_> = blocks.linear_runs(&huge).unwrap().collect();
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[0], LinearRun { offset: 0, length: 4 << 40 });
        let mut runs = blocks.runs(&huge).unwrap();
        assert_eq!(runs.next().unwrap().length, 1 << 20);
        assert_eq!(runs.next().unwrap().start.as_slice(), [0, 1, 0]);
        assert!(Selection::All.linear_runs(&[u64::MAX, 2]).is_err());
        assert!(Selection::All.element_count(&[u64::MAX, 2]).is_err());
        let edge = irregular(&[(&[0], &[u64::MAX - 1])]);
        assert_eq!(edge.linear_runs(&[u64::MAX]).unwrap().next().unwrap().length, u64::MAX);
    }

    #[test]
    fn many_blocks_are_swept() {
        // A chessboard of 100 x 100 blocks of 2 x 3 elements.
        let mut blocks = Vec::new();
        for row in 0..100_u64 {
            for column in (row % 2..100).step_by(2) {
                let start = Dims::from_slice(&[2 * row, 3 * column]);
                blocks.push(Block { end: Dims::from_slice(&[2 * row + 1, 3 * column + 2]), start });
            }
        }
        blocks.reverse();
        let board = Selection::Hyperslab(Hyperslab::Irregular { rank: 2, blocks });
        board.validate(&[200, 300]).unwrap();
        assert_eq!(board.element_count(&[200, 300]).unwrap(), 30_000);
        let runs: Vec<_> = board.runs(&[200, 300]).unwrap().collect();
        assert_eq!(runs.len(), 10_000);
        assert_eq!((runs[51].start.as_slice(), runs[101].start.as_slice()), (&[1, 6][..], &[2, 9][..]));
        assert_eq!(runs.iter().map(|run| run.length).sum::<u64>(), 30_000);
    }

    #[test]
    fn blocks_that_touch_are_one_run() {
        let blocks = irregular(&[(&[0, 4], &[1, 5]), (&[1, 0], &[1, 3])]);
        let runs: Vec<_> =
            blocks.runs(&[2, 8]).unwrap().map(|run| (run.start.to_vec(), run.length)).collect();
        assert_eq!(runs, [(vec![0, 4], 2), (vec![1, 0], 6)]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let points =
            |rank, coordinates: &[u64]| Selection::Points(Points { rank, coordinates: coordinates.to_vec() });
        let hyperslab = |start: &[u64], stride: &[u64], count: &[u64]| {
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::strided(start, stride, count)))
        };
        let bad = [
            points(1, &[1, 2]),
            points(2, &[1]),
            points(2, &[1, 2, 5, 0]),
            points(0, &[]),
            hyperslab(&[0], &[1], &[1]),
            hyperslab(&[0, 0], &[1], &[1, 1]),
            hyperslab(&[4, 0], &[1, 1], &[2, 1]),
            hyperslab(&[0, 0], &[0, 1], &[2, 1]),
            irregular(&[(&[0, 0], &[5, 0])]),
            irregular(&[(&[1, 0], &[0, 0])]),
            irregular(&[(&[0], &[0])]),
            irregular(&[(&[0, 0], &[0])]),
        ];
        for selection in bad {
            assert!(selection.validate(&[5, 5]).is_err(), "{selection:?}");
            assert!(selection.runs(&[5, 5]).is_err(), "{selection:?}");
            assert!(selection.linear_runs(&[5, 5]).is_err(), "{selection:?}");
            assert!(selection.element_count(&[5, 5]).is_err(), "{selection:?}");
            assert!(selection.bounding_box(&[5, 5]).is_err(), "{selection:?}");
        }
        let overlapping = irregular(&[(&[0, 0], &[2, 2]), (&[4, 0], &[4, 4]), (&[2, 2], &[3, 3])]);
        assert!(overlapping.validate(&[5, 5]).is_err());
        assert_eq!(overlapping.runs(&[5, 5]).unwrap().map(|run| run.length).sum::<u64>(), 9 + 3 + 5);
    }

    /// Returns the selected elements one by one, computed from the definition of a selection.
    fn naive(selection: &Selection, dims: &[u64]) -> Vec<Vec<u64>> {
        let all = || Region::whole(dims).coordinates().map(|at| at.to_vec());
        match selection {
            Selection::None => Vec::new(),
            Selection::All => all().collect(),
            Selection::Points(points) => points.points().map(<[u64]>::to_vec).collect(),
            Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
                all().filter(|at| blocks.iter().any(|block| Region::from(block).contains(at))).collect()
            }
            Selection::Hyperslab(Hyperslab::Regular(slab)) => {
                let takes = |at: u64, d: usize| {
                    let Some(from) = at.checked_sub(slab.start[d]) else { return false };
                    let number = if slab.count[d] == 1 { 0 } else { from / slab.stride[d] };
                    number < slab.count[d] && from - number * slab.stride[d] < slab.block[d]
                };
                all().filter(|at| (0..at.len()).all(|d| takes(at[d], d))).collect()
            }
        }
    }

    fn regular(rank: usize) -> impl Strategy<Value = (Vec<u64>, Selection)> {
        let axis = (0..3_u64, 0..3_u64, 0..4_u64, 0..3_u64, 0..3_u64, 0..8_u8).prop_map(
            |(start, gap, count, block, after, kind)| {
                let (stride, span) = (
                    block + gap.max(u64::from(block == 0)),
                    count.saturating_sub(1) * (block + gap.max(u64::from(block == 0))) + block,
                );
                let size = start + span + after;
                match kind {
                    0 => (size, start, stride, UNLIMITED, block),
                    1 => (size, start, stride, 1, UNLIMITED),
                    2 => (size, 0, 1, 1, size),
                    _ => (size, start, stride, count, block),
                }
            },
        );
        proptest::collection::vec(axis, rank).prop_map(|axes| {
            let column =
                |take: fn(&(u64, u64, u64, u64, u64)) -> u64| axes.iter().map(take).collect::<Dims>();
            let slab = RegularHyperslab {
                start: column(|axis| axis.1),
                stride: column(|axis| axis.2),
                count: column(|axis| axis.3),
                block: column(|axis| axis.4),
            };
            (column(|axis| axis.0).to_vec(), Selection::Hyperslab(Hyperslab::Regular(slab)))
        })
    }

    fn listed(rank: usize) -> impl Strategy<Value = (Vec<u64>, Selection)> {
        proptest::collection::vec(1..7_u64, rank).prop_flat_map(move |dims| {
            let coordinate = |size: u64| {
                (0..size, 0..size, 0..3_u8).prop_map(move |(a, b, kind)| match kind {
                    0 => (0, size - 1),
                    _ => (a.min(b), a.max(b)),
                })
            };
            let corners = dims.iter().map(|size| coordinate(*size)).collect::<Vec<_>>();
            let sizes = dims.clone();
            (Just(dims), proptest::collection::vec(corners, 0..9), 0..4_u8).prop_map(
                move |(dims, blocks, kind)| {
                    let corner = |block: &Vec<(u64, u64)>, high: bool| {
                        block.iter().map(|c| if high { c.1 } else { c.0 }).collect::<Dims>()
                    };
                    let selection = match kind {
                        0 if sizes.len() == 1 => Selection::All,
                        1 => Selection::Points(Points {
                            rank: sizes.len(),
                            coordinates: blocks
                                .iter()
                                .flat_map(|block| corner(block, true).into_iter().chain(corner(block, false)))
                                .collect(),
                        }),
                        _ => Selection::Hyperslab(Hyperslab::Irregular {
                            rank: sizes.len(),
                            blocks: blocks
                                .iter()
                                .map(|block| Block { start: corner(block, false), end: corner(block, true) })
                                .collect(),
                        }),
                    };
                    (dims, selection)
                },
            )
        })
    }

    fn cases() -> impl Strategy<Value = (Vec<u64>, Selection)> {
        prop_oneof![(0..4_usize).prop_flat_map(regular), (1..5_usize).prop_flat_map(listed)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn everything_equals_the_naive_model((dims, selection) in cases()) {
            let expected = naive(&selection, &dims);
            let mut seen = Vec::new();
            for run in selection.runs(&dims).unwrap() {
                prop_assert!(run.length > 0);
                for step in 0..run.length {
                    let mut at = run.start.to_vec();
                    if let Some(last) = at.last_mut() { *last += step; }
                    seen.push(at);
                }
            }
            prop_assert_eq!(&seen, &expected);

            let linear = |at: &Vec<u64>| at.iter().zip(&dims).fold(0, |sum, (at, size)| sum * size + at);
            let offsets: Vec<u64> = expected.iter().map(linear).collect();
            let runs: Vec<LinearRun> = selection.linear_runs(&dims).unwrap().collect();
            prop_assert!(runs.windows(2).all(|two| two[0].offset + two[0].length != two[1].offset));
            prop_assert_eq!(runs.iter().flat_map(|run| run.offset..run.offset + run.length).collect::<Vec<_>>(), offsets);

            let single = selection.single_run(&dims);
            if matches!(selection, Selection::All | Selection::Hyperslab(Hyperslab::Regular(_))) {
                prop_assert_eq!(single.is_some(), runs.len() == 1);
            }
            prop_assert!(single.is_none_or(|run| runs == [run]));

            let within = |bounds: &Region| expected.iter().all(|at| bounds.contains(at));
            match selection.bounding_box(&dims).unwrap() {
                None => prop_assert!(expected.is_empty()),
                Some(bounds) => {
                    prop_assert!(within(&bounds));
                    for d in 0..dims.len() {
                        let mut less = bounds.clone();
                        less.count[d] -= 1;
                        prop_assert!(!within(&less));
                        less.start[d] += 1;
                        prop_assert!(!within(&less));
                    }
                }
            }
            let disjoint = match &selection {
                Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
                    blocks.iter().map(|block| Region::from(block).element_count().unwrap()).sum::<u64>() == expected.len() as u64
                }
                _ => true,
            };
            prop_assert_eq!(selection.validate(&dims).is_ok(), disjoint);
            if disjoint {
                prop_assert_eq!(selection.element_count(&dims).unwrap(), expected.len() as u64);
            }
        }

        #[test]
        fn gather_and_scatter_equal_the_naive_model((dims, selection) in cases(), size in 1..9_usize) {
            prop_assume!(selection.validate(&dims).is_ok());
            let offset = |at: &Vec<u64>| {
                let elements = at.iter().zip(&dims).fold(0, |sum, (at, size)| sum * size + at);
                usize::try_from(elements).unwrap() * size
            };
            let offsets: Vec<usize> = naive(&selection, &dims).iter().map(offset).collect();
            let bytes = usize::try_from(dims.iter().product::<u64>()).unwrap() * size;
            let array: Vec<u8> = (0..bytes).map(|at| u8::try_from(at % 253).unwrap()).collect();
            let mut packed = vec![0; offsets.len() * size];
            prop_assert_eq!(gather(&array, &dims, &selection, &mut packed, size).unwrap(), offsets.len() as u64);
            let expected: Vec<u8> = offsets.iter().flat_map(|at| array[*at..at + size].to_vec()).collect();
            prop_assert_eq!(&packed, &expected);
            let (mut back, mut expected) = (vec![255; array.len()], vec![255; array.len()]);
            for at in &offsets {
                expected[*at..at + size].copy_from_slice(&array[*at..at + size]);
            }
            prop_assert_eq!(scatter(&packed, &mut back, &dims, &selection, size).unwrap(), offsets.len() as u64);
            prop_assert_eq!(&back, &expected);
            if !packed.is_empty() {
                let short = &mut packed[1..];
                prop_assert!(gather(&array, &dims, &selection, short, size).is_err());
                prop_assert!(scatter(short, &mut array.clone(), &dims, &selection, size).is_err());
                prop_assert!(gather(&array[1..], &dims, &selection, &mut expected, size).is_err());
            }
        }
    }
}
