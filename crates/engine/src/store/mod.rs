//! Bytes at addresses: the only room that holds a driver.

mod bytes;
mod caches;
mod callbacks;
mod commit;
mod create;
mod decoded;
mod direct;
mod edit;
mod following;
#[cfg(test)]
pub(crate) mod image;
mod journal;
mod left_journal;
mod locking;
mod members;
mod open;
mod open_objects;
mod pages;
pub mod parallel;
mod publish;
mod raw_file;
mod repair;
mod salvage;
mod space;
mod swmr;
#[cfg(test)]
mod tests_pages;
mod threads;
mod unsaved;
mod user_block;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hyperslab_exact::to_usize;
use hyperslab_filter::Registry;
use hyperslab_format::codec::{Address, FileParams, FormatError, Limits, Structure};
use hyperslab_format::journal::SECTOR;
use hyperslab_format::metadata_cache_image::{MetadataCacheBlock, MetadataCacheContext};
use hyperslab_format::superblock::Superblock;
use hyperslab_vfd::{Driver, DriverError, DriverKind, ReadRequest};
use parking_lot::RwLock;

pub use bytes::Bytes;
pub(crate) use caches::cache;
pub use callbacks::Callback;
pub use create::CreateOptions;
pub use edit::{Edit, Reading};
pub use journal::{JournalComparison, JournalReport, JournalVerdict};
pub use left_journal::JournalOutcome;
pub use locking::FileLocking;
pub(crate) use members::StatedPlace;
pub use open::{Durability, StoreOptions};
pub use open_objects::ObjectHandle;
pub use raw_file::RawFile;
pub use repair::{
    EndRepair, JournalRepair, MarksRepair, RepairOptions, Repaired, ends, journal_report, repair,
    replay_into_copy,
};
pub use salvage::Damage;
pub(crate) use space::MessagePlace;
pub use space::{FileSpace, Placement, SpaceKind, SpaceUsage};
use space::{Fresh, Space};
pub(crate) use unsaved::Spread;

use crate::error::{Error, Result};
use crate::memory::zeros;
use callbacks::Callbacks;
use decoded::Decoded;
use edit::{SMALL_WRITE, Writing};
use following::Following;
use journal::{Change, Journal};
use locking::FileLock;
use open_objects::OpenObjects;
pub use pages::ByteRows;
use pages::{Medium, Pages};
use salvage::Salvaging;
use swmr::Followed;
use threads::Threads;
use unsaved::Unsaved;

/// Raw data up to this many bytes is read through the page cache, where its neighbours are likely to follow.
const SMALL_READ: usize = 2048;

/// Rows that are written at once.
const ROWS: usize = 1024;

/// Bytes of raw data that are copied from a page, if it is in memory.
const SHORT_RUN: usize = 1024;

/// Bytes that are changed in memory at once.
const AT_ONCE: usize = 1 << 20;

/// An open file as bytes at addresses that count from its base address.
#[derive(Debug)]
pub struct Store {
    driver: Arc<dyn Driver>,
    superblock: RwLock<Superblock>,
    params: FileParams,
    base: u64,
    /// The offset behind the last byte, whether it is written yet or not.
    length: AtomicU64,
    /// The offset behind the last byte that the driver has.
    written: AtomicU64,
    /// The offset behind all that was ever written, to the driver or in memory: what lies behind is zeros.
    touched: AtomicU64,
    /// Bytes that are really there, of a file that is only read or has members with ends of their own.
    stored: AtomicU64,
    /// The offset from which on nothing is part of the file as committed.
    new_from: AtomicU64,
    /// What is not part of it before that offset.
    fresh: RwLock<Arc<Fresh>>,
    /// Whoever writes bytes holds it, so that a commit finds them all where they shall be.
    gate: RwLock<()>,
    journal: Journal,
    limits: Limits,
    filters: Registry,
    pages: Pages,
    /// Blocks that a metadata cache image holds in place of those at their addresses.
    overlay: HashMap<Address, Bytes>,
    decoded: Decoded,
    unsaved: Unsaved,
    /// Bytes of changes that are kept in memory.
    uncommitted: u64,
    placement: Placement,
    writable: bool,
    /// How often the file was opened for a change.
    generation: AtomicU64,
    writing: RwLock<Option<Writing>>,
    /// Set when the file may not be changed any more.
    closed: AtomicBool,
    /// Others may read the file while it is written.
    followed: Followed,
    /// Set where somebody else may write to the file meanwhile.
    following: Option<Following>,
    /// Given back when nothing is written any more.
    lock: FileLock,
    threads: Threads,
    /// Objects that somebody has open.
    open_objects: Arc<OpenObjects>,
    /// Threads that run code of the program while they hold the file.
    callbacks: Callbacks,
    /// Where damage is noted, of a file that is being salvaged.
    salvaging: Option<Arc<Salvaging>>,
    /// What became of a journal that was found when the file was opened.
    journal_outcome: Option<JournalOutcome>,
}

