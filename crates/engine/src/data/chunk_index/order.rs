//! The order of chunks in arrays: C order over all chunks there may ever be, the dimension that grows first.

use hyperslab_dataspace::Dims;
use smallvec::SmallVec;

use super::{AtChunk, ChunkBox};
use crate::error::{Error, Result};
use crate::store::Store;

/// How scaled coordinates become the number of an element.
#[derive(Debug, Clone)]
pub(super) struct ArrayOrder {
    /// Chunks that come one after the other along each dimension before the next step.
    steps: Dims,
    /// Chunks that there may be; as many as one step of the dimension that grows has, if there is one.
    count: u64,
    /// The dimensions, the one of the longest steps first.
    slowest_first: SmallVec<[usize; 4]>,
}

/// What an array has for a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found<E> {
    /// The chunk's place.
    Chunk(E),
    /// No chunk, nor any other before the element of this number.
    Nothing {
        /// The next element that may hold one.
        until: u64,
    },
}

impl<E> Found<E> {
    /// The chunk in element `number`, or that there is none in it.
    pub(super) fn or_next(location: Option<E>, number: u64) -> Self {
        // The number of a chunk that no array holds may be the largest one.
        location.map_or(Self::Nothing { until: number.saturating_add(1) }, Self::Chunk)
    }

    /// The chunk's place, if there is one.
    pub(super) fn chunk(self) -> Option<E> {
        match self {
            Self::Chunk(location) => Some(location),
            Self::Nothing { .. } => None,
        }
    }
}

impl ArrayOrder {
    /// The order for chunks of the shape `chunk` in an extent that grows up to `max_dims`.
    pub(super) fn new(chunk: &[u64], max_dims: &[Option<u64>]) -> Result<Self> {
        let counts: Vec<Option<u64>> = max_dims
            .iter()
            .zip(chunk)
            .map(|(max, chunk)| {
                max.map(|max| max.checked_div(*chunk).unwrap_or(0) + u64::from(max % chunk != 0))
            })
            .collect();
        let unlimited = counts.iter().position(Option::is_none);
        let mut steps = Dims::from_elem(0, counts.len());
        let mut step = 1_u64;
        for (dimension, count) in counts.iter().enumerate().rev() {
            if Some(dimension) == unlimited {
                continue;
            }
            set(&mut steps, dimension, step);
            let count = count.ok_or_else(|| {
                Error::corrupt(
                    "dataspace message",
                    "maximum sizes",
                    "one unlimited dimension for an array of chunks",
                    "more",
                )
            })?;
            step = step.checked_mul(count).ok_or_else(|| Error::Limit {
                what: "number of chunks".into(),
                got: u64::MAX,
                limit: u64::MAX,
            })?;
        }
        if let Some(dimension) = unlimited {
            set(&mut steps, dimension, step);
        }
        let fixed = (0..counts.len()).filter(|dimension| Some(*dimension) != unlimited);
        let slowest_first = unlimited.into_iter().chain(fixed).collect();
        Ok(Self { steps, count: step, slowest_first })
    }

    /// Chunks that there may be in an extent of fixed size.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The number of the chunk; one that passes 64 bits lies in no array.
    pub(super) fn number(&self, scaled: &[u64]) -> u64 {
        scaled
            .iter()
            .zip(&self.steps)
            .fold(0_u64, |number, (at, step)| number.saturating_add(at.saturating_mul(*step)))
    }

    /// Visits the chunks of the box in the order of the array, which holds `elements` elements. `look` says what
    /// is in an element; empty stretches are skipped, so that no extent, however large, costs more than the blocks
    /// that are there.
    pub(super) fn for_each_in<E>(
        &self,
        store: &Store,
        chunks: &ChunkBox,
        elements: u64,
        mut look: impl FnMut(u64) -> Result<Found<E>>,
        visit: &mut AtChunk<'_, E>,
    ) -> Result<()> {
        // Each chunk takes an address in the file, each empty stretch at least a bit.
        let (most_chunks, most_steps) = (store.file_length() / 2, store.file_length().saturating_mul(8));
        let (mut found, mut steps) = (0_u64, 0_u64);
        let mut there = self.next_in(chunks, 0);
        while let Some((number, mut scaled)) = there.take().filter(|(number, _)| *number < elements) {
            steps += 1;
            let found_there = look(number);
            match store.forgive(found_there)?.unwrap_or(Found::Nothing { until: 0 }) {
                Found::Chunk(location) => {
                    found += 1;
                    visit(&scaled, location)?;
                    let next = number + 1;
                    there = if self.step(chunks, &mut scaled) {
                        Some((next, scaled))
                    } else {
                        self.next_in(chunks, next)
                    };
                }
                Found::Nothing { until } => {
                    there = self.next_in(chunks, until.max(number + 1));
                }
            }
            if found > most_chunks || steps > most_steps {
                let expected = "elements that the file has room for";
                return Err(Error::corrupt("array of chunks", "blocks", expected, "more"));
            }
        }
        Ok(())
    }

