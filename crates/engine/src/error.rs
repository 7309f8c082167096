//! The errors of operations on an open file: their causes and contexts.

use std::{fmt, io};

use hyperslab_dataspace::DataspaceError;
use hyperslab_datatype::convert::ConvertError;
use hyperslab_exact::TooLarge;
use hyperslab_filter::FilterError;
use hyperslab_format::codec::{Address, Corrupt, FormatError};
use hyperslab_vfd::{DriverError, LockHolders, LockKind};

/// The result type of the engine: a value, or an error of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error type of the engine: the reason why an operation failed.
///
/// [`Display`](fmt::Display) writes the error and its causes in one line. Therefore
/// [`source`](std::error::Error::source) returns `None`; [`Error::io_error`] returns the error of
/// the operating system. [`Debug`](fmt::Debug) writes the kind and the same line, so that a `main`
/// that returns a [`Result`] prints readable text.
#[non_exhaustive]
pub enum Error {
    /// The file contradicts the format specification.
    Corrupt(Box<Corrupt>),
    /// The file is of another format.
    NotHdf5 {
        /// The format that the first bytes suggest, with its article, such as "a PNG image".
        resembles: Option<&'static str>,
    },
    /// The operation needs a valid feature that this version does not implement.
    Unsupported {
        /// The name of the feature.
        subject: String,
    },
    /// A size, count or depth exceeds a limit that the caller can set.
    Limit {
        /// The name of the limited quantity.
        subject: String,
        /// The requested value.
        got: u64,
        /// The limit.
        limit: u64,
    },
    /// An allocation of memory failed.
    Memory {
        /// The data for which the memory was needed.
        subject: &'static str,
        /// The requested number of bytes.
        bytes: u64,
    },
    /// No link, object or attribute has this name.
    NotFound {
        /// The kind of the missing item: link, object or attribute.
        subject: &'static str,
        /// The name or path.
        name: String,
    },
    /// A link or an attribute of this name exists already.
    Exists {
        /// The kind of the existing item: link or attribute.
        subject: &'static str,
        /// The existing name.
        name: String,
    },
    /// The caller's arguments or order of calls are wrong.
    Misuse(String),
    /// Another user of the file holds a lock that excludes the requested lock.
    Locked {
        /// The name of the file.
        name: String,
        /// The requested kind of lock.
        kind: LockKind,
        /// The likely holders of the lock.
        holders: LockHolders,
    },
    /// The storage of the file failed.
    Io {
        /// The action that failed.
        action: String,
        /// The driver's error.
        source: DriverError,
    },
    /// A filter failed to encode or decode a chunk.
    Filter {
        /// The address of the chunk; undefined if the chunk has no address yet.
        address: Address,
        /// The filter's error.
        source: FilterError,
    },
    /// Elements could not be converted to the requested type.
    Convert(ConvertError),
    /// An invariant of this library does not hold. The file and the caller are not the cause.
    Internal {
        /// The structure or operation.
        structure: &'static str,
        /// The condition that should hold.
        invariant: &'static str,
    },
    /// An error, and the object, attribute or step in which it arose.
    Context {
        /// The object, attribute or step.
        context: String,
        /// The error itself.
        source: Box<Error>,
    },
}

/// The kind of an error by its cause: the file, the caller, the storage or this library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file is damaged, or is not an HDF5 file.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupt(corrupt) => corrupt.fmt(f),
            Self::NotHdf5 { resembles: Some(format) } => write!(f, "not an HDF5 file, but {format}"),
            Self::NotHdf5 { resembles: None } => {
                write!(f, "not an HDF5 file: no superblock signature at 0, 512, 1024, … bytes")
            }
            Self::Unsupported { subject } => write!(f, "{subject} is not supported"),
            Self::Limit { subject, got, limit } => {
                write!(f, "{subject} is {got}, more than the limit of {limit}")
            }
            Self::Memory { subject, bytes } => write!(f, "{subject}: not enough memory for {bytes} bytes"),
            Self::NotFound { subject, name } => write!(f, "{subject} `{name}` not found"),
            Self::Exists { subject, name } => {
                write!(
                    f,
                    "{subject} `{name}` exists already: remove or rename it first, or take another name"
                )
            }
            Self::Misuse(message) => f.write_str(message),
            Self::Locked { name, kind, holders } => {
                let purpose = match kind {
                    LockKind::Shared => "reading",
                    LockKind::Exclusive => "writing",
                };
                write!(
                    f,
                    "`{name}` cannot be opened for {purpose}: {holders}. Wait until it is closed; or open it \
                     without locking (`FileLocking::Off`, or HDF5_USE_FILE_LOCKING=FALSE in the environment) if \
                     you know that no other program changes it"
                )
            }
            Self::Io { action, source } => chain(f, action, source),
            Self::Filter { address, source } => chain(f, &chunk_at(*address), source),
            Self::Convert(error) => error.fmt(f),
            Self::Internal { structure, invariant } => {
                write!(f, "internal error: {structure}: {invariant} does not hold; please report it")
            }
            Self::Context { context, source } => chain(f, context, &**source),
        }
    }
}

