//! Finding the superblock and judging whether the file may be opened.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use hyperslab_exact::to_usize;
use hyperslab_filter::Registry;
use hyperslab_format::codec::{FileParams, Limits};
use hyperslab_format::message::FileSpaceInfo;
use hyperslab_format::superblock::{ConsistencyFlags, Superblock};
use hyperslab_vfd::{Driver, SideFile};
use parking_lot::RwLock;

use super::Store;
use super::callbacks::Callbacks;
use super::decoded::Decoded;
use super::edit::Writing;
use super::following::{Following, with_patience};
use super::journal::Journal;
use super::left_journal::{JournalOutcome, LeftJournal};
use super::locking::{FileLock, FileLocking};
use super::pages::Pages;
use super::salvage::{Damage, Salvaging};
use super::space::{MessagePlace, Placement, Record, Rules, Space, Stored};
use super::swmr::Followed;
use super::threads::Threads;
use super::unsaved::Unsaved;
use crate::error::{Error, Result};
use crate::versions::LibverBounds;

/// How a file is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Bounds on what the file may ask for.
    pub limits: Limits,
    /// The filters that blocks and chunks may have passed.
    pub filters: Registry,
    /// Read a file that a writer has open for single-writer/multiple-reader access.
    pub swmr_read: bool,
    /// Open a file although it is marked as open for writing, or is shorter than its superblock says.
    pub ignore_marks: bool,
    /// Bytes of decoded chunks that are kept.
    pub chunk_cache: u64,
    /// Open for writing as well, structures in those versions.
    pub write: Option<LibverBounds>,
    /// Bytes of the file's pages that are kept for reading.
    pub page_buffer: u64,
    /// Bytes of changes that are kept in memory. An operation that changes more writes what lies in new space early;
    /// what replaces something waits until it has ended.
    pub uncommitted: u64,
    /// How new blocks are laid.
    pub placement: Placement,
    /// What a file that is written survives.
    pub durability: Durability,
    /// Where the journal lies; without one, changes are not atomic.
    pub journal: Option<Arc<dyn SideFile>>,
    /// True if the file is locked while it is open.
    pub locking: FileLocking,
    /// Read on over damage: what cannot be read is noted and passed over.
    pub salvage: bool,
}

/// Bytes of decoded chunks that a file keeps unless told otherwise.
const CHUNK_CACHE: u64 = 64 << 20;

/// Bytes of pages that a file keeps unless told otherwise.
const PAGE_BUFFER: u64 = 32 << 20;

/// Bytes of changes that a file keeps unless told otherwise.
const UNCOMMITTED: u64 = 64 << 20;

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            filters: Registry::default(),
            swmr_read: false,
            ignore_marks: false,
            chunk_cache: CHUNK_CACHE,
            write: None,
            page_buffer: PAGE_BUFFER,
            uncommitted: UNCOMMITTED,
            placement: Placement::default(),
            durability: Durability::default(),
            journal: None,
            locking: FileLocking::default(),
            salvage: false,
        }
    }
}

/// What is kept of a file if its writer, or the whole machine, ends at any instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Durability {
    /// Changes go into the file as they come, at a flush at the latest. An end in the middle of one may damage the file; this is what
    /// libhdf5 does.
    None,
    /// A flush happens wholly or not at all, wherever the writer ends, and stays once it has returned. Nothing waits for the disk: a loss
    /// of power may damage the file.
    Ordered,
    /// The same, and a loss of power is survived, too: each flush waits for the disk.
    #[default]
    Full,
}

