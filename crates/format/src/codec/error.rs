//! Errors of decoding and encoding. Each error names the structure and the cause.

use std::fmt;

use hyperslab_exact::TooLarge;

use super::Address;

/// The result of decoding or encoding a structure of the file format.
pub type Result<T, E = FormatError> = std::result::Result<T, E>;

/// The reason for which the bytes of a metadata structure cannot be decoded, or a value cannot be
/// encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The bytes contradict the format specification.
    #[error(transparent)]
    Corrupt(Box<Corrupt>),
    /// The bytes may be valid, but use a feature that this version does not implement.
    #[error("{structure}: {subject} is not supported")]
    Unsupported {
        /// Name of the on-disk structure in the specification.
        structure: &'static str,
        /// Unsupported feature.
        subject: String,
    },
    /// A size, count or depth exceeds a bound of [`Limits`](super::Limits).
    #[error("{structure}: {subject} is {got}, more than the limit of {limit}")]
    Limit {
        /// Name of the on-disk structure in the specification.
        structure: &'static str,
        /// Limited quantity.
        subject: &'static str,
        /// Value in the file.
        got: u64,
        /// Largest allowed value.
        limit: u64,
    },
    /// The chosen layout cannot store a value of the caller.
    #[error("{structure}: {field} cannot hold {got}")]
    Encode {
        /// Name of the on-disk structure in the specification.
        structure: &'static str,
        /// Field that cannot hold the value.
        field: &'static str,
        /// Value that does not fit.
        got: String,
    },
    /// An invariant of this crate does not hold. The bytes and the caller's values are not the
    /// cause.
    #[error("internal error: {structure}: {invariant} does not hold; please report it")]
    Internal {
        /// Name of the on-disk structure in the specification.
        structure: &'static str,
        /// Condition that should hold.
        invariant: &'static str,
    },
}

/// A contradiction between the bytes of a metadata structure and the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrupt {
    /// Name of the on-disk structure in the specification.
    pub structure: &'static str,
    /// Name of the field in the specification.
    pub field: &'static str,
    /// Address of the structure in the file, if known.
    pub address: Option<u64>,
    /// Value that the specification requires.
    pub expected: String,
    /// Value that the file holds.
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
    /// Creates a [`Corrupt`](Self::Corrupt) error about a metadata structure: a field contradicts
    /// the specification.
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

    /// Creates an [`Unsupported`](Self::Unsupported) error about a metadata structure: a feature is
    /// not implemented.
    pub fn unsupported(structure: &'static str, subject: impl Into<String>) -> Self {
        Self::Unsupported { structure, subject: subject.into() }
    }

    /// Creates an [`Internal`](Self::Internal) error about a metadata structure: an invariant of
    /// this crate does not hold.
    pub fn internal(structure: &'static str, invariant: &'static str) -> Self {
        Self::Internal { structure, invariant }
    }

    /// Adds the address of the metadata structure to a [`Corrupt`](Self::Corrupt) error that has no
    /// address yet.
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
        let (structure, subject) = ("memory", "a size");
        Self::Limit { structure, subject, got: error.value, limit: TooLarge::LIMIT }
    }
}
