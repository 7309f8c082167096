//! Errors of decoding and encoding: whose fault, and where.

use std::fmt;

use hyperslab_exact::TooLarge;

use super::Address;

/// The result of decoding or encoding a structure.
pub type Result<T, E = FormatError> = std::result::Result<T, E>;

/// Why bytes could not be decoded, or a value not encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The bytes contradict the format specification.
    #[error(transparent)]
    Corrupt(Box<Corrupt>),
    /// The bytes may be sound, but use something this version does not implement.
    #[error("{structure}: {what} is not supported")]
    Unsupported {
        /// The on-disk structure, in the specification's words.
        structure: &'static str,
        /// What is not supported.
        what: String,
    },
    /// A size, count or depth passes a [`Limits`](super::Limits) bound.
    #[error("{structure}: {what} is {got}, more than the limit of {limit}")]
    Limit {
        /// The on-disk structure, in the specification's words.
        structure: &'static str,
        /// What is limited.
        what: &'static str,
        /// The value in the file.
        got: u64,
        /// The bound.
        limit: u64,
    },
    /// A value given by the caller cannot be written in the chosen layout.
    #[error("{structure}: {field} cannot hold {got}")]
    Encode {
        /// The on-disk structure, in the specification's words.
        structure: &'static str,
        /// The field that is too small or of another kind.
        field: &'static str,
        /// The value that does not fit.
        got: String,
    },
    /// An invariant of this crate does not hold. The bytes and the caller's values are not the cause.
    #[error("internal error: {structure}: {invariant} does not hold; please report it")]
    Internal {
        /// The on-disk structure, in the specification's words.
        structure: &'static str,
        /// The condition that should hold.
        invariant: &'static str,
    },
}

/// Where and how bytes contradict the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrupt {
    /// The on-disk structure, in the specification's words.
    pub structure: &'static str,
    /// The field, in the specification's words.
    pub field: &'static str,
    /// Where the structure lies in the file, where known.
    pub address: Option<u64>,
    /// What the specification asks for.
    pub expected: String,
    /// What the file holds.
    pub got: String,
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "corrupt {}", self.structure)?;
        if let Some(address) = self.address {
            write!(f, " at {address:#x}")?;
        }
        write!(f, ": {}: expected {}, got {}", self.field, self.expected, self.got)
    }
}

impl std::error::Error for Corrupt {}

impl FormatError {
    /// A field that contradicts the specification.
    pub fn corrupt(
        structure: &'static str,
        field: &'static str,
        expected: impl Into<String>,
        got: impl fmt::Display,
    ) -> Self {
        Self::Corrupt(Box::new(Corrupt {
            structure,
            field,
            address: None,
            expected: expected.into(),
            got: got.to_string(),
        }))
    }

    /// Something sound that is not implemented.
    pub fn unsupported(structure: &'static str, what: impl Into<String>) -> Self {
        Self::Unsupported { structure, what: what.into() }
    }

    /// A broken invariant of this crate.
    pub fn internal(structure: &'static str, invariant: &'static str) -> Self {
        Self::Internal { structure, invariant }
    }

    /// Says where in the file the structure lies, unless the error already says so.
    #[must_use]
    pub fn at(mut self, address: Address) -> Self {
        if let Self::Corrupt(corrupt) = &mut self {
            corrupt.address = corrupt.address.or(address.get());
        }
        self
    }
}

impl From<TooLarge> for FormatError {
    fn from(error: TooLarge) -> Self {
        let (structure, what) = ("memory", "a size");
        Self::Limit { structure, what, got: error.value, limit: TooLarge::LIMIT }
    }
}
