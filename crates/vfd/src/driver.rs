//! The contract every driver keeps.

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::ops::Range;
use std::path::PathBuf;

use hyperslab_exact::to_u64;

use crate::{DriverError, Result, vectored};

/// The bytes of one open file, addressed by offset.
///
/// All methods take `&self`: reads may run on any number of threads at once. A read that overlaps a write
/// running on another thread sees old or new bytes, in any mixture; callers keep the two apart.
pub trait Driver: Send + Sync + Debug {
    /// The file's name, for people.
    fn name(&self) -> &str;

    /// Where the bytes lie.
    fn kind(&self) -> DriverKind {
        DriverKind::Other
    }

    /// The name of the file in which the byte at `offset` lies, or would lie, where there are several; for
    /// people.
    fn name_at(&self, _offset: u64) -> Cow<'_, str> {
        self.name().into()
    }

    /// What tells this file from all others, if it has more existence than this driver.
    fn identity(&self) -> Option<FileIdentity>;

    /// Whether writes are refused.
    fn is_read_only(&self) -> bool;

    /// The physical end of the file: the offset behind its last byte.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the system cannot tell.
    fn len(&self) -> Result<u64>;

    /// Whether the file has no bytes.
    ///
    /// # Errors
    /// The errors of [`Driver::len`].
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Bytes that are really there: less than [`Driver::len`] where the offsets between files lie far apart.
    ///
    /// # Errors
    /// The errors of [`Driver::len`].
    fn stored_len(&self) -> Result<u64> {
        self.len()
    }

    /// Fills `buf` with the bytes from `offset` on. An empty `buf` always succeeds.
    ///
    /// # Errors
    /// [`DriverError::PastEnd`] if the file ends before `offset + buf.len()`; what `buf` holds then is not
    /// defined. [`DriverError::Io`] if the system fails.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()>;

    /// Tells that so many bytes from `offset` on are going to be read soon, so that a medium which is slow to give them
    /// begins to fetch them. Nothing depends on it.
    fn expect_read(&self, offset: u64, length: usize) {
        let _ = (offset, length);
    }

    /// Fills many buffers; the outcome is that of one [`Driver::read_at`] per request, in any order.
    /// Requests may overlap. The default reads small requests that lie near each other in one go.
    ///
    /// # Errors
    /// The errors of [`Driver::read_at`], for any one of the requests that fails.
    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        vectored::read_many(self, requests)
    }

    /// Fills `parts`, one after the other, with the bytes from `offset` on, as one [`Driver::read_at`] of so many bytes would.
    ///
    /// # Errors
    /// The errors of [`Driver::read_at`].
    fn read_parts(&self, offset: u64, parts: &mut [&mut [u8]]) -> Result<()> {
        vectored::read_parts(self, offset, parts)
    }

    /// Whether [`Driver::read_parts`] puts bytes into place without moving them once more.
    fn reads_parts(&self) -> bool {
        false
    }

    /// Writes `bytes` from `offset` on. A write behind the end makes the file longer; bytes between the old
    /// end and `offset` read as zero. Empty `bytes` change nothing.
    ///
    /// # Errors
    /// [`DriverError::ReadOnly`], [`DriverError::TooLarge`], [`DriverError::Io`].
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Writes many buffers, in order: where two overlap, the later one stays. The default joins small
    /// requests that follow each other without a gap.
    ///
    /// # Errors
    /// The errors of [`Driver::write_at`]; requests before the failing one may have been written.
    fn write_many(&self, requests: &[WriteRequest<'_>]) -> Result<()> {
        vectored::write_many(self, requests)
    }

    /// Cuts the file or lengthens it with zeros, to `len` bytes.
    ///
    /// # Errors
    /// [`DriverError::ReadOnly`], [`DriverError::TooLarge`], [`DriverError::Io`].
    fn set_len(&self, len: u64) -> Result<()>;

    /// The range of offsets that each member file holds, ascending, of a file whose members are each cut and lengthened
    /// by themselves. Empty for all other files.
    ///
    /// # Errors
    /// The errors of [`Driver::len`].
    fn member_ranges(&self) -> Result<Vec<Range<u64>>> {
        Ok(Vec::new())
    }

    /// Cuts or lengthens with zeros each of the member files that [`Driver::member_ranges`] lists, so that it ends at
    /// the offset in the same place of `ends`.
    ///
    /// # Errors
    /// [`DriverError::Members`] if there are more or fewer members, or an end lies outside of its member's room;
    /// [`DriverError::ReadOnly`], [`DriverError::Io`].
    fn set_member_ends(&self, ends: &[u64]) -> Result<()> {
        let reason = format!("{} ends for a file without such members", ends.len());
        if ends.is_empty() { Ok(()) } else { Err(DriverError::Members { name: self.name().into(), reason }) }
    }

    /// Hands whatever the driver itself holds back to the system, without waiting for the disk.
    ///
    /// # Errors
    /// [`DriverError::Io`].
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Returns once everything written so far, and the length, will survive a loss of power.
    ///
    /// # Errors
    /// [`DriverError::Io`].
    fn sync_data(&self) -> Result<()>;

    /// Takes an advisory lock on the file without waiting, or changes the kind of the one held.
    ///
    /// # Errors
    /// [`DriverError::Locked`] if someone else's lock excludes it, [`DriverError::Unsupported`] where the
    /// file system has no locks.
    fn lock(&self, kind: LockKind) -> Result<()>;

    /// Gives the lock back. Without one, nothing happens.
    ///
    /// # Errors
    /// [`DriverError::Io`], [`DriverError::Unsupported`].
    fn unlock(&self) -> Result<()>;

    /// All bytes of the file, for drivers that hold them in memory unchangingly. [`None`] otherwise.
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }
}

