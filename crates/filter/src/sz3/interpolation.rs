//! Values predicted by interpolation, level by level. Each level decodes the points half way
//! between known points.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 8 n    | values in each dimension
//! 4      | half the number of points of a box in each dimension; even
//! 4      | 0 linear, 1 cubic interpolation
//! 4      | order of the dimensions, as the index in the sorted list of all permutations
//! n      | quantiser
//! n      | codes: of the first value, predicted as 0, then of the others in the order of decoding
//! ```
//! At the start of a level with step s, all values are known whose coordinates are multiples of 2
//! s. The decoder processes box after box, with the last dimension fastest. In a box it first
//! processes the lines along the first dimension of the order, then along the second dimension, and
//! so on. Each dimension has twice as many lines as the one before, because the points between
//! along the earlier dimensions are then known. Values at the lower faces of a box belong to the
//! preceding box.

use super::bytes::Bytes;
use super::corrupt;
use super::huffman::Codes;
use super::quantiser::Quantiser;
use super::value::{Value, Wide};
use crate::Result;

/// The first interpolation level of SZ3 with half the error bound. Higher levels also have half the
/// bound.
const HALVED_BOUND_LEVEL: u32 = 3;

/// Decodes an SZ3 chunk of `values.len()` values by interpolation.
pub(super) fn decode<V: Value>(payload: &[u8], sizes: &[usize], values: &mut [V]) -> Result<()> {
    let mut bytes = Bytes::new(payload);
    for size in sizes {
        if bytes.size()? != *size {
            return Err(corrupt("the dimensions in the payload differ from the configuration"));
        }
    }
    let block = bytes.size_32()?;
    let is_cubic = match bytes.int()? {
        0 => false,
        1 => true,
        _ => return Err(corrupt("the kind of interpolation is unknown")),
    };
    let order = order(sizes.len(), bytes.size_32()?)
        .ok_or_else(|| corrupt("the order of the dimensions is unknown"))?;
    if block == 0 || block % 2 != 0 {
        return Err(corrupt("the box size is 0 or odd"));
    }
    let quantiser = Quantiser::parse(&mut bytes, V::SIZE)?;
    let codes = Codes::parse(&mut bytes)?;
    let axes = axes(sizes);
    Interpolation { values, axes, order, block, is_cubic, quantiser, codes }.run()
}

/// Returns a permutation of the dimensions of an SZ3 chunk. `index` is the number of the
/// permutation in the sorted list of all permutations.
fn order(dimensions: usize, index: usize) -> Option<Vec<usize>> {
    let mut remaining: Vec<usize> = (0..dimensions).collect();
    let mut orders: usize = (1..=dimensions).product();
    let mut index = (index < orders).then_some(index)?;
    let mut order = Vec::with_capacity(dimensions);
    while !remaining.is_empty() {
        orders /= remaining.len();
        order.push(remaining.remove(index / orders));
        index %= orders;
    }
    Some(order)
}

/// A dimension of an SZ3 chunk, for the decoder by interpolation.
#[derive(Debug, Clone, Copy)]
struct Axis {
    /// The number of values along the dimension.
    size: usize,
    /// The distance between two neighbours along the dimension, in values.
    stride: usize,
}

fn axes(sizes: &[usize]) -> Vec<Axis> {
    let mut stride = 1;
    let mut axes: Vec<Axis> = Vec::with_capacity(sizes.len());
    for size in sizes.iter().rev() {
        axes.push(Axis { size: *size, stride });
        stride *= size;
    }
    axes.reverse();
    axes
}

/// A range of coordinates along one dimension of an SZ3 chunk, for interpolation.
#[derive(Debug, Clone, Copy)]
struct Range {
    first: usize,
    /// The maximum coordinate, inclusive.
    last: usize,
    step: usize,
    stride: usize,
}

/// Calls `act` with the offset of every point in a box of an SZ3 chunk. The ranges of coordinates
/// form the box, and the last range varies fastest.
fn for_each(ranges: &[Range], offset: usize, act: &mut impl FnMut(usize) -> Result<()>) -> Result<()> {
    let Some((range, inner)) = ranges.split_first() else { return act(offset) };
    let mut at = range.first;
    while at <= range.last {
        for_each(inner, offset + at * range.stride, act)?;
        at = at.saturating_add(range.step);
    }
    Ok(())
}

/// A line of points in an SZ3 chunk. Points with even numbers are known, and points with odd
/// numbers are unknown.
#[derive(Debug, Clone, Copy)]
struct Line {
    offset: usize,
    /// The number of points.
    count: usize,
    /// The distance between two points, in values.
    stride: usize,
}

#[derive(Debug)]
struct Interpolation<'a, V> {
    values: &'a mut [V],
    axes: Vec<Axis>,
    order: Vec<usize>,
    block: usize,
    is_cubic: bool,
    quantiser: Quantiser<'a>,
    codes: Codes<'a>,
}

