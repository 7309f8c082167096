//! The settings of a file from its superblock.

use hyperslab_format::superblock::{Superblock, SuperblockVersion};

use crate::object::container::{Container, FileSettings};
use crate::store::Store;

/// Returns the container of an open file for `store`, with the settings that the superblock states.
pub(super) fn container(store: Store) -> Container {
    let settings = settings_of(&store.superblock());
    Container::new(store, settings)
}

fn settings_of(superblock: &Superblock) -> FileSettings {
    let (leaf, internal, indexed) = match &superblock.version {
        SuperblockVersion::Old(old) => (old.group_leaf_k, old.group_internal_k, old.indexed_storage_k),
        SuperblockVersion::New { .. } => {
            (Superblock::DEFAULT_GROUP_LEAF_K, Superblock::DEFAULT_GROUP_INTERNAL_K, None)
        }
    };
    FileSettings {
        group_leaf_k: leaf,
        group_internal_k: internal,
        indexed_storage_k: indexed.unwrap_or(Superblock::DEFAULT_INDEXED_STORAGE_K),
        file_space: None,
        cache_image: None,
    }
}
