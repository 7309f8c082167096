//! The file's pages in memory, through which metadata and small raw data are read and written: clean ones as many
//! as there is room for, changed ones until they are committed.
//!
//! One thread writes at a time; any number may read meanwhile, and find nothing older than what had been written when they
//! began. Two rules see to that. What is changed is looked for before the clean pages and the driver, and stays changed until
//! those have it; who reads the driver where pages are changed holds the lock of the changed ones until both are put
//! together. And who has read a page keeps it only if, under that lock, no page was replaced since: whoever replaces some
//! says so first, and takes the lock before it forgets them.

mod rows;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_vfd::{Driver, DriverError, WriteRequest};
use parking_lot::RwLock;
use quick_cache::UnitWeighter;
use quick_cache::sync::Cache;

use super::journal::Journal;
use super::{Bytes, cache};
pub use rows::ByteRows;

/// Bytes of a page. Headers of small objects lie next to each other, so a page brings many at once.
pub(crate) const PAGE: u64 = to_u64(PAGE_BYTES);

/// The same, as a length in memory.
pub(crate) const PAGE_BYTES: usize = 8 << 10;

/// Pages that are remembered to have been asked for, and how often they are until they come into memory.
const ASKED: usize = 1024;
const OFTEN: u64 = 3;

/// Pages of the file by their number.
#[derive(Debug)]
pub(crate) struct Pages {
    clean: Cache<u64, Arc<[u8]>>,
    changed: RwLock<BTreeMap<u64, Arc<[u8]>>>,
    /// How many pages are changed: readers of files that nobody writes never touch the lock.
    changed_count: AtomicUsize,
    /// Pages of which short runs were read last, each at the place that its number has.
    asked: OnceLock<Box<[AtomicU64]>>,
    /// How often clean pages were replaced.
    replaced: AtomicUsize,
    /// Clean pages kept.
    room: usize,
    /// Changed pages beyond which those of new space are written early.
    spill_at: AtomicUsize,
    /// The same, as it was asked for.
    changed_room: usize,
}

/// A driver and how much of it exists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Medium<'a> {
    pub(crate) driver: &'a dyn Driver,
    /// The offset behind the last byte that the driver has. Bytes after it read as zeros.
    pub(crate) end: u64,
    /// What stands in place of some of its bytes.
    pub(crate) journal: Option<&'a Journal>,
}

impl Medium<'_> {
    /// Fills `buffer` with what the driver has, and zeros where it has nothing.
    pub(crate) fn read(&self, start: u64, buffer: &mut [u8]) -> Result<(), DriverError> {
        if let Some(outside) = buffer.get_mut(self.there(start, buffer.len())..) {
            outside.fill(0);
        }
        self.read_there(start, buffer)
    }

    /// How many of so many bytes the driver has.
    fn there(&self, start: u64, length: usize) -> usize {
        // A range may begin behind the end.
        let there = self.end.saturating_sub(start);
        usize::try_from(there).map_or(length, |there| there.min(length))
    }

    /// The same for a buffer that is zeros where the driver has nothing.
    fn read_there(&self, start: u64, buffer: &mut [u8]) -> Result<(), DriverError> {
        let there = self.there(start, buffer.len());
        if let Some(inside) = buffer.get_mut(..there).filter(|inside| !inside.is_empty()) {
            self.driver.read_at(start, inside)?;
        }
        self.journal.map_or(Ok(()), |journal| journal.amend(start, buffer))
    }

    /// Reads a page.
    fn block(&self, start: u64) -> Result<Arc<[u8]>, DriverError> {
        let mut bytes = zeros(PAGE_BYTES);
        if let Some(buffer) = Arc::get_mut(&mut bytes) {
            self.read_there(start, buffer)?;
        }
        Ok(bytes)
    }
}

