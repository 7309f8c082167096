//! The page buffer: metadata and small raw data are read and written through it. It keeps a limited
//! number of clean pages, and dirty pages until their commit.
//!
//! One thread writes at a time, and any number of threads may read meanwhile. A reader never finds
//! bytes that are older than the last write that had ended when the read began. Two rules ensure
//! this:
//!
//! - A reader looks for a dirty page before it looks for a clean page or reads the driver, and a
//!   page stays dirty until the driver has its bytes. A reader that combines bytes of the driver
//!   with dirty pages holds the lock of the dirty pages meanwhile.
//! - A reader adds a page to the clean pages only if, under the lock of the dirty pages, no page
//!   was replaced since the read began. A thread that replaces bytes of the driver first increments
//!   the number of replacements, and then takes the lock to evict clean pages.

mod rows;
#[cfg(test)]
mod threads_tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_vfd::{Driver, DriverError, WriteRequest};
use parking_lot::RwLock;
use quick_cache::UnitWeighter;
use quick_cache::sync::Cache;

use super::bytes::Bytes;
use super::page::{PAGE, PAGE_BYTES, copy_shared, last_page, page_parts, put, shared_zeros, skip_of};
use super::page_source::PageSource;
use super::sharded_cache::cache;
pub use rows::ByteRows;

/// Number of counters in the page buffer for short reads of pages that are not in memory.
const READ_COUNTERS: usize = 1024;

/// Number of short reads of one page that bring the page into memory. The last of these reads reads
/// the whole page.
const READS_BEFORE_CACHING: u64 = 3;

/// Smallest number of pages to which a page buffer can be limited.
const MIN_PAGES: usize = 8;

/// Largest number of pages to which a page buffer can be limited. No memory can hold this many
/// pages.
const MAX_PAGES: usize = usize::MAX / PAGE_BYTES;

/// The page buffer: clean and dirty pages of the file by their numbers.
#[derive(Debug)]
pub(crate) struct Pages {
    clean: Cache<u64, Arc<[u8]>>,
    dirty: RwLock<BTreeMap<u64, Arc<[u8]>>>,
    /// The number of dirty pages. Readers of a file without dirty pages never take the lock.
    dirty_count: AtomicUsize,
    /// The pages of the latest short reads that found no page in memory, with the number of these
    /// reads. The slot of a page is its number modulo the number of slots.
    read_counters: OnceLock<Box<[AtomicU64]>>,
    /// The number of replacements of clean pages.
    replaced: AtomicUsize,
    /// The limit of clean pages.
    max_clean: usize,
    /// The number of dirty pages beyond which pages of new space are spilled.
    spill_at: AtomicUsize,
    /// The limit of dirty pages.
    max_dirty: usize,
}

impl Pages {
    /// Creates a page buffer of a file with two limits in bytes: for clean pages and for dirty
    /// pages. Only dirty pages that may be spilled count toward the limit of dirty pages.
    pub(crate) fn new(clean_bytes: u64, dirty_bytes: u64) -> Self {
        let pages = |bytes: u64| {
            usize::try_from(bytes / PAGE).map_or(MAX_PAGES, |pages| pages.clamp(MIN_PAGES, MAX_PAGES))
        };
        let (max_clean, max_dirty) = (pages(clean_bytes), pages(dirty_bytes));
        Self {
            clean: cache(max_clean, to_u64(max_clean), UnitWeighter),
            dirty: RwLock::default(),
            dirty_count: AtomicUsize::new(0),
            read_counters: OnceLock::new(),
            replaced: AtomicUsize::new(0),
            max_clean,
            spill_at: AtomicUsize::new(max_dirty),
            max_dirty,
        }
    }