    /// Goes to the chunk that comes next in the array, if the box has it in the same row.
    fn step(&self, chunks: &ChunkBox, scaled: &mut Dims) -> bool {
        let row = self.slowest_first.iter().find(|dimension| self.steps.get(**dimension) == Some(&1));
        let there = row.and_then(|row| Some((scaled.get_mut(*row)?, chunks.last.get(*row)?)));
        match there {
            Some((at, last)) if *at < *last => {
                *at += 1;
                true
            }
            _ => false,
        }
    }

    /// The first chunk of the box whose number is not below `number`, and its scaled coordinates.
    fn next_in(&self, chunks: &ChunkBox, number: u64) -> Option<(u64, Dims)> {
        let bounds = |dimension: usize| Some((*chunks.first.get(dimension)?, *chunks.last.get(dimension)?));
        let mut scaled = chunks.first.clone();
        let mut rest = number;
        for (position, dimension) in self.slowest_first.iter().copied().enumerate() {
            let (first, last) = bounds(dimension)?;
            let step = *self.steps.get(dimension)?;
            let at = rest.checked_div(step)?;
            rest = rest.checked_rem(step)?;
            if at < first {
                break; // the box begins here
            }
            if at > last {
                // Past the box: on in the nearest slower dimension that has more, from the box's start.
                let slower = self.slowest_first.split_at(position).0;
                let more = slower.iter().rposition(|slow| {
                    bounds(*slow).zip(scaled.get(*slow)).is_some_and(|((_, last), at)| *at < last)
                })?;
                for (position, dimension) in slower.iter().copied().enumerate().skip(more) {
                    let step = u64::from(position == more);
                    let from = if position == more { *scaled.get(dimension)? } else { bounds(dimension)?.0 };
                    set(&mut scaled, dimension, from + step);
                }
                break;
            }
            set(&mut scaled, dimension, at);
        }
        Some((self.number(&scaled), scaled))
    }
}

fn set(steps: &mut Dims, dimension: usize, value: u64) {
    if let Some(step) = steps.get_mut(dimension) {
        *step = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_growing_dimension_comes_first() {
        let order = ArrayOrder::new(&[2, 3, 4], &[Some(4), None, Some(9)]).unwrap();
        // 2 chunks along dimension 0 and 3 along dimension 2; dimension 1 grows.
        assert_eq!(order.number(&[0, 0, 1]), 1);
        assert_eq!(order.number(&[1, 0, 0]), 3);
        assert_eq!(order.number(&[0, 1, 0]), 6);
        assert_eq!(order.number(&[1, 2, 2]), 12 + 3 + 2);
    }

    #[test]
    fn fixed_extents_count_in_c_order() {
        let order = ArrayOrder::new(&[5, 5], &[Some(11), Some(10)]).unwrap();
        assert_eq!(order.number(&[2, 1]), 5);
        assert!(ArrayOrder::new(&[1, 1], &[None, None]).is_err());
    }

    #[test]
    fn next_in_goes_through_the_box_in_the_order_of_the_array() {
        let order = ArrayOrder::new(&[2, 3, 4], &[Some(8), None, Some(12)]).unwrap();
        let chunks = ChunkBox { first: Dims::from_slice(&[1, 1, 0]), last: Dims::from_slice(&[2, 3, 1]) };
        let mut expected: Vec<u64> = Vec::new();
        for (a, b, c) in (1..=2).flat_map(|a| (1..=3).flat_map(move |b| (0..=1).map(move |c| (a, b, c)))) {
            expected.push(order.number(&[a, b, c]));
        }
        expected.sort_unstable();
        let mut numbers = Vec::new();
        let mut next = 0;
        while let Some((number, scaled)) = order.next_in(&chunks, next) {
            assert!(chunks.contains(&scaled) && order.number(&scaled) == number);
            numbers.push(number);
            next = number + 1;
        }
        assert_eq!(numbers, expected);
        assert_eq!(order.next_in(&chunks, u64::MAX), None);
    }

    #[test]
    fn an_extent_without_chunks_has_no_next_one() {
        let order = ArrayOrder::new(&[1, 1], &[Some(3), Some(0)]).unwrap();
        let chunks = ChunkBox { first: Dims::from_slice(&[0, 0]), last: Dims::from_slice(&[2, 0]) };
        assert_eq!(order.next_in(&chunks, 0), None);
    }
}
