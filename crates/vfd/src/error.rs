//! Errors of drivers.

use std::io;

use hyperslab_exact::TooLarge;

use crate::LockHolders;

/// The result type of file drivers.
pub type Result<T, E = DriverError> = std::result::Result<T, E>;

/// An error of a file driver.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// A read extends beyond the end of the file.
    #[error("{name}: cannot read {length} bytes at {offset}: the file ends at {end}")]
    PastEnd {
        /// The name of the file.
        name: String,
        /// The offset of the first byte to read.
        offset: u64,
        /// The number of bytes to read.
        length: u64,
        /// The length of the file in bytes.
        end: u64,
    },
    /// The end of a range does not fit in 64 bits or in memory.
    #[error("{name}: {length} bytes at offset {offset} exceed the capacity of this driver")]
    TooLarge {
        /// The name of the file.
        name: String,
        /// The offset of the first byte of the range.
        offset: u64,
        /// The length of the range in bytes.
        length: u64,
    },
    /// The caller tried to write to a file that was opened for reading only.
    #[error("{name}: the file is open for reading only")]
    ReadOnly {
        /// The name of the file.
        name: String,
    },
    /// The member files do not match one another, or do not have the expected properties.
    #[error("{name}: {reason}")]
    Members {
        /// The name of the file, or the name of the set of members.
        name: String,
        /// The problem.
        reason: String,
    },
    /// The peer of a connection violates the protocol.
    #[error("{name}: {reason}")]
    Protocol {
        /// The address of the peer.
        name: String,
        /// The problem.
        reason: String,
    },
    /// Another process, or another handle of this process, holds a conflicting lock.
    #[error("{name}: {holders}")]
    Locked {
        /// The name of the file.
        name: String,
        /// The processes that probably hold the lock.
        holders: LockHolders,
    },
    /// The bytes of the file have changed since it was opened, so that a read would mix two states.
    #[error("{name}: the file has changed since it was opened: open it again")]
    Changed {
        /// The name of the file.
        name: String,
    },
    /// The bytes have not come yet. The driver has noted them; the read succeeds when it is
    /// repeated after they have come.
    #[error("{name}: the bytes have not come yet")]
    NotYet {
        /// The name of the file.
        name: String,
    },
    /// The driver or the file system does not support the operation.
    #[error("{name}: {operation} is not supported here")]
    Unsupported {
        /// The name of the file.
        name: String,
        /// The operation.
        operation: &'static str,
    },
    /// An invariant of this crate does not hold. The cause is a bug in hyperslab, not the files or
    /// the caller.
    #[error("internal error: {name}: {invariant} does not hold; please report it")]
    Internal {
        /// The name of the file.
        name: String,
        /// The condition that should hold.
        invariant: &'static str,
    },
    /// The operating system reported an error.
    #[error("{name}: {operation}")]
    Io {
        /// The name of the file.
        name: String,
        /// The operation that failed.
        operation: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

impl DriverError {
    /// Creates the error of a file driver for an invariant that does not hold: a bug.
    pub(crate) fn internal(name: impl Into<String>, invariant: &'static str) -> Self {
        Self::Internal { name: name.into(), invariant }
    }

    /// Converts an error of the operating system to an error of a file driver. An "unsupported"
    /// error becomes [`DriverError::Unsupported`].
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
