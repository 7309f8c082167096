//! Arrays of one dimension that are read from their first element to their last.

use anyhow::{Context as _, Result, bail};
use hyperslab::{Datatype, DatatypeClass, H5Type};

/// An array that is read once.
pub(crate) trait Column {
    /// How many elements it has.
    fn len(&self) -> u64;

    /// Puts so many of the next elements in place of what is in `bytes`, converted to the type that the column was opened
    /// for. More than there are is an error.
    fn next(&mut self, count: usize, bytes: &mut Vec<u8>) -> Result<()>;
}

/// A column of indices or pointers, opened for [`Indices::datatype`].
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

    /// What the column's elements are converted to: what is below zero stays so, and is found.
    pub(crate) fn datatype() -> Datatype {
        i64::datatype()
    }

    /// Whether elements of a type can be indices.
    pub(crate) fn check_type(name: &str, datatype: &Datatype) -> Result<()> {
        if !matches!(datatype.class, DatatypeClass::FixedPoint(_)) {
            bail!("`{name}` has elements of type {datatype}, which are no indices");
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> u64 {
        self.column.len()
    }

    /// Adds the next indices, all of which are below `bound`.
    pub(crate) fn next(&mut self, count: usize, bound: u64, indices: &mut Vec<u64>) -> Result<()> {
        self.column.next(count, &mut self.bytes).with_context(|| format!("`{}`", self.name))?;
        for element in self.bytes.chunks_exact(i64::SIZE) {
            let index = i64::decode(element).context("an index is missing")?;
            match u64::try_from(index) {
                Ok(index) if index < bound => indices.push(index),
                _ if index < 0 => bail!("`{}[{}]` is {index}, less than 0", self.name, self.read),
                _ => bail!("`{}[{}]` is {index}, and must be less than {bound}", self.name, self.read),
            }
            self.read = self.read.saturating_add(1);
        }
        Ok(())
    }
}

/// An error if values and indices are not as many.
pub(crate) fn check_counts(indices: &Indices, values: u64, per_index: u64) -> Result<()> {
    let expected = indices.len().checked_mul(per_index);
    if expected != Some(values) {
        let expected =
            expected.map_or_else(|| "more than there can be".to_owned(), |count| count.to_string());
        bail!(
            "`data` has {values} values, where the {} elements of `{}` need {expected}",
            indices.len(),
            indices.name
        );
    }
    Ok(())
}
