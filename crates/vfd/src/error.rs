//! What can go wrong between a file and its bytes.

use std::io;

use hyperslab_exact::TooLarge;

use crate::LockHolders;

/// The result of a driver's work.
pub type Result<T, E = DriverError> = std::result::Result<T, E>;

/// Why a driver could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// A read asked for bytes beyond the physical end of the file.
    #[error("{name}: cannot read {length} bytes at {offset}: the file ends at {end}")]
    PastEnd {
        /// The file.
        name: String,
        /// First byte asked for.
        offset: u64,
        /// Number of bytes asked for.
        length: u64,
        /// Physical end of the file, in bytes.
        end: u64,
    },
    /// A range does not fit: its end passes 64 bits, or the memory that can be had.
    #[error("{name}: {length} bytes at {offset} are more than this driver can hold")]
    TooLarge {
        /// The file.
        name: String,
        /// First byte of the range.
        offset: u64,
        /// Number of bytes.
        length: u64,
    },
    /// A change was asked of a file that was opened for reading.
    #[error("{name}: opened for reading only")]
    ReadOnly {
        /// The file.
        name: String,
    },
    /// Member files cannot be put together so, or do not fit what is known of them.
    #[error("{name}: {reason}")]
    Members {
        /// The file, or the name given for all of its members.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The other side of a connection does not speak as expected.
    #[error("{name}: {reason}")]
    Protocol {
        /// The address.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// Another process, or another handle of this one, holds a lock that excludes the one asked for.
    #[error("{name}: {holders}")]
    Locked {
        /// The file.
        name: String,
        /// Who likely holds it.
        holders: LockHolders,
    },
    /// The driver or the file system below it has no such operation.
    #[error("{name}: {operation} is not supported here")]
    Unsupported {
        /// The file.
        name: String,
        /// What was asked.
        operation: &'static str,
    },
    /// An invariant of this crate does not hold. The files and the caller are not the cause.
    #[error("internal error: {name}: {invariant} does not hold; please report it")]
    Internal {
        /// The file.
        name: String,
        /// The condition that should hold.
        invariant: &'static str,
    },
    /// The operating system reported an error.
    #[error("{name}: {operation}")]
    Io {
        /// The file.
        name: String,
        /// What was tried.
        operation: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl DriverError {
    /// A broken invariant of this crate.
    pub(crate) fn internal(name: impl Into<String>, invariant: &'static str) -> Self {
        Self::Internal { name: name.into(), invariant }
    }

    /// An error of the operating system; "unsupported" ones become [`DriverError::Unsupported`].
    pub fn io(name: impl Into<String>, operation: &'static str, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::Unsupported {
            Self::Unsupported { name: name.into(), operation }
        } else {
            Self::Io { name: name.into(), operation, source }
        }
    }
}

impl From<TooLarge> for DriverError {
    fn from(error: TooLarge) -> Self {
        Self::TooLarge { name: "memory".to_owned(), offset: 0, length: error.value }
    }
}
