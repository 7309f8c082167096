//! The part of an open file that the object layer uses: the store, and the settings of the
//! superblock and its extension.

use hyperslab_format::codec::FileParams;

use hyperslab_format::superblock::Superblock;

use crate::index::global_heap::GlobalHeap;
use crate::index::shared_messages::SharedMessages;
use crate::store::Store;

/// The container of an open file: its store (the access to the bytes of the file), its shared
/// messages and its settings.
#[derive(Debug)]
pub struct Container {
    /// Blocks at addresses.
    pub store: Store,
    /// Shared messages, if the file has indexes for them.
    pub shared_messages: Option<SharedMessages>,
    /// The global heap, for variable-length data and references.
    pub heap: GlobalHeap,
    /// Settings of the whole file.
    pub settings: FileSettings,
}

/// The settings of an open file, from the superblock and the superblock extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSettings {
    /// Half of the maximum number of entries in a symbol table node.
    pub group_leaf_k: u16,
    /// Half of the maximum number of children in a node of a group's B-tree.
    pub group_internal_k: u16,
    /// Half of the maximum number of children in a node of a chunk B-tree.
    pub indexed_storage_k: u16,
    /// File space strategy, if the file states one.
    pub file_space: Option<hyperslab_format::message::FileSpaceInfo>,
    /// Size of the metadata cache image in bytes, if the file has one.
    pub cache_image: Option<u64>,
}

impl Default for FileSettings {
    /// Returns the settings of a file whose superblock and superblock extension state none.
    fn default() -> Self {
        Self {
            group_leaf_k: Superblock::DEFAULT_GROUP_LEAF_K,
            group_internal_k: Superblock::DEFAULT_GROUP_INTERNAL_K,
            indexed_storage_k: Superblock::DEFAULT_INDEXED_STORAGE_K,
            file_space: None,
            cache_image: None,
        }
    }
}

impl Container {
    /// Creates a container (store and settings) of an open file that has no shared messages.
    pub fn new(store: Store, settings: FileSettings) -> Self {
        Self { store, shared_messages: None, heap: GlobalHeap::new(), settings }
    }

    /// Returns the widths of addresses and lengths in the open file.
    pub fn params(&self) -> FileParams {
        self.store.params()
    }
}