impl Store {
    /// Opens the file that `driver` holds.
    pub fn open(driver: Arc<dyn Driver>, options: StoreOptions) -> Result<Self> {
        let unknown = |source| Error::Io { action: "cannot learn the length of the file".into(), source };
        if options.write.is_some() && driver.is_read_only() {
            return Err(Error::Misuse(format!("`{}` can only be read", driver.name())));
        }
        let lock = FileLock::take(&driver, options.write.is_some(), options.locking)?;
        let (driver, mut left) = LeftJournal::settle(driver, &options)?;
        let length = driver.len().map_err(unknown)?;
        let stored = driver.stored_len().map_err(unknown)?;
        let find = || {
            let (base, superblock) = find_superblock(&*driver, length)?;
            check_widths(&superblock)?;
            Ok((base, superblock))
        };
        let (base, superblock) = match with_patience(options.swmr_read, find) {
            Err(error) if options.salvage => {
                let guessed = guess_superblock(&*driver, length);
                let mut store = Self::assemble(driver, lock, guessed, 0, (length, stored), options);
                store.journal_outcome = left.finish()?;
                if let Some(salvaging) = &store.salvaging {
                    salvaging.note(Damage::of(&error));
                }
                return Ok(store);
            }
            found => found.map_err(|error| left.explain(error))?,
        };
        if !options.ignore_marks && !options.salvage {
            check_marks(&superblock, options.swmr_read).map_err(|error| left.explain(error))?;
            // A writer that is at work may have stated an end that it has not reached yet.
            if !(options.swmr_read && is_swmr(&superblock)) {
                check_length(&*driver, &superblock, base, length).map_err(|error| left.explain(error))?;
            }
        }
        if options.swmr_read {
            // Readers that come and go must not keep the next writer out.
            lock.release()?;
        }
        let mut store = Self::assemble(driver, lock, superblock, base, (length, stored), options);
        left.hand_over(&store.journal, length);
        store.journal_outcome = left.finish()?;
        store.spread_over_members()?;
        Ok(store)
    }

    /// Returns the fate of the journal that lay beside the file when the file was opened, if there was one with a whole commit.
    pub fn journal_outcome(&self) -> Option<&JournalOutcome> {
        self.journal_outcome.as_ref()
    }

    /// The store of a file of that length of which so much is stored.
    pub(super) fn assemble(
        driver: Arc<dyn Driver>,
        lock: FileLock,
        superblock: Superblock,
        base: u64,
        (length, stored): (u64, u64),
        options: StoreOptions,
    ) -> Self {
        let StoreOptions {
            limits,
            filters,
            write,
            page_buffer,
            uncommitted,
            placement,
            durability,
            journal,
            swmr_read,
            salvage,
            ..
        } = options;
        let following = swmr_read && write.is_none();
        let by_members = driver.kind().has_member_ends();
        let params = superblock.params;
        let end = stated_end(&superblock, base).unwrap_or(length) - base;
        let writing = write.map(|bounds| Writing {
            space: Space::new(Rules::new(&FileSpaceInfo::DEFAULT, placement, address_limit(params)), end),
            bounds,
            superblock_changed: false,
            record: None,
            stated_members: None,
        });
        Self {
            driver,
            superblock: RwLock::new(superblock),
            params,
            base,
            length: AtomicU64::new(length),
            written: AtomicU64::new(length),
            touched: AtomicU64::new(length),
            stored: stored.into(),
            limits,
            filters,
            new_from: AtomicU64::new(base + end),
            fresh: writing.as_ref().map(|writing| writing.space.fresh()).unwrap_or_default().into(),
            gate: RwLock::new(()),
            // A commit of several ends is more than the journal can say.
            journal: Journal::new(journal.filter(|_| !by_members), durability),
            pages: Pages::new(page_buffer, uncommitted),
            uncommitted,
            placement,
            overlay: HashMap::new(),
            decoded: Decoded::new(),
            unsaved: Unsaved::default(),
            writable: writing.is_some(),
            generation: AtomicU64::new(0),
            writing: RwLock::new(writing),
            closed: AtomicBool::new(false),
            followed: Followed::default(),
            following: following.then(Following::default),
            lock,
            threads: Threads::default(),
            open_objects: Arc::default(),
            callbacks: Callbacks::default(),
            salvaging: Salvaging::new(salvage),
            journal_outcome: None,
        }
    }
}

impl Store {
    /// Lets the space of the file be managed as it asks for in the message at `place`, and takes over what is free in
    /// it. To be called before anything is changed.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if what is stored of free space is damaged; [`Error::Io`].
    pub(crate) fn manage_space(&self, info: FileSpaceInfo, place: MessagePlace) -> Result<()> {
        if !self.writable {
            return Ok(());
        }
        let rules = Rules::new(&info, self.placement, address_limit(self.params));
        let mut writing = self.writing.write();
        let Some(writing) = writing.as_mut() else { return Ok(()) };
        let end = writing.space.end();
        let stored = Stored::load(self, &info, &rules, writing.space.furthest())?;
        let before = std::mem::replace(&mut writing.space, Space::new(rules, end));
        writing.space.spread_as(&before);
        *self.fresh.write() = writing.space.fresh();
        if !before.has_members() {
            writing.space.adopt(&stored);
        }
        writing.record = Some(Record { info, place, blocks: stored.blocks });
        Ok(())
    }
}

