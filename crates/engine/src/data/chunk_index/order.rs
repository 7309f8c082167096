//! The order of chunks in fixed and extensible arrays: C order over all possible chunks, with the
//! unlimited dimension as the slowest one.

use hyperslab_dataspace::Dims;
use smallvec::SmallVec;

use super::element::{Cursor, ElementLookup, Elements};
use super::{AtChunk, ChunkBox, Entry};
use crate::error::{Error, Result};
use crate::store::Store;

/// The mapping from the coordinates of chunks (counted in chunks) to element numbers of a fixed or
/// extensible array.
#[derive(Debug, Clone)]
pub(super) struct ArrayOrder {
    /// The number of elements between neighbours along each dimension.
    steps: Dims,
    /// The number of possible chunks; without the unlimited dimension, if there is one.
    count: u64,
    /// The dimensions in descending order of their steps.
    slowest_first: SmallVec<[usize; 4]>,
}

impl ArrayOrder {
    /// Creates the mapping from chunk coordinates to array element numbers. The chunks have the
    /// shape `chunk`, and the dataset can grow up to `max_dims`.
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
                subject: "number of chunks".into(),
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

    /// Returns the number of chunks that a dataset has at its maximum size. Ignores the unlimited
    /// dimension, if there is one.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of the array element for the chunk with the given coordinates (counted in
    /// chunks). Returns `None` if the number does not fit in 64 bits; no array has such an element.
    pub(super) fn number(&self, scaled: &[u64]) -> Option<u64> {
        scaled
            .iter()
            .zip(&self.steps)
            .try_fold(0_u64, |number, (at, step)| number.checked_add(at.checked_mul(*step)?))
    }

    /// Calls `visit` for each stored chunk in a box of chunk coordinates, in the order of the array
    /// of chunk entries. The array has `length` elements, and `look` looks up an element; `look`
    /// may enter the block of the element in the cursor, whose entries `elements` decodes. The walk
    /// skips runs of empty elements. The cost of the walk depends on the existing blocks, not on
    /// the shape of the dataset.
    pub(super) fn for_each_in<E: Entry>(
        &self,
        store: &Store,
        chunks: &ChunkBox,
        length: u64,
        elements: Option<&Elements<E>>,
        mut look: impl FnMut(u64, &mut Cursor) -> Result<ElementLookup<E>>,
        visit: &mut AtChunk<'_, E>,
    ) -> Result<()> {
        // Each chunk takes an address in the file, and each empty run at least a bit.
        let (most_chunks, most_bytes) = (store.file_length() / 2, store.file_length());
        let (mut found, mut steps) = (0_u64, 0_u64);
        let mut cursor = Cursor::default();
        let row = self.row(chunks);
        let Some((mut number, mut scaled)) = self.next_in(chunks, 0) else { return Ok(()) };
        while number < length {
            steps += 1;
            let looked_up = look(number, &mut cursor);
            let mut next = match store.forgive(looked_up)?.unwrap_or(ElementLookup::Nothing { until: 0 }) {
                ElementLookup::Chunk(location) => {
                    found += 1;
                    visit(&scaled, location)?;
                    number + 1
                }
                ElementLookup::Nothing { until } => until.max(number + 1),
            };
            // The next chunks of the same row of chunks have the next elements.
            let ends = row.filter(|(row, last)| next == number + 1 && scaled.get(*row) < Some(last));
            if let Some((row, last)) = ends {
                step(&mut scaled, row);
                number = next;
                let at = scaled.get(row).copied().unwrap_or(last);
                let most = (last - at + 1).min(length.max(number) - number);
                if let Some(elements) = elements {
                    cursor.for_each(store, elements, [number, most], |location| {
                        if let Some(location) = location {
                            found += 1;
                            visit(&scaled, location)?;
                        }
                        step(&mut scaled, row);
                        next += 1;
                        Ok(())
                    })?;
                }
            }
            if found > most_chunks || steps / 8 > most_bytes {
                let expected = "no more chunks than the file can hold";
                return Err(Error::corrupt("array of chunks", "blocks", expected, found));
            }
            let is_in_row = ends.is_some_and(|(row, last)| scaled.get(row) <= Some(&last));
            if is_in_row {
                number = next;
            } else if let Some(position) = self.next_in(chunks, next) {
                (number, scaled) = position;
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Returns the dimension along which neighbouring chunks have neighbouring elements, and the
    /// last coordinate of the box in this dimension.
    fn row(&self, chunks: &ChunkBox) -> Option<(usize, u64)> {
        let mut dimensions = self.slowest_first.iter().copied();
        let row = dimensions.find(|dimension| self.steps.get(*dimension) == Some(&1))?;
        Some((row, *chunks.last.get(row)?))
    }

    /// Returns the next chunk in a box, from the array element `number` on: the number of its array
    /// element, and its coordinates (counted in chunks). Returns `None` if the box has no such
    /// chunk.
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
                // After the end of the box, continue at the box's first coordinates, one step
                // further in the fastest slower dimension that is not at its end.
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
        Some((self.number(&scaled)?, scaled))
    }
}

/// Moves coordinates to the next chunk along a dimension.
fn step(scaled: &mut Dims, dimension: usize) {
    if let Some(at) = scaled.get_mut(dimension) {
        *at += 1;
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
        assert_eq!(order.number(&[0, 0, 1]), Some(1));
        assert_eq!(order.number(&[1, 0, 0]), Some(3));
        assert_eq!(order.number(&[0, 1, 0]), Some(6));
        assert_eq!(order.number(&[1, 2, 2]), Some(12 + 3 + 2));
    }

    #[test]
    fn fixed_extents_count_in_c_order() {
        let order = ArrayOrder::new(&[5, 5], &[Some(11), Some(10)]).unwrap();
        assert_eq!(order.number(&[2, 1]), Some(5));
        assert_eq!(order.number(&[u64::MAX / 2, 1]), Some(u64::MAX));
        assert_eq!(order.number(&[u64::MAX / 2, 2]), None);
        assert_eq!(order.number(&[u64::MAX, 0]), None);
        assert!(ArrayOrder::new(&[1, 1], &[None, None]).is_err());
    }

    #[test]
    fn next_in_goes_through_the_box_in_the_order_of_the_array() {
        let order = ArrayOrder::new(&[2, 3, 4], &[Some(8), None, Some(12)]).unwrap();
        let chunks = ChunkBox { first: Dims::from_slice(&[1, 1, 0]), last: Dims::from_slice(&[2, 3, 1]) };
        let mut expected: Vec<u64> = Vec::new();
        for (a, b, c) in (1..=2).flat_map(|a| (1..=3).flat_map(move |b| (0..=1).map(move |c| (a, b, c)))) {
            expected.push(order.number(&[a, b, c]).unwrap());
        }
        expected.sort_unstable();
        let mut numbers = Vec::new();
        let mut next = 0;
        while let Some((number, scaled)) = order.next_in(&chunks, next) {
            assert!(chunks.contains(&scaled) && order.number(&scaled) == Some(number));
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
