//! The division of a selection into blocks of bounded size, read in C order.

use anyhow::Result;
use hyperslab::{Dataset, Dataspace, Selection, Stored};
use hyperslab_exact::product;

use crate::selection::{self, Taken};

/// The largest size in bytes of a block of selected elements. A block may be larger to contain a
/// whole row of chunks.
const BLOCK_BYTES: u64 = 8 << 20;

/// The largest number of elements in a block of selected elements. A block may have more to contain
/// a whole row of chunks.
const BLOCK_ELEMENTS: u64 = 1 << 18;

/// The largest size in bytes to which a block of selected elements is extended. Extension to whole
/// chunks avoids decoding a chunk twice.
const MAX_EXTENDED_BYTES: u64 = 64 << 20;

/// A division of the selected elements of a dataset into blocks.
#[derive(Debug)]
pub(crate) struct Blocks<'a> {
    dataset: &'a Dataset,
    taken: Vec<Taken>,
    /// The dimension that is cut, and the number of its coordinates in a block. A block has one
    /// coordinate of each slower dimension and all coordinates of each faster dimension.
    cut: usize,
    length: u64,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(dataset: &'a Dataset, taken: Vec<Taken>) -> Self {
        let size = u64::from(dataset.datatype().size).max(1);
        let maximum = (BLOCK_BYTES / size).clamp(1, BLOCK_ELEMENTS);
        let count = |dimension: usize| taken.get(dimension).map_or(1, |dimension| dimension.count.max(1));
        // Starts with the fastest dimension and adds dimensions that fit as a whole.
        let (mut cut, mut inside) = (taken.len().max(1) - 1, 1_u64);
        while cut > 0 && count(cut) <= maximum / inside {
            inside *= count(cut);
            cut -= 1;
        }
        // The length is at least one, because `inside` is at most `maximum`.
        let mut length = maximum / inside;
        // Extends the block to whole chunks unless the block becomes too large, so that no chunk is
        // decoded twice.
        let chunk = dataset.chunking().and_then(|chunking| chunking.shape.get(cut).copied()).unwrap_or(1);
        let step = taken.get(cut).map_or(1, |dimension| dimension.step).max(1);
        let rows = chunk.div_ceil(step).max(1);
        if product("size of a block", [rows, inside, size]).is_ok_and(|bytes| bytes <= MAX_EXTENDED_BYTES) {
            length = length.next_multiple_of(rows);
        }
        Self { dataset, taken, cut, length }
    }

    /// Calls `visit` with the elements of each block of the selection.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&Stored) -> Result<()>) -> Result<()> {
        self.for_each_selection(|selection| visit(&self.dataset.read_stored(selection)?))
    }

    /// Calls `visit` with the selection of each block.
    pub(crate) fn for_each_selection(&self, mut visit: impl FnMut(&Selection) -> Result<()>) -> Result<()> {
        if matches!(self.dataset.dataspace(), Dataspace::Null)
            || self.taken.iter().any(|dimension| dimension.count == 0)
        {
            return Ok(());
        }
        let mut at: Vec<u64> = vec![0; self.taken.len()];
        loop {
            visit(&selection::selection(&self.block(&at)))?;
            if !self.next(&mut at) {
                return Ok(());
            }
        }
    }

    fn block(&self, at: &[u64]) -> Vec<Taken> {
        let part = |(number, (dimension, at)): (usize, (&Taken, &u64))| {
            let count = match number.cmp(&self.cut) {
                std::cmp::Ordering::Less => 1,
                std::cmp::Ordering::Equal => self.length.min(dimension.count - *at),
                std::cmp::Ordering::Greater => dimension.count,
            };
            Taken { start: dimension.at(*at), count, ..*dimension }
        };
        self.taken.iter().zip(at).enumerate().map(part).collect()
    }

    /// Advances to the next block of selected elements. Returns false after the last block.
    fn next(&self, at: &mut [u64]) -> bool {
        for (number, (dimension, at)) in self.taken.iter().zip(at).enumerate().rev() {
            if number > self.cut {
                continue;
            }
            let step = if number == self.cut { self.length } else { 1 };
            // `at` is less than the count.
            if step < dimension.count - *at {
                *at += step;
                return true;
            }
            *at = 0;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use hyperslab::File;
    use hyperslab_testkit::fixtures;

    use super::*;

    /// The blocks contain the whole selection for every length and cut.
    #[test]
    fn blocks_are_the_selection() {
        let file = File::open(fixtures::path("chunk_indexes_latest.h5")).unwrap();
        let datasets = file.members().unwrap().into_iter().filter_map(|object| object.into_dataset().ok());
        let mut seen = 0;
        for dataset in datasets {
            let dims = dataset.dataspace().dims().to_vec();
            for text in ["...", "1:", "::2", "...,::3", "0"] {
                let Ok(taken) = selection::parse(text, &dims) else { continue };
                let whole = dataset.read_stored(selection::selection(&taken)).unwrap();
                for cut in 0..dims.len().max(1) {
                    for length in [1, 2, 5, 1000] {
                        let mut blocks = Blocks::new(&dataset, taken.clone());
                        (blocks.cut, blocks.length) = (cut, length);
                        let mut bytes = Vec::new();
                        let read = blocks.for_each(|stored| {
                            bytes.extend_from_slice(stored.bytes());
                            Ok(())
                        });
                        read.unwrap();
                        assert!(bytes == whole.bytes(), "{} {text} {cut} {length}", dataset.name());
                        seen += 1;
                    }
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn blocks_are_bounded() {
        let file = File::open(fixtures::path("weather_station.h5")).unwrap();
        let dataset = file.dataset("events/hour").unwrap();
        let shape = |dims: &[u64]| {
            let blocks = Blocks::new(&dataset, selection::everything(dims));
            (blocks.cut, blocks.length)
        };
        let (cut, length) = shape(&[8760]);
        assert!(cut == 0 && length >= 8760);
        let (cut, length) = shape(&[1 << 40]);
        assert!(cut == 0 && length < 300_000);
        assert_eq!(shape(&[7, 1 << 40, 3]).0, 1);
        let (cut, length) = shape(&[1 << 20, 1000, 10]);
        assert!(cut == 0 && (1..1000).contains(&length), "{length}");
        assert_eq!(shape(&[]), (0, 1 << 18));
    }
}
