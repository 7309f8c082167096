//! The row pointers of a matrix in compressed rows, which are collected while entries are written
//! row by row.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Result, bail};
use hyperslab::H5Type;
use hyperslab_exact::{sum, to_u64};

use super::element::Element;
use super::spool::Spool;

/// The largest number of rows of a matrix in compressed rows. The row pointers of such a matrix
/// take 128 GiB.
const MAX_ROWS: u64 = 1 << 34;

/// The number of row pointers of a compressed matrix that the program reads at once from the
/// temporary file.
const POINTERS_PER_READ: u64 = 1 << 16;

/// A writer of the row pointers of a matrix in compressed rows, and a reader of the pointers that
/// were written.
#[derive(Debug)]
pub(crate) struct RowPointers {
    spool: Spool,
    rows: u64,
    /// The number of pointers that are written.
    begun: u64,
    entries: u64,
}

impl RowPointers {
    pub(crate) fn new(rows: u64, folder: &Path) -> Result<Self> {
        if rows > MAX_ROWS {
            bail!(
                "a matrix of {rows} rows is too large for compressed rows, which store a pointer for each row"
            );
        }
        Ok(Self { spool: Spool::new(folder)?, rows, begun: 0, entries: 0 })
    }

    /// Counts an entry of a matrix row. Rows must come in ascending order.
    pub(crate) fn add(&mut self, row: u64) -> Result<()> {
        self.begin(sum("number of rows", [row, 1])?)?;
        self.entries += 1;
        Ok(())
    }

    /// Begins all matrix rows with numbers below `rows`: writes the missing pointers to their first
    /// entries.
    fn begin(&mut self, rows: u64) -> Result<()> {
        while self.begun < rows {
            self.spool.write_all(&u64::to_bytes(&[self.entries]))?;
            self.begun += 1;
        }
        Ok(())
    }

    /// Writes the remaining row pointers, including the end of the last row.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.begin(self.count())
    }

    pub(crate) fn count(&self) -> u64 {
        // `new` has limited the number of rows.
        self.rows + 1
    }

    /// Returns the smallest index type that can represent all row pointers.
    pub(crate) fn element(&self) -> Element {
        index_element(self.entries)
    }

    /// Calls `visit` with batches of row pointers, as bytes of the index type `element`.
    pub(crate) fn for_each(
        &mut self,
        element: Element,
        mut visit: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (mut bytes, mut at) = (Vec::new(), 0);
        while at < self.spool.len() {
            self.spool.read_at(at, &mut bytes, 8 * POINTERS_PER_READ)?;
            if bytes.is_empty() {
                bail!("a temporary file was truncated");
            }
            at += to_u64(bytes.len());
            visit(&index_bytes(&u64::from_bytes(&bytes)?, element)?)?;
        }
        Ok(())
    }
}

/// Returns the index type that SciPy uses for matrix indices up to `maximum`: signed integers of 4
/// bytes if possible, else of 8 bytes.
pub(crate) fn index_element(maximum: u64) -> Element {
    if i32::try_from(maximum).is_ok() { Element::I32 } else { Element::I64 }
}

/// Converts matrix indices to bytes of the index type `element`.
pub(crate) fn index_bytes(indices: &[u64], element: Element) -> Result<Vec<u8>> {
    if element == Element::I32 {
        let narrow: Result<Vec<i32>, _> = indices.iter().map(|index| i32::try_from(*index)).collect();
        return Ok(i32::to_bytes(&narrow?).into_owned());
    }
    let wide: Result<Vec<i64>, _> = indices.iter().map(|index| i64::try_from(*index)).collect();
    Ok(i64::to_bytes(&wide?).into_owned())
}
