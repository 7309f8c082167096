//! The data of the published figures, made by the rules that were published with them.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "small numbers that are constants"
)]

use crate::noise::Noise;

/// Rows and columns of the array, which is one chunk.
pub(crate) const SIDE: usize = 1024;
/// Of variable length.
const VECTORS: usize = 10_000;

/// Which elements have values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    /// In each row one in each of equal parts.
    Points,
    /// A rectangle.
    Rectangle,
    /// A run in each row.
    Runs,
}

/// Part of an array, with values.
#[derive(Debug)]
pub(crate) struct Sparse {
    /// Row, column, rows, columns; in the order of the values.
    pub(crate) blocks: Vec<[usize; 4]>,
    pub(crate) values: Vec<u8>,
}

impl Sparse {
    /// Makes one with so many percent of the elements.
    pub(crate) fn make(places: Places, percent: usize, random: bool) -> Self {
        let mut noise = Noise(percent as u64);
        let wide = SIDE * percent / 100;
        let blocks: Vec<[usize; 4]> = match places {
            Places::Points => {
                let part = 100 / percent;
                let row = |row| (0..wide).map(move |number| (row, number * part));
                let points = (0..SIDE).flat_map(row);
                points.map(|(row, start)| [row, start + noise.below(part), 1, 1]).collect()
            }
            Places::Rectangle => {
                let size = (SIDE as f64 * (percent as f64).sqrt() / 10.0) as usize;
                vec![[noise.below(SIDE / 2), noise.below(SIDE / 2), size, size]]
            }
            Places::Runs => (0..SIDE).map(|row| [row, noise.below(SIDE - wide), 1, wide]).collect(),
        };
        let count: usize = blocks.iter().map(|[.., rows, columns]| rows * columns).sum();
        let value = |at: usize| if random { noise.below(255) as u8 + 1 } else { ((at + 1) % 255) as u8 };
        Self { blocks, values: (0..count).map(value).collect() }
    }

    /// The whole array, zero elsewhere.
    pub(crate) fn dense(&self) -> Vec<u8> {
        let mut dense = vec![0; SIDE * SIDE];
        let mut values = self.values.as_slice();
        for [row, column, rows, columns] in &self.blocks {
            for row in *row..row + rows {
                let (these, rest) = values.split_at(*columns);
                dense[row * SIDE + column..][..*columns].copy_from_slice(these);
                values = rest;
            }
        }
        dense
    }
}

/// Vectors of 1 to `longest` bytes.
pub(crate) fn vectors(longest: usize, random: bool) -> Vec<Vec<i8>> {
    let mut noise = Noise(longest as u64);
    let vector = |_| {
        let length = noise.below(longest) + 1;
        (0..length).map(|at| if random { noise.below(127) as i8 } else { at as i8 }).collect()
    };
    (0..VECTORS).map(vector).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_the_density() {
        for (places, count) in
            [(Places::Points, 51 * 1024), (Places::Rectangle, 228 * 228), (Places::Runs, 51 * 1024)]
        {
            let made = Sparse::make(places, 5, true);
            assert_eq!(made.values.len(), count, "{places:?}");
            let there: Vec<u8> = made.dense().into_iter().filter(|value| *value != 0).collect();
            assert_eq!(there.len(), count, "{places:?}");
            if places != Places::Rectangle {
                assert_eq!(there, made.values, "{places:?}");
            }
        }
    }

    #[test]
    fn vectors_have_all_lengths() {
        let made = vectors(10, false);
        let lengths: std::collections::BTreeSet<usize> = made.iter().map(Vec::len).collect();
        assert_eq!(lengths, (1..=10).collect());
        assert!(made.iter().all(|vector| vector.iter().enumerate().all(|(at, value)| at == *value as usize)));
    }
}
