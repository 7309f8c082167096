//! The trait of all drivers, and the types that its methods use.

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::ops::Range;
use std::path::PathBuf;

use hyperslab_exact::to_u64;

use crate::{DriverError, Result, vectored};

/// A file driver: an implementation that stores the bytes of one open HDF5 file, addressed by
/// offset.
///
/// All methods take `&self`: any number of threads may read at the same time. A read that overlaps
/// a concurrent write returns any mixture of old and new bytes. Callers avoid such reads.
pub trait Driver: Send + Sync + Debug {
    /// Returns the name of the driver's file for messages.
    fn name(&self) -> &str;

    /// Returns the kind of the file driver: one file, a file in memory, several members and so on.
    fn kind(&self) -> DriverKind {
        DriverKind::Other
    }

    /// Returns the name of the member file that contains the byte at `offset`, for messages. If the
    /// driver has a single file, returns the name of this file.
    fn name_at(&self, _offset: u64) -> Cow<'_, str> {
        self.name().into()
    }

    /// Returns the identity of the driver's file, to compare open files. Returns `None` if the
    /// bytes only exist in this driver.
    fn identity(&self) -> Option<FileIdentity>;

    /// Returns whether the file driver rejects writes.
    fn is_read_only(&self) -> bool;

    /// Returns the length of the driver's file in bytes, including gaps between member files.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the system call fails.
    fn len(&self) -> Result<u64>;

    /// Returns whether the driver's file has no bytes.
    ///
    /// # Errors
    /// The errors of [`Driver::len`].
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Returns the number of bytes that the driver's file stores. The number is less than
    /// [`Driver::len`] if the member files leave gaps between their offsets.
    ///
    /// # Errors
    /// The errors of [`Driver::len`].
    fn stored_len(&self) -> Result<u64> {
        self.len()
    }

    /// Reads bytes of the driver's file, from `offset` on, and fills `buf` with them. An empty
    /// `buf` always succeeds.
    ///
    /// # Errors
    /// [`DriverError::PastEnd`] if the file ends before `offset + buf.len()`; the content of `buf`
    /// is undefined then. [`DriverError::Io`] if the system call fails.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()>;

    /// Announces to the driver a later read of `length` bytes at the file offset `offset`. The
    /// driver can fetch these bytes in advance.
    fn expect_read(&self, offset: u64, length: usize) {
        let _ = (offset, length);
    }

    /// Announces to the driver later reads of several ranges of file offsets. A driver whose reads
    /// take long can fetch the ranges together.
    fn expect_many(&self, ranges: &[Range<u64>]) {
        let _ = ranges;
    }

    /// Returns whether announced reads ([`Driver::expect_many`]) are faster than others.
    fn expects_many(&self) -> bool {
        false
    }

    /// Fetches in advance the bytes that `work` reads, if reads of this driver have to wait for
    /// bytes, such as bytes of a remote file. Returns the number of bytes that were fetched.
    ///
    /// The driver calls `work` repeatedly. A read of `work` whose bytes would have to be fetched
    /// fails with [`DriverError::NotYet`]. After a call, the driver fetches the bytes of all failed
    /// reads together. Therefore `work` continues after errors, and has no effects. Within another
    /// call on the same thread, the driver calls `work` once, and the outer call fetches the bytes.
    ///
    /// Other drivers do not call `work`.
    fn read_ahead(&self, work: &mut dyn FnMut()) -> u64 {
        let _ = work;
        0
    }

    /// Fills the buffers of several read requests from the file. The result is the same as with one
    /// call of [`Driver::read_at`] for each request, in any order.
    ///
    /// Requests may overlap. The default implementation joins small requests that are near one
    /// another.
    ///
    /// # Errors
    /// The errors of [`Driver::read_at`] for any failing request.
    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        vectored::read_many(self, requests)
    }

    /// Fills the buffers `parts`, one after another, with the contiguous bytes of the file from
    /// `offset` on.
    ///
    /// # Errors
    /// The errors of [`Driver::read_at`].
    fn read_parts(&self, offset: u64, parts: &mut [&mut [u8]]) -> Result<()> {
        vectored::read_parts(self, offset, parts)
    }

    /// Returns whether the file driver reads into several buffers ([`Driver::read_parts`]) without
    /// an intermediate copy.
    fn reads_parts(&self) -> bool {
        false
    }

    /// Writes `bytes` to the driver's file from the offset `offset` on.
    ///
    /// A write beyond the end extends the file; the bytes between the old end and `offset` become
    /// zero. Empty `bytes` change nothing.
    ///
    /// # Errors
    /// [`DriverError::ReadOnly`] if the file was opened for reading only, [`DriverError::TooLarge`]
    /// if the file would become too long, [`DriverError::Io`] if the system call fails.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Writes the bytes of several write requests to the file, in order. If two requests overlap,
    /// the bytes of the later request remain.
    ///
    /// The default implementation joins small adjacent requests.
    ///
    /// # Errors
    /// The errors of [`Driver::write_at`]. The requests before the failing one may have been
    /// written.
    fn write_many(&self, requests: &[WriteRequest<'_>]) -> Result<()> {
        vectored::write_many(self, requests)
    }

    /// Sets the length of the driver's file to `len` bytes. New bytes are zero.
    ///
    /// # Errors
    /// [`DriverError::ReadOnly`] if the file was opened for reading only, [`DriverError::TooLarge`]
    /// if `len` is too large, [`DriverError::Io`] if the system call fails.
    fn set_len(&self, len: u64) -> Result<()>;

    /// Returns the range of file offsets of each member file of the driver, in ascending order.
    /// Drivers whose members have no length of their own return an empty list.
    ///
    /// # Errors
    /// The errors of [`Driver::len`].
    fn member_ranges(&self) -> Result<Vec<Range<u64>>> {
        Ok(Vec::new())
    }

    /// Sets the end of each member file that [`Driver::member_ranges`] lists to the offset at the
    /// same index of `ends`. New bytes are zero.
    ///
    /// # Errors
    /// [`DriverError::Members`] if the number of ends is wrong, or an end is outside of the range
    /// of its member; [`DriverError::ReadOnly`], [`DriverError::Io`].
    fn set_member_ends(&self, ends: &[u64]) -> Result<()> {
        let reason =
            format!("cannot set {} member ends: this file has no members with ends of their own", ends.len());
        if ends.is_empty() { Ok(()) } else { Err(DriverError::Members { name: self.name().into(), reason }) }
    }

    /// Writes the bytes that the driver buffers to the operating system, without waiting for the
    /// disk.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the system call fails.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until all bytes that were written to the driver's file, and the length of the file,
    /// survive a loss of power.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the system call fails.
    fn sync_data(&self) -> Result<()>;

    /// Takes an advisory lock of the kind `kind` on the driver's file, or changes the kind of the
    /// held lock. Does not wait.
    ///
    /// # Errors
    /// [`DriverError::Locked`] if another handle holds a conflicting lock,
    /// [`DriverError::Unsupported`] if the file system has no locks.
    fn lock(&self, kind: LockKind) -> Result<()>;

    /// Releases the advisory lock of the driver's file. Does nothing if no lock is held.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the system call fails, [`DriverError::Unsupported`] if the file
    /// system has no locks.
    fn unlock(&self) -> Result<()>;

    /// Returns all bytes of the driver's file, if the driver holds them in memory and they never
    /// change.
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }
}

