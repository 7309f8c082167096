//! The boxes that a set of defined elements consists of.

use super::DefinedSet;
use super::boxes::{self, LinearBox};
use super::divisor::{Unravel, unravel};
use crate::{Block, Dims, RegularHyperslab};

/// Disjoint boxes, packed: in each the lowest coordinates, then the highest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corners {
    rank: usize,
    words: Vec<u64>,
}

impl Corners {
    /// The boxes of a set, by their starts in C order.
    pub(super) fn of(set: &DefinedSet) -> Self {
        let (dims, total) = (set.dims(), set.total());
        let boxes = boxes::of(set);
        let words = match dims.len() {
            1 => words_of(&boxes, &Unravel::<1>::new(dims, total)),
            2 => words_of(&boxes, &Unravel::<2>::new(dims, total)),
            3 => words_of(&boxes, &Unravel::<3>::new(dims, total)),
            4 => words_of(&boxes, &Unravel::<4>::new(dims, total)),
            _ => {
                let corner = |offset| unravel(dims, offset);
                boxes
                    .iter()
                    .flat_map(|packed| [corner(packed.first), corner(packed.last())])
                    .flatten()
                    .collect()
            }
        };
        Self { rank: dims.len(), words }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of boxes.
    pub fn len(&self) -> usize {
        self.words.len().checked_div(self.rank.saturating_mul(2)).unwrap_or(0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The coordinates, box after box: `rank` of its first element, then `rank` of its last one.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    fn pairs(&self) -> impl Iterator<Item = (&[u64], &[u64])> {
        let packed = self.words.chunks_exact(self.rank.saturating_mul(2).max(1));
        packed.filter_map(|packed| packed.split_at_checked(self.rank))
    }

    /// The boxes.
    pub fn blocks(&self) -> Vec<Block> {
        let block = |(start, end): (&[u64], &[u64])| Block {
            start: Dims::from_slice(start),
            end: Dims::from_slice(end),
        };
        self.pairs().map(block).collect()
    }

    /// The regular hyperslab that the boxes are, if they are one. No boxes are none.
    pub fn as_regular(&self) -> Option<RegularHyperslab> {
        let (start, end) = self.pairs().next()?;
        let mut regular = RegularHyperslab::region(start, &[]);
        regular.block = start.iter().zip(end).map(|(start, end)| end - start + 1).collect();
        let mut boxes = 1_usize;
        for dimension in (0..self.rank).rev() {
            let (stride, count) = self.steps(dimension, boxes)?;
            *regular.stride.get_mut(dimension)? = stride;
            *regular.count.get_mut(dimension)? = u64::try_from(count).ok()?;
            boxes = boxes.checked_mul(count)?;
        }
        (boxes == self.len() && self.is_grid(&regular)).then_some(regular)
    }

    /// The distance and number of groups of so many boxes that follow one another in a dimension, with the same
    /// coordinates in all slower ones.
    fn steps(&self, dimension: usize, boxes: usize) -> Option<(u64, usize)> {
        let mut groups = self.words.chunks(boxes.checked_mul(self.rank)?.checked_mul(2)?);
        let first = groups.next()?;
        let mut stride = 1;
        let mut count = 1;
        for group in groups {
            if group.get(..dimension) != first.get(..dimension) {
                break;
            }
            if count == 1 {
                stride = group.get(dimension)?.checked_sub(*first.get(dimension)?)?;
            }
            count += 1;
        }
        Some((stride, count))
    }

    /// Whether the boxes, as many as those of a hyperslab, are these.
    fn is_grid(&self, regular: &RegularHyperslab) -> bool {
        let mut at = Dims::from_elem(0, self.rank);
        for (start, end) in self.pairs() {
            let fields = regular.start.iter().zip(&regular.stride).zip(&regular.block).zip(&at);
            let mut corners = start.iter().zip(end).zip(fields);
            let same = corners.all(|((start, end), (((first, stride), block), at))| {
                let expected = at.checked_mul(*stride).and_then(|way| first.checked_add(way));
                expected == Some(*start) && end - start == block - 1
            });
            if !same {
                return false;
            }
            for (at, count) in at.iter_mut().zip(&regular.count).rev() {
                *at += 1;
                if *at < *count {
                    break;
                }
                *at = 0;
            }
        }
        // Blocks that reach into the next one would say the same elements twice.
        let mut fields = regular.count.iter().zip(&regular.stride).zip(&regular.block);
        fields.all(|((count, stride), block)| *count == 1 || block <= stride)
    }
}

fn words_of<const R: usize>(boxes: &[LinearBox], unravel: &Unravel<R>) -> Vec<u64> {
    let mut corners = Vec::with_capacity(boxes.len());
    for packed in boxes {
        let start = unravel.coordinates(packed.first);
        let end = if packed.span == 0 { start } else { unravel.coordinates(packed.last()) };
        corners.push([start, end]);
    }
    corners.into_flattened().into_flattened()
}
