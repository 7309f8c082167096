//! Functions that the drivers with several member files share.

use std::borrow::Cow;
use std::ops::Range;

use hyperslab_exact::{to_u64, to_usize};

use crate::driver::range_end;
use crate::{Driver as _, DriverError, LockKind, Result, Sec2};

/// The position of a byte of a file that consists of several member files: the number of the
/// member, and the offset in the member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemberPosition {
    /// The number of the member.
    pub(crate) member: u64,
    /// The offset in the member.
    pub(crate) offset: u64,
    /// The number of bytes from here to the end of the member's range; at least 1.
    pub(crate) available: u64,
}

/// A file that consists of several member files, with one address space.
pub(crate) trait Joined {
    /// Returns the name of the whole file that consists of several member files.
    fn whole_name(&self) -> &str;

    /// Returns the length of the whole file that consists of several member files.
    fn end(&self) -> Result<u64>;

    /// Converts an offset in the whole file to the number of the member file and the offset in this
    /// member.
    fn position(&self, offset: u64) -> MemberPosition;

    /// Reads bytes from a member file at a position into the caller's buffer. A member that does
    /// not exist has no bytes.
    fn read_member(&self, position: MemberPosition, buf: &mut [u8]) -> Result<()>;

    /// Returns the name of a member file, which need not exist.
    fn member_name(&self, member: u64) -> Cow<'_, str>;
}

/// Locks all member files `files`. If one lock fails, releases the other locks.
pub(crate) fn lock_all<'a>(files: impl Iterator<Item = &'a Sec2> + Clone, kind: LockKind) -> Result<()> {
    for (number, file) in files.clone().enumerate() {
        if let Err(error) = file.lock(kind) {
            // Errors of unlocking are ignored: the caller closes the files, which releases the
            // locks.
            let _ = files.take(number).try_for_each(Sec2::unlock);
            return Err(error);
        }
    }
    Ok(())
}

/// Fills `buf` with the bytes, from `offset` on, of a file that consists of several members. A
/// member that is shorter than its range reads as zeros.
pub(crate) fn read_at(files: &impl Joined, offset: u64, buf: &mut [u8]) -> Result<()> {
    if buf.is_empty() {
        return Ok(());
    }
    let stop = range_end(files.whole_name(), offset, buf.len())?;
    for_each_piece(files, offset, buf.len(), |position, range| {
        let piece = buf.get_mut(range).ok_or_else(|| piece_error(files.whole_name()))?;
        match files.read_member(position, piece) {
            Err(DriverError::PastEnd { end: member_end, .. }) => {
                let end = files.end()?;
                if stop > end {
                    let length = stop - offset;
                    return Err(DriverError::PastEnd {
                        name: files.whole_name().into(),
                        offset,
                        length,
                        end,
                    });
                }
                // A piece that begins after the member's end has no stored bytes.
                let available = member_end.max(position.offset) - position.offset;
                let (stored, missing) = piece.split_at_mut(to_usize(available.min(to_u64(piece.len())))?);
                missing.fill(0);
                if stored.is_empty() { Ok(()) } else { files.read_member(position, stored) }
            }
            result => result,
        }
    })
}

/// Creates an internal error about a read from several member files: a piece of the read lies
/// outside of the caller's buffer, or belongs to no member.
pub(crate) fn piece_error(name: &str) -> DriverError {
    DriverError::internal(name, "each piece lies in the buffer and in a member")
}

/// Divides a range of the whole file at the boundaries of the member files. Calls `visit` for each
/// piece with two values: the position of the piece in its member, and the range of the piece in
/// the caller's buffer. The end of the range fits in 64 bits.
pub(crate) fn for_each_piece(
    files: &impl Joined,
    offset: u64,
    length: usize,
    mut visit: impl FnMut(MemberPosition, Range<usize>) -> Result<()>,
) -> Result<()> {
    let mut done = 0;
    while done < length {
        let position = files.position(offset + to_u64(done));
        if position.available == 0 {
            return Err(DriverError::internal(
                files.whole_name(),
                "each byte of the whole belongs to a member",
            ));
        }
        let end = done + to_usize(position.available.min(to_u64(length - done)))?;
        visit(position, done..end)?;
        done = end;
    }
    Ok(())
}
