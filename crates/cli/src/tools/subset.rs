//! Regular selections (start, stride, count and block) of the elements that the emulated tools
//! print.

use anyhow::{Context as _, Result, anyhow, bail};
use hyperslab::{Hyperslab, RegularHyperslab, Selection};

/// A regular selection as the arguments of an emulated tool state it: start, stride, count and
/// block. Missing numbers depend on the dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Subset {
    pub(crate) start: Vec<u64>,
    pub(crate) stride: Vec<u64>,
    pub(crate) count: Vec<u64>,
    pub(crate) block: Vec<u64>,
}

/// A regular selection that lies within its dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubsetInDataset {
    pub(crate) start: Vec<u64>,
    pub(crate) stride: Vec<u64>,
    pub(crate) count: Vec<u64>,
    pub(crate) block: Vec<u64>,
}

impl Subset {
    /// Splits an argument into a path and the selection after it: `/dset[0,0;2,2;5;1]`.
    pub(crate) fn split(text: &str) -> Result<(String, Option<Self>)> {
        let found = text.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
        let Some((path, inside)) = found else { return Ok((text.to_owned(), None)) };
        let mut parts = inside.split(';').map(Self::numbers);
        let mut next = || parts.next().unwrap_or_else(|| Ok(Vec::new()));
        let subset = Self { start: next()?, stride: next()?, count: next()?, block: next()? };
        Ok((path.to_owned(), Some(subset)))
    }

    /// Parses numbers separated by commas.
    pub(crate) fn numbers(text: &str) -> Result<Vec<u64>> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Result<Vec<u64>, _> = text.split(',').map(|number| number.trim().parse()).collect();
        numbers.map_err(|_| anyhow!("`{text}` is not a list of numbers separated by commas"))
    }

    /// Returns the regular selection in an array of a given shape, with missing numbers filled in.
    pub(crate) fn of(&self, dims: &[u64]) -> Result<SubsetInDataset> {
        let complete = |given: &[u64], subject: &str, missing: &dyn Fn(usize) -> u64| {
            if given.len() > dims.len() {
                bail!(
                    "the {subject} has {} numbers, but the dataset has {} dimensions",
                    given.len(),
                    dims.len()
                );
            }
            let number = |dimension| given.get(dimension).copied().unwrap_or_else(|| missing(dimension));
            Ok((0..dims.len()).map(number).collect::<Vec<u64>>())
        };
        let start = complete(&self.start, "start", &|_| 0)?;
        let stride = complete(&self.stride, "stride", &|_| 1)?;
        let count = complete(&self.count, "count", &|_| 1)?;
        let block = complete(&self.block, "block", &|_| 1)?;
        for (dimension, size) in dims.iter().enumerate() {
            let of = |numbers: &[u64]| numbers.get(dimension).copied().unwrap_or(1);
            let (stride, block) = (of(&stride), of(&block));
            if stride == 0 || (stride < block && of(&count) > 1) {
                bail!("dimension {dimension}: blocks of {block} elements with the stride {stride} overlap");
            }
            let steps = (of(&count).max(1) - 1).checked_mul(stride);
            let end = steps.and_then(|steps| of(&start).checked_add(steps)?.checked_add(block));
            let end =
                end.with_context(|| format!("dimension {dimension}: the selection ends beyond 64 bits"))?;
            if end > *size {
                bail!(
                    "dimension {dimension}: the selection ends at {end}, but the dataset has the size {size}"
                );
            }
        }
        Ok(SubsetInDataset { start, stride, count, block })
    }
}

