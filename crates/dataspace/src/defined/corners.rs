//! The boxes that a set of defined elements consists of.

use super::DefinedSet;
use super::boxes::{self, LinearBox};
use super::divisor::{Unravel, unravel};
use crate::{Block, Dims, RegularHyperslab, strides};

/// Disjoint boxes that are a set, by their starts in C order.
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

    /// The number of boxes.
    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Visits the boxes of a set of the rank `R`: the lowest and the highest coordinates, both inside.
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

    /// As [`Corners::for_each`], for a set of any rank.
    pub fn iter(&self) -> impl Iterator<Item = (Dims, Dims)> + '_ {
        let corner = |offset| unravel(&self.dims, offset);
        self.boxes.iter().map(move |packed| (corner(packed.first), corner(packed.last())))
    }

    /// The boxes.
    pub fn blocks(&self) -> Vec<Block> {
        self.iter().map(|(start, end)| Block { start, end }).collect()
    }

    /// The regular hyperslab that the boxes are, if they are one. No boxes are none.
    pub fn as_regular(&self) -> Option<RegularHyperslab> {
        let first = *self.boxes.first()?;
        if self.boxes.iter().any(|other| other.span != first.span) {
            return None;
        }
        let strides = strides(&self.dims);
        let (start, end) = (unravel(&self.dims, first.first), unravel(&self.dims, first.last()));
        let mut regular = RegularHyperslab::region(&start, &[]);
        regular.block = start.iter().zip(&end).map(|(start, end)| end - start + 1).collect();
        // In each dimension the distance of offsets, and the number of boxes.
        let mut ways = Dims::from_elem(0, self.dims.len());
        let mut boxes = 1_usize;
        for dimension in (0..self.dims.len()).rev() {
            let slower = dimension.checked_sub(1).and_then(|slower| strides.get(slower));
            let (way, count) = self.steps(boxes, slower.copied().unwrap_or(u64::MAX))?;
            *ways.get_mut(dimension)? = way;
            let stride = strides.get(dimension)?;
            if !way.is_multiple_of(*stride) {
                return None;
            }
            *regular.stride.get_mut(dimension)? = (way / stride).max(1);
            *regular.count.get_mut(dimension)? = u64::try_from(count).ok()?;
            boxes = boxes.checked_mul(count)?;
        }
        (boxes == self.len() && self.is_grid(first.first, &ways, &regular.count)).then_some(regular)
    }

    /// The distance and number of groups of so many boxes that follow one another in a dimension, with the same
    /// coordinates in all slower ones, whose stride is `slower`.
    fn steps(&self, boxes: usize, slower: u64) -> Option<(u64, usize)> {
        let mut groups = self.boxes.iter().step_by(boxes.max(1));
        let first = groups.next()?.first;
        let (mut way, mut count) = (0, 1);
        for group in groups {
            if group.first / slower != first / slower {
                break;
            }
            if count == 1 {
                way = group.first - first;
            }
            count += 1;
        }
        Some((way, count))
    }

    /// Whether the boxes are at these distances, and as many.
    fn is_grid(&self, first: u64, ways: &[u64], counts: &[u64]) -> bool {
        let mut at = Dims::from_elem(0, ways.len());
        let mut expected = first;
        for packed in &self.boxes {
            if packed.first != expected {
                return false;
            }
            for ((at, count), way) in at.iter_mut().zip(counts).zip(ways).rev() {
                *at += 1;
                if *at < *count {
                    expected = expected.wrapping_add(*way);
                    break;
                }
                expected = expected.wrapping_sub((*count - 1).wrapping_mul(*way));
                *at = 0;
            }
        }
        true
    }
}
