//! The operations on the files of a simulated disk, in order.

use std::fmt;
use std::sync::Arc;

use super::{Files, Replay};

/// An operation on a file of a simulated disk. Files are identified by numbers, since several files
/// may have had the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A file was created, or existed already, and the folder was synced.
    Create {
        /// The number of the file.
        file: usize,
        /// The name of the file.
        name: Arc<str>,
    },
    /// A file was removed.
    Remove {
        /// The number of the file.
        file: usize,
        /// The name of the file.
        name: Arc<str>,
    },
    /// Bytes were written.
    Write {
        /// The number of the file.
        file: usize,
        /// The offset of the first byte.
        offset: u64,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// The length was changed.
    SetLen {
        /// The number of the file.
        file: usize,
        /// The new length.
        len: u64,
    },
    /// A file was synced: all earlier writes to it are durable.
    Sync {
        /// The number of the file.
        file: usize,
    },
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { file, name } => write!(f, "create {file} `{name}`"),
            Self::Remove { file, name } => write!(f, "remove {file} `{name}`"),
            Self::Write { file, offset, bytes } => {
                write!(f, "write {file}: {} bytes at {offset}", bytes.len())
            }
            Self::SetLen { file, len } => write!(f, "set the length of {file}: {len}"),
            Self::Sync { file } => write!(f, "sync {file}"),
        }
    }
}

/// The history of a simulated disk: all operations on its files, in order. Clones are cheap.
#[derive(Debug, Clone, Default)]
pub struct History {
    first: Arc<Files>,
    operations: Vec<Operation>,
}

impl History {
    pub(super) fn new(first: Files) -> Self {
        Self { first: Arc::new(first), operations: Vec::new() }
    }

    pub(super) fn push(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    /// Returns the files that existed on the simulated disk before the first operation. They have
    /// the lowest numbers, in the order of their names.
    pub fn first(&self) -> &Files {
        &self.first
    }

    /// Returns the operations of the simulated disk's history in order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the number of operations in the simulated disk's history.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Returns whether the history of the simulated disk has no operations.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns the history of the first `count` operations on the simulated disk.
    #[must_use]
    pub fn until(&self, count: usize) -> Self {
        Self {
            first: Arc::clone(&self.first),
            operations: self.operations.iter().take(count).cloned().collect(),
        }
    }

    /// Returns a replay of the simulated disk's history, which can show the results of simulated
    /// crashes.
    pub fn replay(&self) -> Replay<'_> {
        Replay::new(self)
    }
}

/// Writes bytes to the content of a file of a simulated disk, and extends the file if necessary.
pub(super) fn put(content: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let Ok(start) = usize::try_from(offset) else { return };
    let end = start + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    if let Some(target) = content.get_mut(start..end) {
        target.copy_from_slice(bytes);
    }
}

/// Sets the length of the content of a file of a simulated disk. New bytes are zero.
pub(super) fn resize(content: &mut Vec<u8>, len: u64) {
    if let Ok(len) = usize::try_from(len) {
        content.resize(len, 0);
    }
}
