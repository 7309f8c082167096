//! Properties of whole files and object headers.

use hyperslab_engine::format::{
    FileSpaceStrategy as StoredStrategy, SharedMessageIndex as StoredIndex, SharedMessageTypes,
};
use hyperslab_engine::ops::objects::{Container, ObjectHeader};
use hyperslab_engine::store::FileSpace as StoredSpace;
use hyperslab_vfd::DriverKind;

pub use hyperslab_engine::ops::objects::FileMetadataBytes;

/// The properties that the superblock of a file and its extension state.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
/// let info = hyperslab::File::open(path)?.info();
/// println!("superblock {}, {} bytes", info.superblock_version, info.length);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInfo {
    /// The driver that stores the bytes.
    pub driver: DriverKind,
    /// Version of the superblock, 0 to 3.
    pub superblock_version: u8,
    /// Size of the user block in bytes.
    pub user_block: u64,
    /// Size of an address in bytes.
    pub size_of_offsets: u8,
    /// Size of a length in bytes.
    pub size_of_lengths: u8,
    /// Half of the largest number of children of a B-tree node of a symbol table.
    pub group_internal_k: u16,
    /// Half of the largest number of entries of a symbol table node.
    pub group_leaf_k: u16,
    /// Half of the largest number of children of a node of a version 1 B-tree of chunks.
    pub indexed_storage_k: u16,
    /// The shared messages; none in most files.
    pub shared_messages: SharedMessages,
    /// The management of file space.
    pub file_space: FileSpace,
    /// Size of the metadata cache image in bytes, if the file has one. The image is metadata that a
    /// writer kept in memory and stored as one block when it closed the file. Opening a file for
    /// writing removes the image.
    pub cache_image: Option<u64>,
    /// Length of the file, or of all its members, in bytes.
    pub length: u64,
}

/// The description of an index of shared messages: the message types in the index, and the size of
/// the smallest message that is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessageIndexInfo {
    /// The message types of the index: constants of this type, joined by `|`.
    pub types: u16,
    /// The smallest message that is shared, in bytes.
    pub min_size: u32,
}

impl SharedMessageIndexInfo {
    /// The flag for an index that shares the dataspace messages of datasets and attributes.
    pub const DATASPACES: u16 = SharedMessageTypes::DATASPACE.bits();
    /// The flag for an index that shares the datatype messages of datasets and attributes.
    pub const DATATYPES: u16 = SharedMessageTypes::DATATYPE.bits();
    /// The flag for an index that shares the fill value messages of datasets.
    pub const FILL_VALUES: u16 = SharedMessageTypes::FILL_VALUE.bits();
    /// The flag for an index that shares the filter pipeline messages of datasets.
    pub const FILTER_PIPELINES: u16 = SharedMessageTypes::FILTER_PIPELINE.bits();
    /// The flag for an index that shares whole attribute messages with their names and elements.
    pub const ATTRIBUTES: u16 = SharedMessageTypes::ATTRIBUTE.bits();
    /// The flags of all object header message types that an index can share.
    pub const ALL: u16 =
        Self::DATASPACES | Self::DATATYPES | Self::FILL_VALUES | Self::FILTER_PIPELINES | Self::ATTRIBUTES;
}

/// The configuration of shared messages in a file: the indexes and the message types of each index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMessages {
    /// The indexes, at most eight, with disjoint message types.
    pub indexes: Vec<SharedMessageIndexInfo>,
    /// The largest number of messages of an index that is a list; a larger index is a B-tree.
    pub max_list: u16,
    /// The smallest number of messages of an index that is a B-tree; a smaller index becomes a list
    /// again. At most `max_list` + 1.
    pub min_btree: u16,
}

impl Default for SharedMessages {
    /// Returns the configuration of shared messages for a file without shared messages.
    fn default() -> Self {
        Self { indexes: Vec::new(), max_list: 50, min_btree: 40 }
    }
}

impl SharedMessages {
    /// Returns a configuration of shared messages with one index for messages of the given types
    /// that have at least `min_size` bytes.
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

/// The management of free space in a file: the file space strategy and its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSpace {
    /// The structures that allocate space.
    pub strategy: FileSpaceStrategy,
    /// `true` if the file stores its free-space managers when it is closed.
    pub persist: bool,
    /// The smallest block of free space that a free-space manager records, in bytes.
    pub threshold: u64,
    /// Size of a page in bytes.
    pub page_size: u64,
}

/// A strategy for file space: the structures that allocate and track space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileSpaceStrategy {
    /// Free-space managers and aggregators.
    FreeSpaceAndAggregators,
    /// Free-space managers with pages.
    Page,
    /// Aggregators.
    Aggregators,
    /// Neither free-space managers nor aggregators: all new blocks are at the end of the file.
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

/// The description of an object header in the file: its version, its flags, its number of messages,
/// and its number of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderInfo {
    /// The version, 1 or 2.
    pub version: u8,
    /// The number of messages, including NIL messages.
    pub messages: usize,
    /// The number of chunks: the first one and its continuation blocks.
    pub chunks: usize,
    /// The flags of a version 2 header.
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
