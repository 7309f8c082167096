//! SWMR writing: other programs read the file while it is written.
//!
//! Only the order of writes protects the readers: a block is in the file before any block that
//! points to it. Each block of metadata is written with one call. Space that readers may still
//! visit is never reused.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_exact::{to_u64, to_usize};
use hyperslab_format::btree_v2::{BTreeV2Header, BTreeV2Internal, BTreeV2Leaf};
use hyperslab_format::chunk_index::{
    ArrayPage, ExtensibleArrayDataBlock, ExtensibleArrayHeader, ExtensibleArrayIndexBlock,
    ExtensibleArraySecondaryBlock, FixedArrayDataBlock, FixedArrayHeader,
};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::object_header::ContinuationBlock;
use hyperslab_format::superblock::ConsistencyFlags;
use parking_lot::Mutex;

use super::Store;
use super::backing::write_failed;
use super::bytes::part;
use super::edit::Edit;
use crate::error::{Error, Result};

/// The rank of a changed metadata block in a SWMR write. All blocks of a rank are written before
/// the blocks of the next rank. A block points only to blocks of lower ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WriteRank {
    /// The superblock, which states the length of the file. The file has that length already.
    Superblock,
    /// Blocks that point at most to raw data.
    Leaf,
    /// Blocks that point to leaves.
    Between,
    /// Blocks that point to leaves and to blocks between.
    Root,
    /// The headers of indexes.
    Index,
    /// Continuation blocks of object headers.
    Continuation,
    /// Object headers, which state the dimensions of datasets.
    Object,
}

impl WriteRank {
    const ALL: [Self; 7] = [
        Self::Superblock,
        Self::Leaf,
        Self::Between,
        Self::Root,
        Self::Index,
        Self::Continuation,
        Self::Object,
    ];

    fn of(structure: &str, bytes: &[u8]) -> Self {
        match structure {
            "superblock" => Self::Superblock,
            ArrayPage::NAME | ExtensibleArrayDataBlock::NAME | BTreeV2Leaf::NAME => Self::Leaf,
            ExtensibleArraySecondaryBlock::NAME | BTreeV2Internal::NAME => Self::Between,
            ExtensibleArrayIndexBlock::NAME | FixedArrayDataBlock::NAME => Self::Root,
            ExtensibleArrayHeader::NAME | FixedArrayHeader::NAME | BTreeV2Header::NAME => Self::Index,
            _ if bytes.starts_with(ContinuationBlock::SIGNATURE) => Self::Continuation,
            _ => Self::Object,
        }
    }
}

/// The state of a file that is open for SWMR writing.
#[derive(Debug, Default)]
pub(super) struct SwmrWriter {
    is_on: AtomicBool,
    blocks: Mutex<SwmrBlocks>,
}

/// The metadata blocks of a SWMR writer by their file offsets: new blocks, changed blocks, and
/// retired blocks. A retired block is freed, but kept for readers.
#[derive(Debug, Default)]
struct SwmrBlocks {
    /// Blocks that were changed since the last flush, with their ends and ranks.
    changed: BTreeMap<u64, (u64, WriteRank)>,
    /// Blocks that were allocated since the last flush, with their ends. No reader has their
    /// addresses.
    new: BTreeMap<u64, u64>,
    /// Blocks that were freed but may still have readers, with their ends. Their bytes stay.
    retired: BTreeMap<u64, u64>,
}

impl SwmrBlocks {
    /// Returns the parts of a range of the file that lie outside of a SWMR writer's changed and
    /// retired blocks.
    fn others(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let before = |from: u64| self.changed.range(..=from).next_back().map(|(from, (to, _))| (*from, *to));
        let retired = |from: u64| self.retired.range(..=from).next_back().map(|(from, to)| (*from, *to));
        let mut gone: Vec<(u64, u64)> = before(start).into_iter().chain(retired(start)).collect();
        gone.extend(self.changed.range(start..end).map(|(from, (to, _))| (*from, *to)));
        gone.extend(self.retired.range(start..end).map(|(from, to)| (*from, *to)));
        gone.sort_unstable();
        let (mut at, mut others) = (start, Vec::new());
        for (from, to) in gone {
            if from > at {
                others.push((at, from.min(end)));
            }
            at = at.max(to);
        }
        if at < end {
            others.push((at, end));
        }
        others
    }
}

