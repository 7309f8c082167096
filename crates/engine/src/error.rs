//! The errors of operations on an open file: their causes and contexts.

use hyperslab_dataspace::DataspaceError;
use hyperslab_datatype::convert::ConvertError;
use hyperslab_exact::TooLarge;
use hyperslab_filter::FilterError;
use hyperslab_format::codec::{Address, Corrupt, FormatError};
use hyperslab_vfd::{DriverError, LockHolders, LockKind};

/// The result of an operation on an open file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file contradicts the format specification.
    #[error(transparent)]
    Corrupt(Box<Corrupt>),
    /// A valid feature is needed that this version does not implement.
    #[error("{subject} is not supported")]
    Unsupported {
        /// The name of the feature.
        subject: String,
    },
    /// A size, count or depth exceeds a limit that the caller can set.
    #[error("{subject} is {got}, more than the limit of {limit}")]
    Limit {
        /// The name of the limited quantity.
        subject: String,
        /// The requested value.
        got: u64,
        /// The limit.
        limit: u64,
    },
    /// An allocation of memory failed.
    #[error("{subject}: not enough memory for {bytes} bytes")]
    Memory {
        /// The data that the memory was for.
        subject: &'static str,
        /// The requested number of bytes.
        bytes: u64,
    },
    /// No link, object or attribute has this name.
    #[error("{subject} `{name}` not found")]
    NotFound {
        /// The kind of thing: link, object or attribute.
        subject: &'static str,
        /// The name or path.
        name: String,
    },
    /// A link or an attribute of this name exists already.
    #[error("{subject} `{name}` exists already: remove or rename it first, or take another name")]
    Exists {
        /// The kind of thing: link or attribute.
        subject: &'static str,
        /// The existing name.
        name: String,
    },
    /// The caller's arguments or order of calls are wrong.
    #[error("{0}")]
    Misuse(String),
    /// Another user of the file holds a lock that excludes the requested lock.
    #[error(
        "`{name}` cannot be opened for {}: {holders}. Wait until it is closed; or open it without locking \
         (`FileLocking::Off`, or HDF5_USE_FILE_LOCKING=FALSE in the environment) if you know that nobody changes it",
        match kind { LockKind::Shared => "reading", LockKind::Exclusive => "writing" }
    )]
    Locked {
        /// The name of the file.
        name: String,
        /// The requested kind of lock.
        kind: LockKind,
        /// The likely holders of the lock.
        holders: LockHolders,
    },
    /// The storage of the file failed.
    #[error("{action}")]
    Io {
        /// The action that failed.
        action: String,
        /// The driver's error.
        #[source]
        source: DriverError,
    },
    /// A filter failed to encode or decode a chunk.
    #[error("{}", chunk_at(*address))]
    Filter {
        /// The address of the chunk; undefined if the chunk has no address yet.
        address: Address,
        /// The filter's error.
        #[source]
        source: FilterError,
    },
    /// Elements could not be converted to the requested type.
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
    /// An error with the place where it arose among the file's objects.
    #[error("{context}")]
    Context {
        /// The object, attribute or step.
        context: String,
        /// The error itself.
        #[source]
        source: Box<Error>,
    },
}

/// The cause of an error: the file, the caller, the storage or this library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file is damaged.
    Corrupt,
    /// This version does not implement a feature that the file or the caller needs.
    Unsupported,
    /// A limit that the caller can set is exceeded, or memory is exhausted.
    Limit,
    /// No object, link or attribute has the name.
    NotFound,
    /// The name exists already.
    Exists,
    /// The caller's arguments or order of calls are wrong.
    Misuse,
    /// Another user of the file holds a lock.
    Locked,
    /// The storage of the file failed.
    Io,
    /// An invariant of this library does not hold.
    Internal,
}

fn chunk_at(address: Address) -> String {
    if address.is_defined() { format!("chunk at {address}") } else { "chunk to be written".into() }
}

impl Error {
    /// Returns the cause of this error, without regard to its context.
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

    /// Returns the error of a contradiction between structures of the file.
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

    /// Returns the error of a feature that this version does not implement.
    pub fn unsupported(subject: impl Into<String>) -> Self {
        Self::Unsupported { subject: subject.into() }
    }

    /// Adds the address of the structure to an error of kind [`Error::Corrupt`] without an address.
    #[must_use]
    pub fn at(mut self, address: Address) -> Self {
        if let Self::Corrupt(corrupt) = &mut self {
            corrupt.address = corrupt.address.or(address.get());
        }
        self
    }

    /// Adds the object, attribute or step in which the error arose.
    #[must_use]
    pub fn context(self, context: impl Into<String>) -> Self {
        Self::Context { context: context.into(), source: Box::new(self) }
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Corrupt(corrupt) => Self::Corrupt(corrupt),
            FormatError::Limit { structure, subject, got, limit } => {
                Self::Limit { subject: format!("{structure}: {subject}"), got, limit }
            }
            FormatError::Unsupported { structure, subject } => {
                Self::unsupported(format!("{structure}: {subject}"))
            }
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
            DataspaceError::Internal { subject, invariant } => {
                Self::Internal { structure: subject, invariant }
            }
            error => Self::Misuse(error.to_string()),
        }
    }
}

impl From<TooLarge> for Error {
    fn from(error: TooLarge) -> Self {
        Self::Limit { subject: "size in memory".into(), got: error.value, limit: TooLarge::LIMIT }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_errors_of_all_floors_are_of_one_kind() {
        let (name, subject, invariant) = ("file".to_owned(), "step", "one is one");
        let action = "read".to_owned();
        let errors = [
            Error::from(FormatError::internal("superblock", invariant)),
            Error::from(ConvertError::Internal { subject, invariant }),
            Error::from(DataspaceError::Internal { subject, invariant }),
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
