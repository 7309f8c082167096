//! Several files as one: what the family and the multi driver have in common.

use std::borrow::Cow;
use std::ops::Range;

use crate::driver::range_end;
use crate::{Driver as _, DriverError, LockKind, Result, Sec2};

/// Where a byte of the whole lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of the member file.
    pub(crate) member: usize,
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
    fn member_name(&self, member: usize) -> Cow<'_, str>;
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
        let piece = buf.get_mut(range).unwrap_or_default();
        match files.read_member(place, piece) {
            Err(DriverError::PastEnd { end: member_end, .. }) => {
                let end = files.end()?;
                if stop > end {
                    let length = stop.saturating_sub(offset);
                    return Err(DriverError::PastEnd {
                        name: files.whole_name().into(),
                        offset,
                        length,
                        end,
                    });
                }
                let there = usize::try_from(member_end.saturating_sub(place.offset)).unwrap_or(usize::MAX);
                let (stored, missing) = piece.split_at_mut(there.min(piece.len()));
                missing.fill(0);
                if stored.is_empty() { Ok(()) } else { files.read_member(place, stored) }
            }
            result => result,
        }
    })
}

/// Calls `visit` with each member's part of the range and what it is of the caller's buffer.
pub(crate) fn for_each_piece(
    files: &impl Joined,
    offset: u64,
    length: usize,
    mut visit: impl FnMut(Place, Range<usize>) -> Result<()>,
) -> Result<()> {
    let mut done = 0;
    while done < length {
        let at = offset.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
        let place = files.place(at);
        let room = usize::try_from(place.room).unwrap_or(usize::MAX).max(1);
        let end = done.saturating_add(room).min(length);
        visit(place, done..end)?;
        done = end;
    }
    Ok(())
}
