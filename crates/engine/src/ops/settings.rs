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
    let usual = FileSettings::default();
    match &superblock.version {
        SuperblockVersion::Old(old) => FileSettings {
            group_leaf_k: old.group_leaf_k,
            group_internal_k: old.group_internal_k,
            indexed_storage_k: old.indexed_storage_k.unwrap_or(usual.indexed_storage_k),
            ..usual
        },
        SuperblockVersion::New { .. } => usual,
    }
}