impl Store {
    /// The superblock as the file holds it.
    pub fn superblock(&self) -> Superblock {
        self.superblock.read().clone()
    }

    /// Widths of addresses and lengths.
    pub fn params(&self) -> FileParams {
        self.params
    }

    /// Where address 0 lies, in bytes from the start of the file: the size of the user block.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Bytes of the whole file, or of all its members, user block included.
    pub fn file_length(&self) -> u64 {
        let by_members = self.driver.kind().has_member_ends();
        if !by_members && (self.writable || self.follows()) {
            return self.length();
        }
        self.stored.load(Ordering::Acquire)
    }

    /// The offset behind the last byte.
    fn length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    /// The driver and how much it has.
    fn medium(&self) -> Medium<'_> {
        let end = self.written.load(Ordering::Acquire);
        Medium { driver: &*self.driver, end, journal: Some(&self.journal) }
    }

    /// Makes room for what was given away.
    fn reach(&self, space: &Space) {
        self.length.fetch_max(self.base + space.furthest(), Ordering::AcqRel);
        if space.has_members() {
            self.stored.fetch_max(self.base + space.usage().end, Ordering::AcqRel);
        }
    }

    /// The file has been committed and ends there.
    fn set_end(&self, end: u64) {
        self.length.store(end, Ordering::Release);
        self.written.store(end, Ordering::Release);
        self.touched.store(end, Ordering::Release);
    }

    /// Returns whether nothing was changed since the last commit.
    fn is_as_committed(&self) -> bool {
        self.pages.changed_bytes() == 0
            && self.unsaved.bytes() == 0
            && !self.journal.has_moved()
            && self.new_from.load(Ordering::Acquire) > 0
    }

    /// A commit of a file in which nothing was changed in memory: the disk gets what was written early.
    fn sync_unchanged(&self) -> Result<()> {
        let _alone = self.gate.write();
        self.journal.check()?;
        let failed = |source| Error::Io { action: "cannot write the file".into(), source };
        self.driver.flush().map_err(failed)?;
        self.journal.sync(&*self.driver)
    }

    /// Nothing from `end` on is part of the file as committed.
    fn set_new_from(&self, end: u64) {
        self.new_from.store(self.base + end, Ordering::Release);
    }

    /// Writes early what is new, when much is changed; what is to replace something waits in the journal.
    fn relieve(&self) -> Result<()> {
        if !self.pages.is_crowded() {
            return Ok(());
        }
        let _alone = self.gate.write();
        let failed = |source| Error::Io { action: "cannot write the file".into(), source };
        if self.driver.kind().has_member_ends() {
            return self.spill_members();
        }
        self.journal.complete(&*self.driver)?;
        let new_from = self.direct_from();
        // The superblock of a new file comes last.
        let from = if new_from == 0 { self.base + SECTOR } else { new_from };
        let note = |offset, bytes: &[u8]| self.note_new(offset, bytes);
        let written = self.pages.spill(&*self.driver, from, self.length(), note).map_err(failed)?;
        self.written.fetch_max(written, Ordering::AcqRel);
        if self.journal.is_on() && new_from > 0 && self.pages.is_full() {
            self.keep_in_journal(new_from)?;
        }
        Ok(())
    }

    /// Lets the changed pages of the committed file wait in the journal.
    fn keep_in_journal(&self, new_from: u64) -> Result<()> {
        let failed = |source| Error::Io { action: "cannot write the file".into(), source };
        let pages = self.pages.before(new_from);
        let Some((last, page)) = pages.last() else { return Ok(()) };
        // What lies on the last page behind the committed end has its place already.
        let border = new_from..last + page.len() as u64;
        let note = |offset, bytes: &[u8]| self.note_new(offset, bytes);
        if self.pages.write_from(&*self.driver, border.start, border.end, &(0..0), note).map_err(failed)? {
            self.written.fetch_max(border.end.min(self.length()), Ordering::AcqRel);
        }
        let mut olds = Vec::with_capacity(pages.len());
        for (offset, page) in &pages {
            let mut old = vec![0; to_usize((new_from - *offset).min(page.len() as u64))?];
            self.medium().read(*offset, &mut old).map_err(failed)?;
            olds.push(old);
        }
        let changes: Vec<Change<'_>> = pages
            .iter()
            .zip(&olds)
            .map(|((offset, page), old)| Change { offset: *offset, old, new: page.split_at(old.len()).0 })
            .collect();
        self.journal.keep(&*self.driver, &changes)?;
        self.pages.moved(pages);
        Ok(())
    }

    /// Nothing more is written, since something that was said to be done is not: the file stays what it was committed as.
    pub(crate) fn give_up(&self, why: &'static str) {
        self.journal.give_up(why);
    }

    /// What holds the bytes.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Where the bytes lie.
    pub fn driver_kind(&self) -> DriverKind {
        self.driver.kind()
    }

    /// Returns whether there are as many bytes as the superblock says.
    pub(crate) fn is_complete(&self) -> bool {
        open::stated_end(&self.superblock(), self.base).is_some_and(|end| end <= self.length())
    }

    /// Bounds on what the file may ask for.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The filters that blocks and chunks may have passed.
    pub fn filters(&self) -> &Registry {
        &self.filters
    }

    /// The name of the file or image, for errors.
    pub fn name(&self) -> &str {
        self.driver.name()
    }

    /// The offset in the file of `length` bytes at `address`, if they all lie inside the file.
    fn locate(&self, address: Address, length: u64, structure: &'static str) -> Result<u64> {
        let mut file_length = self.length();
        if self.follows() && !self.reaches(address, length) {
            file_length = self.learn_length()?;
        }
        let outside = || {
            let expected = format!("{length} bytes inside the file of {file_length} bytes");
            Error::corrupt(structure, "address", expected, address)
        };
        let start = address.get().and_then(|offset| offset.checked_add(self.base)).ok_or_else(outside)?;
        let end = start.checked_add(length).ok_or_else(outside)?;
        // The room between member files reads as zeros, but no block is larger than all that is stored.
        if end > file_length || length > self.file_length() {
            return Err(outside());
        }
        Ok(start)
    }

    /// Returns whether so many bytes at `address` are known to be in the file.
    fn reaches(&self, address: Address, length: u64) -> bool {
        let start = address.get().and_then(|offset| offset.checked_add(self.base));
        start.and_then(|start| start.checked_add(length)).is_some_and(|end| end <= self.length())
    }

    /// An error unless `length` bytes at `address` all lie inside the file.
    pub fn check_inside(&self, address: Address, length: u64, structure: &'static str) -> Result<()> {
        self.locate(address, length, structure).map(drop)
    }

    /// Bytes of metadata, read through the page cache.
    pub fn read(&self, address: Address, length: u64, structure: &'static str) -> Result<Bytes> {
        if length > self.limits.metadata_block {
            return Err(Error::Limit {
                what: format!("{structure}: bytes of one block"),
                got: length,
                limit: self.limits.metadata_block,
            });
        }
        if !self.overlay.is_empty()
            && let Some(bytes) = self.overlaid(address, length)
        {
            return Ok(bytes);
        }
        if self.follows() {
            return self.read_alone(address, length, structure);
        }
        self.save(address)?;
        let start = self.locate(address, length, structure)?;
        self.pages.read(self.medium(), start, length).map_err(|source| Error::Io {
            action: format!("cannot read the {structure} at {address}"),
            source,
        })
    }

    /// As [`read`](Self::read), past the page cache: for blocks of which each lies somewhere else, so that a page
    /// around it would bring nothing that is asked for next.
    pub fn read_alone(&self, address: Address, length: u64, structure: &'static str) -> Result<Bytes> {
        if length > self.limits.metadata_block || !self.overlay.is_empty() {
            return self.read(address, length, structure);
        }
        self.save(address)?;
        let start = self.locate(address, length, structure)?;
        self.pages.read_alone(self.medium(), start, length).map_err(|source| Error::Io {
            action: format!("cannot read the {structure} at {address}"),
            source,
        })
    }

    /// Lets the blocks of the metadata cache image at `address` stand for those in the file.
    ///
    /// # Errors
    /// If the image cannot be read or decoded.
    pub fn overlay(&mut self, address: Address, length: u64) -> Result<()> {
        let bytes = self.read(address, length, MetadataCacheBlock::NAME)?;
        let context = MetadataCacheContext { params: self.params(), length: bytes.len() };
        let image = at(MetadataCacheBlock::decode(&bytes, &context), address)?;
        self.overlay = image.entries.into_iter().map(|entry| (entry.address, entry.image.into())).collect();
        Ok(())
    }

    /// The blocks of the metadata cache image, by ascending addresses; from now on those in the file are read.
    pub fn end_overlay(&mut self) -> Vec<(Address, Bytes)> {
        let mut blocks: Vec<_> = std::mem::take(&mut self.overlay).into_iter().collect();
        blocks.sort_unstable_by_key(|(address, _)| *address);
        blocks
    }

    fn overlaid(&self, address: Address, length: u64) -> Option<Bytes> {
        self.overlay.get(&address)?.slice(0..usize::try_from(length).ok()?)
    }

    /// At most `length` bytes of metadata: fewer where the file ends before.
    pub fn read_up_to(&self, address: Address, length: u64, structure: &'static str) -> Result<Bytes> {
        if let Some(block) = self.overlay.get(&address) {
            let end = usize::try_from(length).map_or(block.len(), |length| length.min(block.len()));
            return Ok(block.slice(0..end).unwrap_or_else(|| block.clone()));
        }
        if self.follows() && !self.reaches(address, length) {
            self.learn_length()?;
        }
        let start = self.locate(address, 1, structure)?;
        // The end of several members may lie far behind the bytes that there are.
        let most = (self.length() - start).min(self.file_length());
        self.read(address, length.min(most), structure)
    }

    /// Reads and decodes one block of metadata.
    pub fn get<T: Structure>(&self, address: Address, context: &T::Context) -> Result<T> {
        self.attempt(|| {
            let bytes = self.read(address, T::size(context) as u64, T::NAME)?;
            T::decode(&bytes, context).map_err(|error| error.at(address).into())
        })
    }

    /// Raw data, straight into the caller's buffer.
    pub fn read_raw(&self, address: Address, buffer: &mut [u8]) -> Result<()> {
        let start = self.locate(address, buffer.len() as u64, "raw data")?;
        self.note_raw(address, buffer.len());
        if self.is_in_pages(start, buffer).map_err(|source| Self::raw_error(address, source))? {
            return Ok(());
        }
        let read = self.pages.read_into(self.medium(), start, buffer);
        read.map_err(|source| Self::raw_error(address, source))
    }

    /// Raw data into parts, one after the other. Says whether it was read: only where that saves a copy.
    pub fn read_raw_parts(&self, address: Address, parts: &mut [&mut [u8]]) -> Result<bool> {
        if self.writable || !self.driver.reads_parts() {
            return Ok(false);
        }
        let length = parts.iter().fold(0_usize, |sum, part| sum + part.len());
        let start = self.locate(address, length as u64, "raw data")?;
        self.note_raw(address, length);
        self.driver.read_parts(start, parts).map_err(|source| Self::raw_error(address, source))?;
        Ok(true)
    }

    /// Returns whether a short run was copied from a page in memory.
    fn is_in_pages(&self, start: u64, buffer: &mut [u8]) -> std::result::Result<bool, DriverError> {
        let may = buffer.len() <= SHORT_RUN && !self.follows() && self.driver.as_bytes().is_none();
        if may { self.pages.read_short(self.medium(), start, buffer) } else { Ok(false) }
    }

    /// All raw data of one dataset. If it is little, its neighbours, likely to be asked for next, come with it
    /// into the page cache.
    pub fn read_raw_whole(&self, address: Address, buffer: &mut [u8]) -> Result<()> {
        if buffer.len() > SMALL_READ {
            return self.read_raw(address, buffer);
        }
        let bytes = self.read(address, buffer.len() as u64, "raw data")?;
        self.note_raw(address, buffer.len());
        buffer.copy_from_slice(&bytes);
        Ok(())
    }

    /// Raw data in a buffer of its own, which is made only if the file has that many bytes there.
    pub fn read_raw_vec(&self, address: Address, length: u64) -> Result<Vec<u8>> {
        self.locate(address, length, "raw data")?;
        let length = usize::try_from(length).map_err(|_| Error::Limit {
            what: "raw data: bytes of one block".into(),
            got: length,
            limit: usize::MAX as u64,
        })?;
        let mut buffer = zeros(length, "raw data")?;
        self.read_raw(address, &mut buffer)?;
        Ok(buffer)
    }

    /// Raw data at several addresses, each into its own buffer; neighbours are fetched together.
    pub fn read_raw_many(&self, requests: &mut [(Address, &mut [u8])]) -> Result<()> {
        if self.writable {
            return requests.iter_mut().try_for_each(|(address, buffer)| self.read_raw(*address, buffer));
        }
        let first = requests.first().map_or(Address::UNDEFINED, |(address, _)| *address);
        let mut located = Vec::with_capacity(requests.len());
        for (address, buffer) in requests {
            let offset = self.locate(*address, buffer.len() as u64, "raw data")?;
            self.note_raw(*address, buffer.len());
            if self.is_in_pages(offset, buffer).map_err(|source| Self::raw_error(*address, source))? {
                continue;
            }
            located.push(ReadRequest { offset, buf: buffer });
        }
        self.driver.read_many(&mut located).map_err(|source| Self::raw_error(first, source))
    }

    /// The bytes themselves, where the driver holds the whole file in memory.
    pub fn view_raw(&self, address: Address, length: u64) -> Option<&[u8]> {
        let start = usize::try_from(self.locate(address, length, "raw data").ok()?).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        self.driver.as_bytes()?.get(start..end)
    }

    /// Raw data, into space that was allocated for it. Threads may write to different places at once.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if it does not lie inside the file, [`Error::Io`], [`Error::Misuse`] if the file is open
    /// for reading only.
    pub fn write_raw(&self, address: Address, bytes: &[u8]) -> Result<()> {
        if !self.writable {
            return Err(Error::Misuse(format!("`{}` is open for reading only", self.name())));
        }
        let start = self.locate(address, bytes.len() as u64, "raw data")?;
        let failed = |source| Error::Io { action: format!("cannot write raw data at {address}"), source };
        if bytes.len() <= SMALL_WRITE {
            self.change(start, bytes).map_err(failed)?;
            return self.relieve();
        }
        for (from, to, is_new) in self.pieces(start, start + bytes.len() as u64)? {
            let bytes = publish::part(bytes, start, from..to)?;
            if is_new {
                // A commit that is brought into the file later may cut it.
                self.journal.complete(&*self.driver)?;
                self.write_through(from, bytes).map_err(failed)?;
                continue;
            }
            for (number, part) in (0_u64..).zip(bytes.chunks(AT_ONCE)) {
                self.change(from + number * AT_ONCE as u64, part).map_err(failed)?;
                self.relieve()?;
            }
        }
        Ok(())
    }

    /// Rows of raw data, to their offsets in a block of `length` bytes that was allocated for them.
    ///
    /// # Errors
    /// As [`write_raw`](Self::write_raw).
    pub fn write_raw_rows(&self, (address, length): (Address, u64), rows: &ByteRows<'_>) -> Result<()> {
        if !self.writable {
            return Err(Error::Misuse(format!("`{}` is open for reading only", self.name())));
        }
        let first = self.locate(address, length, "raw data")?;
        let Some(end) = rows.end().filter(|end| *end <= length) else {
            return Err(Error::corrupt(
                "raw data",
                "size",
                format!("rows inside of {length} bytes"),
                address,
            ));
        };
        let failed = |source| Error::Io { action: format!("cannot write raw data at {address}"), source };
        // Others have a turn in between.
        let at_once = if rows.length > SMALL_WRITE { 1 } else { (AT_ONCE / rows.length.max(1)).min(ROWS) };
        let mut offset = rows.offset;
        for bytes in rows.bytes.chunks((at_once * rows.length).max(1)) {
            if bytes.len() > SMALL_WRITE && at_once == 1 {
                let invariant = "rows inside of a block have addresses";
                let place = address.checked_add(offset);
                self.write_raw(place.ok_or(Error::Internal { structure: "raw data", invariant })?, bytes)?;
            } else {
                let _writing = self.gate.read();
                self.touched.fetch_max(first + end, Ordering::AcqRel);
                let rows = ByteRows { offset, bytes, ..*rows };
                self.pages.write_rows(self.medium(), first + offset, &rows).map_err(failed)?;
            }
            self.relieve()?;
            // No row begins at the offset behind the last one.
            offset = offset.wrapping_add(rows.stride.wrapping_mul(at_once as u64));
        }
        Ok(())
    }

    /// Changes bytes in memory.
    fn change(&self, start: u64, bytes: &[u8]) -> std::result::Result<(), DriverError> {
        let _writing = self.gate.read();
        self.touched.fetch_max(start + bytes.len() as u64, Ordering::AcqRel);
        self.pages.write(self.medium(), start, bytes)
    }

    /// All bytes of the file as it was committed, user block included.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Limit`] if memory cannot hold them.
    pub fn image(&self) -> Result<Vec<u8>> {
        let failed = |source| Error::Io { action: "cannot read the file".into(), source };
        let length = self.driver.len().map_err(failed)?;
        let mut bytes = vec![0; to_usize(length)?];
        self.driver.read_at(0, &mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Makes bytes of the block at `address`, if it was changed and is none yet.
    fn save(&self, address: Address) -> Result<()> {
        let Some(block) = self.unsaved.get(address) else { return Ok(()) };
        let bytes = block.encode().map_err(|error| error.at(address))?;
        let start = self.locate(address, bytes.len() as u64, "changed block")?;
        self.note_block(start, &bytes, block.structure());
        self.change(start, &bytes).map_err(|source| Error::Io {
            action: format!("cannot change the block at {address}"),
            source,
        })?;
        // Not before: another reader would find what stood there until now. Several may get here with the same bytes.
        self.unsaved.remove(address);
        self.relieve()
    }

    fn raw_error(address: Address, source: DriverError) -> Error {
        Error::Io { action: format!("cannot read raw data at {address}"), source }
    }
}

/// Adds the block's address to a decoding error.
pub(crate) fn at<T>(result: std::result::Result<T, FormatError>, address: Address) -> Result<T> {
    result.map_err(|error| error.at(address).into())
}
