//! Access to an open file as bytes at addresses. Only this module uses drivers.

mod address_hasher;
mod backing;
mod bytes;
mod caches;
mod callbacks;
mod commit;
mod create;
mod decoded;
mod direct;
mod dirty_blocks;
mod edit;
#[cfg(test)]
pub(crate) mod image;
mod journal;
mod left_journal;
mod locking;
mod members;
mod new_members;
mod open;
mod open_objects;
mod options;
mod other_formats;
mod page;
mod page_source;
mod pages;
pub mod parallel;
mod publish;
mod ranges;
mod raw_file;
mod read;
mod repair;
mod salvage;
mod sharded_cache;
mod sharing;
mod space;
mod superblock;
mod swmr_reader;
mod swmr_writer;
mod threads;
mod user_block;
mod write;
mod write_state;

use std::sync::Arc;

use hyperslab_filter::Registry;
use hyperslab_format::codec::{Address, FileParams, FormatError, Limits};
use hyperslab_format::superblock::Superblock;
use hyperslab_vfd::{Driver, DriverKind};
use parking_lot::RwLock;

pub use address_hasher::AddressSet;
pub(crate) use address_hasher::{AddressHasher, AddressMap};
pub use bytes::Bytes;
pub use callbacks::Callback;
pub use create::CreateOptions;
pub use edit::{Edit, Reading};
pub use journal::{JournalComparison, JournalReport, JournalVerdict};
pub use left_journal::JournalOutcome;
pub use locking::FileLocking;
pub use new_members::NewMembers;
pub use open_objects::ObjectHandle;
pub use options::{Durability, StoreOptions};
pub use pages::ByteRows;
pub use raw_file::RawFile;
pub use repair::{
    EndRepair, JournalRepair, RepairOptions, Repaired, StatusFlagsRepair, ends, journal_report, repair,
    replay_into_copy,
};
pub use salvage::Damage;
pub(crate) use sharded_cache::cache;
pub use space::{BlockPlacement, FileSpace, SpaceKind, SpaceUsage};
pub(crate) use space::{MembersLocation, MessageLocation};

use crate::error::{Error, Result};
use backing::Backing;
use caches::Caches;
use page_source::PageSource;
use salvage::Salvaging;
use sharing::Sharing;
use write_state::WriteState;

/// An open file as bytes at addresses, with caches of metadata. Addresses count from the base
/// address of the file.
#[derive(Debug)]
pub struct Store {
    superblock: RwLock<Superblock>,
    params: FileParams,
    limits: Limits,
    /// The filters, which a program may replace while the file is open.
    filters: RwLock<Registry>,
    buffers_raw_data: bool,
    backing: Backing,
    caches: Caches,
    write_state: WriteState,
    sharing: Sharing,
    /// The record of damage, of a file that is being salvaged.
    salvaging: Option<Arc<Salvaging>>,
    /// The treatment of a journal that was found when the file was opened.
    journal_outcome: Option<JournalOutcome>,
}

impl Store {
    /// Returns the superblock of the open file.
    pub fn superblock(&self) -> Superblock {
        self.superblock.read().clone()
    }

    /// Returns the widths of addresses and lengths in the open file.
    pub fn params(&self) -> FileParams {
        self.params
    }

    /// Returns the base address of the file as a file offset, which is the size of the user block
    /// in bytes.
    pub fn base(&self) -> u64 {
        self.backing.base
    }

    /// Returns the length of the open file in bytes, including the user block and all members.
    pub fn file_length(&self) -> u64 {
        let by_members = self.backing.driver.kind().has_member_ends();
        if !by_members && (self.write_state.is_writable || self.is_swmr_reader()) {
            return self.length();
        }
        self.backing.stored()
    }

    /// Returns the end of the file as a file offset, including bytes that are not yet written.
    fn length(&self) -> u64 {
        self.backing.length()
    }

    /// Returns the source from which pages of the file are read: the driver, and the journal, which
    /// holds spilled pages (written before their commit).
    fn source(&self) -> PageSource<'_> {
        PageSource { journal: Some(&self.write_state.journal), ..self.backing.source() }
    }

    /// Returns whether the file has no changes since its last commit.
    fn is_as_committed(&self) -> bool {
        self.caches.dirty_bytes() == 0
            && !self.write_state.journal.has_spilled()
            && self.write_state.new_from() > 0
    }

    /// Refuses all further commits of the file, with a reason. This is necessary if an operation
    /// has failed after it reported success. The file keeps the state of its last commit.
    pub(crate) fn refuse_writes(&self, why: &'static str) {
        self.write_state.journal.refuse_writes(why);
    }

    /// Returns the driver that stores the bytes of the open file.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.backing.driver
    }

    /// Returns the kind of the driver that stores the bytes of the file.
    pub fn driver_kind(&self) -> DriverKind {
        self.backing.driver.kind()
    }

    /// Returns whether the stored file is as long as its superblock states.
    pub(crate) fn is_complete(&self) -> bool {
        superblock::stated_end(&self.superblock(), self.base()).is_some_and(|end| end <= self.length())
    }

    /// Returns the limits of the memory and work that reads of the file may need.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the registry of filters that can decode the file's blocks and chunks.
    pub fn filters(&self) -> Registry {
        self.filters.read().clone()
    }

    /// Replaces the registry of filters that can decode the file's blocks and chunks.
    pub fn set_filters(&self, filters: Registry) {
        *self.filters.write() = filters;
    }

    /// Returns the name of the open file or memory image, for error messages.
    pub fn name(&self) -> &str {
        self.backing.driver.name()
    }

    /// Returns the file offset of `length` bytes at `address`, after a check that the bytes lie in
    /// the file.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the bytes do not lie in the file.
    fn locate(&self, address: Address, length: u64, structure: &'static str) -> Result<u64> {
        let mut file_length = self.length();
        if self.is_swmr_reader() && !self.reaches(address, length) {
            file_length = self.backing.update_length()?;
        }
        let outside = || {
            let expected = format!("{length} bytes inside the file of {file_length} bytes");
            Error::corrupt(structure, "address", expected, address)
        };
        let start = self.backing.offset_of(address).ok_or_else(outside)?;
        let end = start.checked_add(length).ok_or_else(outside)?;
        // The space between member files reads as zeros, but no block is larger than all stored
        // bytes.
        if end > file_length || length > self.file_length() {
            return Err(outside());
        }
        Ok(start)
    }

    /// Returns whether `length` bytes at `address` lie before the end of the file that is known to
    /// the store.
    fn reaches(&self, address: Address, length: u64) -> bool {
        let start = self.backing.offset_of(address);
        start.and_then(|start| start.checked_add(length)).is_some_and(|end| end <= self.length())
    }

    /// Checks that `length` bytes at `address` lie inside the file.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if they do not.
    pub fn check_inside(&self, address: Address, length: u64, structure: &'static str) -> Result<()> {
        self.locate(address, length, structure).map(drop)
    }
}

/// Returns the result `result` of decoding a block. If the result is an error, adds the address
/// `address` of the block.
pub(crate) fn at<T>(result: std::result::Result<T, FormatError>, address: Address) -> Result<T> {
    result.map_err(|error| error.at(address).into())
}
