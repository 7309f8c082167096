//! Errors of extents, selections and buffers.

use hyperslab_exact::{Overflow, TooLarge};

/// The result type of operations on dataspaces and selections.
pub type Result<T, E = DataspaceError> = std::result::Result<T, E>;

/// An error about dataspaces, selections of elements or buffers that do not match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataspaceError {
    /// An argument does not have the expected number of dimensions.
    #[error("{subject} has {got} dimensions instead of {expected}")]
    Rank {
        /// The argument with the wrong number of dimensions.
        subject: &'static str,
        /// The expected number of dimensions.
        expected: usize,
        /// The number of dimensions of the argument.
        got: usize,
    },
    /// A selection, box or element lies partly outside of the extent.
    #[error("{subject} reaches from {start} to {last} in dimension {dimension}, whose size is {size}")]
    Bounds {
        /// The object that lies partly outside.
        subject: &'static str,
        /// The dimension; 0 is the slowest-varying one.
        dimension: usize,
        /// The first coordinate of the object in this dimension.
        start: u64,
        /// The last coordinate of the object in this dimension.
        last: u64,
        /// The size of the dimension.
        size: u64,
    },
    /// A number of elements or bytes is too large for its integer type.
    #[error("the {subject} is too large to be represented")]
    Overflow {
        /// The quantity that is too large.
        subject: &'static str,
    },
    /// A buffer is too short for the array that it should hold.
    #[error("{subject} has {got} bytes, but {needed} are needed")]
    Buffer {
        /// The name of the buffer.
        subject: &'static str,
        /// The required length in bytes.
        needed: usize,
        /// The actual length in bytes.
        got: usize,
    },
    /// An invariant of this crate does not hold. The cause is a bug in hyperslab, not the caller's
    /// arguments.
    #[error("internal error: {subject}: {invariant} does not hold; please report it")]
    Internal {
        /// The value or operation to which the invariant applies.
        subject: &'static str,
        /// The condition that should hold.
        invariant: &'static str,
    },
    /// An argument that is invalid for every extent.
    #[error("{subject} {problem}")]
    Invalid {
        /// The name of the invalid argument.
        subject: &'static str,
        /// The reason, as the end of a sentence that begins with `subject`.
        problem: &'static str,
    },
}

/// Checks that the argument `subject`, such as a list of coordinates, has as many dimensions as the
/// dataspace.
pub(crate) fn same_rank(subject: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(DataspaceError::Rank { subject, expected, got }) }
}

/// Returns the product of factors, such as the sizes of dimensions. If any factor is 0, the product
/// is 0, even if the other factors overflow.
pub(crate) fn product(subject: &'static str, factors: impl IntoIterator<Item = u64>) -> Result<u64> {
    Ok(hyperslab_exact::product(subject, factors)?)
}

impl From<Overflow> for DataspaceError {
    fn from(error: Overflow) -> Self {
        Self::Overflow { subject: error.subject }
    }
}

impl From<TooLarge> for DataspaceError {
    fn from(_: TooLarge) -> Self {
        Self::Overflow { subject: "size in memory" }
    }
}
