//! The sparse matrices to store, and the requests, generated from fixed seeds.
#![expect(
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::arithmetic_side_effects,
    reason = "the arrays are generated in this file"
)]

use std::path::Path;

use anyhow::{Result, bail};

use super::npy;
use crate::noise::Noise;

/// Rows and columns of a box that is read.
pub(crate) const BOX: usize = 256;
/// Probability that an element inside a band or a blob has a value: the same as if a number of
/// values equal to half the number of elements were placed at random.
const FILLED_PROBABILITY: f64 = 0.393_469;
/// Rows and columns of a blob.
const BLOB: usize = 64;

/// The arrangement of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// The values are uniformly distributed.
    Random,
    /// The values are near the diagonal.
    Banded,
    /// The values are in blobs, which are small filled areas.
    Clustered,
}

impl Pattern {
    pub(crate) const ALL: [Self; 3] = [Self::Random, Self::Banded, Self::Clustered];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Banded => "banded",
            Self::Clustered => "clustered",
        }
    }
}

/// A square matrix in CSR form.
#[derive(Debug)]
pub(crate) struct Matrix {
    pub(crate) side: usize,
    /// Start of each row in `indices` and `values`, and their length at the end.
    pub(crate) indptr: Vec<u64>,
    /// Columns, ascending in each row.
    pub(crate) indices: Vec<u32>,
    /// Small whole numbers other than zero.
    pub(crate) values: Vec<f32>,
}

/// The requests for a matrix.
#[derive(Debug)]
pub(crate) struct Requests {
    /// First row and column of each box.
    pub(crate) boxes: Vec<[usize; 2]>,
    pub(crate) rows: Vec<usize>,
    pub(crate) columns: Vec<usize>,
    /// Row and column of elements without a value, each once, in random order, and the values to
    /// add.
    pub(crate) append: Vec<([usize; 2], f32)>,
}

/// The number of values in a result, and their sum.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Met {
    pub(crate) count: u64,
    pub(crate) sum: f64,
}

impl Met {
    /// Counts and sums the given values.
    pub(crate) fn of<'a>(values: impl IntoIterator<Item = &'a f32>) -> Self {
        values.into_iter().filter(|value| **value != 0.0).fold(Self::default(), |met, value| Self {
            count: met.count + 1,
            sum: met.sum + f64::from(*value),
        })
    }
}

impl Matrix {
    /// Generates a matrix. With a `density` of 0.01, about every hundredth element has a value.
    pub(crate) fn make(side: usize, pattern: Pattern, density: f64, seed: u64) -> Self {
        let mut noise = Noise(seed);
        let mut matrix = Self { side, indptr: vec![0], indices: Vec::new(), values: Vec::new() };
        let half = ((density * side as f64) as usize).max(1);
        let blobs = (pattern == Pattern::Clustered).then(|| blobs(side, density, &mut noise));
        for row in 0..side {
            match &blobs {
                Some(bits) => {
                    let words = side.div_ceil(64);
                    for (at, word) in bits[row * words..][..words].iter().enumerate() {
                        let mut rest = *word;
                        while rest != 0 {
                            matrix.indices.push((at * 64) as u32 + rest.trailing_zeros());
                            rest &= rest - 1;
                        }
                    }
                }
                None if pattern == Pattern::Banded => {
                    let (start, end) = (row.saturating_sub(half), (row + half + 1).min(side));
                    places(&mut noise, start, end, FILLED_PROBABILITY, &mut matrix.indices);
                }
                None => places(&mut noise, 0, side, density, &mut matrix.indices),
            }
            matrix.indptr.push(matrix.indices.len() as u64);
        }
        // Detector counts: a gamma distribution, truncated to whole numbers.
        matrix.values = (0..matrix.indices.len())
            .map(|_| (-(noise.unit() * noise.unit()).ln() * 20.0).trunc() as f32 + 1.0)
            .collect();
        matrix
    }

    fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.indptr[row] as usize..self.indptr[row + 1] as usize;
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Returns the values of a row in the range `columns`.
    fn within(&self, row: usize, columns: std::ops::Range<usize>) -> &[f32] {
        let (indices, values) = self.row(row);
        let before = |end: usize| indices.partition_point(|index| (*index as usize) < end);
        &values[before(columns.start)..before(columns.end)]
    }

    /// Returns the number and sum of the values in boxes.
    pub(crate) fn met_in_boxes(&self, boxes: &[[usize; 2]]) -> Met {
        let rows = boxes.iter().flat_map(|[row, column]| (*row..row + BOX).map(move |row| (row, *column)));
        Met::of(rows.flat_map(|(row, column)| self.within(row, column..column + BOX)))
    }

    /// Returns the number and sum of the values in rows.
    pub(crate) fn met_in_rows(&self, rows: &[usize]) -> Met {
        Met::of(rows.iter().flat_map(|row| self.row(*row).1))
    }

    /// Returns the number and sum of the values in columns.
    pub(crate) fn met_in_columns(&self, columns: &[usize]) -> Met {
        let places = columns.iter().flat_map(|column| (0..self.side).map(move |row| (row, *column)));
        Met::of(places.flat_map(|(row, column)| self.within(row, column..column + 1)))
    }

