//! The creation of a file, with a superblock and its extension but without a root group.

use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, FileParams, Structure as _, Writer};
use hyperslab_format::driver_info::DriverInfoBlock;
use hyperslab_format::message::{
    BTreeK, DriverInfo, FileSpaceInfo, FileSpaceStrategy, FreeSpaceManagers, Message as _, MessageFlags,
    MessageType, SharedMessageTableMessage,
};
use hyperslab_format::object_header::{EnvelopeLayout, HeaderFlags, PrefixV2, write_envelope};
use hyperslab_format::shared_message::{
    SharedMessageIndex, SharedMessageIndexKind, SharedMessageTable, SharedMessageTableContext,
    SharedMessageTypes,
};
use hyperslab_format::superblock::{ConsistencyFlags, OldSuperblock, Superblock, SuperblockVersion};
use hyperslab_format::symbol_table_entry::{SymbolTableCache, SymbolTableEntry};
use hyperslab_vfd::{Driver, SideAccess};
use smallvec::SmallVec;

use super::edit::Edit;
use super::left_journal::unrelated;
use super::locking::FileLock;
use super::new_members::NewMembers;
use super::options::{Durability, StoreOptions};
use super::space::{FileSpace, MembersLocation, MessageLocation, SpaceKind};
use super::{Store, journal};
use crate::error::{Error, Result};
use crate::versions::{LibraryVersion, LibverBounds};

/// Largest number of indexes of shared messages in a file, as in libhdf5.
const MAX_SHARED_MESSAGE_INDEXES: usize = 8;

/// Largest number of records in a record list of a shared message index, as in libhdf5.
const MAX_LIST_CUTOFF: u16 = 5000;

/// The types of object header messages that can be shared messages.
const SHAREABLE: SharedMessageTypes = SharedMessageTypes::DATASPACE
    .union(SharedMessageTypes::DATATYPE)
    .union(SharedMessageTypes::FILL_VALUE)
    .union(SharedMessageTypes::FILTER_PIPELINE)
    .union(SharedMessageTypes::ATTRIBUTE);

/// The creation options of a file: properties that cannot change after the creation of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateOptions {
    /// Widths of addresses and lengths: 2, 4 or 8 bytes.
    pub params: FileParams,
    /// Size of the user block in bytes: 0, or a power of two from 512 on.
    pub user_block: u64,
    /// Half of the largest number of entries in a symbol table node.
    pub group_leaf_k: u16,
    /// Half of the largest number of children of a node in a group's B-tree.
    pub group_internal_k: u16,
    /// Half of the largest number of children of a node in a version 1 B-tree of chunks.
    pub indexed_storage_k: u16,
    /// The management of the file's space. A value other than the default needs libhdf5 1.10 or
    /// later.
    pub file_space: FileSpace,
    /// The indexes of shared messages, with their cutoffs. Addresses and counts are ignored. Most
    /// files have none.
    pub shared_messages: Vec<SharedMessageIndex>,
    /// The members of the file, if a driver stores it in several files.
    pub members: Option<NewMembers>,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self {
            params: FileParams::DEFAULT,
            user_block: 0,
            group_leaf_k: Superblock::DEFAULT_GROUP_LEAF_K,
            group_internal_k: Superblock::DEFAULT_GROUP_INTERNAL_K,
            indexed_storage_k: Superblock::DEFAULT_INDEXED_STORAGE_K,
            file_space: FileSpace::default(),
            shared_messages: Vec::new(),
            members: None,
        }
    }
}

impl CreateOptions {
    fn check(&self) -> Result<()> {
        let widths = [self.params.size_of_offsets, self.params.size_of_lengths];
        if widths.iter().any(|width| ![2, 4, 8].contains(width)) {
            let [offsets, lengths] = widths;
            return Err(Error::Misuse(format!(
                "offsets of {offsets} and lengths of {lengths} bytes: each width must be 2, 4 or 8"
            )));
        }
        if self.user_block != 0 && (self.user_block < 512 || !self.user_block.is_power_of_two()) {
            return Err(Error::Misuse(format!(
                "a user block of {} bytes: the size must be 0, or a power of two from 512 on",
                self.user_block
            )));
        }
        if [self.group_leaf_k, self.group_internal_k, self.indexed_storage_k].contains(&0) {
            return Err(Error::Misuse("the ranks of B-trees must be at least 1".into()));
        }
        let page_size = self.file_space.page_size;
        if !(FileSpace::MIN_PAGE_SIZE..=FileSpaceInfo::MAX_PAGE_SIZE).contains(&page_size) {
            return Err(Error::Misuse(format!(
                "pages of {page_size} bytes: the size must be {} to {}",
                FileSpace::MIN_PAGE_SIZE,
                FileSpaceInfo::MAX_PAGE_SIZE
            )));
        }
        // libhdf5 counts pages from the start of the user block, hyperslab from its end.
        let paged = self.file_space.strategy == FileSpaceStrategy::Page;
        if paged && !self.user_block.is_multiple_of(page_size) {
            let user_block = self.user_block;
            return Err(Error::Misuse(format!(
                "a user block of {user_block} bytes in a file with pages of {page_size} bytes: the size of the \
                 user block must be a multiple of the page size"
            )));
        }
        self.check_shared_messages()
    }

