//! Division of a set of defined elements into few boxes.
//!
//! A box is stored as the offsets of its first and last element. The corner coordinates, and with
//! them the shape, follow from the offsets. Boxes with equal spans have equal shapes.

use super::DefinedSet;
use super::divisor::Divisor;
use crate::strides;

/// A box of defined elements of a chunk. The offsets of two corners in C order define the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinearBox {
    /// The offset of the element with the lowest coordinates.
    pub(super) first: u64,
    /// The distance from `first` to the offset of the element with the highest coordinates.
    pub(super) span: u64,
}

/// A mark for boxes of defined elements that are already a part of another box. The mark replaces
/// the box's span (the distance between its two corners). No real box has this span.
const JOINED_SPAN: u64 = u64::MAX;

impl LinearBox {
    pub(super) fn last(self) -> u64 {
        self.first + self.span
    }
}

/// Returns disjoint boxes whose union is a set of defined elements, in the order of their first
/// elements.
pub(super) fn of(set: &DefinedSet) -> Vec<LinearBox> {
    let dims = set.dims();
    let strides = strides(dims);
    let mut boxes = Vec::with_capacity(set.store.items());
    if dims.len() == 1 {
        set.for_each_run(0..set.total(), |first, _, count| boxes.push(LinearBox { first, span: count - 1 }));
        return boxes;
    }
    let columns = dims.last().copied().unwrap_or(1);
    let row = Divisor::new(columns, set.total());
    set.for_each_run(0..set.total(), |first, _, count| {
        let (_, column) = row.divide(first);
        if count <= columns - column {
            boxes.push(LinearBox { first, span: count - 1 });
        } else {
            cut(first, count, dims, &strides, &mut boxes);
        }
    });
    for (dimension, (size, stride)) in dims.iter().zip(&strides).enumerate().rev().skip(1) {
        // A run cannot continue beyond the slowest dimension.
        let size = if dimension == 0 { u64::MAX } else { *size };
        join(&mut boxes, size, *stride, set.total());
    }
    boxes
}

/// Divides a run of defined elements into boxes and appends the boxes to `boxes`. The run extends
/// beyond its row. The number of boxes is less than twice the rank.
fn cut(mut first: u64, mut count: u64, dims: &[u64], strides: &[u64], boxes: &mut Vec<LinearBox>) {
    while count > 0 {
        // Find the slowest dimension in which the run contains a whole step.
        let sizes = dims.iter().zip(strides).rev();
        let whole = |stride: u64| first.is_multiple_of(stride) && count >= stride;
        let slowest = sizes.take_while(|(_, stride)| whole(**stride)).last();
        let (size, stride) = slowest.map_or((1, 1), |(size, stride)| (*size, *stride));
        let steps = (count / stride).min(size - first / stride % size);
        let covered = steps * stride;
        boxes.push(LinearBox { first, span: covered - 1 });
        first += covered;
        count -= covered;
    }
}

/// Joins boxes of defined elements that have equal shapes and are adjacent in one dimension. Skips
/// boxes with several coordinates in this dimension, because an adjacent box was cut from the same
/// run.
fn join(boxes: &mut Vec<LinearBox>, size: u64, stride: u64, total: u64) {
    let pairs = match usize::try_from(stride) {
        Ok(remainders) if remainders / 4 <= boxes.len() => neighbours_by_remainder(boxes, remainders, total),
        _ => neighbours(boxes, stride),
    };
    // The numbers of joined boxes, each with the number of the box to which it is joined.
    let mut joined: Vec<(usize, usize)> = Vec::with_capacity(pairs.len());
    let mut next = 0;
    for (number, before) in pairs {
        let (Some(later), Some(earlier)) = (boxes.get(number), boxes.get(before)) else { break };
        if later.span != earlier.span || (later.first / stride).is_multiple_of(size) {
            continue;
        }
        while joined.get(next).is_some_and(|(number, _)| *number < before) {
            next += 1;
        }
        let first =
            joined.get(next).filter(|(number, _)| *number == before).map_or(before, |(_, first)| *first);
        joined.push((number, first));
    }
    for (number, first) in &joined {
        if let Some(joined) = boxes.get_mut(*number) {
            joined.span = JOINED_SPAN;
        }
        if let Some(first) = boxes.get_mut(*first) {
            first.span += stride;
        }
    }
    if !joined.is_empty() {
        boxes.retain(|kept| kept.span != JOINED_SPAN);
    }
}

/// Returns the pairs of boxes of defined elements whose first elements are `stride` offsets apart.
/// Each pair contains first the later box, then the earlier box. The loop avoids unpredictable
/// branches.
fn neighbours(boxes: &[LinearBox], stride: u64) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut number, mut before) = (0, 0);
    while let (Some(later), Some(earlier)) = (boxes.get(number), boxes.get(before)) {
        // Saturates: no box begins at the last offset of 64 bits.
        let reached = earlier.first.saturating_add(stride);
        if later.first == reached {
            pairs.push((number, before));
        }
        number += usize::from(later.first <= reached);
        before += usize::from(reached <= later.first);
    }
    pairs
}

/// Returns the pairs of boxes of defined elements whose first elements are `remainders` offsets
/// apart, like [`neighbours`]. Uses a table of the last box for each remainder of an offset, which
/// is faster for small distances.
fn neighbours_by_remainder(boxes: &[LinearBox], remainders: usize, total: u64) -> Vec<(usize, usize)> {
    let stride = super::store::count(remainders);
    let divisor = Divisor::new(stride, total);
    let mut pairs = Vec::new();
    let mut last = vec![(u64::MAX, 0); remainders];
    for (number, later) in boxes.iter().enumerate() {
        let (_, remainder) = divisor.divide(later.first);
        let Some(last) = usize::try_from(remainder).ok().and_then(|index| last.get_mut(index)) else { break };
        // Saturates: no box begins at the last offset of 64 bits.
        let (reached, before) = std::mem::replace(last, (later.first.saturating_add(stride), number));
        if reached == later.first {
            pairs.push((number, before));
        }
    }
    pairs
}
