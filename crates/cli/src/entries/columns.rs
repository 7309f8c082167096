//! Arrays of one dimension, read in order.

use anyhow::{Context as _, Result, bail};
use hyperslab::{Datatype, DatatypeClass, H5Type};
use hyperslab_exact::product;

/// A one-dimensional array that is read once from start to end.
pub(crate) trait Column {
    /// Returns the number of elements in the column.
    fn len(&self) -> u64;

    /// Replaces `bytes` with the next `count` elements, converted to the datatype that was chosen
    /// on opening the column. Returns an error if the column has fewer elements left.
    fn next(&mut self, count: usize, bytes: &mut Vec<u8>) -> Result<()>;
}

/// A column of indices or pointers, converted to [`Indices::datatype`].
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

    /// Returns the datatype to which the indices are converted. The datatype is signed, so that
    /// negative indices are detected.
    pub(crate) fn datatype() -> Datatype {
        i64::datatype()
    }

    /// Checks that the datatype of a column is an integer type that fits indices.
    pub(crate) fn check_type(name: &str, datatype: &Datatype) -> Result<()> {
        if !matches!(datatype.class, DatatypeClass::FixedPoint(_)) {
            bail!("`{name}` has elements of type {datatype}, which cannot be indices");
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> u64 {
        self.column.len()
    }

    /// Appends the next `count` indices of the column. Returns an error unless all are below
    /// `bound`.
    pub(crate) fn next(&mut self, count: usize, bound: u64, indices: &mut Vec<u64>) -> Result<()> {
        self.column.next(count, &mut self.bytes).with_context(|| format!("`{}`", self.name))?;
        for element in self.bytes.chunks_exact(i64::SIZE) {
            let index = i64::decode(element).context("an index of the matrix is missing")?;
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

/// Checks that the number of matrix values is the number of indices times `per_index`.
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
