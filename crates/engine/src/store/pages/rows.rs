//! Rows of bytes that are changed together: the next one is mostly on the same page or on one near.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_vfd::DriverError;
use quick_cache::sync::Cache;
use smallvec::SmallVec;

use super::{Medium, PAGE, PAGE_BYTES, Pages, put, skip_of};

/// Pages that are walked over to the next one, rather than that it is looked up.
const NEAR: u64 = 16;

/// Rows of bytes, one behind the other in memory and equally far apart in the file.
#[derive(Debug, Clone, Copy)]
pub struct ByteRows<'a> {
    /// Where the first row begins in its block of the file.
    pub offset: u64,
    /// Bytes from one row to the next in the file.
    pub stride: u64,
    /// Bytes of a row.
    pub length: usize,
    /// All rows.
    pub bytes: &'a [u8],
}

impl ByteRows<'_> {
    /// The offset behind the last byte in the block; `None` if 64 bits cannot tell.
    pub(crate) fn end(&self) -> Option<u64> {
        let rows = self.bytes.len().checked_div(self.length)? as u64;
        let last = rows.saturating_sub(1).checked_mul(self.stride)?.checked_add(self.offset)?;
        last.checked_add(self.length as u64)
    }
}

impl Pages {
    /// Changes rows of bytes in memory, of which the first begins at an offset of the file.
    pub(crate) fn write_rows(
        &self,
        medium: Medium<'_>,
        start: u64,
        rows: &ByteRows<'_>,
    ) -> Result<(), DriverError> {
        self.changing(|changed| Self::write_rows_into(changed, &self.clean, medium, start, rows))
    }

    fn write_rows_into(
        changed: &mut BTreeMap<u64, Arc<[u8]>>,
        clean: &Cache<u64, Arc<[u8]>>,
        medium: Medium<'_>,
        start: u64,
        rows: &ByteRows<'_>,
    ) -> Result<(), DriverError> {
        let mut absent: SmallVec<[(u64, &[u8]); 16]> = SmallVec::new();
        // The page that was found last; there is none from `from` up to it.
        let (mut walk, mut found, mut from) = (changed.range_mut(..0), None, u64::MAX);
        let mut next = start;
        for mut row in rows.bytes.chunks_exact(rows.length.max(1)) {
            let mut at = next;
            // No row begins at the offset behind the last one.
            next = next.wrapping_add(rows.stride);
            while !row.is_empty() {
                let (number, skip) = (at / PAGE, skip_of(at));
                let (part, rest) = row.split_at(row.len().min(PAGE_BYTES - skip));
                if number < from || number - from > NEAR {
                    (walk, from) = (changed.range_mut(number..), number);
                    found = walk.next();
                }
                while let Some((other, _)) = &found
                    && **other < number
                {
                    (from, found) = (**other + 1, walk.next());
                }
                match &mut found {
                    Some((other, page)) if **other == number => put(part, page, skip),
                    _ => absent.push((at, part)),
                }
                (at, row) = (at + part.len() as u64, rest);
            }
        }
        absent.into_iter().try_for_each(|(at, part)| Self::write_into(changed, clean, medium, at, part))
    }
}