impl Pages {
    /// Keeps clean pages of so many bytes, and about as many of changed ones, as far as these may be written early.
    pub(crate) fn new(clean_bytes: u64, changed_bytes: u64) -> Self {
        // More pages than memory can hold are as good as all of them.
        let pages = |bytes: u64| usize::try_from(bytes / PAGE).unwrap_or(usize::MAX).max(8);
        let (room, changed_room) = (pages(clean_bytes), pages(changed_bytes));
        Self {
            clean: cache(room, room as u64, UnitWeighter),
            changed: RwLock::default(),
            changed_count: AtomicUsize::new(0),
            asked: OnceLock::new(),
            replaced: AtomicUsize::new(0),
            room,
            spill_at: AtomicUsize::new(changed_room),
            changed_room,
        }
    }

    /// `length` bytes from `start`; the caller has checked that they exist.
    pub(crate) fn read(&self, medium: Medium<'_>, start: u64, length: u64) -> Result<Bytes, DriverError> {
        let first = start / PAGE;
        let last = last_page(start, length);
        let skip = skip_of(start);
        if first == last {
            let page = self.page(medium, first)?;
            if let Some(bytes) = Bytes::of(page, skip..skip + to_usize(length)?) {
                return Ok(bytes);
            }
        }
        if length > PAGE / 2 {
            // Long blocks pass the cache by: they would only push smaller ones out.
            return self.read_alone(medium, start, length);
        }
        let mut buffer = vec![0; to_usize(length)?];
        for piece in pieces(start, buffer.len()) {
            let page = self.page(medium, piece.page)?;
            let to = buffer.split_at_mut(piece.at).1.split_at_mut(piece.length).0;
            to.copy_from_slice(page.split_at(piece.skip).1.split_at(piece.length).0);
        }
        Ok(buffer.into())
    }

    /// Fills `buffer` from a page in memory, and says whether there was one. A page that is asked for again and again comes
    /// into memory: one of few, on which what is read lies near each other.
    pub(crate) fn read_short(
        &self,
        medium: Medium<'_>,
        start: u64,
        buffer: &mut [u8],
    ) -> Result<bool, DriverError> {
        let (number, skip) = (start / PAGE, skip_of(start));
        let Some(end) = skip.checked_add(buffer.len()).filter(|end| *end as u64 <= PAGE) else {
            return Ok(false);
        };
        let page = match self.clean.get(&number) {
            Some(page) if self.changed_count.load(Ordering::Acquire) == 0 => page,
            Some(_) => self.page(medium, number)?,
            None => {
                let asked = self.asked.get_or_init(|| (0..ASKED).map(|_| AtomicU64::new(u64::MAX)).collect());
                let Some(place) = asked.get(to_usize(number % to_u64(ASKED))?) else { return Ok(false) };
                let asked = place.load(Ordering::Relaxed);
                let before = if asked / OFTEN == number { asked % OFTEN } else { 0 };
                let times = before + 1;
                if times < OFTEN {
                    place.store(number * OFTEN + times, Ordering::Relaxed);
                    return Ok(false);
                }
                self.page(medium, number)?
            }
        };
        let Some(bytes) = page.get(skip..end) else { return Ok(false) };
        buffer.copy_from_slice(bytes);
        Ok(true)
    }

    /// Bytes that do not go through the cache.
    pub(crate) fn read_alone(
        &self,
        medium: Medium<'_>,
        start: u64,
        length: u64,
    ) -> Result<Bytes, DriverError> {
        let mut bytes = zeros(to_usize(length)?);
        if let Some(buffer) = Arc::get_mut(&mut bytes) {
            self.read_into(medium, start, buffer)?;
        }
        let all = 0..bytes.len();
        Ok(Bytes::of(bytes, all).unwrap_or_else(|| Bytes::from(&[][..])))
    }

    /// Fills `buffer` with what the driver and the changed pages have, past the clean ones.
    pub(crate) fn read_into(
        &self,
        medium: Medium<'_>,
        start: u64,
        buffer: &mut [u8],
    ) -> Result<(), DriverError> {
        if self.changed_count.load(Ordering::Acquire) == 0 {
            return medium.read(start, buffer);
        }
        // Nothing of it is committed in between.
        let changed = self.changed.read();
        medium.read(start, buffer)?;
        Self::put_over(&changed, start, buffer);
        Ok(())
    }

