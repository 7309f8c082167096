//! Set operations on selections: union, intersection, difference.

use crate::error::same_rank;
use crate::selection::check_blocks;
use crate::spans::{Combiner, Spans};
use crate::{Axes, Axis, Block, DataspaceError, Hyperslab, Region, Result, Selection};
use std::sync::Arc;

/// A set operation on two selections A and B of elements (H5S_seloper_t).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetOperation {
    /// The elements of B.
    Set,
    /// The elements of A or B.
    Or,
    /// The elements of both A and B.
    And,
    /// The elements of exactly one of A and B.
    Xor,
    /// The elements of A that are not in B.
    NotB,
    /// The elements of B that are not in A.
    NotA,
}

impl SetOperation {
    /// Returns whether the set operation keeps an element in its result. `in_a` and `in_b` state
    /// whether the selections A and B contain the element.
    pub fn keeps(self, in_a: bool, in_b: bool) -> bool {
        match self {
            Self::Set => in_b,
            Self::Or => in_a || in_b,
            Self::And => in_a && in_b,
            Self::Xor => in_a != in_b,
            Self::NotB => in_a && !in_b,
            Self::NotA => in_b && !in_a,
        }
    }
}

impl Selection {
    /// Applies a set operation to two selections A and B of elements. `self` is A, and `other` is
    /// B. Both select from a dataspace of the shape `dims`.
    ///
    /// The result is a regular hyperslab if possible, otherwise a list of blocks in C order.
    ///
    /// ```
    /// use hyperslab_dataspace::{Region, Selection, SetOperation};
    /// let first = Selection::region(&Region::new(&[0], &[10])?);
    /// let part = Selection::region(&Region::new(&[4], &[10])?);
    /// let both = first.combine(SetOperation::And, &part, &[20])?;
    /// assert_eq!(both, Selection::region(&Region::new(&[4], &[6])?));
    /// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Selection::validate`], except that blocks may overlap;
    /// [`DataspaceError::Invalid`] for lists of points, which are not sets, and for results of more
    /// than 2^24 blocks.
    pub fn combine(&self, operation: SetOperation, other: &Self, dims: &[u64]) -> Result<Self> {
        if dims.is_empty() {
            let kept = operation.keeps(self.element_count(dims)? > 0, other.element_count(dims)? > 0);
            return Ok(if kept { Self::All } else { Self::None });
        }
        if let (SetOperation::And, Some(both)) = (operation, self.cut_by_box(other, dims)?) {
            return Ok(both);
        }
        let (a, b) = (self.spans(dims)?, other.spans(dims)?);
        let combined = Combiner::combine(operation, &a, &b)?;
        Ok(combined.hyperslab(dims.len())?.map_or(Self::None, Self::Hyperslab))
    }

    /// Returns the selection of all elements of the blocks `blocks`, which are boxes of `rank`
    /// dimensions. Blocks may touch and overlap.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`], [`DataspaceError::Invalid`] for a block that ends before it
    /// starts.
    pub fn union_of(rank: usize, blocks: &[Block]) -> Result<Self> {
        let endless = vec![u64::MAX; rank];
        check_blocks(rank, blocks, &endless)?;
        Ok(Spans::of_blocks(rank, blocks)?.hyperslab(rank)?.map_or(Self::None, Self::Hyperslab))
    }

    /// Returns the elements of the selection as a regular hyperslab if possible, otherwise as
    /// disjoint blocks in C order. Lists of points are returned unchanged.
    ///
    /// # Errors
    /// The errors of [`Selection::union_of`].
    pub fn simplified(self) -> Result<Self> {
        match &self {
            Self::Hyperslab(Hyperslab::Irregular { rank, blocks }) => Self::union_of(*rank, blocks),
            _ => Ok(self),
        }
    }

    /// Returns the selection as one box of elements of a dataspace of the shape `dims`. Returns
    /// [`None`] if the selection is not a single box.
    ///
    /// An empty hyperslab and a selection of all elements are boxes, too.
    ///
    /// # Errors
    /// The errors of [`Selection::validate`].
    pub fn as_region(&self, dims: &[u64]) -> Result<Option<Region>> {
        let axes = match self {
            Self::All => return Ok(Some(Region::whole(dims))),
            Self::Hyperslab(Hyperslab::Regular(regular)) => regular.axes(dims)?,
            _ => return Ok(None),
        };
        if axes.iter().any(|axis| axis.block_count() > 1) {
            return Ok(None);
        }
        let bounds = axes.iter().map(|axis| axis.bounds().unwrap_or((0, 0)));
        Ok(Some(Region {
            start: bounds.clone().map(|(start, _)| start).collect(),
            count: bounds.map(|(start, end)| end - start).collect(),
        }))
    }