    fn check_shared_messages(&self) -> Result<()> {
        let indexes = &self.shared_messages;
        if indexes.len() > MAX_SHARED_MESSAGE_INDEXES {
            return Err(Error::Misuse(format!(
                "the file would have {} shared message indexes; at most {MAX_SHARED_MESSAGE_INDEXES} are \
                 possible",
                indexes.len()
            )));
        }
        let mut types = SharedMessageTypes::empty();
        for index in indexes {
            // Files of libhdf5 may contain indexes without a type, and indexes with unknown bits
            // such as bit 0. The value is at most the mask of all types.
            let known = index.message_types.bits() <= SHAREABLE.bits();
            if !known || types.intersects(index.message_types) {
                return Err(Error::Misuse(format!(
                    "a shared message index has the invalid message types {:#06x}: each type must be \
                     shareable, and belong to at most one index",
                    index.message_types.bits()
                )));
            }
            types |= index.message_types;
            let (list, btree) = (index.list_cutoff, index.btree_cutoff);
            if list > MAX_LIST_CUTOFF || btree > list + 1 {
                return Err(Error::Misuse(format!(
                    "invalid limits of shared message indexes (list {list}, B-tree {btree}): the list limit \
                     must be at most {MAX_LIST_CUTOFF}, and the B-tree limit at most one more than the list \
                     limit"
                )));
            }
        }
        Ok(())
    }

    /// Returns the file space info message of a new file's superblock extension, if the file needs
    /// one.
    pub(crate) fn file_space_info(&self) -> Option<FileSpaceInfo> {
        let FileSpace { strategy, persist, threshold, page_size } = self.file_space;
        // Only strategies with free-space managers can store free space and have a smallest
        // section.
        let managed =
            matches!(strategy, FileSpaceStrategy::FreeSpaceAndAggregators | FileSpaceStrategy::Page);
        let threshold = if managed { threshold } else { FileSpaceInfo::DEFAULT.threshold };
        let managers = (persist && managed).then_some(FreeSpaceManagers::NONE);
        let info = FileSpaceInfo { strategy, threshold, page_size, managers, ..FileSpaceInfo::DEFAULT };
        (info != FileSpaceInfo::DEFAULT).then_some(info)
    }

    /// Returns the ranks of a new file's version 1 B-trees for the superblock extension. Returns
    /// `None` if the ranks have the default values.
    fn ranks(&self) -> Option<BTreeK> {
        let ranks = BTreeK {
            chunk_internal: self.indexed_storage_k,
            group_internal: self.group_internal_k,
            group_leaf: self.group_leaf_k,
        };
        (ranks != BTreeK::DEFAULT).then_some(ranks)
    }

