//! Compact lists of the boxes that form a set of defined elements.

use super::DefinedSet;
use super::boxes::{self, LinearBox};
use super::divisor::{Unravel, unravel};
use crate::{Block, Dims, RegularHyperslab, strides};

/// The boxes of a set of defined elements: a list of disjoint boxes whose union is the set, ordered
/// by their starts in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corners {
    dims: Dims,
    total: u64,
    boxes: Vec<LinearBox>,
}

impl Corners {
    pub(super) fn of(set: &DefinedSet) -> Self {
        Self { dims: set.dims.clone(), total: set.total, boxes: boxes::of(set) }
    }

    /// Returns the number of boxes in the list whose union is a set of defined elements.
    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Returns whether the list of boxes of defined elements is empty.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Calls `visit` with each box of a set of defined elements of the rank `R`: its lowest and its
    /// highest coordinates, both included.
    pub fn for_each<const R: usize>(&self, mut visit: impl FnMut([u64; R], [u64; R])) {
        if self.dims.len() != R {
            return;
        }
        let unravel = Unravel::new(&self.dims, self.total);
        for packed in &self.boxes {
            let start = unravel.coordinates(packed.first);
            visit(start, if packed.span == 0 { start } else { unravel.coordinates(packed.last()) });
        }
    }

    /// Returns an iterator over the boxes of a set of defined elements of any rank: their lowest
    /// and their highest coordinates, both included.
    pub fn iter(&self) -> impl Iterator<Item = (Dims, Dims)> + '_ {
        let corner = |offset| unravel(&self.dims, offset);
        self.boxes.iter().map(move |packed| (corner(packed.first), corner(packed.last())))
    }

    /// Returns the boxes of a set of defined elements as blocks of a selection.
    pub fn blocks(&self) -> Vec<Block> {
        self.iter().map(|(start, end)| Block { start, end }).collect()
    }

    /// Returns the union of the boxes of a set of defined elements as a regular hyperslab. Returns
    /// [`None`] if the union is not regular, or if the list of boxes is empty.
    pub fn as_regular(&self) -> Option<RegularHyperslab> {
        let first = *self.boxes.first()?;
        if self.boxes.iter().any(|other| other.span != first.span) {
            return None;
        }
        let strides = strides(&self.dims);
        let (start, end) = (unravel(&self.dims, first.first), unravel(&self.dims, first.last()));
        let mut regular = RegularHyperslab::region(&start, &[]);
        regular.block = start.iter().zip(&end).map(|(start, end)| end - start + 1).collect();
        // `distances` are the distances between the offsets of neighbouring blocks in each
        // dimension. The second variable is the number of boxes so far.
        let mut distances = Dims::from_elem(0, self.dims.len());
        let mut boxes = 1_usize;
        for dimension in (0..self.dims.len()).rev() {
            let slower = dimension.checked_sub(1).and_then(|slower| strides.get(slower));
            let (distance, count) = self.steps(boxes, slower.copied().unwrap_or(u64::MAX))?;
            *distances.get_mut(dimension)? = distance;
            let stride = strides.get(dimension)?;
            if !distance.is_multiple_of(*stride) {
                return None;
            }
            *regular.stride.get_mut(dimension)? = (distance / stride).max(1);
            *regular.count.get_mut(dimension)? = u64::try_from(count).ok()?;
            boxes = boxes.checked_mul(count)?;
        }
        (boxes == self.len() && self.is_grid(first.first, &distances, &regular.count)).then_some(regular)
    }

    /// Finds the step between groups of boxes of defined elements along one dimension. A group has
    /// `boxes` boxes. Returns the distance between the first two groups in offsets, and the number
    /// of groups along the dimension. `slower` is the stride of the next slower dimension.
    fn steps(&self, boxes: usize, slower: u64) -> Option<(u64, usize)> {
        let mut groups = self.boxes.iter().step_by(boxes.max(1));
        let first = groups.next()?.first;
        let (mut distance, mut count) = (0, 1);
        for group in groups {
            if group.first / slower != first / slower {
                break;
            }
            if count == 1 {
                distance = group.first - first;
            }
            count += 1;
        }
        Some((distance, count))
    }

    /// Returns whether boxes of defined elements form a regular grid. `first` is the offset of the
    /// first box. `distances` and `counts` are the distances and the number of boxes in each
    /// dimension.
    fn is_grid(&self, first: u64, distances: &[u64], counts: &[u64]) -> bool {
        let mut at = Dims::from_elem(0, distances.len());
        let mut expected = first;
        for packed in &self.boxes {
            if packed.first != expected {
                return false;
            }
            for ((at, count), distance) in at.iter_mut().zip(counts).zip(distances).rev() {
                *at += 1;
                if *at < *count {
                    expected = expected.wrapping_add(*distance);
                    break;
                }
                expected = expected.wrapping_sub((*count - 1).wrapping_mul(*distance));
                *at = 0;
            }
        }
        true
    }
}