impl<V: Value> Interpolation<'_, V> {
    fn run(&mut self) -> Result<()> {
        self.recover(0, V::default())?;
        let bound = self.quantiser.bound;
        let largest = self.axes.iter().map(|axis| axis.size).max().unwrap_or(1);
        let levels = usize::BITS - (largest.max(1) - 1).leading_zeros();
        for level in (1..=levels).rev() {
            self.quantiser.bound = if level >= HALVED_BOUND_LEVEL { bound * 0.5 } else { bound };
            let step = 1 << (level - 1);
            // The sums saturate: a block that is longer than the chunk ends with the chunk.
            let side = self.block.saturating_mul(step);
            let mut begin = vec![0; self.axes.len()];
            loop {
                self.fill_box(&begin, side, step)?;
                if !self.advance(&mut begin, side) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Moves to the next box of an SZ3 chunk, for interpolation. Returns false after the last box.
    fn advance(&self, begin: &mut [usize], side: usize) -> bool {
        for (begin, axis) in begin.iter_mut().zip(&self.axes).rev() {
            let next = begin.saturating_add(side);
            if next < axis.size {
                *begin = next;
                return true;
            }
            *begin = 0;
        }
        false
    }

    fn fill_box(&mut self, begin: &[usize], side: usize, step: usize) -> Result<()> {
        for pass in 0..self.order.len() {
            let mut ranges = Vec::with_capacity(self.order.len());
            let mut line = Line { offset: 0, count: 0, stride: 0 };
            for (turn, dimension) in self.order.iter().enumerate() {
                let (Some(axis), Some(first)) = (self.axes.get(*dimension), begin.get(*dimension)) else {
                    continue;
                };
                let last = first.saturating_add(side).min(axis.size.max(1) - 1);
                if turn == pass {
                    line.count = (last - first) / step + 1;
                    line.stride = step * axis.stride;
                    line.offset = first * axis.stride;
                    continue;
                }
                // All points are known along the dimensions before this one, and every second point
                // along the others.
                let step = if turn < pass { step } else { 2 * step };
                let first = if *first == 0 { 0 } else { first.saturating_add(step) };
                ranges.push(Range { first, last, step, stride: axis.stride });
            }
            if line.count > 1 {
                for_each(&ranges, line.offset, &mut |offset| self.fill_line(Line { offset, ..line }))?;
            }
        }
        Ok(())
    }

    /// Decodes the unknown points of a line in an SZ3 chunk: the points with odd numbers.
    fn fill_line(&mut self, line: Line) -> Result<()> {
        let count = line.count;
        if !self.is_cubic || count < 5 {
            for at in (1..count - 1).step_by(2) {
                self.fill(line, at, |near| linear(near(-1), near(1)))?;
            }
            match count {
                2 => self.fill(line, 1, |near| near(-1)),
                _ if count.is_multiple_of(2) => {
                    self.fill(line, count - 1, |near| extrapolate_linear(near(-3), near(-1)))
                }
                _ => Ok(()),
            }
        } else {
            let mut at = 3;
            while at + 3 < count {
                self.fill(line, at, |near| cubic(near(-3), near(-1), near(1), near(3)))?;
                at += 2;
            }
            self.fill(line, 1, |near| first_quadratic(near(-1), near(1), near(3)))?;
            self.fill(line, at, |near| last_quadratic(near(-3), near(-1), near(1)))?;
            if count.is_multiple_of(2) {
                self.fill(line, count - 1, |near| extrapolate_quadratic(near(-5), near(-3), near(-1)))?;
            }
            Ok(())
        }
    }

    /// Decodes a point of a line in an SZ3 chunk. The function `predict` computes the prediction
    /// from points at relative positions.
    #[inline]
    fn fill(&mut self, line: Line, at: usize, predict: impl Fn(&dyn Fn(isize) -> V) -> V) -> Result<()> {
        let position = line.offset + at * line.stride;
        let near = |away: isize| {
            // Neighbours outside the chunk count as 0.
            let position = at.checked_add_signed(away).map(|at| line.offset + at * line.stride);
            position.and_then(|position| self.values.get(position)).copied().unwrap_or_default()
        };
        let predicted = predict(&near);
        self.recover(position, predicted)
    }

    #[inline]
    fn recover(&mut self, position: usize, predicted: V) -> Result<()> {
        let code = self.codes.next()?;
        let value = self.quantiser.recover(predicted, code)?;
        if let Some(to) = self.values.get_mut(position) {
            *to = value;
        }
        Ok(())
    }
}

fn linear<V: Value>(a: V, b: V) -> V {
    V::narrow(a.widen().plus(b.widen()).over(2))
}

/// Extrapolates a value of an SZ3 chunk linearly from two points.
fn extrapolate_linear<V: Value>(a: V, b: V) -> V {
    V::from_real(1.5 * b.real() - 0.5 * a.real())
}

fn first_quadratic<V: Value>(a: V, b: V, c: V) -> V {
    V::narrow(a.widen().times(3).plus(b.widen().times(6)).minus(c.widen()).over(8))
}

fn last_quadratic<V: Value>(a: V, b: V, c: V) -> V {
    V::narrow(b.widen().times(6).minus(a.widen()).plus(c.widen().times(3)).over(8))
}

/// Extrapolates a value of an SZ3 chunk quadratically from three points.
fn extrapolate_quadratic<V: Value>(a: V, b: V, c: V) -> V {
    V::narrow(a.widen().times(3).minus(b.widen().times(10)).plus(c.widen().times(15)).over(8))
}

fn cubic<V: Value>(a: V, b: V, c: V, d: V) -> V {
    let inner = b.widen().times(9).minus(a.widen()).plus(c.widen().times(9));
    V::narrow(inner.minus(d.widen()).over(16))
}