    /// Returns the parts of a new file's superblock extension, if the file needs one. The parts are
    /// the object header with the file space info message, and the offset of the message's body.
    /// `shared` is the address of the table of shared messages.
    fn extension(&self, superblock: &Superblock, shared: Address) -> Result<Option<Extension>> {
        if !matches!(superblock.version, SuperblockVersion::New { .. }) {
            return Ok(None);
        }
        let mut messages: SmallVec<[(MessageType, MessageFlags, Vec<u8>); 2]> = SmallVec::new();
        if let Some(ranks) = self.ranks() {
            let flags = MessageFlags::CONSTANT | MessageFlags::DO_NOT_SHARE;
            messages.push((BTreeK::TYPE, flags, ranks.to_bytes(self.params)?));
        }
        if let Some(index_count) = self.shared_messages_context()?.map(|context| context.indexes) {
            let flags = MessageFlags::CONSTANT | MessageFlags::DO_NOT_SHARE;
            let message = SharedMessageTableMessage { table: shared, index_count };
            messages.push((SharedMessageTableMessage::TYPE, flags, message.to_bytes(self.params)?));
        }
        let members = self.members.as_ref().map(|members| members.message(self.params)).transpose()?;
        if let Some(message) = members {
            messages.push((DriverInfo::TYPE, MessageFlags::DO_NOT_SHARE, message));
        }
        let info = self.file_space_info();
        if let Some(info) = &info {
            let flags = MessageFlags::MARK_IF_UNKNOWN | MessageFlags::DO_NOT_SHARE;
            messages.push((FileSpaceInfo::TYPE, flags, info.to_bytes(self.params)?));
        }
        if messages.is_empty() {
            return Ok(None);
        }
        let layout = EnvelopeLayout::V2 { creation_order: false };
        let bodies: usize = messages.iter().map(|(.., body)| body.len() + layout.size()).sum();
        let prefix = PrefixV2 {
            flags: HeaderFlags::empty(),
            times: None,
            phase_change: None,
            chunk0_size: bodies as u64,
        };
        let mut writer = Writer::new("superblock extension");
        prefix.encode(&mut writer);
        let (mut skip, mut members_skip) = (0, None);
        for (kind, flags, body) in &messages {
            skip = (writer.len() + layout.size()) as u64;
            if *kind == DriverInfo::TYPE {
                members_skip = Some(skip);
            }
            write_envelope(&mut writer, layout, *kind, *flags, None, body);
        }
        writer.checksum();
        Ok(Some(Extension { bytes: writer.finish()?, info, skip, members_skip }))
    }

    /// Returns the parameters for encoding the table of shared messages of a new file, if the file
    /// has such a table.
    fn shared_messages_context(&self) -> Result<Option<SharedMessageTableContext>> {
        let indexes = u8::try_from(self.shared_messages.len());
        let indexes =
            indexes.map_err(|_| Error::Misuse("there are too many indexes of shared messages".into()))?;
        Ok((indexes > 0).then_some(SharedMessageTableContext { params: self.params, indexes }))
    }

    /// Returns the table of shared messages of a new file without shared messages.
    fn shared_messages_table(&self) -> SharedMessageTable {
        let indexes = self.shared_messages.iter().map(|index| SharedMessageIndex {
            kind: match index.list_cutoff {
                0 => SharedMessageIndexKind::BTree,
                _ => SharedMessageIndexKind::List,
            },
            btree_cutoff: if index.list_cutoff == 0 { 0 } else { index.btree_cutoff },
            messages: 0,
            index: Address::UNDEFINED,
            heap: Address::UNDEFINED,
            ..index.clone()
        });
        SharedMessageTable { indexes: indexes.collect() }
    }

    /// Returns the superblock of a new file without objects and without a root group.
    fn superblock(&self, bounds: LibverBounds) -> Superblock {
        let extended = self.file_space_info().is_some() || !self.shared_messages.is_empty();
        let version = if bounds.prefers(LibraryVersion::V18) || extended {
            let version = if bounds.prefers(LibraryVersion::V110) { 3 } else { 2 };
            SuperblockVersion::New { version, extension: Address::UNDEFINED, root: Address::UNDEFINED }
        } else {
            let other_k = self.indexed_storage_k != Superblock::DEFAULT_INDEXED_STORAGE_K;
            let cache = SymbolTableCache::Nothing;
            SuperblockVersion::Old(OldSuperblock {
                indexed_storage_k: other_k.then_some(self.indexed_storage_k),
                group_leaf_k: self.group_leaf_k,
                group_internal_k: self.group_internal_k,
                free_space: Address::UNDEFINED,
                driver_info: Address::UNDEFINED,
                root: SymbolTableEntry { name_offset: 0, header: Address::UNDEFINED, cache },
            })
        };
        Superblock {
            params: self.params,
            consistency: ConsistencyFlags::empty(),
            base_address: self.user_block,
            end_of_file: Address::new(self.user_block),
            version,
        }
    }
}

/// The parts of a new file's superblock extension: its object header and the location of a message.
struct Extension {
    bytes: Vec<u8>,
    info: Option<FileSpaceInfo>,
    /// The number of bytes before the body of the last message, which is the file space info
    /// message if there is one.
    skip: u64,
    /// The number of bytes before the body of the driver info message, if there is one.
    members_skip: Option<u64>,
}