    /// Returns `length` bytes of the file through the page buffer, beginning at the offset `start`.
    /// The caller has checked that the bytes lie in the file.
    pub(crate) fn read(&self, source: PageSource<'_>, start: u64, length: u64) -> Result<Bytes, DriverError> {
        let first = start / PAGE;
        let last = last_page(start, length);
        let skip = skip_of(start);
        if first == last {
            let page = self.page(source, first)?;
            if let Some(bytes) = Bytes::of(page, skip..skip + to_usize(length)?) {
                return Ok(bytes);
            }
        }
        if length > PAGE / 2 {
            // A long block in the buffer would only evict many smaller blocks.
            return self.read_uncached(source, start, length);
        }
        let mut buffer = vec![0; to_usize(length)?];
        for part in page_parts(start, buffer.len()) {
            let page = self.page(source, part.page)?;
            let to = buffer.split_at_mut(part.at).1.split_at_mut(part.length).0;
            to.copy_from_slice(page.split_at(part.skip).1.split_at(part.length).0);
        }
        Ok(buffer.into())
    }

    /// Fills `buffer` with bytes of the file from a page in memory. Returns whether the page is in
    /// memory. The third short read of a page brings the page into memory, because more short reads
    /// of this page are then likely.
    pub(crate) fn read_short(
        &self,
        source: PageSource<'_>,
        start: u64,
        buffer: &mut [u8],
    ) -> Result<bool, DriverError> {
        let (number, skip) = (start / PAGE, skip_of(start));
        let Some(end) = skip.checked_add(buffer.len()).filter(|end| *end as u64 <= PAGE) else {
            return Ok(false);
        };
        let page = match self.clean.get(&number) {
            Some(page) if self.dirty_count.load(Ordering::Acquire) == 0 => page,
            Some(_) => self.page(source, number)?,
            None => {
                let counters = self
                    .read_counters
                    .get_or_init(|| (0..READ_COUNTERS).map(|_| AtomicU64::new(u64::MAX)).collect());
                let slot = to_usize(number % to_u64(READ_COUNTERS))?;
                let Some(counter) = counters.get(slot) else { return Ok(false) };
                let value = counter.load(Ordering::Relaxed);
                let is_of_page = value / READS_BEFORE_CACHING == number;
                let reads = if is_of_page { value % READS_BEFORE_CACHING } else { 0 } + 1;
                if reads < READS_BEFORE_CACHING {
                    counter.store(number * READS_BEFORE_CACHING + reads, Ordering::Relaxed);
                    return Ok(false);
                }
                self.page(source, number)?
            }
        };
        let Some(bytes) = page.get(skip..end) else { return Ok(false) };
        buffer.copy_from_slice(bytes);
        Ok(true)
    }

    /// Reads bytes of the file from the driver and from dirty pages, without the clean pages in
    /// memory.
    pub(crate) fn read_uncached(
        &self,
        source: PageSource<'_>,
        start: u64,
        length: u64,
    ) -> Result<Bytes, DriverError> {
        let mut bytes = shared_zeros(to_usize(length)?);
        if let Some(buffer) = Arc::get_mut(&mut bytes) {
            self.read_into(source, start, buffer)?;
        }
        Ok(bytes.into())
    }

    /// Fills `buffer` with bytes of the file from the driver and from dirty pages. Does not use the
    /// clean pages in memory.
    pub(crate) fn read_into(
        &self,
        source: PageSource<'_>,
        start: u64,
        buffer: &mut [u8],
    ) -> Result<(), DriverError> {
        if self.dirty_count.load(Ordering::Acquire) == 0 {
            return source.read(start, buffer);
        }
        // Under the lock, no dirty page becomes clean between the two reads.
        let dirty = self.dirty.read();
        source.read(start, buffer)?;
        Self::overlay(&dirty, start, buffer);
        Ok(())
    }

    /// Replaces bytes that were read from the driver by the bytes of dirty pages in the page
    /// buffer. Only the thread that writes may call this function.
    pub(crate) fn overlay_dirty(&self, start: u64, buffer: &mut [u8]) {
        if self.dirty_count.load(Ordering::Acquire) != 0 {
            Self::overlay(&self.dirty.read(), start, buffer);
        }
    }

    fn overlay(dirty: &BTreeMap<u64, Arc<[u8]>>, start: u64, buffer: &mut [u8]) {
        if buffer.is_empty() {
            return;
        }
        let last = last_page(start, to_u64(buffer.len()));
        for (number, page) in dirty.range(start / PAGE..=last) {
            copy_shared(number * PAGE, page, start, buffer);
        }
    }

