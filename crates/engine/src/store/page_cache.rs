//! A bounded cache of the file's pages, through which metadata and small raw data are read.

use std::sync::Arc;

use hyperslab_vfd::{Driver, DriverError};
use quick_cache::sync::Cache;

use super::Bytes;

/// Bytes of a page. Headers of small objects lie next to each other, so a page brings many at once.
const PAGE: u64 = 8 << 10;

/// Pages kept: 32 MiB.
const PAGES: usize = 4096;

/// Pages of the file by their number.
#[derive(Debug)]
pub(crate) struct PageCache {
    pages: Cache<u64, Arc<[u8]>>,
}

impl PageCache {
    pub(crate) fn new() -> Self {
        Self { pages: Cache::new(PAGES) }
    }

    /// `length` bytes from `start` of a file of `file_length` bytes; the caller has checked that they exist.
    pub(crate) fn read(
        &self,
        driver: &dyn Driver,
        start: u64,
        length: u64,
        file_length: u64,
    ) -> Result<Bytes, DriverError> {
        let first = start / PAGE;
        let last = start.saturating_add(length.saturating_sub(1)) / PAGE;
        let skip = to_usize(start % PAGE);
        if first == last {
            let page = self.page(driver, first, file_length)?;
            if let Some(bytes) = Bytes::of(page, skip..skip.saturating_add(to_usize(length))) {
                return Ok(bytes);
            }
        }
        if length > PAGE / 2 {
            // Long blocks pass the cache by: they would only push smaller ones out.
            return Self::read_alone(driver, start, length);
        }
        let mut buffer = vec![0; to_usize(length)];
        let mut filled = 0;
        for number in first..=last {
            let page = self.page(driver, number, file_length)?;
            let from = if number == first { page.get(skip..) } else { page.get(..) }.unwrap_or_default();
            let to = buffer.get_mut(filled..).unwrap_or_default();
            let count = from.len().min(to.len());
            for (to, from) in to.chunks_mut(count.max(1)).zip(from.chunks(count.max(1))).take(1) {
                to.copy_from_slice(from);
            }
            filled = filled.saturating_add(count);
        }
        Ok(buffer.into())
    }

    /// Bytes that do not go through the cache.
    pub(crate) fn read_alone(driver: &dyn Driver, start: u64, length: u64) -> Result<Bytes, DriverError> {
        // Shared from the start: a vector would be copied to become it.
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, to_usize(length)).collect();
        if let Some(buffer) = Arc::get_mut(&mut bytes) {
            driver.read_at(start, buffer)?;
        }
        let all = 0..bytes.len();
        Ok(Bytes::of(bytes, all).unwrap_or_else(|| Bytes::from(&[][..])))
    }

    fn page(&self, driver: &dyn Driver, number: u64, file_length: u64) -> Result<Arc<[u8]>, DriverError> {
        self.pages.get_or_insert_with(&number, || {
            let start = number.saturating_mul(PAGE);
            let length = PAGE.min(file_length.saturating_sub(start));
            Self::read_alone(driver, start, length).map(Bytes::into_shared)
        })
    }
}

/// Lengths here are bounded by the page size or by a limit far below the address space.
fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use hyperslab_vfd::Core;
    use proptest::prelude::*;

    use super::{PAGE, PageCache};

    proptest! {
        #[test]
        fn reads_what_the_file_holds(reads in proptest::collection::vec((0_u64..5 * PAGE, 0_u64..3 * PAGE), 1..20)) {
            let bytes: Vec<u8> = (0..4 * PAGE + 77).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let length = bytes.len() as u64;
            let driver = Core::from_vec("test", bytes.clone());
            let cache = PageCache::new();
            for (start, count) in reads {
                let start = start.min(length);
                let count = count.min(length - start);
                let got = cache.read(&driver, start, count, length).unwrap();
                let range = super::to_usize(start)..super::to_usize(start + count);
                prop_assert_eq!(&*got, &bytes[range]);
            }
        }
    }
}