    /// Puts what was changed and is not committed over bytes that the driver gave: for the one who writes.
    pub(crate) fn amend(&self, start: u64, buffer: &mut [u8]) {
        if self.changed_count.load(Ordering::Acquire) != 0 {
            Self::put_over(&self.changed.read(), start, buffer);
        }
    }

    fn put_over(changed: &BTreeMap<u64, Arc<[u8]>>, start: u64, buffer: &mut [u8]) {
        if buffer.is_empty() {
            return;
        }
        let last = last_page(start, buffer.len() as u64);
        for (number, page) in changed.range(start / PAGE..=last) {
            let page_start = number * PAGE;
            put_from(page_start, page, start, buffer);
        }
    }

    fn page(&self, medium: Medium<'_>, number: u64) -> Result<Arc<[u8]>, DriverError> {
        if self.changed_count.load(Ordering::Acquire) != 0
            && let Some(page) = self.changed.read().get(&number)
        {
            return Ok(Arc::clone(page));
        }
        if let Some(page) = self.clean.get(&number) {
            return Ok(page);
        }
        let replaced = self.replaced.load(Ordering::Acquire);
        let page = medium.block(number * PAGE)?;
        let changed = self.changed.read();
        if self.replaced.load(Ordering::Acquire) == replaced && !changed.contains_key(&number) {
            self.clean.insert(number, Arc::clone(&page));
        }
        Ok(page)
    }

    /// Changes bytes in memory.
    pub(crate) fn write(&self, medium: Medium<'_>, start: u64, bytes: &[u8]) -> Result<(), DriverError> {
        self.changing(|changed| Self::write_into(changed, &self.clean, medium, start, bytes))
    }

    /// Lets changed pages be changed, and others become so.
    fn changing<R>(&self, work: impl FnOnce(&mut BTreeMap<u64, Arc<[u8]>>) -> R) -> R {
        // Whoever writes to the driver from now on looks here, too: a page may be read before that and kept after.
        self.changed_count.fetch_add(1, Ordering::AcqRel);
        let mut changed = self.changed.write();
        let outcome = work(&mut changed);
        self.changed_count.store(changed.len(), Ordering::Release);
        outcome
    }