    fn page(&self, source: PageSource<'_>, number: u64) -> Result<Arc<[u8]>, DriverError> {
        if self.dirty_count.load(Ordering::Acquire) != 0
            && let Some(page) = self.dirty.read().get(&number)
        {
            return Ok(Arc::clone(page));
        }
        if let Some(page) = self.clean.get(&number) {
            return Ok(page);
        }
        let replaced = self.replaced.load(Ordering::Acquire);
        let page = source.page(number * PAGE)?;
        let dirty = self.dirty.read();
        if self.replaced.load(Ordering::Acquire) == replaced && !dirty.contains_key(&number) {
            self.clean.insert(number, Arc::clone(&page));
        }
        Ok(page)
    }

    /// Writes bytes to pages of the file in memory, which become dirty.
    pub(crate) fn write(&self, source: PageSource<'_>, start: u64, bytes: &[u8]) -> Result<(), DriverError> {
        self.with_dirty(|dirty| Self::write_into(dirty, &self.clean, source, start, bytes))
    }

    /// Calls `work` with exclusive access to the dirty pages of the page buffer.
    fn with_dirty<R>(&self, work: impl FnOnce(&mut BTreeMap<u64, Arc<[u8]>>) -> R) -> R {
        // The count is increased before the lock is taken. A thread that writes to the driver from
        // now on therefore also checks the dirty pages: `work` may read a page before that write
        // and keep it afterwards.
        self.dirty_count.fetch_add(1, Ordering::AcqRel);
        let mut dirty = self.dirty.write();
        let outcome = work(&mut dirty);
        self.dirty_count.store(dirty.len(), Ordering::Release);
        outcome
    }

