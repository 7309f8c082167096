//! Sparse datasets larger than memory, read in blocks of rows.

use std::ops::Range;

use hyperslab_engine::Result;

use super::SparseView;
use crate::{Compressed, H5Type, MatrixIndex};

impl<'a> SparseView<'a> {
    /// Reads the defined elements of the dataset as a matrix in compressed rows (CSR), in blocks of
    /// at least `rows` rows and of whole chunks. Each item contains the number of the block's first
    /// row, and the block, whose `starts` count from 0. Memory holds one block at a time.
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
        self.row_ranges(rows).map(move |rows| Ok((rows.start, self.read_csr_rows(rows)?)))
    }

    /// Divides the rows of the dataset into ranges of whole chunks. A range has at least `rows`
    /// rows, except the last range.
    pub(super) fn row_ranges(&self, rows: u64) -> impl Iterator<Item = Range<u64>> + use<> {
        // A scalar dataset has no rows, so no range is returned.
        let end = self.dataset.dataspace().dims().first().copied().unwrap_or(0);
        let height = self.chunking().and_then(|chunks| chunks.shape.first().copied()).unwrap_or(1).max(1);
        let step = rows.max(1).div_ceil(height).checked_mul(height);
        let mut next = 0_u64;
        std::iter::from_fn(move || {
            let start = next;
            // A step of more than 64 bits contains all rows.
            next = step.and_then(|step| start.checked_add(step)).map_or(end, |next| next.min(end));
            (start < end).then_some(start..next)
        })
    }
}
