//! The density of a matrix in the regions that have elements.

use std::collections::HashSet;

use hyperslab_engine::ops::sparse::PointCoordinates as _;
use hyperslab_exact::to_u64;

use super::builder::to_float;
use super::csr::{CompressedCoordinates, MatrixIndex};
use crate::DatasetBuilder;

/// The side of a square region of a sparse matrix, in rows and columns. The density of the matrix
/// counts only regions of this size that have elements.
const TILE_SIDE: u64 = 256;

impl DatasetBuilder {
    /// Sets the expected [`density`](Self::density) of the new dataset to that of a matrix in
    /// compressed rows (CSR). Only the regions of the matrix that have elements count, because
    /// empty chunks are not stored.
    ///
    /// A band or a block therefore is dense even in a large empty matrix. If `starts` and `indices`
    /// are not valid, the density does not change.
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
                let tile = [row / TILE_SIDE, column / TILE_SIDE];
                if tile != last {
                    tiles.insert(tile);
                    last = tile;
                }
            }
            Ok(())
        });
        let elements = to_float(TILE_SIDE * TILE_SIDE) * to_float(to_u64(tiles.len()));
        let count = to_float(to_u64(indices.len()));
        if walked.is_err() || tiles.is_empty() { self } else { self.density(count / elements) }
    }
}
