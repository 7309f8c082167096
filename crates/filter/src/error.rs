//! Errors of filters.

use std::fmt;

use crate::FilterId;

/// The result type of the encoding and decoding of chunks by filters.
pub type Result<T, E = FilterError> = std::result::Result<T, E>;

/// The reason for which a filter cannot encode or decode a chunk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The chunk's bytes, or the filter's parameters in the file, are corrupt.
    #[error("filter {id}: corrupt chunk: {detail}")]
    Corrupt {
        /// The filter that detected the error.
        id: FilterId,
        /// A description of the error.
        detail: String,
    },
    /// All filters succeeded, but the decoded chunk has the wrong number of bytes.
    #[error("corrupt chunk: {got} bytes after decoding, expected {expected}")]
    Length {
        /// The number of bytes of a chunk.
        expected: usize,
        /// The number of decoded bytes.
        got: usize,
    },
    /// No filter with this number is registered.
    #[error("filter {id}{} is not available{}", StoredName(.name), DisabledFeature(*.id))]
    Missing {
        /// The number of the missing filter.
        id: FilterId,
        /// The filter's name in the filter pipeline message.
        name: Option<String>,
    },
    /// The chunk uses a feature of the filter that is not implemented.
    #[error("filter {id}: {subject} is not supported")]
    Unsupported {
        /// The filter that lacks the feature.
        id: FilterId,
        /// The name of the unsupported feature.
        subject: String,
    },
    /// The decoded chunk exceeds the size limit.
    #[error("filter {id}: the decoded chunk exceeds the limit of {limit} bytes")]
    Limit {
        /// The filter whose output exceeds the limit.
        id: FilterId,
        /// The maximum number of bytes.
        limit: usize,
    },
    /// The buffer for a chunk could not be allocated.
    #[error("filter {id}: cannot allocate {bytes} bytes for a chunk")]
    Memory {
        /// The filter that needs the buffer.
        id: FilterId,
        /// The requested number of bytes.
        bytes: usize,
    },
    /// An invariant of this crate does not hold. Neither the chunk nor the parameters are the
    /// cause.
    #[error("internal error: filter {id}: {invariant} does not hold; please report it")]
    Internal {
        /// The filter that detected the error.
        id: FilterId,
        /// The violated condition.
        invariant: &'static str,
    },
    /// The filter, or its parameters, cannot be used for a new dataset.
    #[error("filter {id} cannot be used for this dataset: {reason}")]
    Refused {
        /// The refused filter.
        id: FilterId,
        /// The reason for the refusal.
        reason: String,
    },
    /// The bytes cannot be encoded.
    #[error("filter {id}: cannot encode: {reason}")]
    Failed {
        /// The filter that failed.
        id: FilterId,
        /// The reason for the failure.
        reason: String,
    },
}

struct StoredName<'a>(&'a Option<String>);

impl fmt::Display for StoredName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |name| write!(f, ", named {name:?} in the file,"))
    }
}

/// A part of the error text for a filter that this build lacks. The text names the Cargo feature
/// for the filter.
struct DisabledFeature(FilterId);

impl fmt::Display for DisabledFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.missing_feature().map_or(Ok(()), |feature| write!(f, " (feature `{feature}` is off)"))
    }
}

impl FilterError {
    /// Creates a filter error about corrupt chunk bytes or filter parameters.
    pub fn corrupt(id: FilterId, detail: impl Into<String>) -> Self {
        Self::Corrupt { id, detail: detail.into() }
    }

    /// Creates a filter error about a dataset that cannot have the filter.
    pub fn refused(id: FilterId, reason: impl Into<String>) -> Self {
        Self::Refused { id, reason: reason.into() }
    }

    /// Creates a filter error about chunk bytes that the filter cannot encode.
    pub fn failed(id: FilterId, reason: impl Into<String>) -> Self {
        Self::Failed { id, reason: reason.into() }
    }
}
