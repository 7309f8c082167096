//! The interface of a measured storage format for sparse matrices.

use anyhow::Result;

use super::matrix::Met;
use crate::clock::Cost;

/// The measured operations, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Writes a matrix in memory to a new file.
    Write,
    /// Reads the whole matrix into CSR arrays in memory.
    Read,
    /// Reads boxes as dense arrays, one request after the other.
    Boxes,
    /// Reads rows, one request after the other.
    Rows,
    /// Reads columns, one request after the other.
    Columns,
    /// Adds single values, spread over the matrix, to the file.
    Append,
}

impl Operation {
    pub(crate) const ALL: [Self; 6] =
        [Self::Write, Self::Read, Self::Boxes, Self::Rows, Self::Columns, Self::Append];

    /// Returns the name of the operation for the table.
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

/// The cost of an operation, and a summary of its result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) took: Cost,
    /// Count and sum of the values; [`None`] if only a part was measured and the time is
    /// extrapolated.
    pub(crate) met: Option<Met>,
    /// Stored bytes after the operation.
    pub(crate) bytes: u64,
}

/// A storage format for sparse matrices: a column of the table.
pub(crate) trait Backend {
    /// Returns the short name.
    fn name(&self) -> &str;

    /// Returns the description for the line above the table.
    fn description(&self) -> &str;

    /// Returns the largest number of rounds, for a format that takes long.
    fn rounds(&self) -> usize {
        usize::MAX
    }

    /// Runs an operation once.
    ///
    /// # Errors
    /// If the operation fails; the round then ends.
    fn run(&mut self, operation: Operation) -> Result<Done>;
}
