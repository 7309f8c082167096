//! The order of chunks in arrays: C order over all chunks there may ever be, the dimension that grows first.

use hyperslab_dataspace::{Dims, Region};

use super::ChunkBox;
use crate::error::{Error, Result};

/// How scaled coordinates become the number of an element.
#[derive(Debug, Clone)]
pub(super) struct ArrayOrder {
    /// Chunks that come one after the other along each dimension before the next step.
    steps: Dims,
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
        Ok(Self { steps })
    }

    /// The number of the chunk; one that passes 64 bits lies in no array.
    pub(super) fn number(&self, scaled: &[u64]) -> u64 {
        scaled
            .iter()
            .zip(&self.steps)
            .fold(0_u64, |number, (at, step)| number.saturating_add(at.saturating_mul(*step)))
    }

    /// The scaled coordinates in the box, in C order.
    pub(super) fn coordinates(chunks: &ChunkBox) -> impl Iterator<Item = Dims> {
        let count = chunks
            .last
            .iter()
            .zip(&chunks.first)
            .map(|(last, first)| last.saturating_sub(*first).saturating_add(1));
        Region { start: chunks.first.clone(), count: count.collect() }.coordinates()
    }
}

fn set(steps: &mut Dims, dimension: usize, value: u64) {
    if let Some(step) = steps.get_mut(dimension) {
        *step = value;
    }
}

#[cfg(test)]
mod tests {
    use super::ArrayOrder;

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
}