    /// Returns the selected coordinates of each dimension of a dataspace. Returns [`None`] unless
    /// the selection consists of all combinations of these coordinates.
    pub(crate) fn axes(&self, dims: &[u64]) -> Result<Option<Axes>> {
        match self {
            Self::All => Ok(Some(dims.iter().map(|size| Axis::whole(*size)).collect())),
            Self::Hyperslab(Hyperslab::Regular(regular)) => regular.axes(dims).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the selection as a tree of intervals of coordinates, one level per dimension of the
    /// dataspace.
    pub(crate) fn spans(&self, dims: &[u64]) -> Result<Arc<Spans>> {
        if let Some(axes) = self.axes(dims)? {
            return Spans::of_axes(&axes);
        }
        match self {
            Self::Hyperslab(Hyperslab::Irregular { rank, blocks }) => {
                check_blocks(*rank, blocks, dims)?;
                Spans::of_blocks(*rank, blocks)
            }
            Self::Points(_) => {
                Err(DataspaceError::Invalid { subject: "a list of points", problem: "is no set" })
            }
            _ => Spans::of_blocks(dims.len(), &[]),
        }
    }

    /// Returns the intersection of two selections of elements as a regular hyperslab. One selection
    /// must be a box, and the other one must be regular. Otherwise, or if the result is not
    /// regular, returns `None`.
    fn cut_by_box(&self, other: &Self, dims: &[u64]) -> Result<Option<Self>> {
        let (Some(a), Some(b)) = (self.axes(dims)?, other.axes(dims)?) else { return Ok(None) };
        same_rank("a selection", a.len(), b.len())?;
        let mut hyperslab = crate::RegularHyperslab::region(&[], &[]);
        for (a, b) in a.iter().zip(&b) {
            let (axis, cut) = if b.block_count() <= 1 { (a, b) } else { (b, a) };
            if cut.block_count() > 1 {
                return Ok(None);
            }
            let (from, to) = cut.bounds().unwrap_or((0, 0));
            let positions = axis.positions_within(from, to);
            if positions.is_empty() {
                return Ok(Some(Self::None));
            }
            let Some(part) = axis.part(positions) else { return Ok(None) };
            hyperslab.start.push(part.start);
            hyperslab.stride.push(part.stride);
            hyperslab.count.push(part.count);
            hyperslab.block.push(part.block);
        }
        Ok(Some(Self::Hyperslab(Hyperslab::Regular(hyperslab))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dims, RegularHyperslab};
    use proptest::prelude::*;
    use std::time::Instant;

    const OPERATIONS: [SetOperation; 6] = [
        SetOperation::Set,
        SetOperation::Or,
        SetOperation::And,
        SetOperation::Xor,
        SetOperation::NotB,
        SetOperation::NotA,
    ];

    fn block(start: &[u64], end: &[u64]) -> Block {
        Block { start: Dims::from_slice(start), end: Dims::from_slice(end) }
    }

    #[test]
    fn what_is_regular_stays_regular() {
        let dims = [100, 100];
        let strided = |start: [u64; 2], stride: [u64; 2], count: [u64; 2]| {
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::strided(&start, &stride, &count)))
        };
        let even = strided([0, 0], [1, 2], [100, 50]);
        let odd = strided([0, 1], [1, 2], [100, 50]);
        let whole = Selection::region(&Region::whole(&dims));
        assert_eq!(even.combine(SetOperation::Or, &odd, &dims).unwrap(), whole);
        assert_eq!(even.combine(SetOperation::And, &odd, &dims).unwrap(), Selection::None);
        let rest = Selection::All.combine(SetOperation::NotB, &even, &dims).unwrap();
        assert_eq!(rest.runs(&dims).unwrap().count(), 5000);
        assert!(matches!(rest, Selection::Hyperslab(Hyperslab::Regular(_))), "{rest:?}");
        let sixth = even.combine(SetOperation::And, &strided([0, 0], [1, 3], [100, 34]), &dims).unwrap();
        assert!(matches!(sixth, Selection::Hyperslab(Hyperslab::Regular(_))), "{sixth:?}");
    }

    #[test]
    fn boxes_cut_huge_selections() {
        let huge = 1 << 60;
        let strided =
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab::strided(&[1], &[4], &[huge / 4])));
        let part = Selection::region(&Region::new(&[100], &[1 << 40]).unwrap());
        let both = part.combine(SetOperation::And, &strided, &[huge]).unwrap();
        let expected = RegularHyperslab::strided(&[101], &[4], &[1 << 38]);
        assert_eq!(both, Selection::Hyperslab(Hyperslab::Regular(expected)));
        assert!(strided.combine(SetOperation::NotA, &Selection::All, &[huge]).is_err());
    }