    /// Generates the requests. Half of the boxes start at a value, unless the values are uniformly
    /// distributed.
    pub(crate) fn requests(&self, pattern: Pattern, seed: u64) -> Result<Requests> {
        let mut noise = Noise(seed);
        let (side, last) = (self.side, self.side - BOX);
        let boxes = (0..100).map(|number| {
            if pattern == Pattern::Random || number >= 50 || self.indices.is_empty() {
                return [noise.below(last + 1), noise.below(last + 1)];
            }
            let at = noise.below(self.indices.len());
            let row = self.indptr.partition_point(|start| *start as usize <= at) - 1;
            [row.min(last), (self.indices[at] as usize).min(last)]
        });
        let boxes = boxes.collect();
        let rows = (0..100).map(|_| noise.below(side)).collect();
        let columns = (0..5).map(|_| noise.below(side)).collect();
        let mut append: Vec<([usize; 2], f32)> = Vec::new();
        for _ in 0..1_000_000 {
            let place = [noise.below(side), noise.below(side)];
            let taken = self.row(place[0]).0.binary_search(&(place[1] as u32)).is_ok()
                || append.iter().any(|(other, _)| *other == place);
            if !taken {
                append.push((place, noise.below(100) as f32 + 1.0));
            }
            if append.len() == 1000 {
                return Ok(Requests { boxes, rows, columns, append });
            }
        }
        bail!("the matrix has too few elements without a value")
    }

    /// Writes the matrix and the requests as `NumPy` arrays, for the Python process.
    pub(crate) fn save(&self, requests: &Requests, folder: &Path) -> Result<()> {
        let side = requests.boxes.len() as u64;
        npy::save(folder, "indptr", "<u8", &[self.indptr.len() as u64], &self.indptr)?;
        npy::save(folder, "indices", "<u4", &[self.indices.len() as u64], &self.indices)?;
        npy::save(folder, "values", "<f4", &[self.values.len() as u64], &self.values)?;
        let numbers = |places: Vec<usize>| -> Vec<i64> { places.iter().map(|place| *place as i64).collect() };
        npy::save(folder, "boxes", "<i8", &[side, 2], &numbers(requests.boxes.concat()))?;
        for (name, places) in [
            ("rows", requests.rows.clone()),
            ("columns", requests.columns.clone()),
            ("append_rows", requests.append.iter().map(|(place, _)| place[0]).collect()),
            ("append_columns", requests.append.iter().map(|(place, _)| place[1]).collect()),
        ] {
            npy::save(folder, name, "<i8", &[places.len() as u64], &numbers(places))?;
        }
        let values: Vec<f32> = requests.append.iter().map(|(_, value)| *value).collect();
        npy::save(folder, "append_values", "<f4", &[values.len() as u64], &values)
    }
}

/// Returns one bit for each element: blobs that may overlap.
fn blobs(side: usize, density: f64, noise: &mut Noise) -> Vec<u64> {
    let words = side.div_ceil(64);
    let mut places = vec![0; words * side];
    let count = ((side * side) as f64 * density / (BLOB * BLOB / 2) as f64) as usize;
    for _ in 0..count.max(1) {
        let (top, left) = (noise.below(side - BLOB), noise.below(side - BLOB));
        for row in top..top + BLOB {
            for column in left..left + BLOB {
                let bit = u64::from(noise.unit() < FILLED_PROBABILITY);
                places[row * words + column / 64] |= bit << (column % 64);
            }
        }
    }
    places
}

/// Chooses each number from `start` to before `end` with a given probability. The function draws
/// the gaps between chosen numbers.
fn places(noise: &mut Noise, start: usize, end: usize, probability: f64, chosen: &mut Vec<u32>) {
    let by = (1.0 - probability).ln();
    let mut at = start as u64;
    loop {
        at = at.saturating_add((noise.unit().ln() / by) as u64);
        if at >= end as u64 {
            return;
        }
        chosen.push(at as u32);
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_have_the_density_and_sorted_rows() {
        for pattern in Pattern::ALL {
            let matrix = Matrix::make(1024, pattern, 0.05, 1);
            assert_eq!(matrix.indptr.len(), 1025);
            assert_eq!(*matrix.indptr.last().unwrap_or(&0), matrix.indices.len() as u64);
            for row in 0..1024 {
                assert!(matrix.row(row).0.is_sorted_by(|a, b| a < b), "{pattern:?} row {row}");
            }
            let found = matrix.indices.len() as f64 / (1024.0 * 1024.0);
            assert!((0.035..0.055).contains(&found), "{pattern:?}: {found}");
            assert!(matrix.values.iter().all(|value| *value >= 1.0 && value.fract() == 0.0));
        }
    }

    #[test]
    fn what_boxes_rows_and_columns_have_is_counted() {
        let matrix = Matrix {
            side: 512,
            indptr: (0..=512).map(|row| if row == 0 { 0 } else { row + 1 }).collect(),
            indices: [3, 300].into_iter().chain([3; 511]).collect(),
            values: (1..=513).map(|value| value as f32).collect(),
        };
        assert_eq!(matrix.met_in_boxes(&[[0, 0]]), Met { count: 256, sum: 33_151.0 });
        assert_eq!(matrix.met_in_boxes(&[[0, 256], [256, 256]]), Met { count: 1, sum: 2.0 });
        assert_eq!(matrix.met_in_rows(&[0, 511]), Met { count: 3, sum: 516.0 });
        assert_eq!(matrix.met_in_columns(&[300, 4]), Met { count: 1, sum: 2.0 });
    }

    #[test]
    fn appended_places_are_free_and_no_two_the_same() -> Result<()> {
        let matrix = Matrix::make(512, Pattern::Random, 0.5, 2);
        let requests = matrix.requests(Pattern::Random, 7)?;
        let mut places: Vec<[usize; 2]> = requests.append.iter().map(|(place, _)| *place).collect();
        assert!(places.iter().all(|[row, column]| matrix.within(*row, *column..column + 1).is_empty()));
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 1000);
        assert!(Matrix::make(512, Pattern::Random, 0.999_99, 2).requests(Pattern::Random, 7).is_err());
        Ok(())
    }
}
