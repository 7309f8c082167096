//! Keys of version 1 B-tree nodes of chunks.

use hyperslab_dataspace::Dims;
use hyperslab_format::btree_v1::{BTreeV1Keys, BTreeV1Node, ChunkKeys};

use crate::error::{Error, Result};

/// The name of a version 1 B-tree of chunks in error messages.
const NAME: &str = "B-tree of chunks";

/// The key of a chunk in a version 1 B-tree: stored size, filter mask, and coordinates of the first
/// element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkKey {
    pub(super) size: u32,
    pub(super) filter_mask: u32,
    /// The coordinates of the chunk's first element, and the offset in the element, which is 0.
    pub(super) offset: Dims,
}

/// Returns the keys of a version 1 B-tree node that indexes chunks.
pub(super) fn keys(node: &BTreeV1Node) -> Result<&ChunkKeys> {
    node.keys.as_chunks().ok_or_else(no_chunks)
}

/// Returns the keys of a version 1 B-tree node that indexes chunks, for changes.
pub(super) fn keys_mut(node: &mut BTreeV1Node) -> Result<&mut ChunkKeys> {
    match &mut node.keys {
        BTreeV1Keys::Chunks(keys) => Ok(keys),
        BTreeV1Keys::Group(_) => Err(no_chunks()),
    }
}

fn no_chunks() -> Error {
    Error::corrupt("version 1 B-tree node", "node type", "1 (chunks)", 0)
}

/// Returns the chunk key with the index `at` in a version 1 B-tree node's list of keys.
pub(super) fn key(keys: &ChunkKeys, at: usize) -> Option<ChunkKey> {
    Some(ChunkKey {
        size: *keys.sizes.get(at)?,
        filter_mask: *keys.filter_masks.get(at)?,
        offset: Dims::from_slice(keys.offset(at)?),
    })
}

/// Inserts a chunk key before the key with the index `at` in a version 1 B-tree node's list of
/// keys.
///
/// # Errors
/// Returns [`Error::Internal`] if there are fewer keys, or keys of another rank.
pub(super) fn insert(keys: &mut ChunkKeys, at: usize, key: &ChunkKey) -> Result<()> {
    if at > keys.len() || key.offset.len() != keys.width {
        return Err(Error::internal(
            NAME,
            "an inserted key has the rank of the node's keys and a position among them",
        ));
    }
    keys.sizes.insert(at, key.size);
    keys.filter_masks.insert(at, key.filter_mask);
    let start = at * keys.width;
    keys.offsets.splice(start..start, key.offset.iter().copied());
    Ok(())
}

/// Reserves memory for `count` more chunk keys in a version 1 B-tree node's list of keys.
pub(super) fn reserve(keys: &mut ChunkKeys, count: usize) {
    keys.sizes.reserve_exact(count);
    keys.filter_masks.reserve_exact(count);
    keys.offsets.reserve_exact(count * keys.width);
}

/// Appends a chunk key to a version 1 B-tree node's list of keys.
pub(super) fn push(keys: &mut ChunkKeys, key: &ChunkKey) {
    keys.push(key.size, key.filter_mask, &key.offset);
}

/// Replaces the chunk key with the index `at` in a version 1 B-tree node's list of keys.
///
/// # Errors
/// Returns [`Error::Internal`] if there is no such key, or if it has another rank.
pub(super) fn replace(keys: &mut ChunkKeys, at: usize, key: &ChunkKey) -> Result<()> {
    let start = at * keys.width;
    match (
        keys.sizes.get_mut(at),
        keys.filter_masks.get_mut(at),
        keys.offsets.get_mut(start..start + keys.width),
    ) {
        (Some(size), Some(mask), Some(offset)) if offset.len() == key.offset.len() => {
            (*size, *mask) = (key.size, key.filter_mask);
            offset.copy_from_slice(&key.offset);
            Ok(())
        }
        _ => Err(Error::internal(NAME, "a replaced key exists and has the same rank")),
    }
}

/// Removes the chunk key with the index `at` from a version 1 B-tree node's list of keys.
///
/// # Errors
/// Returns [`Error::Internal`] if there is no such key.
pub(super) fn remove(keys: &mut ChunkKeys, at: usize) -> Result<()> {
    if at >= keys.len() {
        return Err(Error::internal(NAME, "a removed key exists"));
    }
    keys.sizes.remove(at);
    keys.filter_masks.remove(at);
    let start = at * keys.width;
    keys.offsets.drain(start..start + keys.width);
    Ok(())
}

/// Keeps the first `count` chunk keys of a version 1 B-tree node and removes the later keys.
pub(super) fn truncate(keys: &mut ChunkKeys, count: usize) {
    keys.sizes.truncate(count);
    keys.filter_masks.truncate(count);
    keys.offsets.truncate(count * keys.width);
}

/// Removes and returns the chunk keys from the index `at` to the end of a version 1 B-tree node's
/// list of keys.
pub(super) fn split_off(keys: &mut ChunkKeys, at: usize) -> ChunkKeys {
    let at = at.min(keys.len());
    ChunkKeys {
        width: keys.width,
        sizes: keys.sizes.split_off(at),
        filter_masks: keys.filter_masks.split_off(at),
        offsets: keys.offsets.split_off(at * keys.width),
    }
}