/// The undefined address, which no block can have, in that width.
fn address_limit(params: FileParams) -> u64 {
    let bits = u32::from(params.size_of_offsets) * 8;
    64_u32.checked_sub(bits).and_then(|spare| u64::MAX.checked_shr(spare)).unwrap_or(u64::MAX)
}

/// Looks for the superblock at 0, 512, 1024, 2048, … bytes. Addresses count from where it is found, whatever
/// its base address field says (so does libhdf5: a user block may have been put before a finished file).
pub(super) fn find_superblock(driver: &dyn Driver, length: u64) -> Result<(u64, Superblock)> {
    let mut offset = 0_u64;
    while length.checked_sub(offset).is_some_and(|rest| rest >= 8) {
        let available = (length - offset).min(Superblock::MAX_SIZE as u64);
        let mut bytes = vec![0; to_usize(available)?];
        driver
            .read_at(offset, &mut bytes)
            .map_err(|source| Error::Io { action: "cannot read the superblock".into(), source })?;
        if bytes.starts_with(&Superblock::SIGNATURE) {
            let superblock = Superblock::decode(&bytes)
                .map_err(|error| Error::from(error.at(hyperslab_format::codec::Address::new(offset))))?;
            return Ok((offset, superblock));
        }
        offset = if offset == 0 { 512 } else { offset * 2 };
    }
    Err(Error::corrupt("file", "signature", "an HDF5 superblock at 0, 512, 1024, … bytes", "none"))
}

/// What the file might say of itself, if its superblock is damaged: as it is but for the checksum, or the usual widths and
/// no root group.
fn guess_superblock(driver: &dyn Driver, length: u64) -> Superblock {
    let mut bytes = vec![
        0;
        usize::try_from(length)
            .map_or(Superblock::MAX_SIZE, |length| length.min(Superblock::MAX_SIZE))
    ];
    if driver.read_at(0, &mut bytes).is_ok()
        && let Some(superblock) = Superblock::decode_ignoring_checksum(&bytes)
        && check_widths(&superblock).is_ok()
        && superblock.root().get().is_some_and(|root| root < length)
    {
        return superblock;
    }
    Superblock::unknown(FileParams::DEFAULT, length)
}

fn check_widths(superblock: &Superblock) -> Result<()> {
    let params = superblock.params;
    if params.size_of_offsets > 8 || params.size_of_lengths > 8 {
        return Err(Error::unsupported(format!(
            "superblock: offsets of {} and lengths of {} bytes",
            params.size_of_offsets, params.size_of_lengths
        )));
    }
    Ok(())
}

fn check_marks(superblock: &Superblock, swmr_read: bool) -> Result<()> {
    if superblock.version_number() < 3 || !superblock.consistency.contains(ConsistencyFlags::WRITE_ACCESS) {
        return Ok(());
    }
    let swmr = is_swmr(superblock);
    if swmr && swmr_read {
        return Ok(());
    }
    let hint = if swmr { "a SWMR writer; open it for SWMR reading" } else { "another program" };
    Err(Error::Misuse(format!(
        "the file is marked as open for writing by {hint} (if no writer is left, `hyperslab recover` clears the mark, and \
         it can be ignored)"
    )))
}

fn is_swmr(superblock: &Superblock) -> bool {
    superblock.version_number() >= 3 && superblock.consistency.contains(ConsistencyFlags::SWMR_ACCESS)
}

fn check_length(driver: &dyn Driver, superblock: &Superblock, base: u64, length: u64) -> Result<()> {
    let Some(end) = stated_end(superblock, base) else {
        return Err(Error::corrupt("superblock", "end of file address", "a defined address", "undefined"));
    };
    if end > length {
        let what = if driver.kind().is_one_file() {
            "the file is truncated (`hyperslab recover` saves what is left of it)".to_owned()
        } else {
            format!("`{}` is missing or truncated", driver.name_at(length))
        };
        return Err(Error::corrupt(
            "file",
            "length",
            format!("{end} bytes, as the superblock says"),
            format_args!("{length}: {what}"),
        ));
    }
    Ok(())
}

/// Where the file ends by its own account. The stored end counts from the start of the file as the stored base
/// address does.
pub(super) fn stated_end(superblock: &Superblock, base: u64) -> Option<u64> {
    let end = superblock.end_of_file.get()?;
    // A damaged file may say that it ends before it begins.
    Some(end.saturating_sub(superblock.base_address).saturating_add(base))
}
