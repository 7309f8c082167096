//! Datasets larger than memory, piece by piece in the order of their elements.

use anyhow::Result;
use hyperslab::{Region, Selection};

/// Bytes of elements that are read at once.
const AT_ONCE: u64 = 8 << 20;

/// The selections that together are an array of that shape, one after the other in C order. Those of an array without
/// dimensions are its one element.
pub(crate) fn pieces(dims: &[u64], size: u64) -> impl Iterator<Item = Result<Selection>> + use<> {
    let most = (AT_ONCE / size.max(1)).max(1);
    // Elements of what lies within one step along each dimension.
    let mut within = vec![1_u64; dims.len()];
    let mut product = 1_u64;
    for (inner, size) in within.iter_mut().zip(dims).rev() {
        *inner = product;
        product = product.saturating_mul(*size);
    }
    // The dimension that is cut: the first one of which a step is not too much.
    let cut = within.iter().position(|inner| *inner <= most).unwrap_or(0);
    let steps = (most / within.get(cut).copied().unwrap_or(1).max(1)).max(1);
    let is_empty = dims.contains(&0);
    let mut next = (!is_empty).then(|| vec![0; dims.len()]);
    let dims = dims.to_vec();
    std::iter::from_fn(move || {
        let start = next.take()?;
        let mut count = dims.clone();
        for (dimension, (count, start)) in count.iter_mut().zip(&start).enumerate() {
            if dimension < cut {
                *count = 1;
            } else if dimension == cut {
                *count = steps.min(count.saturating_sub(*start));
            }
        }
        next = following(&start, &dims, cut, steps);
        if dims.is_empty() {
            return Some(Ok(Selection::All));
        }
        Some(Region::new(&start, &count).map(|region| Selection::region(&region)).map_err(Into::into))
    })
}

/// Where the next piece begins: so many steps on along dimension `cut`, or at its start one step on before it.
fn following(start: &[u64], dims: &[u64], cut: usize, steps: u64) -> Option<Vec<u64>> {
    let mut next = start.to_vec();
    let mut step = steps;
    for (at, size) in next.iter_mut().zip(dims).take(cut.saturating_add(1)).rev() {
        *at = at.saturating_add(step);
        if *at < *size {
            return Some(next);
        }
        (*at, step) = (0, 1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(dims: &[u64], size: u64) -> Vec<Selection> {
        pieces(dims, size).map(Result::unwrap).collect()
    }

    #[test]
    fn pieces_are_the_whole_in_order() {
        let region = |start: &[u64], count: &[u64]| Selection::region(&Region::new(start, count).unwrap());
        assert_eq!(cut(&[], 8), [Selection::All]);
        assert_eq!(cut(&[4, 0], 8), []);
        assert_eq!(cut(&[4, 5], 8), [region(&[0, 0], &[4, 5])]);
        // Rows that fit, of which not all do.
        assert_eq!(cut(&[3, 2], 4 << 20), [0, 1, 2].map(|row| region(&[row, 0], &[1, 2])));
        // Rows that are too long by themselves.
        let parts = [(0, 0, 2), (0, 2, 1), (1, 0, 2), (1, 2, 1)];
        assert_eq!(
            cut(&[2, 3], 4 << 20),
            parts.map(|(row, column, count)| region(&[row, column], &[1, count]))
        );
        assert_eq!(cut(&[2], 64 << 20), [region(&[0], &[1]), region(&[1], &[1])]);
    }
}