    fn write_into(
        changed: &mut BTreeMap<u64, Arc<[u8]>>,
        clean: &Cache<u64, Arc<[u8]>>,
        medium: Medium<'_>,
        start: u64,
        bytes: &[u8],
    ) -> Result<(), DriverError> {
        for piece in pieces(start, bytes.len()) {
            let page = match changed.entry(piece.page) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    let kept = clean.remove(&piece.page).map(|(_, page)| page);
                    let whole = piece.length as u64 == PAGE;
                    entry.insert(match kept {
                        Some(page) => page,
                        None if whole => zeros(PAGE_BYTES),
                        None => medium.block(piece.page * PAGE)?,
                    })
                }
            };
            let from = bytes.split_at(piece.at).1.split_at(piece.length).0;
            put(from, page, piece.skip);
        }
        Ok(())
    }

    /// Takes note that the driver holds other bytes now: clean pages there are forgotten, changed ones changed.
    pub(crate) fn written_through(&self, start: u64, bytes: &[u8]) {
        self.replaced.fetch_add(1, Ordering::AcqRel);
        let mut changed = self.changed.write();
        let last = (start + bytes.len() as u64 - 1) / PAGE;
        for (number, page) in changed.range_mut(start / PAGE..=last) {
            let page_start = number * PAGE;
            put_from(start, bytes, page_start, Arc::make_mut(page));
        }
        self.forget_clean(start, bytes.len() as u64);
    }

    /// Forgets clean pages: the driver may hold something else.
    pub(crate) fn forget(&self, start: u64, length: u64) {
        self.replaced.fetch_add(1, Ordering::AcqRel);
        let _changed = self.changed.write();
        self.forget_clean(start, length);
    }

    fn forget_clean(&self, start: u64, length: u64) {
        let numbers = start / PAGE..=last_page(start, length);
        if numbers.end() - *numbers.start() > self.room as u64 {
            self.clean.clear();
            return;
        }
        for number in numbers {
            self.clean.remove(&number);
        }
    }

    /// Bytes of changed pages.
    pub(crate) fn changed_bytes(&self) -> u64 {
        self.changed_count.load(Ordering::Acquire) as u64 * PAGE
    }

    /// Writes what the changed pages hold from `from` up to `end`, without what lies in `but`. They stay changed.
    pub(crate) fn write_from(
        &self,
        driver: &dyn Driver,
        from: u64,
        end: u64,
        but: &Range<u64>,
        note: impl Fn(u64, &[u8]),
    ) -> Result<bool, DriverError> {
        let changed = self.changed.read();
        let mut requests = Vec::new();
        for (number, page) in changed.range(from / PAGE..) {
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

    /// The changed pages that begin before `border`, ascending.
    pub(crate) fn before(&self, border: u64) -> Vec<(u64, Arc<[u8]>)> {
        let changed = self.changed.read();
        let pages = changed.range(..border.div_ceil(PAGE));
        pages.map(|(number, page)| (number * PAGE, Arc::clone(page))).collect()
    }

    /// Takes note that all changed pages are in the file.
    pub(crate) fn all_written(&self) {
        self.replaced.fetch_add(1, Ordering::AcqRel);
        let mut changed = self.changed.write();
        for (number, page) in std::mem::take(&mut *changed) {
            self.clean.insert(number, page);
        }
        self.changed_count.store(0, Ordering::Release);
        self.spill_at.store(self.changed_room, Ordering::Release);
    }

    /// Takes note that these pages stand where they will be read from. What had to stay is not gone through again for every
    /// page.
    pub(crate) fn moved(&self, pages: Vec<(u64, Arc<[u8]>)>) {
        self.replaced.fetch_add(1, Ordering::AcqRel);
        let mut changed = self.changed.write();
        for (offset, page) in pages {
            changed.remove(&(offset / PAGE));
            self.clean.insert(offset / PAGE, page);
        }
        self.changed_count.store(changed.len(), Ordering::Release);
        self.spill_at.store(changed.len() + self.changed_room, Ordering::Release);
    }

    /// Returns whether there are so many changed pages that [`spill`](Self::spill) should be called.
    pub(crate) fn is_crowded(&self) -> bool {
        self.changed_count.load(Ordering::Acquire) > self.spill_at.load(Ordering::Acquire)
    }

    /// Returns whether there are more changed pages than there is room for.
    pub(crate) fn is_full(&self) -> bool {
        self.changed_count.load(Ordering::Acquire) > self.changed_room
    }

    /// Writes the changed pages that lie wholly between `from`, from which on nothing is part of the file as
    /// committed, and `end`; they are clean then. Returns the offset behind the last byte written.
    pub(crate) fn spill(
        &self,
        driver: &dyn Driver,
        from: u64,
        end: u64,
        note: impl Fn(u64, &[u8]),
    ) -> Result<u64, DriverError> {
        let changed = self.changed.read();
        let numbers = from.div_ceil(PAGE)..end / PAGE;
        let pages: Vec<(u64, Arc<[u8]>)> = if numbers.is_empty() {
            Vec::new()
        } else {
            let new = changed.range(numbers);
            new.map(|(number, page)| (number * PAGE, Arc::clone(page))).collect()
        };
        let requests: Vec<WriteRequest<'_>> =
            pages.iter().map(|(offset, bytes)| WriteRequest { offset: *offset, bytes }).collect();
        requests.iter().for_each(|request| note(request.offset, request.bytes));
        driver.write_many(&requests)?;
        let written = pages.last().map_or(0, |(offset, _)| offset + PAGE);
        drop(changed);
        self.moved(pages);
        Ok(written)
    }
}

/// Shared from the start: a vector would be copied to become it.
fn zeros(length: usize) -> Arc<[u8]> {
    std::iter::repeat_n(0, length).collect()
}

/// A part of a range of bytes that lies on one page.
struct Piece {
    page: u64,
    /// Bytes of the page before it.
    skip: usize,
    /// Bytes of the range before it.
    at: usize,
    length: usize,
}

/// Copies bytes to their place on a page.
fn put(bytes: &[u8], page: &mut Arc<[u8]>, skip: usize) {
    Arc::make_mut(page).split_at_mut(skip).1.split_at_mut(bytes.len()).0.copy_from_slice(bytes);
}

fn pieces(start: u64, length: usize) -> impl Iterator<Item = Piece> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = length.checked_sub(at).filter(|rest| *rest > 0)?;
        let offset = start.checked_add(at as u64)?;
        let skip = skip_of(offset);
        let length = rest.min(PAGE_BYTES - skip);
        let piece = Piece { page: offset / PAGE, skip, at, length };
        at += length;
        Some(piece)
    })
}

