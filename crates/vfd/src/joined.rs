//! Several files as one: what the family and the multi driver have in common.

use std::borrow::Cow;
use std::ops::Range;

use hyperslab_exact::{to_u64, to_usize};

use crate::driver::range_end;
use crate::{Driver as _, DriverError, LockKind, Result, Sec2};

/// Where a byte of the whole lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of the member file.
    pub(crate) member: u64,
    /// The offset in the member file.
    pub(crate) offset: u64,
    /// Bytes from here on that belong to the same member; at least 1.
    pub(crate) room: u64,
}

/// Member files and how offsets lead into them.
pub(crate) trait Joined {
    fn whole_name(&self) -> &str;

    /// The offset behind the last byte of the whole.
    fn end(&self) -> Result<u64>;

    fn place(&self, offset: u64) -> Place;

    /// Reads from a member that need not exist: then it has no bytes.
    fn read_member(&self, place: Place, buf: &mut [u8]) -> Result<()>;

    /// The name of a member that need not exist.
    fn member_name(&self, member: u64) -> Cow<'_, str>;
}

/// Locks all of the files, or none of them.
pub(crate) fn lock_all<'a>(files: impl Iterator<Item = &'a Sec2> + Clone, kind: LockKind) -> Result<()> {
    for (number, file) in files.clone().enumerate() {
        if let Err(error) = file.lock(kind) {
            // They are closed soon, which gives back what cannot be given back here.
            let _ = files.take(number).try_for_each(Sec2::unlock);
            return Err(error);
        }
    }
    Ok(())
}

/// Fills `buf` from `offset` on. A member that is shorter than its part of the whole reads as zeros.
pub(crate) fn read_at(files: &impl Joined, offset: u64, buf: &mut [u8]) -> Result<()> {
    if buf.is_empty() {
        return Ok(());
    }
    let stop = range_end(files.whole_name(), offset, buf.len())?;
    for_each_piece(files, offset, buf.len(), |place, range| {
        let piece = buf.get_mut(range).ok_or_else(|| no_piece(files.whole_name()))?;
        match files.read_member(place, piece) {
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
                // Nothing is stored of a piece that begins behind the member's end.
                let there = member_end.max(place.offset) - place.offset;
                let (stored, missing) = piece.split_at_mut(to_usize(there.min(to_u64(piece.len())))?);
                missing.fill(0);
                if stored.is_empty() { Ok(()) } else { files.read_member(place, stored) }
            }
            result => result,
        }
    })
}

/// The error of a piece that is not in the caller's buffer, or of a member that is not among the files.
pub(crate) fn no_piece(name: &str) -> DriverError {
    DriverError::internal(name, "each piece lies in the buffer and in a member")
}

/// Calls `visit` with each member's part of the range and what it is of the caller's buffer. The range ends within 64 bits.
pub(crate) fn for_each_piece(
    files: &impl Joined,
    offset: u64,
    length: usize,
    mut visit: impl FnMut(Place, Range<usize>) -> Result<()>,
) -> Result<()> {
    let mut done = 0;
    while done < length {
        let place = files.place(offset + to_u64(done));
        if place.room == 0 {
            return Err(DriverError::internal(
                files.whole_name(),
                "each byte of the whole belongs to a member",
            ));
        }
        let end = done + to_usize(place.room.min(to_u64(length - done)))?;
        visit(place, done..end)?;
        done = end;
    }
    Ok(())
}
