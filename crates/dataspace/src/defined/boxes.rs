//! How a set is cut into few boxes.
//!
//! A box is known by the offsets of its first and last element: the coordinates of both, and so its shape, follow
//! from them. Boxes of equal spans have equal shapes.

use super::DefinedSet;
use super::divisor::Divisor;
use crate::strides;

/// A box of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinearBox {
    /// Offset of the element with the lowest coordinates.
    pub(super) first: u64,
    /// From there to the offset of the element with the highest ones.
    pub(super) span: u64,
}

/// The span of a box that belongs to another one by now. A chunk is smaller.
const TAKEN: u64 = u64::MAX;

impl LinearBox {
    pub(super) fn last(self) -> u64 {
        self.first + self.span
    }
}

/// Disjoint boxes that are the set, by their first elements.
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
        // The slowest dimension does not begin anew.
        let size = if dimension == 0 { u64::MAX } else { *size };
        join(&mut boxes, size, *stride, set.total());
    }
    boxes
}

/// Cuts a run that is longer than the rest of its row into boxes, fewer than twice the rank.
fn cut(mut first: u64, mut count: u64, dims: &[u64], strides: &[u64], boxes: &mut Vec<LinearBox>) {
    while count > 0 {
        // The slowest dimension in which a whole step can be taken.
        let sizes = dims.iter().zip(strides).rev();
        let whole = |stride: u64| first.is_multiple_of(stride) && count >= stride;
        let slowest = sizes.take_while(|(_, stride)| whole(**stride)).last();
        let (size, stride) = slowest.map_or((1, 1), |(size, stride)| (*size, *stride));
        let steps = (count / stride).min(size - first / stride % size);
        let taken = steps * stride;
        boxes.push(LinearBox { first, span: taken - 1 });
        first += taken;
        count -= taken;
    }
}

/// Joins boxes of equal shapes that follow one another in a dimension. Boxes that have more than one step in it
/// have nothing to join: whatever touches them there was cut from the same run.
fn join(boxes: &mut Vec<LinearBox>, size: u64, stride: u64, total: u64) {
    let pairs = match usize::try_from(stride) {
        Ok(places) if places / 4 <= boxes.len() => neighbours_by_place(boxes, places, total),
        _ => neighbours(boxes, stride),
    };
    // Boxes that are taken, and the first of those that they are joined to.
    let mut taken: Vec<(usize, usize)> = Vec::with_capacity(pairs.len());
    let mut next = 0;
    for (number, before) in pairs {
        let (Some(here), Some(there)) = (boxes.get(number), boxes.get(before)) else { break };
        if here.span != there.span || (here.first / stride).is_multiple_of(size) {
            continue;
        }
        while taken.get(next).is_some_and(|(number, _)| *number < before) {
            next += 1;
        }
        let first =
            taken.get(next).filter(|(number, _)| *number == before).map_or(before, |(_, first)| *first);
        taken.push((number, first));
    }
    for (number, first) in &taken {
        if let Some(taken) = boxes.get_mut(*number) {
            taken.span = TAKEN;
        }
        if let Some(first) = boxes.get_mut(*first) {
            first.span += stride;
        }
    }
    if !taken.is_empty() {
        boxes.retain(|kept| kept.span != TAKEN);
    }
}

/// Boxes whose first elements are so far apart: the latter and the former of each two. Which of two places goes on
/// cannot be foreseen, so that there is no branch on it.
fn neighbours(boxes: &[LinearBox], stride: u64) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut number, mut before) = (0, 0);
    while let (Some(here), Some(there)) = (boxes.get(number), boxes.get(before)) {
        // Saturates: no box begins at the last offset of 64 bits.
        let reached = there.first.saturating_add(stride);
        if here.first == reached {
            pairs.push((number, before));
        }
        number += usize::from(here.first <= reached);
        before += usize::from(reached <= here.first);
    }
    pairs
}

/// As [`neighbours`], where `stride` is so small that a place for each remainder costs little: in it stands the
/// last box that has it.
fn neighbours_by_place(boxes: &[LinearBox], places: usize, total: u64) -> Vec<(usize, usize)> {
    let stride = super::store::count(places);
    let divisor = Divisor::new(stride, total);
    let mut pairs = Vec::new();
    let mut last = vec![(u64::MAX, 0); places];
    for (number, here) in boxes.iter().enumerate() {
        let (_, place) = divisor.divide(here.first);
        let Some(last) = usize::try_from(place).ok().and_then(|place| last.get_mut(place)) else { break };
        // Saturates: no box begins at the last offset of 64 bits.
        let (reached, before) = std::mem::replace(last, (here.first.saturating_add(stride), number));
        if reached == here.first {
            pairs.push((number, before));
        }
    }
    pairs
}