/// Writes a text, an error and the chain of the error's causes in one line. Omits a cause if its
/// text is already at the end of the line.
fn chain(f: &mut fmt::Formatter<'_>, text: &str, error: &(dyn std::error::Error + 'static)) -> fmt::Result {
    let mut line = text.to_owned();
    let mut next = Some(error);
    while let Some(error) = next {
        let cause = error.to_string();
        if !line.ends_with(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
        next = error.source();
    }
    f.write_str(&line)
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind())
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Returns the kind of this error by its cause. Descriptions that were added to the error do
    /// not affect the kind.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Corrupt(_) | Self::NotHdf5 { .. } => ErrorKind::Corrupt,
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

    /// Returns the error of the operating system that caused this error. Returns `None` for errors
    /// with other causes.
    ///
    /// ```
    /// let error = hyperslab_engine::Error::Misuse("no rows".into());
    /// assert!(error.io_error().is_none());
    /// ```
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::Io { source: DriverError::Io { source, .. }, .. } => Some(source),
            Self::Context { source, .. } => source.io_error(),
            _ => None,
        }
    }

    /// Returns the error without its context. The context is the names of the objects, attributes
    /// and steps in which the error arose.
    ///
    /// ```
    /// let error = hyperslab_engine::Error::Misuse("no rows".into()).context("dataset `/x`");
    /// assert_eq!(error.to_string(), "dataset `/x`: no rows");
    /// assert_eq!(error.without_context().to_string(), "no rows");
    /// ```
    #[must_use]
    pub fn without_context(&self) -> &Self {
        let mut error = self;
        while let Self::Context { source, .. } = error {
            error = source;
        }
        error
    }

    /// Creates an error about a corrupt file: a field of the file that contradicts another
    /// structure or the specification.
    pub fn corrupt(
        structure: &'static str,
        field: &'static str,
        expected: impl Into<String>,
        got: impl fmt::Display,
    ) -> Self {
        FormatError::corrupt(structure, field, expected, got).into()
    }

    /// Creates an internal error about an invariant of this library that does not hold.
    pub fn internal(structure: &'static str, invariant: &'static str) -> Self {
        Self::Internal { structure, invariant }
    }

    /// Creates an error about a feature of the file format that this version of the library does
    /// not implement.
    pub fn unsupported(subject: impl Into<String>) -> Self {
        Self::Unsupported { subject: subject.into() }
    }

    /// Adds the address of the corrupt structure to an error of kind [`Error::Corrupt`], unless the
    /// error already has an address.
    #[must_use]
    pub fn at(mut self, address: Address) -> Self {
        if let Self::Corrupt(corrupt) = &mut self {
            corrupt.address = corrupt.address.or(address.get());
        }
        self
    }

    /// Adds a context to an error: the name of the object, attribute or step in which the error
    /// arose.
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
    fn the_text_has_all_causes_once() {
        let full = io::Error::other("no space left on device");
        let source = DriverError::io("a.h5", "cannot write 8 bytes", full);
        let error = Error::Io { action: "flush".into(), source }.context("dataset `/x`");
        let text = "dataset `/x`: flush: a.h5: cannot write 8 bytes: no space left on device";
        assert_eq!(error.to_string(), text);
        assert_eq!(format!("{error:?}"), format!("Io: {text}"));
        assert!(std::error::Error::source(&error).is_none(), "anyhow would repeat the causes");
        assert_eq!(error.io_error().unwrap().to_string(), "no space left on device");
        let error = Error::Misuse("no rows".into()).context("dataset `/x`: no rows");
        assert_eq!(error.to_string(), "dataset `/x`: no rows");
    }

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
