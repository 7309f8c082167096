//! The boxes that a set of defined elements consists of.

use super::DefinedSet;
use super::rows::Rows;
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
        let rank = set.dims().len();
        let mut words = Vec::with_capacity(set.store.items().saturating_mul(2 * rank));
        if rank == 1 {
            set.for_each_run(0..set.total(), |offset, _, count| words.extend([offset, offset + (count - 1)]));
            return Self { rank, words };
        }
        let mut rows = Rows::new(set.dims());
        set.for_each_run(0..set.total(), |offset, _, count| {
            rows.boxes(offset, count, |start, end| {
                words.extend_from_slice(start);
                words.extend_from_slice(end);
            });
        });
        if rank == 2 {
            return Self { rank, words: merge_strips(&words) };
        }
        for dimension in (0..rank.saturating_sub(1)).rev() {
            words = merge(&words, rank, dimension);
        }
        Self { rank, words }
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

/// Joins boxes of two dimensions that have the same columns and touch.
fn merge_strips(words: &[u64]) -> Vec<u64> {
    let (strips, _) = words.as_chunks::<4>();
    let mut merged: Vec<[u64; 4]> = Vec::with_capacity(strips.len());
    // Places in `merged` of what ends in the row before, and of what is in the row in hand.
    let (mut above, mut here) = (Vec::new(), Vec::new());
    let (mut next, mut row) = (0, None);
    for strip @ [first, start, last, end] in strips {
        if row != Some(*first) {
            std::mem::swap(&mut above, &mut here);
            here.clear();
            (next, row) = (0, Some(*first));
        }
        let mut found = None;
        while let Some(place) = above.get(next) {
            let Some(open) = merged.get_mut::<usize>(*place) else { break };
            let [_, open_start, open_last, open_end] = open;
            if *open_last + 1 != *first || *open_start > *start {
                break;
            }
            next += 1;
            if open_start == start && open_end == end {
                *open_last = *last;
                found = Some(*place);
                break;
            }
        }
        here.push(found.unwrap_or(merged.len()));
        if found.is_none() {
            merged.push(*strip);
        }
    }
    merged.into_flattened()
}

/// Joins boxes that are the same but for one dimension, in which they touch. They are in order of their starts.
fn merge(words: &[u64], rank: usize, dimension: usize) -> Vec<u64> {
    let size = rank.saturating_mul(2).max(1);
    let mut merged: Vec<u64> = Vec::with_capacity(words.len());
    // Places in `merged` of the boxes of the slice before, and of the slice in hand.
    let (mut before, mut here): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut next = 0;
    let mut slice: &[u64] = &[];
    for item in words.chunks_exact(size) {
        let Some((start, _)) = item.split_at_checked(rank) else { break };
        let coordinates = start.get(..=dimension).unwrap_or_default();
        if slice != coordinates {
            std::mem::swap(&mut before, &mut here);
            here.clear();
            (next, slice) = (0, coordinates);
        }
        let mut found = None;
        while let Some(place) = before.get(next) {
            let Some(open) = merged.get_mut(*place..).and_then(|rest| rest.get_mut(..size)) else { break };
            if !touches(open, item, rank, dimension)
                || open.get(dimension + 1..rank) > start.get(dimension + 1..)
            {
                break;
            }
            next += 1;
            let same = open.get(dimension + 1..rank) == start.get(dimension + 1..)
                && open.get(rank..rank + dimension) == item.get(rank..rank + dimension)
                && open.get(rank + dimension + 1..) == item.get(rank + dimension + 1..);
            if same {
                if let (Some(to), Some(last)) = (open.get_mut(rank + dimension), item.get(rank + dimension)) {
                    *to = *last;
                }
                found = Some(*place);
                break;
            }
        }
        here.push(found.unwrap_or(merged.len()));
        if found.is_none() {
            merged.extend_from_slice(item);
        }
    }
    merged
}

/// Whether a box begins where another one ends in a dimension, at the same coordinates in all slower ones.
fn touches(open: &[u64], item: &[u64], rank: usize, dimension: usize) -> bool {
    open.get(..dimension) == item.get(..dimension)
        && open.get(rank + dimension).and_then(|last| last.checked_add(1)) == item.get(dimension).copied()
}
