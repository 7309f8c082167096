//! The pages into which the store divides a file, and the parts of byte ranges that lie on them.

use std::sync::Arc;

use hyperslab_exact::to_u64;

/// Size in bytes of a page of the page buffer. One page holds the object headers of many small
/// objects, which lie next to each other.
pub(crate) const PAGE: u64 = to_u64(PAGE_BYTES);

/// Size in bytes of a page of the page buffer, as a `usize`.
pub(crate) const PAGE_BYTES: usize = 8 << 10;

/// The number of the page that contains the largest possible file offset.
const LAST_PAGE: u64 = u64::MAX / PAGE;

/// The part of a byte range of the file that lies on one page of the page buffer.
pub(super) struct PagePart {
    /// The number of the page.
    pub(super) page: u64,
    /// The number of bytes of the page before the part.
    pub(super) skip: usize,
    /// The number of bytes of the range before the part.
    pub(super) at: usize,
    pub(super) length: usize,
}

/// Returns the parts of the file's `length` bytes from the offset `start` on, page by page.
pub(super) fn page_parts(start: u64, length: usize) -> impl Iterator<Item = PagePart> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = length.checked_sub(at).filter(|rest| *rest > 0)?;
        let offset = start.checked_add(at as u64)?;
        let skip = skip_of(offset);
        let length = rest.min(PAGE_BYTES - skip);
        let part = PagePart { page: offset / PAGE, skip, at, length };
        at += length;
        Some(part)
    })
}

/// Returns the number of bytes between the start of a page and the file offset `offset` on this
/// page.
pub(super) fn skip_of(offset: u64) -> usize {
    (offset % PAGE) as usize
}

/// Returns the number of the page with the last byte of a range of the file. For an empty range,
/// returns the page of its start. A range that exceeds the largest offset ends there.
pub(super) fn last_page(start: u64, length: u64) -> u64 {
    let Some(rest) = length.checked_sub(1) else { return start / PAGE };
    start.checked_add(rest).map_or(LAST_PAGE, |last| last / PAGE)
}

/// Returns a new reference-counted buffer of `length` zero bytes.
pub(super) fn shared_zeros(length: usize) -> Arc<[u8]> {
    std::iter::repeat_n(0, length).collect()
}

/// Copies bytes into a page of the page buffer, after the page's first `skip` bytes.
pub(super) fn put(bytes: &[u8], page: &mut Arc<[u8]>, skip: usize) {
    Arc::make_mut(page).split_at_mut(skip).1.split_at_mut(bytes.len()).0.copy_from_slice(bytes);
}

/// Copies bytes from one buffer to another, in the part of the file that both buffers cover. Each
/// buffer comes with the file offset of its first byte.
pub(super) fn copy_shared(from_start: u64, from: &[u8], to_start: u64, to: &mut [u8]) {
    let (from_skip, to_skip) = match to_start.checked_sub(from_start) {
        Some(skip) => (skip, 0),
        None => (0, from_start - to_start),
    };
    let from = usize::try_from(from_skip).ok().and_then(|skip| from.get(skip..));
    let to = usize::try_from(to_skip).ok().and_then(|skip| to.get_mut(skip..));
    if let (Some(from), Some(to)) = (from, to) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_on_the_page_of_its_last_byte() {
        assert_eq!([last_page(0, 0), last_page(PAGE, 0), last_page(PAGE, PAGE)], [0, 1, 1]);
        assert_eq!(last_page(PAGE - 1, 2), 1);
        assert_eq!(last_page(5, u64::MAX), u64::MAX / PAGE);
    }

    #[test]
    fn shared_bytes_are_copied() {
        let mut to = [0; 4];
        copy_shared(10, &[1, 2, 3], 12, &mut to);
        assert_eq!(to, [3, 0, 0, 0]);
        copy_shared(14, &[4, 5, 6], 12, &mut to);
        assert_eq!(to, [3, 0, 4, 5]);
        copy_shared(0, &[9], 12, &mut to);
        copy_shared(u64::MAX, &[9], 12, &mut to);
        assert_eq!(to, [3, 0, 4, 5]);
    }
}
