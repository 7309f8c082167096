//! Borrowed view of a version 1 B-tree node of chunks. A lookup decodes only the keys that it
//! needs.

use std::cmp::Ordering;

use crate::btree_v1::{BTreeV1Context, BTreeV1Kind, BTreeV1Node};
use crate::codec::{Address, FileParams, FormatError, Reader, Result, Structure as _};

const SIGNATURE: &[u8; 4] = b"TREE";
const CHUNKS: u8 = 1;

/// A view of the bytes of a version 1 B-tree node of chunks, which decodes keys on demand.
/// [`BTreeV1Node`] documents the layout of the bytes.
///
/// ```
/// use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Keys, BTreeV1Kind, BTreeV1Node};
/// use hyperslab_format::btree_v1::{ChunkKeys, ChunkNodeView};
/// use hyperslab_format::codec::{Address, FileParams, Structure as _};
/// let params = FileParams { size_of_offsets: 8, size_of_lengths: 8 };
/// let context = BTreeV1Context { params, kind: BTreeV1Kind::Chunks { rank: 1 }, k: 1 };
/// let mut keys = ChunkKeys::new(1);
/// keys.push(64, 0, &[0, 0]);
/// keys.push(0, 0, &[16, 0]);
/// let node = BTreeV1Node {
///     level: 0,
///     left: Address::UNDEFINED,
///     right: Address::UNDEFINED,
///     keys: BTreeV1Keys::Chunks(keys),
///     children: vec![Address::new(4096)],
/// };
/// let bytes = node.encode(&context)?;
/// let view = ChunkNodeView::new(&bytes, &context)?;
/// let entry = view.find(&[0]).and_then(|position| view.entry(position));
/// assert_eq!(entry.map(|entry| (entry.child, entry.size)), Some((Address::new(4096), 64)));
/// # Ok::<(), hyperslab_format::codec::FormatError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ChunkNodeView<'a> {
    level: u8,
    used: usize,
    entries: &'a [u8],
    rank: usize,
    params: FileParams,
}

/// A child of a version 1 B-tree node of chunks, with the key before the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkEntry {
    /// Stored size of the chunk in bytes.
    pub size: u32,
    /// Filter mask of the chunk: bit i is set if filter i of the pipeline was skipped.
    pub filter_mask: u32,
    /// Address of the chunk, or of the child node.
    pub child: Address,
}

impl<'a> ChunkNodeView<'a> {
    /// Creates a view of the version 1 B-tree node of chunks in `bytes`.
    ///
    /// # Errors
    /// Returns the errors of decoding a [`BTreeV1Node`], and [`FormatError::Internal`] if `context`
    /// describes a group tree.
    pub fn new(bytes: &'a [u8], context: &BTreeV1Context) -> Result<Self> {
        let mut reader = Reader::new(BTreeV1Node::NAME, bytes);
        let params = context.params;
        reader.signature(SIGNATURE)?;
        let node_type = reader.u8("node type")?;
        if node_type != CHUNKS {
            return Err(reader.corrupt("node type", CHUNKS.to_string(), node_type));
        }
        let level = reader.u8("node level")?;
        let used = usize::from(reader.u16("entries used")?);
        if used > context.capacity() {
            return Err(reader.corrupt("entries used", format!("at most 2K = {}", context.capacity()), used));
        }
        reader.skip(params.offset_width() * 2, "addresses of siblings")?;
        let BTreeV1Kind::Chunks { rank } = context.kind else {
            return Err(FormatError::internal(BTreeV1Node::NAME, "the context is that of a tree of chunks"));
        };
        let key = context.key_size();
        let all = used * (key + params.offset_width()) + key;
        let entries = reader.take(all, "keys and children")?;
        Ok(Self { level, used, entries, rank, params })
    }

    /// Returns the height of the version 1 B-tree node of chunks above the leaves.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// Returns the number of children of the version 1 B-tree node of chunks.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Returns true if the version 1 B-tree node of chunks has no children.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Searches a version 1 B-tree node of chunks for the child that can contain a chunk. `first`
    /// is the first element of the chunk. Returns the index of the child, or `None` if the chunk
    /// lies outside the node's keys.
    pub fn find(&self, first: &[u64]) -> Option<usize> {
        // Binary search: keys before `low` are not greater than `first`, keys from `high` on are
        // greater. A node has one key more than children.
        let (mut low, mut high) = (0, self.used.checked_add(1)?);
        while low < high {
            let middle = low.midpoint(high);
            match self.compare(middle, first)? {
                Ordering::Greater => high = middle,
                _ => low = middle.checked_add(1)?,
            }
        }
        low.checked_sub(1).filter(|position| *position < self.used)
    }

