//! Sparse matrices that are larger than memory, block by block.

use hyperslab_engine::Result;

use super::SparseView;
use crate::{Compressed, H5Type, MatrixIndex};

impl<'a> SparseView<'a> {
    /// The defined elements of a matrix in compressed rows, some rows at a time: as many as chunks are high, and `rows` at
    /// least. Each block comes with the number of its first row; its `starts` count from 0. Memory holds one block.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<f64>().shape(&[5, 4]).sparse(&[2, 4]).create()?;
    /// a.sparse().write_csr(&[0_usize, 2, 2, 3, 3, 4], &[0_u32, 3, 1, 2], &[1.0, 2.0, 3.0, 4.0])?;
    /// let mut sums = vec![0.0; 5];
    /// for block in a.sparse().csr_rows::<f64, u32>(1) {
    ///     let (first, rows) = block?;
    ///     for (row, bounds) in (first as usize..).zip(rows.starts.windows(2)) {
    ///         sums[row] = rows.values[bounds[0]..bounds[1]].iter().sum();
    ///     }
    /// }
    /// assert_eq!(sums, [3.0, 0.0, 3.0, 0.0, 4.0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn csr_rows<T: H5Type, I: MatrixIndex>(
        self,
        rows: u64,
    ) -> impl Iterator<Item = Result<(u64, Compressed<T, I>)>> + 'a {
        let end = self.dataset.dataspace().dims().first().copied().unwrap_or(0);
        let height = self.chunking().and_then(|chunks| chunks.shape.first().copied()).unwrap_or(1).max(1);
        let step = rows.max(1).div_ceil(height).saturating_mul(height);
        let mut next = 0_u64;
        std::iter::from_fn(move || {
            if next >= end {
                return None;
            }
            let first = next;
            next = first.saturating_add(step).min(end);
            Some(self.read_csr_rows(first..next).map(|block| (first, block)))
        })
    }
}
