//! The layout of files that need few requests in object stores.

use anyhow::Result;
use hyperslab::{FileSpace, FileSpaceStrategy, LibraryVersion, LibverBounds};

/// The smallest and the largest page of a file for object stores.
const MIN_CLOUD_PAGE_BYTES: u64 = 16 << 10;
const MAX_CLOUD_PAGE_BYTES: u64 = 4 << 20;

/// Returns the version bounds of files for object stores: the indexes of HDF5 1.10.
pub(crate) fn cloud_bounds() -> Result<LibverBounds> {
    Ok(LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST)?)
}

/// Returns the file space strategy of a file for object stores, from the number of bytes of the
/// file: pages of a sixteenth of the file, so that small files do not become long.
pub(crate) fn cloud_space(length: u64, user_block: u64) -> FileSpace {
    let page = (length / 16).clamp(MIN_CLOUD_PAGE_BYTES, MAX_CLOUD_PAGE_BYTES);
    // Halves a power of two: the result is one again.
    let page = page
        .checked_next_power_of_two()
        .map_or(MAX_CLOUD_PAGE_BYTES, |above| if above > page { above / 2 } else { above });
    // The size of the user block must be a multiple of the page size.
    let page_size = if user_block.is_multiple_of(page) { page } else { user_block };
    FileSpace { strategy: FileSpaceStrategy::Page, persist: false, threshold: 1, page_size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_for_stores_fit_the_file() {
        let page = |length, user_block| cloud_space(length, user_block).page_size;
        assert_eq!((page(1000, 0), page(64 << 20, 0), page(1 << 40, 0)), (16 << 10, 4 << 20, 4 << 20));
        assert_eq!((page(40 << 20, 0), page(1 << 40, 512)), (2 << 20, 512));
    }
}
