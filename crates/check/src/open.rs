//! The steps of a check: superblock, superblock extension, objects, and the account of all bytes.

use std::path::Path;
use std::sync::Arc;

use hyperslab_engine::error::{Error, Result};
use hyperslab_engine::store::{Store, StoreOptions};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::driver_info::{DriverInfoBlock, DriverInformation};
use hyperslab_format::message::{
    BTreeK, FileSpaceInfo, FileSpaceStrategy, Message, MessageFlags, MessageType, MetadataCacheImage,
    SharedMessageTableMessage,
};
use hyperslab_format::superblock::{ConsistencyFlags, OldSuperblock, SuperblockVersion};
use hyperslab_vfd::{Access, Driver, DriverKind, Sec2};

use crate::extents::BlockKind;
use crate::file::{Checker, ObjectUse};
use crate::metadata::{Owner, Purpose};
use crate::report::Report;
use crate::{file_space, object, shared, symbol_table};

const SUPERBLOCK: &str = "superblock";
const EXTENSION: &str = "superblock extension";
/// The name of the root group in the paths of findings.
const ROOT: &[u8] = b"/";

/// The options for a check of a file.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// Limits and filters for reading the file. The status flags of the superblock are always
    /// ignored.
    pub store: StoreOptions,
    /// True to decode every chunk, which verifies the filters and their checksums. Otherwise only
    /// chunks whose elements refer to other parts of the file are decoded.
    pub decode_chunks: bool,
    /// True to follow the references of elements into the file: variable-length data, and object
    /// and region references. If false, raw data is not read, and blocks to which only elements
    /// refer (the global heap) count as unclaimed.
    pub look_into_elements: bool,
    /// Largest number of findings that the report keeps. Further findings are only counted.
    pub max_findings: usize,
    /// True to report the bytes of the file that belong to each object.
    pub per_object: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            store: StoreOptions::default(),
            decode_chunks: false,
            look_into_elements: true,
            max_findings: 1000,
            per_object: false,
        }
    }
}

/// Checks the file at `path`, which must consist of one member. For files of several members, call
/// [`check`] with their driver.
///
/// # Errors
/// As [`check`]; [`Error::Io`] if the file cannot be opened.
pub fn check_path(path: &Path) -> Result<Report> {
    let file = Sec2::open(path, Access::ReadOnly);
    let file = file.map_err(|source| Error::Io { action: "cannot open the file".into(), source })?;
    check(Arc::new(file), &CheckOptions::default())
}

/// Checks the file that `driver` stores.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::Unsupported`] or [`Error::Io`] if no superblock can be read. The
/// report lists all other damage.
pub fn check(driver: Arc<dyn Driver>, options: &CheckOptions) -> Result<Report> {
    let unknown = |source| Error::Io { action: "cannot determine the length of the file".into(), source };
    let length = driver.len().map_err(unknown)?;
    let name = driver.name().to_owned();
    let store = Store::open(driver, StoreOptions { ignore_status_flags: true, ..options.store.clone() })?;
    let mut checker = Checker::new(store, options.max_findings);
    checker.report.name = name;
    checker.report.base = checker.store.base();
    checker.report.length = length.saturating_sub(checker.store.base());
    checker.decode_chunks = options.decode_chunks;
    checker.look_into_elements = options.look_into_elements;
    checker.superblock()?;
    checker.assign_metadata(Owner::File);
    checker.check_objects();
    checker.finish_objects();
    checker.walking(Purpose::SharedMessages, Checker::finish_shared);
    checker.assign_metadata(Owner::File);
    if options.look_into_elements {
        checker.finish_heap();
    }
    if options.per_object {
        let bytes = |(address, known): (&Address, &ObjectUse)| Some((address.get()?, known.bytes));
        checker.report.of_objects = checker.objects.iter().filter_map(bytes).collect();
    }
    Ok(checker.account())
}

impl Checker {
    /// Checks the superblock and the structures to which it refers, up to the root group.
    fn superblock(&mut self) -> Result<()> {
        let superblock = self.store.superblock();
        let start = Address::new(0);
        let end = superblock.end_of_file.get().map(|end| end.saturating_sub(superblock.base_address));
        // With several members in distant address ranges, the stated end is the end of one
        // member only.
        let several_members = matches!(self.store.driver_kind(), DriverKind::Split | DriverKind::Multi);
        self.end = end.filter(|_| !several_members).unwrap_or(u64::MAX);
        self.report.end = end.unwrap_or(0);
        let size = superblock.encode().map_or(0, |bytes| bytes.len() as u64);
        self.claim(SUPERBLOCK, start, size, BlockKind::Superblock);
        if superblock.base_address != self.store.base() {
            let text = format!(
                "the base address is {:#x}, but the superblock lies at {:#x}",
                superblock.base_address,
                self.store.base()
            );
            self.remark(SUPERBLOCK, start, text);
        }
        let open_flags = ConsistencyFlags::WRITE_ACCESS | ConsistencyFlags::SWMR_ACCESS;
        if superblock.version_number() >= 3 && superblock.consistency.intersects(open_flags) {
            self.fault(
                SUPERBLOCK,
                start,
                "the file is marked as open for writing, so that readers refuse to open it",
            );
        }
        match end {
            None => self.fault(SUPERBLOCK, start, "the end of file address is undefined"),
            Some(end) if end > self.report.length => {
                let text = format!(
                    "the end of the file at {end:#x} exceeds the file's length of {:#x} bytes",
                    self.report.length
                );
                self.fault(SUPERBLOCK, start, text);
            }
            Some(end) if end < self.report.length && !several_members => {
                let excess = self.report.length.saturating_sub(end);
                self.remark(
                    SUPERBLOCK,
                    start,
                    format!(
                        "{excess} bytes follow the end of the file, which the superblock states as {end:#x}"
                    ),
                );
            }
            Some(_) => {}
        }
        match &superblock.version {
            SuperblockVersion::Old(old) => self.old_superblock(old),
            SuperblockVersion::New { extension, .. } if extension.is_defined() => {
                self.extension(*extension)?;
            }
            SuperblockVersion::New { .. } => {}
        }
        self.used(superblock.root(), ROOT);
        Ok(())
    }

