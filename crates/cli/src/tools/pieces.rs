//! The division of datasets into pieces that fit in memory, in C order, for the emulated tools.

use anyhow::Result;
use hyperslab::{Region, Selection};

/// The largest size in bytes of a piece of a dataset that the emulated tools read at once.
const PIECE_BYTES: u64 = 8 << 20;

/// Returns selections that together cover an array of a given shape in C order. An array without
/// dimensions has one element.
pub(crate) fn pieces(dims: &[u64], size: u64) -> impl Iterator<Item = Result<Selection>> + use<> {
    let max_elements = (PIECE_BYTES / size.max(1)).max(1);
    // The number of elements at one coordinate of each dimension.
    let mut within = vec![1_u64; dims.len()];
    let mut product = 1_u64;
    for (inner, size) in within.iter_mut().zip(dims).rev() {
        *inner = product;
        // A saturated number is larger than every piece, as the exact number is.
        product = product.saturating_mul(*size);
    }
    // The dimension that is cut: the first one whose single coordinates fit in a piece.
    let cut = within.iter().position(|inner| *inner <= max_elements).unwrap_or(0);
    let steps = (max_elements / within.get(cut).copied().unwrap_or(1).max(1)).max(1);
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
                *count = steps.min(*count - *start);
            }
        }
        next = following(&start, &dims, cut, steps);
        if dims.is_empty() {
            return Some(Ok(Selection::All));
        }
        Some(Region::new(&start, &count).map(|region| Selection::region(&region)).map_err(Into::into))
    })
}

/// Returns the start of the next piece of a dataset. The start is `steps` coordinates further along
/// dimension `cut`, or else at the next coordinate of a slower dimension.
fn following(start: &[u64], dims: &[u64], cut: usize, steps: u64) -> Option<Vec<u64>> {
    let mut next = start.to_vec();
    let mut step = steps;
    for (at, size) in next.iter_mut().zip(dims).take(cut + 1).rev() {
        if let Some(following) = at.checked_add(step).filter(|following| following < size) {
            *at = following;
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
        // Rows that fit in a piece, but not all of them at once.
        assert_eq!(cut(&[3, 2], 4 << 20), [0, 1, 2].map(|row| region(&[row, 0], &[1, 2])));
        // Rows that are larger than a piece.
        let parts = [(0, 0, 2), (0, 2, 1), (1, 0, 2), (1, 2, 1)];
        assert_eq!(
            cut(&[2, 3], 4 << 20),
            parts.map(|(row, column, count)| region(&[row, column], &[1, count]))
        );
        assert_eq!(cut(&[2], 64 << 20), [region(&[0], &[1]), region(&[1], &[1])]);
    }
}
