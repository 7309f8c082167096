//! Writes of many rows at once. In most cases, consecutive rows lie on the same page or on
//! neighbouring pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_vfd::DriverError;
use quick_cache::sync::Cache;
use smallvec::SmallVec;

use super::Pages;
use crate::store::page::{PAGE, PAGE_BYTES, put, skip_of};
use crate::store::page_source::PageSource;

/// Largest distance, in pages, over which a write of rows walks through the dirty pages to the next
/// page that it changes. If the next page is further away, the write looks it up.
const MAX_PASSED_PAGES: u64 = 16;

/// Rows of raw data that are contiguous in memory. In the file, the rows begin at equal distances.
#[derive(Debug, Clone, Copy)]
pub struct ByteRows<'a> {
    /// The offset of the first row in its block of the file, in bytes.
    pub offset: u64,
    /// The distance between the starts of two rows in the file, in bytes.
    pub stride: u64,
    /// The length of a row in bytes.
    pub length: usize,
    /// The bytes of all rows.
    pub bytes: &'a [u8],
}

impl ByteRows<'_> {
    /// Returns the end of the last row of raw data, as an offset in the block that holds the rows.
    /// Returns `None` if the end exceeds 64 bits, or if the rows have no bytes.
    pub(crate) fn end(&self) -> Option<u64> {
        let rows = to_u64(self.bytes.len().checked_div(self.length)?);
        // For zero rows, the end is the end of one row.
        let strides = rows.max(1) - 1;
        let last = strides.checked_mul(self.stride)?.checked_add(self.offset)?;
        last.checked_add(to_u64(self.length))
    }
}

impl Pages {
    /// Writes rows of raw data to pages of the file in memory, which become dirty. The first row
    /// begins at the offset `start` of the file.
    pub(crate) fn write_rows(
        &self,
        source: PageSource<'_>,
        start: u64,
        rows: &ByteRows<'_>,
    ) -> Result<(), DriverError> {
        self.with_dirty(|dirty| Self::write_rows_into(dirty, &self.clean, source, start, rows))
    }

    fn write_rows_into(
        dirty: &mut BTreeMap<u64, Arc<[u8]>>,
        clean: &Cache<u64, Arc<[u8]>>,
        source: PageSource<'_>,
        start: u64,
        rows: &ByteRows<'_>,
    ) -> Result<(), DriverError> {
        let mut absent: SmallVec<[(u64, &[u8]); 16]> = SmallVec::new();
        // The last page that was found. No dirty page lies between the number `from` and this page.
        let (mut walk, mut found, mut from) = (dirty.range_mut(..0), None, u64::MAX);
        let mut next = start;
        for mut row in rows.bytes.chunks_exact(rows.length.max(1)) {
            let mut at = next;
            // The sum may exceed 64 bits after the last row. No row begins there.
            next = next.wrapping_add(rows.stride);
            while !row.is_empty() {
                let (number, skip) = (at / PAGE, skip_of(at));
                let (part, rest) = row.split_at(row.len().min(PAGE_BYTES - skip));
                if number < from || number - from > MAX_PASSED_PAGES {
                    (walk, from) = (dirty.range_mut(number..), number);
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
                (at, row) = (at + to_u64(part.len()), rest);
            }
        }
        absent.into_iter().try_for_each(|(at, part)| Self::write_into(dirty, clean, source, at, part))
    }
}
