//! What was done to the files of a disk, in order.

use std::fmt;
use std::sync::Arc;

use super::{Files, Replay};

/// Something that was done. Files are told apart by numbers, since a name may have led to several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A file was made, or was there already, and the folder was synced.
    Create {
        /// The file.
        file: usize,
        /// Its name.
        name: Arc<str>,
    },
    /// A file was removed.
    Remove {
        /// The file.
        file: usize,
        /// Its name.
        name: Arc<str>,
    },
    /// Bytes were written.
    Write {
        /// The file.
        file: usize,
        /// Where the first byte went.
        offset: u64,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// The length was changed.
    SetLen {
        /// The file.
        file: usize,
        /// The new length.
        len: u64,
    },
    /// What was written to a file before is safe.
    Sync {
        /// The file.
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

/// Everything that was done to the files of a disk, one thing after another. Clones are cheap.
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

    /// The files that were there before the first operation; they have the first numbers, in the order of their names.
    pub fn first(&self) -> &Files {
        &self.first
    }

    /// What was done.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether nothing was done.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The first operations of it.
    #[must_use]
    pub fn until(&self, count: usize) -> Self {
        Self {
            first: Arc::clone(&self.first),
            operations: self.operations.iter().take(count).cloned().collect(),
        }
    }

    /// Goes through it from the beginning, and shows what is left after a crash.
    pub fn replay(&self) -> Replay<'_> {
        Replay::new(self)
    }
}

/// Puts bytes into a file, which grows if it must.
pub(super) fn put(content: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let Ok(start) = usize::try_from(offset) else { return };
    let end = start + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    if let Some(place) = content.get_mut(start..end) {
        place.copy_from_slice(bytes);
    }
}

/// Cuts a file, or lengthens it with zeros.
pub(super) fn resize(content: &mut Vec<u8>, len: u64) {
    if let Ok(len) = usize::try_from(len) {
        content.resize(len, 0);
    }
}
