//! A piece of the file that is kept by sharing, not copying.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Some bytes of the file: a range of a shared buffer. Cloning and slicing copy nothing.
#[derive(Clone)]
pub struct Bytes {
    buffer: Arc<[u8]>,
    range: Range<usize>,
}

impl Bytes {
    /// A range of a shared buffer; `None` if it passes the buffer's end.
    pub(crate) fn of(buffer: Arc<[u8]>, range: Range<usize>) -> Option<Self> {
        buffer.get(range.clone())?;
        Some(Self { buffer, range })
    }

    /// The bytes in `range`, counted from the start of these; `None` if it passes their end.
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        let start = self.range.start.checked_add(range.start)?;
        let end = self.range.start.checked_add(range.end)?;
        if end > self.range.end || start > end {
            return None;
        }
        Some(Self { buffer: Arc::clone(&self.buffer), range: start..end })
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // No range is made that passes the buffer.
        self.buffer.split_at(self.range.end).0.split_at(self.range.start).1
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self { range: 0..bytes.len(), buffer: bytes.into() }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { range: 0..bytes.len(), buffer: bytes.into() }
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({})", self.len())
    }
}
