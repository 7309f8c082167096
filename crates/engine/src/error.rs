//! What can go wrong with an open file: whose fault, and where.

use hyperslab_dataspace::DataspaceError;
use hyperslab_datatype::convert::ConvertError;
use hyperslab_exact::TooLarge;
use hyperslab_filter::FilterError;
use hyperslab_format::codec::{Address, Corrupt, FormatError};
use hyperslab_vfd::{DriverError, LockHolders, LockKind};

/// The result of an operation on an open file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file contradicts the format specification.
    #[error(transparent)]
    Corrupt(Box<Corrupt>),
    /// The file may be sound, but uses something that this version does not implement.
    #[error("{what} is not supported")]
    Unsupported {
        /// The feature.
        what: String,
    },
    /// A size, count or depth in the file passes a bound that the caller can set.
    #[error("{what} is {got}, more than the limit of {limit}")]
    Limit {
        /// What is limited.
        what: String,
        /// The value in the file.
        got: u64,
        /// The bound.
        limit: u64,
    },
    /// Memory has no room for what was asked for, or for what the file says that it needs.
    #[error("{what}: memory has no room for {bytes} bytes")]
    Memory {
        /// What should have been held.
        what: &'static str,
        /// Its bytes.
        bytes: u64,
    },
    /// No link, object or attribute of that name.
    #[error("{what} `{name}` not found")]
    NotFound {
        /// The kind of thing.
        what: &'static str,
        /// Its name or path.
        name: String,
    },
    /// There is a link or an attribute of that name already.
    #[error("{what} `{name}` exists already: remove or rename it first, or take another name")]
    Exists {
        /// The kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The caller asked for something that cannot be.
    #[error("{0}")]
    Misuse(String),
    /// Others have the file open in a way that excludes the one asked for.
    #[error(
        "`{name}` cannot be opened for {}: {holders}. Wait until it is closed; or open it without locking \
         (`FileLocking::Off`, or HDF5_USE_FILE_LOCKING=FALSE in the environment) if you know that nobody changes it",
        match kind { LockKind::Shared => "reading", LockKind::Exclusive => "writing" }
    )]
    Locked {
        /// The file.
        name: String,
        /// What was wanted.
        kind: LockKind,
        /// Who likely has it open.
        holders: LockHolders,
    },
    /// The storage under the file failed.
    #[error("{action}")]
    Io {
        /// What was being done.
        action: String,
        /// The driver's error.
        #[source]
        source: DriverError,
    },
    /// A chunk did not pass its filter pipeline.
    #[error("{}", chunk_at(*address))]
    Filter {
        /// Address of the chunk; undefined while it has none.
        address: Address,
        /// The filter's error.
        #[source]
        source: FilterError,
    },
    /// Elements could not be converted to the type asked for.
    #[error(transparent)]
    Convert(ConvertError),
    /// An invariant of this library does not hold. The file and the caller are not the cause.
    #[error("internal error: {structure}: {invariant} does not hold; please report it")]
    Internal {
        /// The structure or operation.
        structure: &'static str,
        /// The condition that should hold.
        invariant: &'static str,
    },
    /// Where in the file's objects an error arose.
    #[error("{context}")]
    Context {
        /// The object, attribute or step.
        context: String,
        /// The error itself.
        #[source]
        source: Box<Error>,
    },
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file is damaged.
    Corrupt,
    /// This version cannot do it.
    Unsupported,
    /// A bound that the caller can set.
    Limit,
    /// Nothing of that name.
    NotFound,
    /// The name is taken.
    Exists,
    /// The caller's request is at fault.
    Misuse,
    /// Others have the file open.
    Locked,
    /// The storage failed.
    Io,
    /// This library is at fault.
    Internal,
}

fn chunk_at(address: Address) -> String {
    if address.is_defined() { format!("chunk at {address}") } else { "chunk to be written".into() }
}