impl Store {
    /// Returns whether the store's file is open for SWMR writing. Other programs may then read the
    /// file, so it must be consistent at every moment.
    pub fn is_swmr_writer(&self) -> bool {
        self.sharing.swmr_writer.is_on.load(Ordering::Acquire)
    }

    /// Checks that the file is not open for SWMR writing. During SWMR writing, only two changes are
    /// possible: writes of elements, and the growth of datasets.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] with the refused operation `subject` if the file is open for SWMR
    /// writing.
    pub fn check_not_swmr_writer(&self, subject: &str) -> Result<()> {
        if self.is_swmr_writer() {
            return Err(Error::Misuse(format!(
                "{subject} while `{}` is open for SWMR writing, which permits only writing elements and growing \
                 datasets",
                self.name()
            )));
        }
        Ok(())
    }

    /// Records a metadata block whose bytes change during SWMR writing.
    pub(super) fn note_block(&self, start: u64, bytes: &[u8], structure: &str) {
        if self.is_swmr_writer() {
            let end = start + to_u64(bytes.len());
            let rank = WriteRank::of(structure, bytes);
            self.sharing.swmr_writer.blocks.lock().changed.insert(start, (end, rank));
        }
    }

    /// Writes all dirty pages of a SWMR writer in a safe order: first the bytes outside of changed
    /// blocks, then the changed blocks rank by rank. Readers then find a consistent file at every
    /// moment.
    pub(super) fn publish_in_order(&self, file_end: u64) -> Result<()> {
        let _exclusive = self.write_state.gate.write();
        let (driver, pages) = (&*self.backing.driver, &self.caches.pages);
        self.write_state.journal.note_write();
        if driver.len().map_err(write_failed)? < file_end {
            driver.set_len(file_end).map_err(write_failed)?;
        }
        let mut blocks = self.sharing.swmr_writer.blocks.lock();
        for (offset, page) in pages.dirty_before(u64::MAX) {
            let end = (offset + to_u64(page.len())).min(file_end);
            for (from, to) in blocks.others(offset, end) {
                driver.write_at(from, part(&page, offset, from..to)?).map_err(write_failed)?;
            }
        }
        self.backing.note_written(file_end);
        for rank in WriteRank::ALL {
            for (start, (end, _)) in blocks.changed.iter().filter(|(_, (_, other))| *other == rank) {
                let mut bytes = vec![0; to_usize(end - *start)?];
                self.source().read(*start, &mut bytes).map_err(write_failed)?;
                pages.overlay_dirty(*start, &mut bytes);
                driver.write_at(*start, &bytes).map_err(write_failed)?;
            }
            driver.flush().map_err(write_failed)?;
        }
        blocks.changed.clear();
        blocks.new.clear();
        pages.make_all_clean();
        drop(blocks);
        self.write_state.journal.sync(driver)
    }

    /// Writes the superblock with the given status flags, and syncs the file.
    fn write_status_flags(&self, flags: ConsistencyFlags) -> Result<()> {
        let (driver, base) = (&self.backing.driver, self.base());
        let bytes = {
            let mut superblock = self.superblock.write();
            superblock.consistency = flags;
            superblock.encode()?
        };
        driver.write_at(base, &bytes).map_err(write_failed)?;
        self.caches.pages.written_through(base, &bytes);
        driver.flush().map_err(write_failed)?;
        self.write_state.journal.note_write();
        driver.sync_data().map_err(write_failed)
    }
}

