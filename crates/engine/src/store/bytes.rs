//! Bytes of the file in shared buffers, and parts of buffers by their offsets in the file.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::error::{Error, Result};

/// A range of bytes of the file in a reference-counted buffer. Clones and slices share the buffer.
#[derive(Clone)]
pub struct Bytes {
    buffer: Arc<[u8]>,
    range: Range<usize>,
}

impl Bytes {
    /// Creates a range of bytes of a shared buffer. Returns `None` if the range exceeds the buffer.
    pub(crate) fn of(buffer: Arc<[u8]>, range: Range<usize>) -> Option<Self> {
        buffer.get(range.clone())?;
        Some(Self { buffer, range })
    }

    /// Returns the part of these bytes of the file in the range `range`, in the same shared buffer.
    /// Returns `None` if `range` exceeds the bytes.
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
        // The constructors check that the range lies in the buffer.
        self.buffer.split_at(self.range.end).0.split_at(self.range.start).1
    }
}

impl From<Arc<[u8]>> for Bytes {
    fn from(buffer: Arc<[u8]>) -> Self {
        Self { range: 0..buffer.len(), buffer }
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

/// Returns the bytes for a range of file offsets from the buffer `bytes`. The buffer begins at the
/// file offset `start`.
///
/// # Errors
/// Returns [`Error::Internal`] if the range exceeds `bytes`.
pub(super) fn part(bytes: &[u8], start: u64, range: Range<u64>) -> Result<&[u8]> {
    let index = |offset: u64| usize::try_from(offset.checked_sub(start)?).ok();
    let part = index(range.start).zip(index(range.end)).and_then(|(from, to)| bytes.get(from..to));
    let invariant = "a part that is written lies in the given bytes";
    part.ok_or(Error::Internal { structure: "file", invariant })
}

/// Returns the number of bytes of a file range before the file offset `end`. The range begins at
/// `offset` and has `length` bytes.
pub(super) fn count_before(end: u64, offset: u64, length: usize) -> usize {
    match end.checked_sub(offset) {
        Some(before) => usize::try_from(before).map_or(length, |before| before.min(length)),
        // The range begins after `end`.
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bytes_before_the_end_count() {
        assert_eq!(count_before(10, 4, 3), 3);
        assert_eq!(count_before(10, 8, 3), 2);
        assert_eq!((count_before(10, 10, 3), count_before(10, u64::MAX, 3)), (0, 0));
        assert_eq!(count_before(u64::MAX, 0, 3), 3);
    }

    #[test]
    fn a_part_lies_in_the_bytes() {
        assert_eq!(part(&[1, 2, 3], 10, 11..13).unwrap(), [2, 3]);
        assert!(part(&[1, 2, 3], 10, 9..11).is_err() && part(&[1, 2, 3], 10, 12..14).is_err());
    }
}
