//! Writing to a file while others read it (the writing side of SWMR).
//!
//! Nothing protects the readers but the order in which bytes come into the file: what is pointed at stands there before
//! what points at it. Each block of metadata is written with one call, and what readers may still find their way to is
//! never given to anything else.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use hyperslab_exact::to_usize;
use hyperslab_format::btree_v2::{BTreeV2Header, BTreeV2Internal, BTreeV2Leaf};
use hyperslab_format::chunk_index::{
    ArrayPage, ExtensibleArrayDataBlock, ExtensibleArrayHeader, ExtensibleArrayIndexBlock,
    ExtensibleArraySecondaryBlock, FixedArrayDataBlock, FixedArrayHeader,
};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::object_header::ContinuationBlock;
use hyperslab_format::superblock::ConsistencyFlags;
use hyperslab_vfd::DriverError;
use parking_lot::Mutex;

use super::Store;
use super::edit::Edit;
use super::publish::part;
use crate::error::{Error, Result};

/// When a changed block is written: each rank after all ranks before it. Blocks point only at blocks of lower ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It says how long the file is, which it is by then.
    Superblock,
    /// They point at raw data at most.
    Leaf,
    /// They point at leaves.
    Between,
    /// They point at both.
    Root,
    /// The headers of indexes.
    Index,
    /// Parts of object headers that are not the first.
    Continuation,
    /// Object headers, which say how large a dataset is.
    Object,
}

impl Rank {
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

/// What is known of a file that others read while it is written.
#[derive(Debug, Default)]
pub(super) struct Followed {
    on: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Blocks that were changed since the last flush: their ends and ranks by where they begin.
    changed: BTreeMap<u64, (u64, Rank)>,
    /// What was allocated since then, and no reader knows.
    new: BTreeMap<u64, u64>,
    /// What was given back, and readers may still look at: it stays as it was.
    retired: BTreeMap<u64, u64>,
}

impl State {
    /// What of a range is not in a changed block and not retired.
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

fn io(source: DriverError) -> Error {
    Error::Io { action: "cannot write the file".into(), source }
}

impl Store {
    /// Returns whether others may read the file while it is written, so that it has to be true at every instant.
    pub fn is_followed(&self) -> bool {
        self.followed.on.load(Ordering::Acquire)
    }

    /// An error if others read the file meanwhile: only elements may change then, and datasets grow.
    ///
    /// # Errors
    /// [`Error::Misuse`].
    pub fn check_not_followed(&self, what: &str) -> Result<()> {
        if self.is_followed() {
            return Err(Error::Misuse(format!(
                "{what} while `{}` is open for SWMR writing, in which datasets take elements and grow, and nothing else \
                 changes",
                self.name()
            )));
        }
        Ok(())
    }

    /// Returns the offset of an address. The undefined address has one that no block begins at.
    fn offset_of(&self, address: Address) -> u64 {
        address.raw().saturating_add(self.base)
    }

    /// Takes note of a block whose bytes change.
    pub(super) fn note_block(&self, start: u64, bytes: &[u8], structure: &str) {
        if self.is_followed() {
            let end = start + bytes.len() as u64;
            self.followed.state.lock().changed.insert(start, (end, Rank::of(structure, bytes)));
        }
    }

    /// Lets the file be what it is in memory, step by step, so that whoever reads it at any instant finds it whole.
    pub(super) fn publish_in_order(&self, file_end: u64) -> Result<()> {
        let _alone = self.gate.write();
        let driver = &*self.driver;
        self.journal.note_write();
        if driver.len().map_err(io)? < file_end {
            driver.set_len(file_end).map_err(io)?;
        }
        let mut state = self.followed.state.lock();
        for (offset, page) in self.pages.before(u64::MAX) {
            let end = (offset + page.len() as u64).min(file_end);
            for (from, to) in state.others(offset, end) {
                driver.write_at(from, part(&page, offset, from..to)?).map_err(io)?;
            }
        }
        self.written.fetch_max(file_end, Ordering::AcqRel);
        for rank in Rank::ALL {
            for (start, (end, _)) in state.changed.iter().filter(|(_, (_, other))| *other == rank) {
                let mut bytes = vec![0; to_usize(end - *start)?];
                self.medium().read(*start, &mut bytes).map_err(io)?;
                self.pages.amend(*start, &mut bytes);
                driver.write_at(*start, &bytes).map_err(io)?;
            }
            driver.flush().map_err(io)?;
        }
        state.changed.clear();
        state.new.clear();
        self.pages.all_written();
        drop(state);
        self.journal.sync(driver)
    }