impl Edit<'_> {
    /// Begins SWMR writing of the file: commits all changes, removes the journal, writes the status
    /// flags of a SWMR writer and makes the lock of the file shared. The shared lock shows repair
    /// programs that the writer is alive.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the superblock is older than version 3, [`Error::Unsupported`]
    /// if the members of the file have ends of their own, and I/O errors.
    pub fn start_swmr_write(&mut self) -> Result<()> {
        let store = self.store();
        if store.is_swmr_writer() {
            return Ok(());
        }
        if store.driver_kind().has_member_ends() {
            return Err(Error::unsupported(format!(
                "SWMR writing to the members of a {} file",
                store.driver_kind()
            )));
        }
        let version = store.superblock().version_number();
        if version < 3 {
            return Err(Error::Misuse(format!(
                "SWMR writing needs a superblock of version 3, but the superblock of `{}` has version \
                 {version}: create the file with `LibverBounds` from `LibraryVersion::V110` on",
                store.name()
            )));
        }
        self.drop_stored_free_space()?;
        self.commit()?;
        store.write_state.journal.close(&*store.backing.driver)?;
        store.write_state.journal.disable();
        store.write_status_flags(ConsistencyFlags::WRITE_ACCESS | ConsistencyFlags::SWMR_ACCESS)?;
        store.sharing.swmr_writer.is_on.store(true, Ordering::Release);
        store.sharing.lock.share()
    }

    /// Ends SWMR writing of a file, after the last commit.
    pub(super) fn end_swmr_write(&mut self) -> Result<()> {
        let store = self.store();
        store.sharing.swmr_writer.is_on.store(false, Ordering::Release);
        store.write_status_flags(ConsistencyFlags::empty())
    }

    /// Returns whether the edited file is open for SWMR writing. Other programs may then read it.
    pub fn is_swmr_writer(&self) -> bool {
        self.store().is_swmr_writer()
    }

    /// Records a block of the file that was allocated during SWMR writing. No reader has the
    /// address of the block.
    pub(super) fn note_new(&self, address: Address, length: u64) {
        let store = self.store();
        if store.is_swmr_writer()
            && let Some(start) = store.backing.offset_of(address)
        {
            store.sharing.swmr_writer.blocks.lock().new.insert(start, start + length);
        }
    }

    /// Keeps a freed block of the file unchanged during SWMR writing, because SWMR readers may
    /// still visit the block. Returns whether the block must be kept.
    pub(super) fn retire(&self, address: Address, length: u64) -> bool {
        let store = self.store();
        if !store.is_swmr_writer() {
            return false;
        }
        if let Some(start) = store.backing.offset_of(address) {
            let mut blocks = store.sharing.swmr_writer.blocks.lock();
            blocks.changed.remove(&start);
            blocks.retired.insert(start, start + length);
        }
        true
    }

    /// Returns whether the metadata block at `address` is new. No SWMR reader knows the address of
    /// a new block.
    pub fn is_new(&self, address: Address) -> bool {
        let store = self.store();
        let Some(start) = store.backing.offset_of(address) else { return false };
        let blocks = store.sharing.swmr_writer.blocks.lock();
        blocks.new.range(..=start).next_back().is_some_and(|(_, end)| start < *end)
    }

    /// Returns whether the metadata block at `address` was changed since the last flush of the SWMR
    /// writer.
    pub fn is_changed(&self, address: Address) -> bool {
        let store = self.store();
        let is_written = |start: u64| store.sharing.swmr_writer.blocks.lock().changed.contains_key(&start);
        store.caches.dirty_blocks.get(address).is_some()
            || store.backing.offset_of(address).is_some_and(is_written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_lie_in_no_changed_or_retired_block() {
        let mut blocks = SwmrBlocks::default();
        blocks.changed.insert(10, (20, WriteRank::Leaf));
        blocks.changed.insert(20, (25, WriteRank::Object));
        blocks.retired.insert(40, 50);
        assert_eq!(blocks.others(0, 60), [(0, 10), (25, 40), (50, 60)]);
        assert_eq!(blocks.others(15, 45), [(25, 40)]);
        assert_eq!(blocks.others(12, 18), []);
        assert_eq!(blocks.others(60, 70), [(60, 70)]);
    }
}