/// Where the bytes of a driver lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DriverKind {
    /// A file of the operating system, without a buffer: [`Sec2`](crate::Sec2).
    Sec2,
    /// Memory: [`Core`](crate::Core).
    Core,
    /// A file of the operating system behind a buffer: [`Stdio`](crate::Stdio).
    Stdio,
    /// A file of the operating system that is mapped into memory.
    Mmap,
    /// Memory, filled from a socket: [`Stream`](crate::Stream).
    Stream,
    /// Files of one size, one behind the other: [`Family`](crate::Family).
    Family,
    /// One file for metadata and one for raw data: [`Multi`](crate::Multi).
    Split,
    /// Files for different kinds of data: [`Multi`](crate::Multi).
    Multi,
    /// Stripes over several files: [`Subfiling`](crate::Subfiling).
    Subfiling,
    /// Somewhere else.
    Other,
}

impl DriverKind {
    /// The name as libhdf5 has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sec2 => "sec2",
            Self::Core => "core",
            Self::Stdio => "stdio",
            Self::Mmap => "mmap",
            Self::Stream => "stream",
            Self::Family => "family",
            Self::Split => "split",
            Self::Multi => "multi",
            Self::Subfiling => "subfiling",
            Self::Other => "other",
        }
    }

    /// Whether each of several member files has an end of its own, far from where the next one begins.
    pub fn has_member_ends(self) -> bool {
        matches!(self, Self::Split | Self::Multi)
    }

    /// Whether all bytes are known to lie in one file.
    pub fn is_one_file(self) -> bool {
        !matches!(self, Self::Family | Self::Split | Self::Multi | Self::Subfiling | Self::Other)
    }
}

impl fmt::Display for DriverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One read among many.
#[derive(Debug)]
pub struct ReadRequest<'a> {
    /// First byte wanted.
    pub offset: u64,
    /// Where the bytes go; its length is the number of bytes wanted.
    pub buf: &'a mut [u8],
}

/// One write among many.
#[derive(Debug, Clone, Copy)]
pub struct WriteRequest<'a> {
    /// Where the first byte goes.
    pub offset: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// Who else may hold a lock at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// Other shared locks.
    Shared,
    /// Nobody.
    Exclusive,
}

/// What tells one file from another, whatever names lead to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileIdentity {
    /// Number of the file system and number of the file within it.
    Node {
        /// The file system.
        device: u64,
        /// The file within it.
        inode: u64,
    },
    /// The absolute path without links, where the system has no numbers.
    Path(PathBuf),
}

/// The end of a range, if 64 bits hold it.
pub(crate) fn range_end(name: &str, offset: u64, length: usize) -> Result<u64> {
    let length = to_u64(length);
    offset.checked_add(length).ok_or_else(|| DriverError::TooLarge { name: name.to_owned(), offset, length })
}