    #[test]
    fn a_union_of_many_blocks_is_quick() {
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let scattered: Vec<Block> = (0..100_000)
            .map(|_| {
                let start = [random(20_000), random(20_000)];
                block(&start, &[start[0] + random(8), start[1] + random(8)])
            })
            .collect();
        let began = Instant::now();
        let union = Selection::union_of(2, &scattered).unwrap();
        let grid: Vec<Block> = (0..100_000)
            .map(|at| block(&[2 * (at / 300), 3 * (at % 300)], &[2 * (at / 300), 3 * (at % 300) + 1]))
            .collect();
        let regular = Selection::union_of(2, &grid[..99_900]).unwrap();
        // The limit is many times the usual time: tests run without optimisation on shared
        // machines.
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
        assert!(matches!(regular, Selection::Hyperslab(Hyperslab::Regular(_))));
        union.validate(&[20_010, 20_010]).unwrap();
    }

    fn selections(dims: Vec<u64>) -> impl Strategy<Value = Selection> {
        let corners = dims.iter().map(|size| (0..*size, 0..*size)).collect::<Vec<_>>();
        let blocks = proptest::collection::vec(corners, 0..6).prop_map(|blocks| {
            let corner = |block: &Vec<(u64, u64)>, pick: fn(u64, u64) -> u64| {
                block.iter().map(|(a, b)| pick(*a, *b)).collect::<Dims>()
            };
            blocks
                .iter()
                .map(|block| Block { start: corner(block, u64::min), end: corner(block, u64::max) })
                .collect::<Vec<_>>()
        });
        let rank = dims.len();
        let axes = dims
            .iter()
            .map(|size| {
                let size = *size;
                (0..size, 1..4_u64, 1..4_u64, 1..4_u64).prop_map(move |(start, gap, count, block)| {
                    let block = block.min(size - start);
                    let stride = block + gap - 1;
                    (start, stride, count.min((size - start - block) / stride + 1), block)
                })
            })
            .collect::<Vec<_>>();
        let regular = axes.prop_map(|axes| {
            Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab {
                start: axes.iter().map(|axis| axis.0).collect(),
                stride: axes.iter().map(|axis| axis.1).collect(),
                count: axes.iter().map(|axis| axis.2).collect(),
                block: axes.iter().map(|axis| axis.3).collect(),
            }))
        });
        prop_oneof![
            4 => regular,
            4 => blocks.prop_map(move |blocks| Selection::Hyperslab(Hyperslab::Irregular { rank, blocks })),
            1 => Just(Selection::All),
            1 => Just(Selection::None),
        ]
    }

    fn cases() -> impl Strategy<Value = (Vec<u64>, Selection, Selection)> {
        proptest::collection::vec(1..8_u64, 1..4)
            .prop_flat_map(|dims| (Just(dims.clone()), selections(dims.clone()), selections(dims)))
    }

    /// Returns one flag for each element of the extent: true for selected elements.
    fn bitmap(selection: &Selection, dims: &[u64]) -> Vec<bool> {
        let mut bits = vec![false; usize::try_from(dims.iter().product::<u64>()).unwrap()];
        for run in selection.linear_runs(dims).unwrap() {
            let first = usize::try_from(run.offset).unwrap();
            bits[first..first + usize::try_from(run.length).unwrap()].fill(true);
        }
        bits
    }

    proptest! {
        #[test]
        fn combinations_equal_those_of_bitmaps((dims, a, b) in cases()) {
            let (in_a, in_b) = (bitmap(&a, &dims), bitmap(&b, &dims));
            for operation in OPERATIONS {
                let combined = a.combine(operation, &b, &dims).unwrap();
                combined.validate(&dims).unwrap();
                let expected: Vec<bool> = in_a.iter().zip(&in_b).map(|(a, b)| operation.keeps(*a, *b)).collect();
                prop_assert_eq!(bitmap(&combined, &dims), expected, "{:?}", operation);
                let again = combined.combine(SetOperation::Or, &Selection::None, &dims).unwrap();
                prop_assert_eq!(&combined.combine(SetOperation::Or, &combined, &dims).unwrap(), &again);
                if let Selection::Hyperslab(Hyperslab::Irregular { .. }) = &combined {
                    prop_assert_eq!(&combined.clone().simplified().unwrap(), &combined);
                }
            }
        }
    }
}
