//! What a way to store sparse matrices has to do to be measured.

use anyhow::Result;

use super::matrix::Met;
use crate::clock::Took;

/// What is measured, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Makes the file from a matrix in memory.
    Write,
    /// Reads all of it to CSR arrays in memory.
    Read,
    /// Reads boxes as dense arrays, one request after the other.
    Boxes,
    /// Reads rows, one request after the other.
    Rows,
    /// Reads columns, one request after the other.
    Columns,
    /// Adds single values all over the matrix to the file.
    Append,
}

impl Operation {
    pub(crate) const ALL: [Self; 6] =
        [Self::Write, Self::Read, Self::Boxes, Self::Rows, Self::Columns, Self::Append];

    /// In the table.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read all",
            Self::Boxes => "100 boxes",
            Self::Rows => "100 rows",
            Self::Columns => "5 columns",
            Self::Append => "append 1000",
        }
    }
}

/// What an operation took, and what tells whether it did the same as others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) took: Took,
    /// Values met; [`None`] where only a part was done and the time is scaled up.
    pub(crate) met: Option<Met>,
    /// Of what is stored now.
    pub(crate) bytes: u64,
}

/// A way to store sparse matrices: a column of the table.
pub(crate) trait Backend {
    /// Short.
    fn name(&self) -> &str;

    /// For the line above the table.
    fn what(&self) -> &str;

    /// How many rounds it takes part in, where more would take too long.
    fn rounds(&self) -> usize {
        usize::MAX
    }

    /// Does it once.
    ///
    /// # Errors
    /// It does not work: the round ends.
    fn run(&mut self, operation: Operation) -> Result<Done>;
}
