//! Whose fault it is that a chunk does not pass a filter.

use std::fmt;

use crate::FilterId;

/// The result of a filter's work.
pub type Result<T, E = FilterError> = std::result::Result<T, E>;

/// Why a chunk did not pass a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The chunk's bytes, or the filter's parameters in the file, are broken.
    #[error("filter {id}: corrupt chunk: {detail}")]
    Corrupt {
        /// The filter that found it.
        id: FilterId,
        /// What is wrong.
        detail: String,
    },
    /// The chunk passed all its filters, but has the wrong number of bytes.
    #[error("corrupt chunk: {got} bytes behind its filters, where {expected} are needed")]
    Length {
        /// Bytes of a chunk.
        expected: usize,
        /// Bytes there are.
        got: usize,
    },
    /// No filter of this number is registered.
    #[error("filter {id}{} is not available{}", Named(.name), Enabling(*.id))]
    Missing {
        /// The filter.
        id: FilterId,
        /// The name the file gives it.
        name: Option<String>,
    },
    /// The chunk asks for something the filter knows, but does not implement.
    #[error("filter {id}: {what} is not supported")]
    Unsupported {
        /// The filter.
        id: FilterId,
        /// What is not supported.
        what: String,
    },
    /// The chunk becomes larger than allowed.
    #[error("filter {id}: a chunk becomes larger than the limit of {limit} bytes")]
    Limit {
        /// The filter in which it happened.
        id: FilterId,
        /// The largest number of bytes allowed.
        limit: usize,
    },
    /// Memory has no room for what the chunk becomes.
    #[error("filter {id}: memory has no room for {bytes} bytes of a chunk")]
    Memory {
        /// The filter in which it happened.
        id: FilterId,
        /// The bytes that were asked for.
        bytes: usize,
    },
    /// An invariant of this crate does not hold. The chunk and the parameters are not the cause.
    #[error("internal error: filter {id}: {invariant} does not hold; please report it")]
    Internal {
        /// The filter.
        id: FilterId,
        /// The condition that should hold.
        invariant: &'static str,
    },
    /// A new dataset cannot have the filter, or not with these parameters.
    #[error("filter {id} cannot be used here: {reason}")]
    Refused {
        /// The filter.
        id: FilterId,
        /// Why not.
        reason: String,
    },
    /// The bytes cannot be encoded.
    #[error("filter {id}: cannot encode: {reason}")]
    Failed {
        /// The filter.
        id: FilterId,
        /// Why not.
        reason: String,
    },
}

struct Named<'a>(&'a Option<String>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |name| write!(f, ", named {name:?} in the file,"))
    }
}

/// What to enable, so that a filter is there.
struct Enabling(FilterId);

impl fmt::Display for Enabling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.missing_feature().map_or(Ok(()), |feature| write!(f, " (feature `{feature}` is off)"))
    }
}

impl FilterError {
    /// Broken bytes or parameters.
    pub fn corrupt(id: FilterId, detail: impl Into<String>) -> Self {
        Self::Corrupt { id, detail: detail.into() }
    }

    /// A dataset that cannot have the filter.
    pub fn refused(id: FilterId, reason: impl Into<String>) -> Self {
        Self::Refused { id, reason: reason.into() }
    }

    /// Bytes that cannot be encoded.
    pub fn failed(id: FilterId, reason: impl Into<String>) -> Self {
        Self::Failed { id, reason: reason.into() }
    }
}