/// Returns the number of bytes of a page before the offset.
fn skip_of(offset: u64) -> usize {
    (offset % PAGE) as usize
}

/// Returns the number of the page with the last byte of a range, or with its start if the range is empty. A range may have
/// no end.
fn last_page(start: u64, length: u64) -> u64 {
    start.saturating_add(length.saturating_sub(1)) / PAGE
}

/// Copies the bytes that two ranges of the file share, each with the offset of its first byte.
fn put_from(from_start: u64, from: &[u8], to_start: u64, to: &mut [u8]) {
    // One of the ranges begins first, by nothing at least.
    let skip = usize::try_from(to_start.saturating_sub(from_start)).ok();
    let at = usize::try_from(from_start.saturating_sub(to_start)).ok();
    let from = skip.and_then(|skip| from.get(skip..));
    let to = at.and_then(|at| to.get_mut(at..));
    if let (Some(from), Some(to)) = (from, to) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_vfd::{Core, Driver as _};
    use proptest::prelude::*;

    use super::{ByteRows, Medium, PAGE, Pages};

    proptest! {
        #[test]
        fn reads_what_the_file_holds(reads in proptest::collection::vec((0_u64..5 * PAGE, 0_u64..3 * PAGE), 1..20)) {
            let bytes: Vec<u8> = (0..4 * PAGE + 77).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let length = bytes.len() as u64;
            let driver = Core::from_vec("test", bytes.clone());
            let pages = Pages::new(32 << 20, 64 << 20);
            let medium = Medium { driver: &driver, end: length, journal: None };
            for (start, count) in reads {
                let start = start.min(length);
                let count = count.min(length - start);
                let got = pages.read(medium, start, count).unwrap();
                let range = index(start)..index(start + count);
                prop_assert_eq!(&*got, &bytes[range]);
            }
        }

        #[test]
        fn changes_are_seen_before_and_after_they_are_written(
            steps in proptest::collection::vec((0_u8..6, 0_u64..5 * PAGE, 0_u64..2 * PAGE, any::<u8>()), 1..40),
        ) {
            let length = 4 * PAGE + 77;
            let mut model: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
            // The driver ends before the file does: the rest was allocated, not written.
            model[index(3 * PAGE + 5)..].fill(0);
            let driver = Core::from_vec("test", model[..index(3 * PAGE + 5)].to_vec());
            let pages = Pages::new(32 << 20, 64 << 20);
            for (what, start, count, value) in steps {
                let medium = Medium { driver: &driver, end: driver.len().unwrap(), journal: None };
                let start = start.min(length);
                let count = index(count.min(length - start));
                let range = index(start)..index(start) + count;
                match what {
                    0 => {
                        let got = pages.read(medium, start, count as u64).unwrap();
                        prop_assert_eq!(&*got, &model[range]);
                    }
                    1 => {
                        let got = pages.read_alone(medium, start, count as u64).unwrap();
                        prop_assert_eq!(&*got, &model[range]);
                    }
                    2 => {
                        model[range].fill(value);
                        pages.write(medium, start, &vec![value; count]).unwrap();
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
                        pages.write_rows(medium, start, &rows).unwrap();
                    }
                    3 if count > 0 => {
                        model[range].fill(value);
                        driver.write_at(start, &vec![value; count]).unwrap();
                        pages.written_through(start, &vec![value; count]);
                    }
                    _ => {
                        pages.write_from(&driver, 0, length, &(0..0), |_, _| {}).unwrap();
                        pages.all_written();
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
