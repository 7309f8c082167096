//! What does not fit together.

use hyperslab_exact::{Overflow, TooLarge};

/// The result of work on dataspaces.
pub type Result<T, E = DataspaceError> = std::result::Result<T, E>;

/// Why extents, selections or buffers do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataspaceError {
    /// Two things have different numbers of dimensions.
    #[error("{what} has {got} dimensions instead of {expected}")]
    Rank {
        /// Which of the two is wrong.
        what: &'static str,
        /// The number of dimensions it should have.
        expected: usize,
        /// The number it has.
        got: usize,
    },
    /// Something reaches out of the extent.
    #[error("{what} reaches from {start} to {last} in dimension {dimension}, whose size is {size}")]
    Bounds {
        /// What reaches out.
        what: &'static str,
        /// The dimension, counted from the slowest.
        dimension: usize,
        /// Its first coordinate there.
        start: u64,
        /// Its last coordinate there.
        last: u64,
        /// The size of the dimension.
        size: u64,
    },
    /// A number of elements or bytes is too large to be represented.
    #[error("the {what} passes the largest number")]
    Overflow {
        /// What is counted.
        what: &'static str,
    },
    /// A buffer is too short for its shape.
    #[error("{what} has {got} bytes, {needed} are needed")]
    Buffer {
        /// Which buffer.
        what: &'static str,
        /// Bytes needed.
        needed: usize,
        /// Bytes there are.
        got: usize,
    },
    /// An invariant of this crate does not hold. The caller's values are not the cause.
    #[error("internal error: {what}: {invariant} does not hold; please report it")]
    Internal {
        /// The value or operation.
        what: &'static str,
        /// The condition that should hold.
        invariant: &'static str,
    },
    /// A value that makes no sense, whatever the extent.
    #[error("{what} {problem}")]
    Invalid {
        /// What is wrong.
        what: &'static str,
        /// What is wrong about it.
        problem: &'static str,
    },
}

pub(crate) fn same_rank(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(DataspaceError::Rank { what, expected, got }) }
}

/// Returns the product; 0 if any factor is 0, whatever the others.
pub(crate) fn product(what: &'static str, factors: impl IntoIterator<Item = u64>) -> Result<u64> {
    Ok(hyperslab_exact::product(what, factors)?)
}

impl From<Overflow> for DataspaceError {
    fn from(error: Overflow) -> Self {
        Self::Overflow { what: error.what }
    }
}

impl From<TooLarge> for DataspaceError {
    fn from(_: TooLarge) -> Self {
        Self::Overflow { what: "size in memory" }
    }
}
