//! What is said of a file or header as a whole.

use hyperslab_engine::format::{
    FileSpaceStrategy as StoredStrategy, SharedMessageIndex as StoredIndex, SharedMessageTypes,
};
use hyperslab_engine::ops::objects::{Container, ObjectHeader};
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
    /// What objects share; nothing in most files.
    pub shared_messages: SharedMessages,
    /// How space is managed.
    pub file_space: FileSpace,
    /// Bytes of the metadata cache image, if the file has one: blocks that its writer kept in memory until it closed the
    /// file, and put down together. A file that is open to be changed has none any more.
    pub cache_image: Option<u64>,
    /// Bytes of the file, or of all its members.
    pub length: u64,
}

/// An index of messages that objects share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessageIndexInfo {
    /// Types of messages in it: the constants of this type, joined by `|`.
    pub types: u16,
    /// Bytes below which messages are not shared.
    pub min_size: u32,
}

impl SharedMessageIndexInfo {
    /// Shapes of datasets and attributes.
    pub const DATASPACES: u16 = SharedMessageTypes::DATASPACE.bits();
    /// Types of their elements.
    pub const DATATYPES: u16 = SharedMessageTypes::DATATYPE.bits();
    /// Fill values.
    pub const FILL_VALUES: u16 = SharedMessageTypes::FILL_VALUE.bits();
    /// Filter pipelines.
    pub const FILTER_PIPELINES: u16 = SharedMessageTypes::FILTER_PIPELINE.bits();
    /// Attributes, with name and elements.
    pub const ATTRIBUTES: u16 = SharedMessageTypes::ATTRIBUTE.bits();
    /// All types of messages that can be shared.
    pub const ALL: u16 =
        Self::DATASPACES | Self::DATATYPES | Self::FILL_VALUES | Self::FILTER_PIPELINES | Self::ATTRIBUTES;
}

/// What a file shares, and how it finds that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMessages {
    /// The indexes, each with its types of messages; at most eight.
    pub indexes: Vec<SharedMessageIndexInfo>,
    /// Most messages that an index lists; with more it becomes a B-tree.
    pub max_list: u16,
    /// Fewest messages in a B-tree; with fewer it becomes a list again. At most one more than `max_list`.
    pub min_btree: u16,
}

impl Default for SharedMessages {
    /// Nothing is shared.
    fn default() -> Self {
        Self { indexes: Vec::new(), max_list: 50, min_btree: 40 }
    }
}

impl SharedMessages {
    /// One index for messages of these types from so many bytes on.
    ///
    /// ```
    /// use hyperslab::{SharedMessageIndexInfo as Index, SharedMessages};
    /// let shared = SharedMessages::of(Index::DATATYPES | Index::ATTRIBUTES, 40);
    /// assert_eq!((shared.indexes.len(), shared.max_list, shared.min_btree), (1, 50, 40));
    /// ```
    #[must_use]
    pub fn of(types: u16, min_size: u32) -> Self {
        Self { indexes: vec![SharedMessageIndexInfo { types, min_size }], ..Self::default() }
    }

    pub(crate) fn stored(&self) -> Vec<StoredIndex> {
        let stored = |index: &SharedMessageIndexInfo| StoredIndex {
            message_types: SharedMessageTypes::from_bits_retain(index.types),
            min_message_size: index.min_size,
            list_cutoff: self.max_list,
            btree_cutoff: self.min_btree,
            ..StoredIndex::EMPTY
        };
        self.indexes.iter().map(stored).collect()
    }

    fn of_container(container: &Container) -> Self {
        let Some(stored) = &container.shared_messages else { return Self::default() };
        let Self { mut max_list, mut min_btree, .. } = Self::default();
        if let Some(first) = stored.indexes().next() {
            (max_list, min_btree) = (first.list_cutoff, first.btree_cutoff);
        }
        let index = |index: &StoredIndex| SharedMessageIndexInfo {
            types: index.message_types.bits(),
            min_size: index.min_message_size,
        };
        Self { indexes: stored.indexes().map(index).collect(), max_list, min_btree }
    }
}

/// How a file manages its space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSpace {
    /// Who hands out space.
    pub strategy: FileSpaceStrategy,
    /// True if free space is remembered when the file is closed.
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
        Self {
            driver: store.driver_kind(),
            superblock_version: store.superblock().version_number(),
            user_block: store.base(),
            size_of_offsets: store.params().size_of_offsets,
            size_of_lengths: store.params().size_of_lengths,
            group_internal_k: settings.group_internal_k,
            group_leaf_k: settings.group_leaf_k,
            indexed_storage_k: settings.indexed_storage_k,
            shared_messages: SharedMessages::of_container(container),
            file_space: FileSpace::of(container),
            cache_image: settings.cache_image,
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
