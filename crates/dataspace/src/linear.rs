//! Selections as runs of elements that are contiguous in a C-order array.

use std::borrow::Cow;

use crate::blocks::BlockRuns;
use crate::error::{Result, product};
use crate::runs::{PointRuns, RegularRuns, Source};
use crate::{Axes, Axis, Block, DataspaceError, Dims, Hyperslab, Selection};

/// A run of selected elements that are contiguous in a C-order array in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearRun {
    /// The number of array elements before the run.
    pub offset: u64,
    /// The number of elements of the run.
    pub length: u64,
}

/// An iterator over the runs of selected elements that are contiguous in a C-order array, in the
/// order of the selection. Adjacent runs are merged.
#[derive(Debug, Clone)]
pub struct LinearRuns<'a> {
    source: Source<'a>,
    /// The distance between neighbouring elements in each dimension.
    strides: Dims,
    /// The run that the next run may still extend.
    open_run: Option<LinearRun>,
    /// The rows that follow the last run that `next` returned.
    rows: RemainingRows,
}

/// The rows of selected elements after the current run in an array. All rows have the same length
/// and the same distance to the next row.
#[derive(Debug, Clone, Copy, Default)]
struct RemainingRows {
    /// The number of further rows.
    remaining: u64,
    offset: u64,
    stride: u64,
    length: u64,
}

impl<'a> LinearRuns<'a> {
    /// Creates an iterator over the contiguous runs of a selection in an array of the shape `dims`.
    /// The caller has checked that the selection lies in `dims`. For a regular hyperslab, `axes`
    /// may contain the selected coordinates of each dimension.
    pub(crate) fn new(selection: &'a Selection, axes: Option<Axes>, dims: &[u64]) -> Result<Self> {
        if product("number of elements", dims.iter().copied())? == 0 {
            return Ok(Self {
                source: Source::Empty,
                strides: Dims::new(),
                open_run: None,
                rows: RemainingRows::default(),
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
                let axes = axes.map_or_else(|| hyperslab.axes(&dims), Ok)?;
                let axes = collapse(axes, &mut dims)?;
                Source::Regular(RegularRuns::new(&axes))
            }
            Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
                let blocks = collapse_blocks(blocks, &mut dims)?;
                Source::Blocks(BlockRuns::new(dims.len(), blocks))
            }
            Selection::Points(points) => Source::Points(PointRuns::new(points)),
        };
        Ok(Self { source, strides: strides(&dims), open_run: None, rows: RemainingRows::default() })
    }
}

/// The distribution of the selected elements of a regular hyperslab in a C-order array: number of
/// runs, and span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// The number of elements of the first run.
    pub first: u64,
    /// The largest possible number of runs. The real number is smaller if adjacent runs are merged.
    pub runs: u64,
    /// The number of array elements from the first selected one to the last selected one, both
    /// included.
    pub span: u64,
}

impl LinearRuns<'_> {
    /// Returns the distribution of the elements of a regular hyperslab in an array. Returns
    /// [`None`] for other selections, for which the computation would require an iteration.
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
            // Saturates: the strides of an extent without elements may not fit in 64 bits.
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
        if rows.remaining > 0 {
            rows.remaining -= 1;
            // Cannot overflow: the number of elements of the array fits in 64 bits.
            rows.offset += rows.stride;
            return Some(LinearRun { offset: rows.offset, length: rows.length });
        }
        self.next_from_source()
    }
}

/// A series of runs of selected elements in an array that have equal lengths and equal distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearRows {
    /// The number of array elements before the first run.
    pub offset: u64,
    /// The distance between the first elements of two neighbouring runs.
    pub stride: u64,
    /// The number of elements of each run.
    pub length: u64,
    /// The number of runs.
    pub count: u64,
}

impl LinearRows {
    /// Appends a run of selected elements to the series of equal runs. Returns false, and does not
    /// append the run, if its length or its distance differs from the series.
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
        let next = stride.checked_mul(self.count).and_then(|distance| self.offset.checked_add(distance));
        let fits = next == Some(offset);
        if fits {
            (self.stride, self.count) = (stride, self.count + 1);
        }
        fits
    }
}

impl LinearRuns<'_> {
    /// Returns the next runs of selected elements, as a series with equal lengths and equal
    /// distances in the array. The next call may return further runs of the same series.
    ///
    /// ```
    /// use hyperslab_dataspace::{LinearRows, Region, Selection};
    /// let rows = Selection::region(&Region::new(&[2, 3], &[4, 5])?);
    /// let mut runs = rows.linear_runs(&[100, 10])?;
    /// let expected = LinearRows { offset: 23, stride: 10, length: 5, count: 4 };
    /// assert_eq!(runs.next_rows(), Some(expected));
    /// assert_eq!(runs.next_rows(), None);
    /// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
    /// ```
    pub fn next_rows(&mut self) -> Option<LinearRows> {
        let LinearRun { offset, length } = self.next()?;
        let remaining = std::mem::take(&mut self.rows.remaining);
        Some(LinearRows { offset, stride: self.rows.stride, length, count: remaining + 1 })
    }

    /// Returns the next contiguous run of selected elements from the underlying iterator. If
    /// further runs of equal length and distance follow, stores them in `self.rows`, from which
    /// they are taken first.
    fn next_from_source(&mut self) -> Option<LinearRun> {
        loop {
            let Some(length) = self.source.advance() else { return self.open_run.take() };
            let offset = self
                .source
                .start()
                .iter()
                .zip(&self.strides)
                .fold(0_u64, |offset, (at, stride)| offset + at * *stride);
            // `collapse` merged dimensions with whole rows, so that no two rows are adjacent.
            if let Source::Regular(runs) = &mut self.source
                && let Some((remaining, length)) = runs.take_rows()
            {
                let stride = self.strides.iter().rev().nth(1).copied().unwrap_or(0);
                self.rows = RemainingRows { remaining, offset, stride, length };
                return Some(LinearRun { offset, length });
            }
            match &mut self.open_run {
                Some(run) if run.offset + run.length == offset => run.length += length,
                open_run => {
                    if let Some(done) = open_run.replace(LinearRun { offset, length }) {
                        return Some(done);
                    }
                }
            }
        }
    }
}

/// Returns the distance in elements between neighbouring elements in each dimension of a C-order
/// array of the shape `dims`.
///
/// ```
/// assert_eq!(hyperslab_dataspace::strides(&[5, 3, 2]).as_slice(), [6, 2, 1]);
/// ```
pub fn strides(dims: &[u64]) -> Dims {
    let mut strides = Dims::from_elem(1, dims.len());
    let mut stride = 1_u64;
    for (to, size) in strides.iter_mut().zip(dims).rev() {
        *to = stride;
        // Saturates: if a slower dimension has the size 0, the product of the faster ones may not
        // fit in 64 bits.
        stride = stride.saturating_mul(*size);
    }
    strides
}

const OVERFLOW: DataspaceError = DataspaceError::Overflow { subject: "number of elements" };

/// Merges dimensions of a regular hyperslab. A dimension that is selected as a whole becomes part
/// of the next slower dimension.
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

/// Merges dimensions of a list of blocks of selected elements. A dimension that each block contains
/// as a whole becomes part of the next slower dimension.
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
