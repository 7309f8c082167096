//! Iteration over the elements of a dataset in blocks of bounded size.

use hyperslab_dataspace::Boxes;
#[cfg(feature = "ndarray")]
use hyperslab_engine::Result;
#[cfg(feature = "ndarray")]
use ndarray::ArrayD;

use super::Dataset;
#[cfg(feature = "ndarray")]
use crate::H5Type;
use crate::{Layout, Region};

/// An iterator over the blocks of elements that cover a dataset, in C order; made by
/// [`Dataset::blocks`].
#[derive(Debug, Clone)]
pub struct Blocks(Boxes);

impl Blocks {
    /// Returns the shape, in elements, of the blocks that the iterator returns. Blocks at the upper
    /// ends of the dataset's dimensions may be smaller.
    pub fn shape(&self) -> &[u64] {
        self.0.shape()
    }
}

impl Iterator for Blocks {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        self.0.next()
    }
}

impl Dataset {
    /// Returns an iterator over the blocks of elements that together cover the dataset. Each block
    /// has at most `bytes` bytes of stored elements, but at least one chunk.
    ///
    /// Blocks consist of as many whole chunks as fit, along the fastest dimension first. No chunk
    /// is divided between blocks. If the dataset is not chunked, a block has at least one element.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// let mut sum = 0.0;
    /// for region in temperature.blocks(16 << 20) {
    ///     sum += temperature.read::<f64, hyperslab::IxDyn>(&region)?.sum();
    /// }
    /// assert!((sum - temperature.read::<f64, hyperslab::IxDyn>(..)?.sum()).abs() < 1e-3);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn blocks(&self, bytes: u64) -> Blocks {
        let dims = self.dataspace().dims().to_vec();
        let chunk = match self.layout() {
            Layout::Chunked(chunking) => chunking.shape,
            _ => match self.sparse().chunking() {
                Some(chunking) => chunking.shape,
                None => vec![1; dims.len()],
            },
        };
        Blocks(Boxes::new(&dims, &chunk, u64::from(self.datatype().size), bytes))
    }

    /// Reads the elements of the dataset block by block; see [`blocks`](Self::blocks). Each item of
    /// the iterator contains the region of a block and the elements of the block. Memory holds one
    /// block at a time.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// let mut warmest = f64::MIN;
    /// for block in temperature.read_blocks::<f64>(1 << 20) {
    ///     let (_region, values) = block?;
    ///     warmest = values.iter().copied().fold(warmest, f64::max);
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Each item is an error for which [`read`](Self::read) would fail.
    #[cfg(feature = "ndarray")]
    pub fn read_blocks<T: H5Type>(
        &self,
        bytes: u64,
    ) -> impl Iterator<Item = Result<(Region, ArrayD<T>)>> + '_ {
        self.blocks(bytes).map(|region| {
            let values = self.read(&region)?;
            Ok((region, values))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::FileOptions;

    #[test]
    fn every_chunk_lies_in_one_box() {
        let file = FileOptions::new().create_in_memory().unwrap();
        let dataset = |name: &str| file.new_dataset(name).of::<u8>().shape(&[100, 1000]);
        let chunked = dataset("chunked").chunks(&[10, 20]).create().unwrap();
        let sparse = dataset("sparse").sparse(&[10, 20]).create().unwrap();
        for dataset in [chunked, sparse] {
            assert_eq!(dataset.blocks(500).shape(), [10, 40], "{dataset:?}");
        }
    }
}