    /// Compares the chunk coordinates in a key of a version 1 B-tree node with the coordinates
    /// `first` of a chunk's first element. `position` is the index of the key.
    ///
    /// The key after the last chunk may repeat that chunk's coordinates and differ only in the last
    /// coordinate, the offset within the element.
    pub fn compare(&self, position: usize, first: &[u64]) -> Option<Ordering> {
        let key = self.key(position)?;
        let coordinates = key.get(8..)?.as_chunks::<8>().0;
        let (offset, within) = coordinates.split_at_checked(self.rank)?;
        let offset = offset.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let beyond = within.iter().any(|bytes| *bytes != [0; 8]);
        Some(offset.cmp(first.iter().copied()).then(if beyond { Ordering::Greater } else { Ordering::Equal }))
    }

    /// Returns the first element of a chunk, in coordinates, from a key of a version 1 B-tree node.
    /// `position` is the index of the key.
    pub fn offset(&self, position: usize) -> Option<impl Iterator<Item = u64> + use<'a>> {
        let coordinates = self.key(position)?.get(8..)?.as_chunks::<8>().0;
        Some(coordinates.iter().take(self.rank).map(|bytes| u64::from_le_bytes(*bytes)))
    }

    /// Returns the child with the index `position` of a version 1 B-tree node of chunks, and the
    /// key before the child.
    pub fn entry(&self, position: usize) -> Option<ChunkEntry> {
        if position >= self.used {
            return None;
        }
        let key_size = self.key(position)?.len();
        let start = position.checked_mul(self.stride())?;
        let mut reader = Reader::new(BTreeV1Node::NAME, self.entries.get(start..)?);
        let (size, filter_mask) = (reader.u32("chunk size").ok()?, reader.u32("filter mask").ok()?);
        reader.skip(key_size - 8, "chunk offset").ok()?;
        Some(ChunkEntry { size, filter_mask, child: reader.offset(self.params, "address of child").ok()? })
    }

    fn key_size(&self) -> usize {
        (self.rank + 2) * 8
    }

    /// Returns the distance in bytes between two neighbouring keys in a node of the version 1
    /// B-tree of chunks.
    fn stride(&self) -> usize {
        self.key_size() + self.params.offset_width()
    }

    fn key(&self, position: usize) -> Option<&'a [u8]> {
        let start = position.checked_mul(self.stride())?;
        self.entries.get(start..start.checked_add(self.key_size())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btree_v1::{BTreeV1Keys, BTreeV1Kind, ChunkKeys};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sees_what_decoding_gives(
            chunks in proptest::collection::btree_map(proptest::collection::vec(0..5_u64, 2), (any::<u32>(), any::<u32>(), 0..1_000_000_u64), 0..16),
            wanted in proptest::collection::vec(0..6_u64, 2),
            narrow in any::<bool>(),
        ) {
            let params = FileParams { size_of_offsets: if narrow { 4 } else { 8 }, size_of_lengths: 8 };
            let context = BTreeV1Context { params, kind: BTreeV1Kind::Chunks { rank: 2 }, k: 8 };
            let mut keys = ChunkKeys::new(2);
            for (at, (size, mask, _)) in &chunks {
                keys.push(*size, *mask, &[at[0], at[1], 0]);
            }
            keys.push(0, 0, &chunks.keys().next_back().map_or([0, 0, 0], |at| [at[0], at[1], 4]));
            let children: Vec<Address> = chunks.values().map(|(.., child)| Address::new(*child)).collect();
            let (left, right) = (Address::UNDEFINED, Address::new(7));
            let node = BTreeV1Node { level: 3, left, right, keys: BTreeV1Keys::Chunks(keys), children };
            let bytes = node.encode(&context).unwrap();
            let view = ChunkNodeView::new(&bytes, &context).unwrap();
            prop_assert_eq!((view.level(), view.len(), view.is_empty()), (3, chunks.len(), chunks.is_empty()));
            for (position, (at, (size, filter_mask, child))) in chunks.iter().enumerate() {
                let entry = ChunkEntry { size: *size, filter_mask: *filter_mask, child: Address::new(*child) };
                prop_assert_eq!(view.entry(position), Some(entry));
                prop_assert_eq!(view.find(at), Some(position));
                prop_assert_eq!(view.compare(position, at), Some(Ordering::Equal));
            }
            prop_assert_eq!(view.entry(chunks.len()), None);
            let last_before = chunks.keys().rposition(|at| *at <= wanted);
            let behind_all = chunks.keys().next_back().is_none_or(|last| *last < wanted);
            prop_assert_eq!(view.find(&wanted), last_before.filter(|_| !behind_all));
            for end in 0..bytes.len() {
                let _ = ChunkNodeView::new(&bytes[..end], &context);
            }
        }
    }

    #[test]
    fn a_context_of_groups_is_an_internal_error() {
        let params = FileParams::DEFAULT;
        let bytes = [b"TREE\x01\x00\x01\x00".as_slice(), &[0; 64]].concat();
        let context = BTreeV1Context { params, kind: BTreeV1Kind::Group, k: 1 };
        assert!(matches!(ChunkNodeView::new(&bytes, &context), Err(FormatError::Internal { .. })));
    }
}
