//! The density of a matrix in the regions that have elements.

use std::collections::HashSet;

use hyperslab_exact::{to_u64, to_usize};

use super::builder::to_float;
use super::chunk_model::Fill;
use super::csr::{CompressedCoordinates, MatrixIndex};
use crate::DatasetBuilder;

/// The side of a square region of a sparse matrix, in rows and columns. The density of the matrix
/// counts only regions of this size that have elements.
const TILE_SIDE: u64 = 256;

/// The largest number of tiles in a row of tiles for which a table has one entry for each tile.
const MAX_TABLE_TILES: u64 = 1 << 20;

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
    pub fn density_of_csr<I: MatrixIndex, P: MatrixIndex>(mut self, starts: &[P], indices: &[I]) -> Self {
        if let Some(fill) = fill_of_csr(starts, indices) {
            self.sparse = self.sparse.with_fill(fill);
        }
        self
    }
}

/// Returns the distribution of the elements of a matrix in compressed rows. Returns `None` if the
/// matrix has no elements or is not valid.
fn fill_of_csr<I: MatrixIndex, P: MatrixIndex>(starts: &[P], indices: &[I]) -> Option<Fill> {
    CompressedCoordinates { starts, indices, first: 0, by_columns: false }.check().ok()?;
    let start = |row: usize| usize::try_from(starts.get(row)?.to_u64()?).ok();
    let (rows, side) = (starts.len().checked_sub(1)?, to_usize(TILE_SIDE).ok()?);
    // For each column of tiles: the number of the last row of tiles that has an element in it.
    let mut last_seen: Vec<usize> = Vec::new();
    let mut far: HashSet<u64> = HashSet::new();
    let (mut used, mut columns) = (0_u64, 0_u64);
    for (band, first) in (0..rows).step_by(side).enumerate() {
        let end = first.checked_add(side).map_or(rows, |end| end.min(rows));
        far.clear();
        for index in indices.get(start(first)?..start(end)?)? {
            let tile = index.to_u64()? / TILE_SIDE;
            if tile >= MAX_TABLE_TILES {
                far.insert(tile);
                columns = columns.max(tile + 1);
                continue;
            }
            let tile = to_usize(tile).ok()?;
            if tile >= last_seen.len() {
                last_seen.resize(tile + 1, usize::MAX);
            }
            let seen = last_seen.get_mut(tile)?;
            used += u64::from(*seen != band);
            *seen = band;
        }
        used += to_u64(far.len());
    }
    let all = to_float(to_u64(rows.div_ceil(side))) * to_float(columns.max(to_u64(last_seen.len())));
    let elements = to_float(used) * to_float(TILE_SIDE * TILE_SIDE);
    let density = to_float(to_u64(indices.len())) / elements;
    (used > 0).then(|| Fill { density: density.min(1.0), occupied: to_float(used) / all })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tiles_with_elements_are_counted(
            lengths in proptest::collection::vec(0..4_usize, 0..900),
            columns in proptest::collection::vec(
                prop_oneof![0..3000_u64, Just(TILE_SIDE * MAX_TABLE_TILES - 1), TILE_SIDE * MAX_TABLE_TILES..u64::MAX],
                2700,
            ),
        ) {
            let mut starts = vec![0];
            for length in lengths {
                starts.push(starts[starts.len() - 1] + length);
            }
            let indices = &columns[..starts[starts.len() - 1]];
            let mut tiles = BTreeSet::new();
            for (row, range) in starts.windows(2).enumerate() {
                tiles.extend(indices[range[0]..range[1]].iter().map(|index| (row as u64 / TILE_SIDE, index / TILE_SIDE)));
            }
            let Some(fill) = fill_of_csr(&starts, indices) else {
                prop_assert!(tiles.is_empty());
                return Ok(());
            };
            let used = tiles.len() as f64;
            let all = (starts.len() - 1).div_ceil(256) as f64 * tiles.iter().map(|(_, tile)| tile + 1).max().unwrap() as f64;
            prop_assert!((fill.density * used * 65_536.0 / indices.len() as f64 - 1.0).abs() < 1e-9);
            prop_assert!((fill.occupied * all / used - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn invalid_matrices_have_no_density() {
        assert!(fill_of_csr(&[0, 2, 1], &[1_u32, 2]).is_none());
        assert!(fill_of_csr(&[0, 1, 2], &[1, -2_i32]).is_none());
        assert!(fill_of_csr::<u32, u32>(&[], &[]).is_none());
    }
}