impl Error {
    /// Whose fault this is, seen through its context.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Corrupt(_) => ErrorKind::Corrupt,
            Self::Unsupported { .. } => ErrorKind::Unsupported,
            Self::Limit { .. } | Self::Memory { .. } | Self::Convert(ConvertError::Memory { .. }) => {
                ErrorKind::Limit
            }
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::Exists { .. } => ErrorKind::Exists,
            Self::Convert(ConvertError::Heap(error)) => {
                error.0.downcast_ref::<Self>().map_or(ErrorKind::Corrupt, Self::kind)
            }
            Self::Internal { .. }
            | Self::Convert(ConvertError::Internal { .. })
            | Self::Io { source: DriverError::Internal { .. }, .. } => ErrorKind::Internal,
            Self::Misuse(_) | Self::Convert(_) => ErrorKind::Misuse,
            Self::Locked { .. } | Self::Io { source: DriverError::Locked { .. }, .. } => ErrorKind::Locked,
            Self::Io { .. } => ErrorKind::Io,
            Self::Filter { source, .. } => match source {
                FilterError::Missing { .. } | FilterError::Unsupported { .. } => ErrorKind::Unsupported,
                FilterError::Refused { .. } => ErrorKind::Misuse,
                FilterError::Internal { .. } => ErrorKind::Internal,
                FilterError::Limit { .. } | FilterError::Memory { .. } => ErrorKind::Limit,
                _ => ErrorKind::Corrupt,
            },
            Self::Context { source, .. } => source.kind(),
        }
    }

    /// A contradiction found by looking at several structures together.
    pub fn corrupt(
        structure: &'static str,
        field: &'static str,
        expected: impl Into<String>,
        got: impl std::fmt::Display,
    ) -> Self {
        FormatError::corrupt(structure, field, expected, got).into()
    }

    /// Returns the error of an invariant of this library that does not hold.
    pub fn internal(structure: &'static str, invariant: &'static str) -> Self {
        Self::Internal { structure, invariant }
    }

    /// Something that this version does not implement.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }

    /// Says where the structure lies, if the error is about bytes and does not say so yet.
    #[must_use]
    pub fn at(mut self, address: Address) -> Self {
        if let Self::Corrupt(corrupt) = &mut self {
            corrupt.address = corrupt.address.or(address.get());
        }
        self
    }

    /// Puts the error into the context of an object, attribute or step.
    #[must_use]
    pub fn context(self, context: impl Into<String>) -> Self {
        Self::Context { context: context.into(), source: Box::new(self) }
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Corrupt(corrupt) => Self::Corrupt(corrupt),
            FormatError::Limit { structure, what, got, limit } => {
                Self::Limit { what: format!("{structure}: {what}"), got, limit }
            }
            FormatError::Unsupported { structure, what } => Self::unsupported(format!("{structure}: {what}")),
            FormatError::Internal { structure, invariant } => Self::Internal { structure, invariant },
            other => Self::Misuse(other.to_string()),
        }
    }
}

impl From<ConvertError> for Error {
    fn from(error: ConvertError) -> Self {
        Self::Convert(error)
    }
}

impl From<DataspaceError> for Error {
    fn from(error: DataspaceError) -> Self {
        match error {
            DataspaceError::Internal { what, invariant } => Self::Internal { structure: what, invariant },
            error => Self::Misuse(error.to_string()),
        }
    }
}

impl From<TooLarge> for Error {
    fn from(error: TooLarge) -> Self {
        Self::Limit { what: "size in memory".into(), got: error.value, limit: TooLarge::LIMIT }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_errors_of_all_floors_are_of_one_kind() {
        let (name, what, invariant) = ("file".to_owned(), "step", "one is one");
        let action = "read".to_owned();
        let errors = [
            Error::from(FormatError::internal("superblock", invariant)),
            Error::from(ConvertError::Internal { what, invariant }),
            Error::from(DataspaceError::Internal { what, invariant }),
            Error::Io { action, source: DriverError::Internal { name, invariant } },
            Error::Filter {
                address: Address::UNDEFINED,
                source: FilterError::Internal { id: hyperslab_filter::FilterId::SHUFFLE, invariant },
            },
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Internal, "{error:?}");
        }
        let error = Error::from(FormatError::internal("superblock", invariant));
        assert_eq!(
            error.to_string(),
            "internal error: superblock: one is one does not hold; please report it"
        );
    }
}
