//! Values that are interpolated, level by level: of each level those half way between the values known.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 8 n    | values in each dimension
//! 4      | half the points of a level that make a box in each dimension; even
//! 4      | 0 by lines, 1 by cubics
//! 4      | in which order the dimensions come, the place in the list of all orders, sorted
//! n      | quantiser
//! n      | codes: of the first value, predicted as 0, then of the others as they are interpolated
//! ```
//! A level with step s knows all values whose places are multiples of 2 s. It goes box by box, the last dimension
//! fastest. In a box it goes through the lines along the first dimension of the order, then along the second, which
//! has twice as many lines as now the values between are known along the first, and so on. Values at a box's lower
//! faces are those of the box before it, but all boxes begin there with what they know.

use super::bytes::Bytes;
use super::corrupt;
use super::huffman::Codes;
use super::quantiser::Quantiser;
use super::value::{Value, Wide};
use crate::Result;

/// From this level on errors are halved.
const FINE: u32 = 3;

/// Reads a chunk of `values.len()` values.
pub(super) fn decode<V: Value>(payload: &[u8], sizes: &[usize], values: &mut [V]) -> Result<()> {
    let mut bytes = Bytes::new(payload);
    for size in sizes {
        if bytes.size()? != *size {
            return Err(corrupt("its dimensions are told in two ways"));
        }
    }
    let block = bytes.small_size()?;
    let is_cubic = match bytes.int()? {
        0 => false,
        1 => true,
        _ => return Err(corrupt("an unknown interpolation")),
    };
    let order = order(sizes.len(), bytes.small_size()?).ok_or_else(|| corrupt("an unknown order"))?;
    if block == 0 || block % 2 != 0 {
        return Err(corrupt("a box is empty or odd"));
    }
    let quantiser = Quantiser::parse(&mut bytes, V::SIZE)?;
    let codes = Codes::parse(&mut bytes)?;
    let axes = axes(sizes);
    Interpolation { values, axes, order, block, is_cubic, quantiser, codes }.run()
}

/// The dimensions in the order of this place in the sorted list of all orders.
fn order(dimensions: usize, place: usize) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = (0..dimensions).collect();
    let mut orders: usize = (1..=dimensions).product();
    let mut place = (place < orders).then_some(place)?;
    let mut order = Vec::with_capacity(dimensions);
    while !left.is_empty() {
        orders /= left.len();
        order.push(left.remove(place / orders));
        place %= orders;
    }
    Some(order)
}

/// A dimension of the chunk.
#[derive(Debug, Clone, Copy)]
struct Axis {
    /// Values.
    size: usize,
    /// Values from one to the next.
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

/// Places along one dimension that are gone through.
#[derive(Debug, Clone, Copy)]
struct Range {
    first: usize,
    /// The last place there may be.
    last: usize,
    step: usize,
    stride: usize,
}

/// Calls `act` with the offset of every place of all ranges, the last range fastest.
fn for_each(ranges: &[Range], offset: usize, act: &mut impl FnMut(usize) -> Result<()>) -> Result<()> {
    let Some((range, inner)) = ranges.split_first() else { return act(offset) };
    let mut at = range.first;
    while at <= range.last {
        for_each(inner, offset + at * range.stride, act)?;
        at = at.saturating_add(range.step);
    }
    Ok(())
}

/// One line of points, those known and those between.
#[derive(Debug, Clone, Copy)]
struct Line {
    offset: usize,
    /// Points.
    count: usize,
    /// Values from one point to the next.
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
            self.quantiser.bound = if level >= FINE { bound * 0.5 } else { bound };
            let step = 1 << (level - 1);
            // Saturates, as do the sums with it: a block that is longer than the array ends with it.
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

    /// Goes to the next box, if there is one.
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
                // Along the dimensions before this one all points are known, along the others every second.
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

    /// Fills the odd points of a line.
    fn fill_line(&mut self, line: Line) -> Result<()> {
        let count = line.count;
        if !self.is_cubic || count < 5 {
            for at in (1..count - 1).step_by(2) {
                self.fill(line, at, |near| linear(near(-1), near(1)))?;
            }
            match count {
                2 => self.fill(line, 1, |near| near(-1)),
                _ if count.is_multiple_of(2) => self.fill(line, count - 1, |near| onward(near(-3), near(-1))),
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
                self.fill(line, count - 1, |near| onward_quadratic(near(-5), near(-3), near(-1)))?;
            }
            Ok(())
        }
    }

    /// Fills a point of a line with what is predicted from points so far away.
    #[inline]
    fn fill(&mut self, line: Line, at: usize, predict: impl Fn(&dyn Fn(isize) -> V) -> V) -> Result<()> {
        let place = line.offset + at * line.stride;
        let near = |away: isize| {
            // Neighbours outside the array count as 0.
            let place = at.checked_add_signed(away).map(|at| line.offset + at * line.stride);
            place.and_then(|place| self.values.get(place).copied()).unwrap_or_default()
        };
        let predicted = predict(&near);
        self.recover(place, predicted)
    }

    #[inline]
    fn recover(&mut self, place: usize, predicted: V) -> Result<()> {
        let code = self.codes.next()?;
        let value = self.quantiser.recover(predicted, code)?;
        if let Some(to) = self.values.get_mut(place) {
            *to = value;
        }
        Ok(())
    }
}

fn linear<V: Value>(a: V, b: V) -> V {
    V::narrow(a.widen().plus(b.widen()).over(2))
}

/// Behind two points.
fn onward<V: Value>(a: V, b: V) -> V {
    V::from_real(1.5 * b.real() - 0.5 * a.real())
}

fn first_quadratic<V: Value>(a: V, b: V, c: V) -> V {
    V::narrow(a.widen().times(3).plus(b.widen().times(6)).minus(c.widen()).over(8))
}

fn last_quadratic<V: Value>(a: V, b: V, c: V) -> V {
    V::narrow(b.widen().times(6).minus(a.widen()).plus(c.widen().times(3)).over(8))
}

/// Behind three points.
fn onward_quadratic<V: Value>(a: V, b: V, c: V) -> V {
    V::narrow(a.widen().times(3).minus(b.widen().times(10)).plus(c.widen().times(15)).over(8))
}

fn cubic<V: Value>(a: V, b: V, c: V, d: V) -> V {
    let inner = b.widen().times(9).minus(a.widen()).plus(c.widen().times(9));
    V::narrow(inner.minus(d.widen()).over(16))
}
