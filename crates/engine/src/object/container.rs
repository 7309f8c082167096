//! The open file as the object room sees it: its bytes, and what its superblock and extension say.

use hyperslab_format::codec::FileParams;

use crate::index::global_heap::GlobalHeap;
use crate::index::shared_messages::SharedMessages;
use crate::store::Store;

/// Bytes, shared messages and settings of one open file.
#[derive(Debug)]
pub struct Container {
    /// Bytes at addresses.
    pub store: Store,
    /// Messages that several objects share, if the file has such an index.
    pub shared_messages: Option<SharedMessages>,
    /// Variable-length data and references.
    pub heap: GlobalHeap,
    /// Ranks and strategies that hold for the whole file.
    pub settings: FileSettings,
}

/// What the superblock and its extension say of the whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSettings {
    /// Half of the entries of a symbol table node.
    pub group_leaf_k: u16,
    /// Half of the children of a group's B-tree node.
    pub group_internal_k: u16,
    /// Half of the children of a node of the B-tree of chunks.
    pub indexed_storage_k: u16,
    /// How space in the file is managed, where the file says so.
    pub file_space: Option<hyperslab_format::message::FileSpaceInfo>,
    /// Bytes of the metadata cache image, where there is one.
    pub cache_image: Option<u64>,
}

impl Container {
    /// A file whose messages are its objects' own.
    pub fn new(store: Store, settings: FileSettings) -> Self {
        Self { store, shared_messages: None, heap: GlobalHeap::new(), settings }
    }

    /// Widths of addresses and lengths.
    pub fn params(&self) -> FileParams {
        self.store.params()
    }
}
