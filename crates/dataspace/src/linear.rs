//! Selections as runs of elements in the order of the array.

use std::borrow::Cow;

use crate::blocks::BlockRuns;
use crate::error::{Result, product};
use crate::runs::{PointRuns, RegularRuns, Source};
use crate::{Axes, Axis, Block, DataspaceError, Dims, Hyperslab, Selection};

/// Selected elements that lie together in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearRun {
    /// Elements before the first one, in C order.
    pub offset: u64,
    /// Number of elements.
    pub length: u64,
}

/// The runs of a selection in an array, as long as can be; in the order of the selection.
#[derive(Debug, Clone)]
pub struct LinearRuns<'a> {
    source: Source<'a>,
    /// Elements between neighbours in each dimension.
    strides: Dims,
    pending: Option<LinearRun>,
}

impl<'a> LinearRuns<'a> {
    /// The runs of a selection that was found to lie in `dims`.
    pub(crate) fn new(selection: &'a Selection, dims: &[u64]) -> Result<Self> {
        if product("number of elements", dims.iter().copied())? == 0 {
            return Ok(Self { source: Source::Empty, strides: Dims::new(), pending: None });
        }
        let mut dims = Dims::from_slice(dims);
        let source = match selection {
            Selection::None => Source::Empty,
            Selection::All => {
                let axes = collapse(dims.iter().map(|size| Axis::whole(*size)).collect(), &mut dims)?;
                Source::Regular(RegularRuns::new(&axes))
            }
            Selection::Hyperslab(Hyperslab::Regular(hyperslab)) => {
                let axes = collapse(hyperslab.axes(&dims)?, &mut dims)?;
                Source::Regular(RegularRuns::new(&axes))
            }
            Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
                let blocks = collapse_blocks(blocks, &mut dims)?;
                Source::Blocks(BlockRuns::new(dims.len(), blocks))
            }
            Selection::Points(points) => Source::Points(PointRuns::new(points)),
        };
        Ok(Self { source, strides: strides(&dims), pending: None })
    }
}

impl Iterator for LinearRuns<'_> {
    type Item = LinearRun;

    fn next(&mut self) -> Option<LinearRun> {
        loop {
            let Some(length) = self.source.advance() else { return self.pending.take() };
            let offset = self.source.start().iter().zip(&self.strides).fold(0_u64, |offset, (at, stride)| {
                // Within the array, whose elements 64 bits can count.
                offset.saturating_add(at.saturating_mul(*stride))
            });
            match &mut self.pending {
                Some(run) if run.offset.saturating_add(run.length) == offset => run.length += length,
                pending => {
                    if let Some(done) = pending.replace(LinearRun { offset, length }) {
                        return Some(done);
                    }
                }
            }
        }
    }
}

/// Elements between neighbours in each dimension of a C-order array.
///
/// ```
/// assert_eq!(hyperslab_dataspace::strides(&[5, 3, 2]).as_slice(), [6, 2, 1]);
/// ```
pub fn strides(dims: &[u64]) -> Dims {
    let mut strides = Dims::from_elem(1, dims.len());
    let mut stride = 1_u64;
    for (to, size) in strides.iter_mut().zip(dims).rev() {
        *to = stride;
        stride = stride.saturating_mul(*size);
    }
    strides
}

const OVERFLOW: DataspaceError = DataspaceError::Overflow { what: "number of elements" };

/// Joins dimensions that are selected as a whole to the next slower ones.
pub(crate) fn collapse(mut axes: Axes, dims: &mut Dims) -> Result<Axes> {
    while let ([.., slow_axis, fast_axis], [.., slow, fast]) = (axes.as_mut_slice(), dims.as_mut_slice()) {
        if !fast_axis.is_whole(*fast) {
            break;
        }
        *slow_axis = slow_axis.scaled(*fast).ok_or(OVERFLOW)?;
        *slow = slow.checked_mul(*fast).ok_or(OVERFLOW)?;
        axes.pop();
        dims.pop();
    }
    Ok(axes)
}

/// The same for blocks, if all of them span the dimension.
fn collapse_blocks<'a>(blocks: &'a [Block], dims: &mut Dims) -> Result<Cow<'a, [Block]>> {
    let mut blocks = Cow::Borrowed(blocks);
    while let [.., slow, fast] = dims.as_mut_slice() {
        let whole = |block: &Block| {
            block.start.last() == Some(&0)
                && block.end.last().and_then(|end| end.checked_add(1)) == Some(*fast)
        };
        if !blocks.iter().all(whole) {
            break;
        }
        for block in blocks.to_mut() {
            block.start.pop();
            block.end.pop();
            if let (Some(start), Some(end)) = (block.start.last_mut(), block.end.last_mut()) {
                *start = start.checked_mul(*fast).ok_or(OVERFLOW)?;
                *end = end.checked_mul(*fast).and_then(|end| end.checked_add(*fast - 1)).ok_or(OVERFLOW)?;
            }
        }
        *slow = slow.checked_mul(*fast).ok_or(OVERFLOW)?;
        dims.pop();
    }
    Ok(blocks)
}