    /// Writes the superblock with these marks.
    fn mark(&self, marks: ConsistencyFlags) -> Result<()> {
        let bytes = {
            let mut superblock = self.superblock.write();
            superblock.consistency = marks;
            superblock.encode()?
        };
        self.driver.write_at(self.base, &bytes).map_err(io)?;
        self.pages.written_through(self.base, &bytes);
        self.driver.flush().map_err(io)?;
        self.journal.note_write();
        self.driver.sync_data().map_err(io)
    }
}

impl Edit<'_> {
    /// Lets others read the file from now on while it is written: everything is committed, the file is marked, its lock
    /// is shared, and there is no journal any more. The shared lock tells those who would put the file right that its
    /// writer lives.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the superblock is older than version 3; [`Error::Io`].
    pub fn start_swmr_write(&mut self) -> Result<()> {
        let store = self.store();
        if store.is_followed() {
            return Ok(());
        }
        if store.driver.kind().has_member_ends() {
            return Err(Error::unsupported(format!(
                "SWMR writing to the members of a {} file",
                store.driver.kind()
            )));
        }
        let version = store.superblock().version_number();
        if version < 3 {
            return Err(Error::Misuse(format!(
                "SWMR writing to `{}`, whose superblock has version {version}: it needs version 3 (make the file with \
                 `LibverBounds` from `LibraryVersion::V110` on)",
                store.name()
            )));
        }
        self.give_up_free_space()?;
        self.commit()?;
        store.journal.end(&*store.driver)?;
        store.journal.stop();
        store.mark(ConsistencyFlags::WRITE_ACCESS | ConsistencyFlags::SWMR_ACCESS)?;
        store.followed.on.store(true, Ordering::Release);
        store.lock.share()
    }

    /// The end of SWMR writing, after the last commit.
    pub(super) fn end_swmr_write(&mut self) -> Result<()> {
        let store = self.store();
        store.followed.on.store(false, Ordering::Release);
        store.mark(ConsistencyFlags::empty())
    }

    /// Returns whether others read the file while it is written.
    pub fn is_followed(&self) -> bool {
        self.store().is_followed()
    }

    /// Takes note of space that no reader knows.
    pub(super) fn note_new(&self, address: Address, length: u64) {
        let store = self.store();
        if store.is_followed() {
            let start = store.offset_of(address);
            store.followed.state.lock().new.insert(start, start + length);
        }
    }

    /// Lets what readers may look at stay as it is, and nobody else have it. Returns whether it has to.
    pub(super) fn retire(&self, address: Address, length: u64) -> bool {
        let store = self.store();
        if !store.is_followed() {
            return false;
        }
        let start = store.offset_of(address);
        let mut state = store.followed.state.lock();
        state.changed.remove(&start);
        state.retired.insert(start, start + length);
        true
    }

    /// Returns whether no reader knows the block at `address`.
    pub fn is_new(&self, address: Address) -> bool {
        let start = self.store().offset_of(address);
        let state = self.store().followed.state.lock();
        state.new.range(..=start).next_back().is_some_and(|(_, end)| start < *end)
    }

    /// Returns whether the block at `address` was changed since the last flush.
    pub fn is_changed(&self, address: Address) -> bool {
        let store = self.store();
        let start = store.offset_of(address);
        store.unsaved.get(address).is_some() || store.followed.state.lock().changed.contains_key(&start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_changed_block_is_written_first() {
        let mut state = State::default();
        state.changed.insert(10, (20, Rank::Leaf));
        state.changed.insert(20, (25, Rank::Object));
        state.retired.insert(40, 50);
        assert_eq!(state.others(0, 60), [(0, 10), (25, 40), (50, 60)]);
        assert_eq!(state.others(15, 45), [(25, 40)]);
        assert_eq!(state.others(12, 18), []);
        assert_eq!(state.others(60, 70), [(60, 70)]);
    }
}
