//! One-dimensional arrays of a matrix file, read from start to end.

use anyhow::{Context as _, Result, bail};
use hyperslab::{Datatype, DatatypeClass, H5Type};
use hyperslab_exact::product;

/// A one-dimensional array of a matrix file, which is read once from start to end.
pub(crate) trait Column {
    /// Returns the number of elements of the one-dimensional array.
    fn len(&self) -> u64;

    /// Replaces `bytes` with the next `count` elements of the column. The elements have the
    /// datatype that was chosen when the column was opened. Returns an error if the column has
    /// fewer elements left.
    fn next(&mut self, count: usize, bytes: &mut Vec<u8>) -> Result<()>;
}

/// A column of indices or pointers of a matrix, converted to one integer type.
pub(crate) struct Indices {
    name: &'static str,
    column: Box<dyn Column>,
    bytes: Vec<u8>,
    read: u64,
}

impl Indices {
    pub(crate) fn new(name: &'static str, column: Box<dyn Column>) -> Self {
        Self { name, column, bytes: Vec::new(), read: 0 }
    }

    /// Returns the datatype to which matrix indices are converted. The datatype is signed, because
    /// negative indices must be detected.
    pub(crate) fn datatype() -> Datatype {
        i64::datatype()
    }

    /// Checks that a column of matrix indices has an integer type.
    pub(crate) fn check_type(name: &str, datatype: &Datatype) -> Result<()> {
        if !matches!(datatype.class, DatatypeClass::FixedPoint(_)) {
            bail!("`{name}` has elements of type {datatype}, which cannot be indices");
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> u64 {
        self.column.len()
    }

    /// Appends the next `count` indices of the column. Returns an error unless all are less than
    /// `bound`.
    pub(crate) fn next(&mut self, count: usize, bound: u64, indices: &mut Vec<u64>) -> Result<()> {
        self.column.next(count, &mut self.bytes).with_context(|| format!("`{}`", self.name))?;
        for element in self.bytes.chunks_exact(i64::SIZE) {
            let index = i64::decode(element).context("an entry of the matrix has no row or column index")?;
            match u64::try_from(index) {
                Ok(index) if index < bound => indices.push(index),
                _ if index < 0 => bail!("`{}[{}]` is {index}, less than 0", self.name, self.read),
                _ => bail!("`{}[{}]` is {index}, and must be less than {bound}", self.name, self.read),
            }
            self.read += 1;
        }
        Ok(())
    }
}

/// Checks the counts of a sparse matrix: the number of values must be `per_index` times the number
/// of indices.
pub(crate) fn check_counts(indices: &Indices, values: u64, per_index: u64) -> Result<()> {
    let expected = product("number of values", [indices.len(), per_index])?;
    if expected != values {
        bail!(
            "`data` has {values} values; the {} elements of `{}` require {expected}",
            indices.len(),
            indices.name
        );
    }
    Ok(())
}
