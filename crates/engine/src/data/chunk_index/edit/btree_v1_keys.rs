//! Keys of version 1 B-tree nodes of chunks, one by one.

use hyperslab_dataspace::Dims;
use hyperslab_format::btree_v1::{BTreeV1Keys, BTreeV1Node, ChunkKeys};

use crate::error::{Error, Result};

/// The name of this structure in errors.
const NAME: &str = "B-tree of chunks";

/// One key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) size: u32,
    pub(super) filter_mask: u32,
    /// First element of the chunk, and the place in the element.
    pub(super) offset: Dims,
}

/// The keys of a node of chunks.
pub(super) fn keys(node: &BTreeV1Node) -> Result<&ChunkKeys> {
    node.keys.as_chunks().ok_or_else(no_chunks)
}

/// The keys of a node of chunks, to be changed.
pub(super) fn keys_mut(node: &mut BTreeV1Node) -> Result<&mut ChunkKeys> {
    match &mut node.keys {
        BTreeV1Keys::Chunks(keys) => Ok(keys),
        BTreeV1Keys::Group(_) => Err(no_chunks()),
    }
}

fn no_chunks() -> Error {
    Error::corrupt("version 1 B-tree node", "node type", "1 (chunks)", 0)
}

/// Key `at`.
pub(super) fn key(keys: &ChunkKeys, at: usize) -> Option<Key> {
    Some(Key {
        size: *keys.sizes.get(at)?,
        filter_mask: *keys.filter_masks.get(at)?,
        offset: Dims::from_slice(keys.offset(at)?),
    })
}

/// Puts a key before that at `at`.
///
/// # Errors
/// [`Error::Internal`] if there are fewer keys before it, or keys of another rank.
pub(super) fn insert(keys: &mut ChunkKeys, at: usize, key: &Key) -> Result<()> {
    if at > keys.len() || key.offset.len() != keys.width {
        return Err(Error::internal(NAME, "a key comes behind or between keys of its rank"));
    }
    keys.sizes.insert(at, key.size);
    keys.filter_masks.insert(at, key.filter_mask);
    let start = at * keys.width;
    keys.offsets.splice(start..start, key.offset.iter().copied());
    Ok(())
}

/// Makes room for so many keys.
pub(super) fn reserve(keys: &mut ChunkKeys, count: usize) {
    keys.sizes.reserve_exact(count);
    keys.filter_masks.reserve_exact(count);
    keys.offsets.reserve_exact(count * keys.width);
}

/// Puts a key behind the last.
pub(super) fn push(keys: &mut ChunkKeys, key: &Key) {
    keys.push(key.size, key.filter_mask, &key.offset);
}

/// Puts a key in the place of that at `at`.
///
/// # Errors
/// [`Error::Internal`] if there is no such key, or one of another rank.
pub(super) fn replace(keys: &mut ChunkKeys, at: usize, key: &Key) -> Result<()> {
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
        _ => Err(Error::internal(NAME, "a key takes the place of a key")),
    }
}

/// Takes key `at` out.
///
/// # Errors
/// [`Error::Internal`] if there is no such key.
pub(super) fn remove(keys: &mut ChunkKeys, at: usize) -> Result<()> {
    if at >= keys.len() {
        return Err(Error::internal(NAME, "a key that is taken out is there"));
    }
    keys.sizes.remove(at);
    keys.filter_masks.remove(at);
    let start = at * keys.width;
    keys.offsets.drain(start..start + keys.width);
    Ok(())
}

/// Keeps the first `count` keys.
pub(super) fn truncate(keys: &mut ChunkKeys, count: usize) {
    keys.sizes.truncate(count);
    keys.filter_masks.truncate(count);
    keys.offsets.truncate(count * keys.width);
}

/// The keys from `at` on; those before stay.
pub(super) fn split_off(keys: &mut ChunkKeys, at: usize) -> ChunkKeys {
    let at = at.min(keys.len());
    ChunkKeys {
        width: keys.width,
        sizes: keys.sizes.split_off(at),
        filter_masks: keys.filter_masks.split_off(at),
        offsets: keys.offsets.split_off(at * keys.width),
    }
}