// No sum and no product of coordinates overflows, because the selection lies within the dataset.
impl SubsetInDataset {
    /// Returns the regular selection as a selection of the library.
    pub(crate) fn selection(&self) -> Selection {
        Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab {
            start: self.start.iter().copied().collect(),
            stride: self.stride.iter().copied().collect(),
            count: self.count.iter().copied().collect(),
            block: self.block.iter().copied().collect(),
        }))
    }

    /// Returns a part of the regular selection: `count` selected coordinates along each dimension,
    /// from position `first` on. Along a dimension with blocks, a part has all coordinates or one
    /// coordinate.
    pub(crate) fn part(&self, first: &[u64], count: &[u64]) -> Self {
        let mut part = Self { start: self.coordinates(first), ..self.clone() };
        let whole = self.shape();
        for (dimension, (wanted, all)) in count.iter().zip(&whole).enumerate() {
            if wanted == all {
                continue;
            }
            let set = |numbers: &mut Vec<u64>, number: u64| {
                numbers.get_mut(dimension).into_iter().for_each(|slot| *slot = number);
            };
            set(&mut part.count, *wanted);
            set(&mut part.block, 1);
        }
        part
    }

    /// Returns the shape of the regular selection: the number of selected coordinates of each
    /// dimension.
    pub(crate) fn shape(&self) -> Vec<u64> {
        self.count.iter().zip(&self.block).map(|(count, block)| count * block).collect()
    }

    /// Divides the regular selection into the parts that a tool prints as one row each, with a flag
    /// for the last part of a plane. Returns `None` if each row of elements is one output row,
    /// because the slower dimensions have no blocks.
    pub(crate) fn rows(&self) -> Option<Vec<(Self, bool)>> {
        let outer = self.start.len().checked_sub(2)?;
        if !self.block.get(..outer)?.iter().any(|block| *block > 1) {
            return None;
        }
        // The number saturates: more than 2^64 planes can never be printed.
        let planes =
            self.count.get(..outer)?.iter().fold(1, |product: u64, count| product.saturating_mul(*count));
        let at = |numbers: &[u64]| numbers.get(outer).copied().unwrap_or(1);
        let (count, block) = (at(&self.count), at(&self.block));
        let rows = count * block;
        let mut parts = Vec::new();
        for plane in 0..planes {
            for row in 0..rows {
                let mut part = self.clone();
                let mut rest = plane;
                for dimension in (0..outer).rev() {
                    let count = self.count.get(dimension).copied().unwrap_or(1).max(1);
                    let step = self.stride.get(dimension).copied().unwrap_or(1) * (rest % count);
                    part.start.get_mut(dimension).into_iter().for_each(|start| *start += step);
                    part.count.get_mut(dimension).into_iter().for_each(|count| *count = 1);
                    rest /= count;
                }
                let step = (row / block.max(1)) * at(&self.stride) + row % block.max(1);
                part.start.get_mut(outer).into_iter().for_each(|start| *start += step);
                part.count.get_mut(outer).into_iter().for_each(|count| *count = 1);
                part.block.get_mut(outer).into_iter().for_each(|block| *block = 1);
                parts.push((part, row + 1 == rows));
            }
        }
        Some(parts)
    }

    /// Returns the coordinates in the dataset of the element at given positions of the regular
    /// selection.
    pub(crate) fn coordinates(&self, positions: &[u64]) -> Vec<u64> {
        let numbers = self.start.iter().zip(&self.stride).zip(&self.block).zip(positions);
        let coordinate = |(((start, stride), block), position): (((&u64, &u64), &u64), &u64)| {
            let block = (*block).max(1);
            start + position / block * stride + position % block
        };
        numbers.map(coordinate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_after_paths() {
        let numbers =
            |subset: Option<Subset>| subset.map(|one| [one.start, one.stride, one.count, one.block]);
        let (path, subset) = Subset::split("/g/d[1,2;;3]").unwrap();
        assert_eq!(path, "/g/d");
        assert_eq!(numbers(subset), Some([vec![1, 2], vec![], vec![3], vec![]]));
        assert_eq!(Subset::split("/g/d").unwrap().1, None);
        assert!(Subset::split("/g/d[x]").is_err());
    }

    #[test]
    fn missing_numbers_are_filled_in_and_bad_selections_refused() {
        let subset = |start: &[u64], stride: &[u64], count: &[u64], block: &[u64]| Subset {
            start: start.to_vec(),
            stride: stride.to_vec(),
            count: count.to_vec(),
            block: block.to_vec(),
        };
        let taken = subset(&[1], &[3], &[2], &[2]).of(&[10, 4]).unwrap();
        assert_eq!((taken.start.as_slice(), taken.block.as_slice()), (&[1, 0][..], &[2, 1][..]));
        assert_eq!(taken.shape(), [4, 1]);
        assert_eq!(taken.coordinates(&[3, 0]), [5, 0]);
        assert!(subset(&[0], &[0], &[1], &[1]).of(&[4]).is_err());
        assert!(subset(&[0], &[1], &[2], &[2]).of(&[9]).is_err());
        assert!(subset(&[3], &[], &[2], &[]).of(&[4]).is_err());
        assert!(subset(&[0, 0], &[], &[], &[]).of(&[4]).is_err());
    }

    #[test]
    fn blocks_of_slower_dimensions_are_printed_in_one_row() {
        let subset = Subset { block: vec![2, 2, 3], count: vec![1, 1, 1], ..Subset::default() };
        let rows = subset.of(&[2, 2, 3]).unwrap().rows().unwrap();
        let starts: Vec<(Vec<u64>, bool)> = rows.into_iter().map(|(row, last)| (row.start, last)).collect();
        assert_eq!(starts, [(vec![0, 0, 0], false), (vec![0, 1, 0], true)]);
        let subset = Subset { block: vec![1, 2, 3], ..Subset::default() };
        assert_eq!(subset.of(&[2, 2, 3]).unwrap().rows(), None);
    }
}