    fn old_superblock(&mut self, old: &OldSuperblock) {
        self.k.group_leaf = old.group_leaf_k;
        self.k.group_internal = old.group_internal_k;
        if let Some(k) = old.indexed_storage_k {
            self.k.chunk_internal = k;
        }
        let start = Address::new(0);
        if old.free_space.is_defined() {
            self.remark(
                SUPERBLOCK,
                start,
                format!(
                    "the address of free-space information is {}, expected an undefined address",
                    old.free_space
                ),
            );
        }
        symbol_table::cached(self, start, &old.root);
        if old.driver_info.is_defined() {
            self.driver_info(old.driver_info);
        }
    }

    fn driver_info(&mut self, address: Address) -> Option<()> {
        let name = DriverInfoBlock::NAME;
        let prefix = self.store.read(address, DriverInfoBlock::PREFIX_SIZE as u64, name);
        let prefix = self.read_or_note(name, address, prefix)?;
        let length = self.decoded(name, address, DriverInfoBlock::size_of_block(&prefix))?;
        let bytes = self.block_bytes(name, address, length, BlockKind::DriverInformation)?;
        let information = bytes.len().saturating_sub(DriverInfoBlock::PREFIX_SIZE);
        let block = self.decoded(name, address, DriverInfoBlock::decode(&bytes, &information))?;
        let said = DriverInformation::decode(block.identification, &block.information);
        self.decoded(name, address, said).map(drop)
    }

    /// Checks the superblock extension at `address`. Checks the page size and the metadata cache
    /// image first, because the image replaces other blocks.
    fn extension(&mut self, address: Address) -> Result<()> {
        use hyperslab_engine::object::header::ObjectHeader;
        let early = ObjectHeader::load(&self.store, address);
        if let Ok(header) = &early
            && let Some(message) = header.find(MessageType::FILE_SPACE_INFO)
            && let Ok(info) = FileSpaceInfo::decode(header.body(message), self.params)
            && info.strategy == FileSpaceStrategy::Page
        {
            self.page = Some(info.page_size);
        }
        if let Ok(header) = early
            && let Some(message) = header.find(MessageType::METADATA_CACHE_IMAGE)
            && let Ok(image) = MetadataCacheImage::decode(header.body(message), self.params)
            && image.address.is_defined()
        {
            let name = "metadata cache image";
            self.enter(name, image.address, image.length, BlockKind::CacheImage);
            let overlaid = self.store.overlay(image.address, image.length);
            self.read_or_note(name, image.address, overlaid);
        }
        let Some(header) = object::open(self, address) else { return Ok(()) };
        self.report.objects += 1;
        let count = header.of(MessageType::REFERENCE_COUNT).count();
        if count > 0 {
            self.remark(
                EXTENSION,
                address,
                "the superblock extension has a reference count, although no link can lead to it",
            );
        }
        if let Some(k) = first::<BTreeK>(self, &header) {
            self.k = k;
        }
        if let Some(table) = first::<SharedMessageTableMessage>(self, &header) {
            self.walking(Purpose::SharedMessages, |checker| shared::open(checker, table));
        }
        let stale = |flags: MessageFlags| flags.contains(MessageFlags::WAS_UNKNOWN);
        let known = header.of(MessageType::FILE_SPACE_INFO).any(|message| !stale(message.flags));
        if let Some(info) = first::<FileSpaceInfo>(self, &header).filter(|_| known) {
            file_space::of_file(self, &info);
        }
        Ok(())
    }

    /// Accounts for all bytes of the file: finds the bytes that two blocks use and the bytes that
    /// no block uses. Returns the completed report of the check.
    fn account(mut self) -> Report {
        let extents = std::mem::replace(&mut self.extents, crate::extents::Extents::new());
        let (overlaps, leaked) = extents.finish(self.report.end.min(self.report.length));
        for overlap in overlaps {
            let [one, other] = overlap.kinds.map(BlockKind::name);
            let bytes = overlap.end.saturating_sub(overlap.start);
            let text = format!("{bytes} bytes belong to two blocks: {one}, and {other}");
            self.fault("file", Address::new(overlap.start), text);
        }
        self.report.leaked = leaked;
        self.report
    }
}

/// Decodes the first message of the type `M` in the superblock extension.
fn first<M: for<'a> Message<'a>>(checker: &Checker, header: &crate::header::Header) -> Option<M> {
    let message = header.of(M::TYPE).next()?;
    M::decode(&message.body, checker.params).ok()
}
