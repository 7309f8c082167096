//! How dense a matrix is where it has elements.

use std::collections::HashSet;

use hyperslab_engine::ops::sparse::Coordinates as _;

use super::csr::{CompressedCoordinates, MatrixIndex};
use crate::DatasetBuilder;

/// Rows and columns of the tiles by which the density of a matrix is told.
const TILE: u64 = 256;

impl DatasetBuilder {
    /// As [`density`](Self::density), of a matrix in compressed rows (CSR) that will be written: where it has elements at
    /// all, since a band or a block is dense however much emptiness is around it.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let starts: Vec<usize> = (0..=10_000).collect();
    /// let diagonal: Vec<u32> = (0..10_000).collect();
    /// let new = file.new_dataset("a").of::<f32>().shape(&[10_000, 10_000]).sparse_auto();
    /// let a = new.density_of_csr(&starts, &diagonal).create()?;
    /// a.sparse().write_csr(&starts, &diagonal, &[1.0_f32; 10_000])?;
    /// assert_eq!(a.sparse().defined_count()?, 10_000);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn density_of_csr<I: MatrixIndex, P: MatrixIndex>(self, starts: &[P], indices: &[I]) -> Self {
        let matrix = CompressedCoordinates { starts, indices, first: 0, by_columns: false };
        let mut tiles: HashSet<[u64; 2]> = HashSet::new();
        let mut last = [u64::MAX; 2];
        let walked = matrix.for_each(0..indices.len(), &mut |_, point| {
            if let [row, column] = point {
                let tile = [row / TILE, column / TILE];
                if tile != last {
                    tiles.insert(tile);
                    last = tile;
                }
            }
            Ok(())
        });
        let places = 65_536.0 * f64::from(u32::try_from(tiles.len()).unwrap_or(u32::MAX));
        let count = f64::from(u32::try_from(indices.len()).unwrap_or(u32::MAX));
        if walked.is_err() || tiles.is_empty() { self } else { self.density(count / places) }
    }
}
