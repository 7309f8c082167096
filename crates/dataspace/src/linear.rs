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
    /// Rows of one run each, equally far apart, of which the last one was given.
    rows: Rows,
}

/// Rows that follow.
#[derive(Debug, Clone, Copy, Default)]
struct Rows {
    left: u64,
    offset: u64,
    stride: u64,
    length: u64,
}

impl<'a> LinearRuns<'a> {
    /// The runs of a selection that was found to lie in `dims`.
    pub(crate) fn new(selection: &'a Selection, dims: &[u64]) -> Result<Self> {
        if product("number of elements", dims.iter().copied())? == 0 {
            return Ok(Self {
                source: Source::Empty,
                strides: Dims::new(),
                pending: None,
                rows: Rows::default(),
            });
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
        Ok(Self { source, strides: strides(&dims), pending: None, rows: Rows::default() })
    }
}

/// How a selection lies in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// Elements of the first run.
    pub first: u64,
    /// Runs, at most: some may follow each other.
    pub runs: u64,
    /// Elements from the first selected one to the last.
    pub span: u64,
}

impl LinearRuns<'_> {
    /// How the selection lies, where that is known without going through it: for regular hyperslabs.
    ///
    /// ```
    /// use hyperslab_dataspace::{Region, Selection};
    /// let rows = Selection::region(&Region::new(&[2, 3], &[4, 5])?);
    /// let spread = rows.linear_runs(&[100, 10])?.spread().unwrap();
    /// assert_eq!((spread.first, spread.runs, spread.span), (5, 4, 35));
    /// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
    /// ```
    pub fn spread(&self) -> Option<Spread> {
        let Source::Regular(runs) = &self.source else { return None };
        let (mut spread, mut fastest) = (Spread { first: 1, runs: 1, span: 1 }, true);
        for (axis, stride) in runs.axes().rev().zip(self.strides.iter().rev()) {
            let (start, end) = axis.bounds()?;
            let steps = end - start - 1;
            // Saturates: strides of an extent without elements may pass 64 bits.
            spread.span = spread.span.saturating_add(steps.saturating_mul(*stride));
            spread.runs = spread.runs.saturating_mul(if fastest { axis.block_count() } else { axis.len() });
            if std::mem::take(&mut fastest) {
                spread.first = axis.block_length(0);
            }
        }
        Some(spread)
    }
}

impl Iterator for LinearRuns<'_> {
    type Item = LinearRun;

    fn next(&mut self) -> Option<LinearRun> {
        let rows = &mut self.rows;
        if rows.left > 0 {
            rows.left -= 1;
            // Within the array, whose elements 64 bits can count.
            rows.offset += rows.stride;
            return Some(LinearRun { offset: rows.offset, length: rows.length });
        }
        self.next_apart()
    }
}

/// Runs of equal length, equally far apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearRows {
    /// Elements before the first one, in C order.
    pub offset: u64,
    /// Elements from the first one of a run to that of the next.
    pub stride: u64,
    /// Elements of a run.
    pub length: u64,
    /// Number of runs.
    pub count: u64,
}

impl LinearRows {
    /// Takes a run in, if it is as long as the others and as far from the last one as they are from each other.
    ///
    /// ```
    /// use hyperslab_dataspace::LinearRows;
    /// let mut rows = LinearRows { offset: 3, stride: 0, length: 5, count: 1 };
    /// assert!(rows.take(13, 5) && rows.take(23, 5));
    /// assert_eq!(rows, LinearRows { offset: 3, stride: 10, length: 5, count: 3 });
    /// assert!(!rows.take(34, 5) && !rows.take(33, 4));
    /// ```
    pub fn take(&mut self, offset: u64, length: u64) -> bool {
        let stride = if self.count == 1 { offset.checked_sub(self.offset) } else { Some(self.stride) };
        let Some(stride) = stride.filter(|_| length == self.length) else { return false };
        let next = stride.checked_mul(self.count).and_then(|way| self.offset.checked_add(way));
        let fits = next == Some(offset);
        if fits {
            (self.stride, self.count) = (stride, self.count + 1);
        }
        fits
    }
}

impl LinearRuns<'_> {
    /// The next runs, as many as are of equal length and equally far apart and can be told at once.
    ///
    /// ```
    /// use hyperslab_dataspace::{LinearRows, Region, Selection};
    /// let rows = Selection::region(&Region::new(&[2, 3], &[4, 5])?);
    /// let mut runs = rows.linear_runs(&[100, 10])?;
    /// assert_eq!(runs.next_rows(), Some(LinearRows { offset: 23, stride: 10, length: 5, count: 4 }));
    /// assert_eq!(runs.next_rows(), None);
    /// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
    /// ```
    pub fn next_rows(&mut self) -> Option<LinearRows> {
        let LinearRun { offset, length } = self.next()?;
        let left = std::mem::take(&mut self.rows.left);
        Some(LinearRows { offset, stride: self.rows.stride, length, count: left + 1 })
    }

    /// The next run that is not the next row of the same length.
    fn next_apart(&mut self) -> Option<LinearRun> {
        loop {
            let Some(length) = self.source.advance() else { return self.pending.take() };
            let offset = self
                .source
                .start()
                .iter()
                .zip(&self.strides)
                .fold(0_u64, |offset, (at, stride)| offset + at * *stride);
            // Rows that are whole were made one dimension with the next slower one: no two of them touch.
            if let Source::Regular(runs) = &mut self.source
                && let Some((left, length)) = runs.take_rows()
            {
                let stride = self.strides.iter().rev().nth(1).copied().unwrap_or(0);
                self.rows = Rows { left, offset, stride, length };
                return Some(LinearRun { offset, length });
            }
            match &mut self.pending {
                Some(run) if run.offset + run.length == offset => run.length += length,
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
        // Saturates: where a slower size is 0, faster ones may pass 64 bits together.
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
