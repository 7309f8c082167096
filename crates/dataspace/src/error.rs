//! What does not fit together.

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

/// The product, checked; 0 if any factor is, whatever the others.
pub(crate) fn product(what: &'static str, factors: impl IntoIterator<Item = u64>) -> Result<u64> {
    let mut product = Some(1_u64);
    for factor in factors {
        if factor == 0 {
            return Ok(0);
        }
        product = product.and_then(|product| product.checked_mul(factor));
    }
    product.ok_or(DataspaceError::Overflow { what })
}