    fn write_into(
        dirty: &mut BTreeMap<u64, Arc<[u8]>>,
        clean: &Cache<u64, Arc<[u8]>>,
        source: PageSource<'_>,
        start: u64,
        bytes: &[u8],
    ) -> Result<(), DriverError> {
        for part in page_parts(start, bytes.len()) {
            let page = match dirty.entry(part.page) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    let kept = clean.remove(&part.page).map(|(_, page)| page);
                    let is_whole = part.length == PAGE_BYTES;
                    entry.insert(match kept {
                        Some(page) => page,
                        None if is_whole => shared_zeros(PAGE_BYTES),
                        None => source.page(part.page * PAGE)?,
                    })
                }
            };
            put(bytes.split_at(part.at).1.split_at(part.length).0, page, part.skip);
        }
        Ok(())
    }

    /// Updates the pages in memory after `bytes` were written to the driver. Changes the dirty
    /// pages of the written range, and changes or evicts the clean pages. `bytes` is not empty.
    pub(crate) fn written_through(&self, start: u64, bytes: &[u8]) {
        self.replaced.fetch_add(1, Ordering::AcqRel);
        let mut dirty = self.dirty.write();
        let last = (start + to_u64(bytes.len()) - 1) / PAGE;
        for (number, page) in dirty.range_mut(start / PAGE..=last) {
            copy_shared(start, bytes, number * PAGE, Arc::make_mut(page));
        }
        if bytes.len() >= PAGE_BYTES {
            self.evict_clean(start, to_u64(bytes.len()));
            return;
        }
        for number in start / PAGE..=last {
            if let Some((_, mut page)) = self.clean.remove(&number) {
                copy_shared(start, bytes, number * PAGE, Arc::make_mut(&mut page));
                self.clean.insert(number, page);
            }
        }
    }

    /// Evicts the clean pages of a range of the file from the page buffer, because the bytes of the
    /// driver may have changed.
    pub(crate) fn evict(&self, start: u64, length: u64) {
        self.replaced.fetch_add(1, Ordering::AcqRel);
        let _dirty = self.dirty.write();
        self.evict_clean(start, length);
    }

    fn evict_clean(&self, start: u64, length: u64) {
        let numbers = start / PAGE..=last_page(start, length);
        if numbers.end() - *numbers.start() > to_u64(self.max_clean) {
            self.clean.clear();
            return;
        }
        for number in numbers {
            self.clean.remove(&number);
        }
    }

    /// Returns the number of bytes of dirty pages in the page buffer.
    pub(crate) fn dirty_bytes(&self) -> u64 {
        to_u64(self.dirty_count.load(Ordering::Acquire)) * PAGE
    }

    /// Writes the dirty pages of the page buffer between the file offsets `from` and `end` to the
    /// driver, except the ranges in `but`. The pages stay dirty. Calls `note` before each write.
    /// Returns whether any bytes were written.
    pub(crate) fn write_from(
        &self,
        driver: &dyn Driver,
        from: u64,
        end: u64,
        but: &Range<u64>,
        note: impl Fn(u64, &[u8]),
    ) -> Result<bool, DriverError> {
        let dirty = self.dirty.read();
        let mut requests = Vec::new();
        for (number, page) in dirty.range(from / PAGE..) {
            let offset = number * PAGE;
            let parts = [(from, end.min(but.start)), (from.max(but.end), end)];
            for (start, end) in parts {
                let (start, end) = (start.max(offset), end.min(offset + PAGE));
                if start < end {
                    let length = to_usize(end - start)?;
                    let bytes = page.split_at(skip_of(start)).1.split_at(length).0;
                    requests.push(WriteRequest { offset: start, bytes });
                }
            }
        }
        requests.iter().for_each(|request| note(request.offset, request.bytes));
        driver.write_many(&requests)?;
        Ok(!requests.is_empty())
    }

    /// Returns the dirty pages of the page buffer that begin before the file offset `border`, in
    /// ascending order.
    pub(crate) fn dirty_before(&self, border: u64) -> Vec<(u64, Arc<[u8]>)> {
        let dirty = self.dirty.read();
        let pages = dirty.range(..border.div_ceil(PAGE));
        pages.map(|(number, page)| (number * PAGE, Arc::clone(page))).collect()
    }

    /// Makes all dirty pages of the page buffer clean, because the driver has their bytes.
    pub(crate) fn make_all_clean(&self) {
        self.replaced.fetch_add(1, Ordering::AcqRel);
        let mut dirty = self.dirty.write();
        for (number, page) in std::mem::take(&mut *dirty) {
            self.clean.insert(number, page);
        }
        self.dirty_count.store(0, Ordering::Release);
        self.spill_at.store(self.max_dirty, Ordering::Release);
    }

    /// Makes some dirty pages of the page buffer clean, because the driver or the journal has their
    /// bytes. The next spill waits until as many new pages are dirty as the limit allows.
    /// Otherwise, each new page would make a spill visit the remaining pages again.
    pub(crate) fn make_clean(&self, pages: Vec<(u64, Arc<[u8]>)>) {
        self.replaced.fetch_add(1, Ordering::AcqRel);
        let mut dirty = self.dirty.write();
        for (offset, page) in pages {
            dirty.remove(&(offset / PAGE));
            self.clean.insert(offset / PAGE, page);
        }
        self.dirty_count.store(dirty.len(), Ordering::Release);
        self.spill_at.store(dirty.len() + self.max_dirty, Ordering::Release);
    }

    /// Returns whether the page buffer has so many dirty pages that the caller should call
    /// [`spill`](Self::spill).
    pub(crate) fn should_spill(&self) -> bool {
        self.dirty_count.load(Ordering::Acquire) > self.spill_at.load(Ordering::Acquire)
    }

    /// Returns whether the page buffer holds more dirty pages than their limit.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.dirty_count.load(Ordering::Acquire) > self.max_dirty
    }

    /// Writes the dirty pages between the file offsets `from` and `end` to the driver, and makes
    /// them clean. Leaves out pages that lie only partly in this range. No byte from `from` on is
    /// part of the committed file. Calls `note` before each write. Returns the end of the last
    /// written page, or 0.
    pub(crate) fn spill(
        &self,
        driver: &dyn Driver,
        from: u64,
        end: u64,
        note: impl Fn(u64, &[u8]),
    ) -> Result<u64, DriverError> {
        let dirty = self.dirty.read();
        let numbers = from.div_ceil(PAGE)..end / PAGE;
        let pages: Vec<(u64, Arc<[u8]>)> = if numbers.is_empty() {
            Vec::new()
        } else {
            let new = dirty.range(numbers);
            new.map(|(number, page)| (number * PAGE, Arc::clone(page))).collect()
        };
        let requests: Vec<WriteRequest<'_>> =
            pages.iter().map(|(offset, bytes)| WriteRequest { offset: *offset, bytes }).collect();
        requests.iter().for_each(|request| note(request.offset, request.bytes));
        driver.write_many(&requests)?;
        let written = pages.last().map_or(0, |(offset, _)| offset + PAGE);
        drop(dirty);
        self.make_clean(pages);
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_vfd::{Core, Driver as _};
    use proptest::prelude::*;

    use super::{ByteRows, PAGE, PageSource, Pages};

    proptest! {
        #[test]
        fn a_read_returns_the_bytes_of_the_file(reads in proptest::collection::vec((0_u64..5 * PAGE, 0_u64..3 * PAGE), 1..20)) {
            let bytes: Vec<u8> = (0..4 * PAGE + 77).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let length = bytes.len() as u64;
            let driver = Core::from_vec("test", bytes.clone());
            let pages = Pages::new(32 << 20, 64 << 20);
            let source = PageSource { driver: &driver, end: length, journal: None };
            for (start, count) in reads {
                let start = start.min(length);
                let count = count.min(length - start);
                let got = pages.read(source, start, count).unwrap();
                let range = index(start)..index(start + count);
                prop_assert_eq!(&*got, &bytes[range]);
            }
        }

        #[test]
        fn writes_are_read_before_and_after_they_reach_the_driver(
            steps in proptest::collection::vec((0_u8..6, 0_u64..5 * PAGE, 0_u64..2 * PAGE, any::<u8>()), 1..40),
        ) {
            let length = 4 * PAGE + 77;
            let mut model: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
            // The driver has fewer bytes than the file: the rest was allocated but not written.
            model[index(3 * PAGE + 5)..].fill(0);
            let driver = Core::from_vec("test", model[..index(3 * PAGE + 5)].to_vec());
            let pages = Pages::new(32 << 20, 64 << 20);
            for (subject, start, count, value) in steps {
                let source = PageSource { driver: &driver, end: driver.len().unwrap(), journal: None };
                let start = start.min(length);
                let count = index(count.min(length - start));
                let range = index(start)..index(start) + count;
                match subject {
                    0 => {
                        let got = pages.read(source, start, count as u64).unwrap();
                        prop_assert_eq!(&*got, &model[range]);
                    }
                    1 => {
                        let got = pages.read_uncached(source, start, count as u64).unwrap();
                        prop_assert_eq!(&*got, &model[range]);
                    }
                    2 => {
                        model[range].fill(value);
                        pages.write(source, start, &vec![value; count]).unwrap();
                    }
                    4 => {
                        let stride = 300 + u64::from(value) * 20;
                        let bytes: Vec<u8> = (0..count.min(3000) / 300 * 300).map(|at| u8::try_from(at % 251).unwrap()).collect();
                        for (offset, row) in (start..).step_by(index(stride)).zip(bytes.chunks_exact(300)) {
                            let at = index(offset);
                            model.resize(model.len().max(at + 300), 0);
                            model[at..at + 300].copy_from_slice(row);
                        }
                        model.truncate(index(length));
                        let rows = ByteRows { offset: 0, stride, length: 300, bytes: &bytes };
                        pages.write_rows(source, start, &rows).unwrap();
                    }
                    3 if count > 0 => {
                        model[range].fill(value);
                        driver.write_at(start, &vec![value; count]).unwrap();
                        pages.written_through(start, &vec![value; count]);
                    }
                    _ => {
                        pages.write_from(&driver, 0, length, &(0..0), |_, _| {}).unwrap();
                        pages.make_all_clean();
                    }
                }
            }
            pages.write_from(&driver, 0, length, &(0..0), |_, _| {}).unwrap();
            driver.set_len(length).unwrap();
            let mut all = vec![0; index(length)];
            driver.read_at(0, &mut all).unwrap();
            prop_assert!(all == model);
        }
    }

    fn index(offset: u64) -> usize {
        usize::try_from(offset).unwrap()
    }
}