/// The kind of a file driver: one file, a file in memory, several members and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DriverKind {
    /// A file of the operating system, without a buffer: [`Sec2`](crate::Sec2).
    Sec2,
    /// Memory: [`Core`](crate::Core).
    Core,
    /// A file of the operating system, with a buffer: [`Stdio`](crate::Stdio).
    Stdio,
    /// A file of the operating system, mapped into memory.
    Mmap,
    /// Memory, received from a socket: [`Stream`](crate::Stream).
    Stream,
    /// Consecutive files of one size: [`Family`](crate::Family).
    Family,
    /// A file for metadata and a file for raw data: [`Multi`](crate::Multi).
    Split,
    /// A file for each kind of data: [`Multi`](crate::Multi).
    Multi,
    /// Stripes in several files: [`Subfiling`](crate::Subfiling).
    Subfiling,
    /// Another driver.
    Other,
}

impl DriverKind {
    /// Returns the name that libhdf5 uses for a file driver of this kind.
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

    /// Returns whether a driver of this kind has member files that each have their own end. A range
    /// of unused offsets may then follow the end of a member.
    pub fn has_member_ends(self) -> bool {
        matches!(self, Self::Split | Self::Multi)
    }

    /// Returns whether a driver of this kind certainly stores all bytes in one file.
    pub fn is_one_file(self) -> bool {
        !matches!(self, Self::Family | Self::Split | Self::Multi | Self::Subfiling | Self::Other)
    }
}

impl fmt::Display for DriverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A read request to a file driver: a file offset, and the buffer to fill. See
/// [`Driver::read_many`].
#[derive(Debug)]
pub struct ReadRequest<'a> {
    /// The offset of the first byte.
    pub offset: u64,
    /// The buffer that receives the bytes. Its length is the number of bytes to read.
    pub buf: &'a mut [u8],
}

/// A write request to a file driver: a file offset, and the bytes to write. See
/// [`Driver::write_many`].
#[derive(Debug, Clone, Copy)]
pub struct WriteRequest<'a> {
    /// The offset of the first byte.
    pub offset: u64,
    /// The bytes to write.
    pub bytes: &'a [u8],
}

/// The kind of an advisory file lock: shared or exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// A lock that excludes exclusive locks.
    Shared,
    /// A lock that excludes all other locks.
    Exclusive,
}

/// The identity of a file of the operating system: its device and inode number, or its absolute
/// path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileIdentity {
    /// The numbers of the file system and of the file.
    Node {
        /// The number of the file system.
        device: u64,
        /// The number of the file in the file system.
        inode: u64,
    },
    /// The absolute path without symbolic links, on systems without file numbers.
    Path(PathBuf),
}

/// Returns the end of a range of file offsets. Returns an error if the end does not fit in 64 bits.
pub(crate) fn range_end(name: &str, offset: u64, length: usize) -> Result<u64> {
    let length = to_u64(length);
    offset.checked_add(length).ok_or_else(|| DriverError::TooLarge { name: name.to_owned(), offset, length })
}