impl Store {
    /// Creates an HDF5 file in `driver`. The previous bytes of `driver` are lost. The new file has
    /// no root group yet.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the options are invalid or the driver is read-only, and I/O
    /// errors.
    pub fn create(
        driver: Arc<dyn Driver>,
        create: &CreateOptions,
        mut options: StoreOptions,
    ) -> Result<Self> {
        create.check()?;
        if driver.is_read_only() {
            return Err(Error::Misuse(format!("the driver of `{}` is read-only", driver.name())));
        }
        let bounds = options.write.unwrap_or(LibverBounds::DEFAULT);
        if create.file_space_info().is_some() {
            bounds.require(LibraryVersion::V110, "a way of managing file space that is not the default")?;
        }
        if !create.shared_messages.is_empty() {
            bounds.require(LibraryVersion::V18, "a file whose objects share messages")?;
        }
        options.write = Some(bounds);
        let lock = FileLock::take(&driver, true, options.locking)?;
        if let Some(side) = options.journal.as_deref()
            && let Some(journal) = side.open(SideAccess::Write).map_err(|source| Error::Io {
                action: "cannot open a journal that was left beside the file".into(),
                source,
            })?
        {
            if journal::is_journal(&*journal)? {
                // The old journal must not be replayed into the new file.
                journal::discard(side, journal, true)?;
            } else if options.durability != Durability::None {
                return Err(unrelated(side));
            }
        }
        driver.set_len(0).map_err(|source| Error::Io { action: "cannot empty the file".into(), source })?;
        let superblock = create.superblock(bounds);
        let extension = create.extension(&superblock, Address::UNDEFINED)?;
        let length = superblock.encode()?.len() as u64;
        let store = Self::assemble(driver, lock, superblock, create.user_block, (0, 0), options);
        store.spread_over_members()?;
        // Nothing is committed yet, not even the user block.
        store.write_state.set_new_from(0);
        if let Some(info) = extension.as_ref().and_then(|extension| extension.info) {
            // The message has no address yet.
            let nowhere = MessageLocation { chunk: Address::UNDEFINED, length: 0, skip: 0, sealed: true };
            store.manage_space(info, nowhere)?;
        }
        let multi = create.members.as_ref().and_then(NewMembers::multi);
        if let Some(multi) = &multi {
            // The superblock extension also goes to the member of its kind. libhdf5 cannot read an
            // extension in another member. The description has no location yet.
            store.assign_members(multi, MembersLocation::Block(Address::UNDEFINED));
        }
        let location = store.edit()?.begin(create, length, extension)?;
        if let (Some(multi), Some(location)) = (multi, location) {
            store.assign_members(&multi, location);
        }
        Ok(store)
    }
}

impl Edit<'_> {
    /// Allocates and writes the superblock, the superblock extension and the driver information
    /// block at the start of a new file. Returns the location of the description of the members.
    fn begin(
        mut self,
        create: &CreateOptions,
        superblock: u64,
        extension: Option<Extension>,
    ) -> Result<Option<MembersLocation>> {
        self.allocate(SpaceKind::Superblock, superblock)?;
        let (mut address, mut members) = (Address::UNDEFINED, None);
        if let Some(mut extension) = extension {
            let length = extension.bytes.len() as u64;
            address = self.allocate(SpaceKind::ObjectHeader, length)?;
            if let Some(context) = create.shared_messages_context()? {
                let table = self.add(SpaceKind::ObjectHeader, &context, create.shared_messages_table())?;
                let again = create.extension(&self.store().superblock(), table)?;
                extension = again.unwrap_or(extension);
            }
            let Extension { bytes, skip, members_skip, .. } = extension;
            self.write(address, &bytes, "superblock extension")?;
            members = members_skip.map(|skip| {
                MembersLocation::Message(MessageLocation { chunk: address, length, skip, sealed: true })
            });
            if let Some(record) = &mut self.writing()?.record {
                record.location = MessageLocation { chunk: address, length, skip, sealed: true };
            }
        }
        let is_old = matches!(self.store().superblock().version, SuperblockVersion::Old(_));
        let mut block = Address::UNDEFINED;
        if let Some(new) = create.members.as_ref().filter(|_| is_old) {
            let (information, length) = new.block()?;
            let bytes = information.encode(&length)?;
            block = self.allocate(SpaceKind::Superblock, to_u64(bytes.len()))?;
            self.write(block, &bytes, DriverInfoBlock::NAME)?;
            members = Some(MembersLocation::Block(block));
        }
        self.change_superblock(|superblock| match &mut superblock.version {
            SuperblockVersion::New { extension, .. } => *extension = address,
            SuperblockVersion::Old(old) => old.driver_info = block,
        })?;
        Ok(members)
    }
}
