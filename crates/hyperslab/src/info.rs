//! What is said of a file or header as a whole.

use hyperslab_engine::format::FileSpaceStrategy as StoredStrategy;
use hyperslab_engine::index::shared_messages::SharedMessages;
use hyperslab_engine::object::container::Container;
use hyperslab_engine::object::header::ObjectHeader;
use hyperslab_engine::store::FileSpace as StoredSpace;
use hyperslab_vfd::DriverKind;

/// What a file's superblock and its extension say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInfo {
    /// How the bytes are reached.
    pub driver: DriverKind,
    /// Version of the superblock, 0 to 3.
    pub superblock_version: u8,
    /// Bytes before the superblock.
    pub user_block: u64,
    /// Bytes of an address.
    pub size_of_offsets: u8,
    /// Bytes of a length.
    pub size_of_lengths: u8,
    /// Half of the children of a node of an old-style group's B-tree.
    pub group_internal_k: u16,
    /// Half of the entries of an old-style group's symbol table node.
    pub group_leaf_k: u16,
    /// Half of the children of a node of a version 1 B-tree of chunks.
    pub indexed_storage_k: u16,
    /// The indexes of shared messages; none in most files.
    pub shared_message_indexes: Vec<SharedMessageIndexInfo>,
    /// How space is managed.
    pub file_space: FileSpace,
    /// Bytes of the file, or of all its members.
    pub length: u64,
}

/// An index of shared messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessageIndexInfo {
    /// Types of messages in it: bit 0 dataspace, 1 datatype, 2 fill value, 3 filter pipeline, 4 attribute.
    pub types: u16,
    /// Bytes below which messages are not shared.
    pub min_size: u32,
}

/// How a file manages its space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSpace {
    /// Who hands out space.
    pub strategy: FileSpaceStrategy,
    /// Whether free space is remembered when the file is closed.
    pub persist: bool,
    /// Smallest piece of free space that is remembered, in bytes.
    pub threshold: u64,
    /// Bytes of a page.
    pub page_size: u64,
}

/// Who hands out space in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileSpaceStrategy {
    /// Free-space managers and aggregators.
    FreeSpaceAndAggregators,
    /// Free-space managers with pages.
    Page,
    /// Aggregators.
    Aggregators,
    /// Nobody: space is always new.
    None,
}

impl FileInfo {
    pub(crate) fn of(container: &Container) -> Self {
        let (store, settings) = (&container.store, &container.settings);
        let indexes = container.shared_messages.iter().flat_map(SharedMessages::indexes);
        Self {
            driver: store.driver_kind(),
            superblock_version: store.superblock().version_number(),
            user_block: store.base(),
            size_of_offsets: store.params().size_of_offsets,
            size_of_lengths: store.params().size_of_lengths,
            group_internal_k: settings.group_internal_k,
            group_leaf_k: settings.group_leaf_k,
            indexed_storage_k: settings.indexed_storage_k,
            shared_message_indexes: indexes
                .map(|index| SharedMessageIndexInfo {
                    types: index.message_types.bits(),
                    min_size: index.min_message_size,
                })
                .collect(),
            file_space: FileSpace::of(container),
            length: store.file_length(),
        }
    }
}

impl FileSpace {
    pub(crate) fn stored(self) -> StoredSpace {
        let strategy = match self.strategy {
            FileSpaceStrategy::FreeSpaceAndAggregators => StoredStrategy::FreeSpaceAndAggregators,
            FileSpaceStrategy::Page => StoredStrategy::Page,
            FileSpaceStrategy::Aggregators => StoredStrategy::Aggregators,
            FileSpaceStrategy::None => StoredStrategy::None,
        };
        let Self { persist, threshold, page_size, .. } = self;
        StoredSpace { strategy, persist, threshold, page_size }
    }

    fn of(container: &Container) -> Self {
        let Some(info) = &container.settings.file_space else {
            let strategy = FileSpaceStrategy::FreeSpaceAndAggregators;
            return Self { strategy, persist: false, threshold: 1, page_size: 4096 };
        };
        Self {
            strategy: match info.strategy {
                StoredStrategy::FreeSpaceAndAggregators => FileSpaceStrategy::FreeSpaceAndAggregators,
                StoredStrategy::Page => FileSpaceStrategy::Page,
                StoredStrategy::Aggregators => FileSpaceStrategy::Aggregators,
                StoredStrategy::None => FileSpaceStrategy::None,
            },
            persist: info.managers.is_some(),
            threshold: info.threshold,
            page_size: info.page_size,
        }
    }
}

/// How an object header is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderInfo {
    /// 1 or 2.
    pub version: u8,
    /// Messages, those without meaning included.
    pub messages: usize,
    /// The first chunk and its continuations.
    pub chunks: usize,
    /// Flags of a version 2 header.
    pub flags: u8,
}

impl HeaderInfo {
    pub(crate) fn of(header: &ObjectHeader) -> Self {
        Self {
            version: header.version(),
            messages: header.messages().len(),
            chunks: header.chunk_count(),
            flags: header.flags().bits(),
        }
    }

    pub(crate) fn attribute_order(header: &ObjectHeader) -> (bool, bool) {
        let flags = header.flags().bits();
        (flags & 4 != 0, flags & 8 != 0)
    }
}
