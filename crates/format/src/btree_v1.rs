//! Version 1 B-tree node (File Format Specification, section III.A.1).
//!
//! ```text
//! byte  0   signature "TREE"
//!       4   node type            0 group, 1 raw data chunks
//!       5   node level           0 leaf
//!       6   entries used (2)     N
//!       8   left sibling   (O)
//!     8+O   right sibling  (O)
//!    8+2O   key 0, child 0, key 1, child 1, … child N-1, key N     each child (O)
//!           undefined up to 2K children and 2K+1 keys
//!
//! group key   offset of a name in the local heap (L)
//! chunk key   chunk size (4), filter mask (4), offset of each dimension (8 each),
//!             offset in the element (8)
//! ```

pub use crate::btree_v1_view::{ChunkEntry, ChunkNodeView};
use crate::codec::{Address, FileParams, FormatError, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"TREE";
const GROUP: u8 = 0;
const CHUNKS: u8 = 1;

/// The kind of data that a version 1 B-tree indexes: the links of a group, or the chunks of a
/// dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BTreeV1Kind {
    /// Symbol table nodes of a group.
    Group,
    /// Raw data chunks of a dataset with `rank` dimensions. `rank` does not count the extra
    /// dimension for the bytes of an element.
    Chunks {
        /// Rank of the dataset.
        rank: usize,
    },
}

/// Parameters that determine the layout of a version 1 B-tree node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTreeV1Context {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Kind of data that the tree indexes.
    pub kind: BTreeV1Kind,
    /// The tree's K: a node holds up to 2K children. Group trees use "Group Internal Node K". Chunk
    /// trees use "Indexed Storage Internal Node K", or 32 if the superblock does not store that
    /// value.
    pub k: u16,
}

impl BTreeV1Context {
    /// Returns the largest number of children in one node of a version 1 B-tree.
    pub fn capacity(&self) -> usize {
        usize::from(self.k) * 2
    }

    /// Returns the size of one key of a version 1 B-tree in bytes.
    pub fn key_size(&self) -> usize {
        match self.kind {
            BTreeV1Kind::Group => self.params.length_width(),
            BTreeV1Kind::Chunks { rank } => (rank + 2) * 8,
        }
    }

    fn node_type(&self) -> u8 {
        match self.kind {
            BTreeV1Kind::Group => GROUP,
            BTreeV1Kind::Chunks { .. } => CHUNKS,
        }
    }
}

/// A node of a version 1 B-tree: N children between N+1 keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTreeV1Node {
    /// Height above the leaves. Children of a level 0 node are data; children of higher nodes are
    /// nodes.
    pub level: u8,
    /// Address of the left sibling at the same level.
    pub left: Address,
    /// Address of the right sibling at the same level.
    pub right: Address,
    /// Keys of the node: one more than the number of children.
    pub keys: BTreeV1Keys,
    /// Addresses of symbol table nodes, chunks, or nodes of the next lower level.
    pub children: Vec<Address>,
}

/// The keys of a version 1 B-tree node, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BTreeV1Keys {
    /// Offsets of names in the group's local heap. Key i+1 is the greatest name below child i.
    Group(Vec<u64>),
    /// Chunk keys. Key i describes the first chunk below child i.
    Chunks(ChunkKeys),
}

/// The keys of a version 1 B-tree node that indexes chunks, with one vector per field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkKeys {
    /// Number of coordinates in one key: the rank plus one for the offset within the element.
    pub width: usize,
    /// Stored size of each chunk in bytes.
    pub sizes: Vec<u32>,
    /// Filter mask of each chunk: bit i is set if filter i of the pipeline was skipped.
    pub filter_masks: Vec<u32>,
    /// Coordinates of each chunk's first element, `width` numbers per key. The last number of a key
    /// is 0, except in the key after the last chunk.
    pub offsets: Vec<u64>,
}

impl ChunkKeys {
    /// Creates an empty list of keys for a version 1 B-tree node of chunks. The dataset has `rank`
    /// dimensions.
    pub fn new(rank: usize) -> Self {
        let width = rank + 1;
        Self { width, sizes: Vec::new(), filter_masks: Vec::new(), offsets: Vec::new() }
    }

    /// Returns the number of keys in the list of a version 1 B-tree node of chunks.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns true if the list of a version 1 B-tree node of chunks has no keys.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Returns the chunk coordinates of the key `index` of a version 1 B-tree node, including the
    /// offset within the element.
    pub fn offset(&self, index: usize) -> Option<&[u64]> {
        let start = index.checked_mul(self.width)?;
        self.offsets.get(start..start.checked_add(self.width)?)
    }

    /// Appends a key to the list of a version 1 B-tree node of chunks. The last coordinate of
    /// `offset` is the offset within the element.
    pub fn push(&mut self, size: u32, filter_mask: u32, offset: &[u64]) {
        self.sizes.push(size);
        self.filter_masks.push(filter_mask);
        self.offsets.extend_from_slice(offset);
    }
}

impl BTreeV1Keys {
    /// Returns the number of keys in the version 1 B-tree node.
    pub fn len(&self) -> usize {
        match self {
            Self::Group(names) => names.len(),
            Self::Chunks(keys) => keys.len(),
        }
    }

    /// Returns true if the version 1 B-tree node has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the keys of a version 1 B-tree node that indexes a group, or `None` for a B-tree of
    /// chunks.
    pub fn as_group(&self) -> Option<&[u64]> {
        match self {
            Self::Group(names) => Some(names),
            Self::Chunks(_) => None,
        }
    }

    /// Returns the keys of a version 1 B-tree node that indexes chunks, or `None` for a B-tree of a
    /// group.
    pub fn as_chunks(&self) -> Option<&ChunkKeys> {
        match self {
            Self::Group(_) => None,
            Self::Chunks(keys) => Some(keys),
        }
    }
}

impl Structure for BTreeV1Node {
    const NAME: &'static str = "version 1 B-tree node";
    type Context = BTreeV1Context;

    fn size(context: &BTreeV1Context) -> usize {
        let (key, offset) = (context.key_size(), context.params.offset_width());
        let entries = context.capacity() * (key + offset);
        entries + key + 8 + 2 * offset
    }

    fn decode(bytes: &[u8], context: &BTreeV1Context) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let params = context.params;
        reader.signature(SIGNATURE)?;
        let node_type = reader.u8("node type")?;
        if node_type != context.node_type() {
            return Err(reader.corrupt("node type", context.node_type().to_string(), node_type));
        }
        let level = reader.u8("node level")?;
        let used = usize::from(reader.u16("entries used")?);
        if used > context.capacity() {
            return Err(reader.corrupt("entries used", format!("at most 2K = {}", context.capacity()), used));
        }
        let left = reader.offset(params, "address of left sibling")?;
        let right = reader.offset(params, "address of right sibling")?;
        let entry_size = context.key_size() + params.offset_width();
        let used = reader.count(used as u64, entry_size, "entries used")?;
        let mut children = Vec::with_capacity(used);
        let keys = match context.kind {
            BTreeV1Kind::Group => {
                let mut names = Vec::with_capacity(used + 1);
                for _ in 0..used {
                    names.push(reader.length(params, "key")?);
                    children.push(reader.offset(params, "address of child")?);
                }
                names.push(reader.length(params, "key")?);
                BTreeV1Keys::Group(names)
            }
            BTreeV1Kind::Chunks { rank } => {
                let mut keys = ChunkKeys::new(rank);
                keys.sizes.reserve_exact(used + 1);
                keys.filter_masks.reserve_exact(used + 1);
                keys.offsets.reserve_exact((used + 1) * keys.width);
                for _ in 0..used {
                    read_chunk_key(&mut reader, &mut keys)?;
                    children.push(reader.offset(params, "address of child")?);
                }
                read_chunk_key(&mut reader, &mut keys)?;
                BTreeV1Keys::Chunks(keys)
            }
        };
        Ok(Self { level, left, right, keys, children })
    }

    fn encode(&self, context: &BTreeV1Context) -> Result<Vec<u8>> {
        let mut writer = Writer::with_capacity(Self::NAME, Self::size(context));
        let params = context.params;
        if self.children.len() > context.capacity() {
            writer.fail("entries used", self.children.len());
        }
        if self.keys.len() != self.children.len() + 1 {
            writer
                .fail("keys", format_args!("{} keys for {} children", self.keys.len(), self.children.len()));
        }
        writer.bytes(SIGNATURE);
        writer.u8(context.node_type());
        writer.u8(self.level);
        writer.narrow_u16(self.children.len(), "entries used");
        writer.offset(params, self.left, "address of left sibling");
        writer.offset(params, self.right, "address of right sibling");
        for index in 0..self.keys.len() {
            self.write_key(&mut writer, context, index)?;
            if let Some(child) = self.children.get(index) {
                writer.offset(params, *child, "address of child");
            }
        }
        writer.pad_to(Self::size(context), "entries used");
        writer.finish()
    }
}

impl BTreeV1Node {
    fn write_key(&self, writer: &mut Writer, context: &BTreeV1Context, index: usize) -> Result<()> {
        let mismatch =
            |got: &str| FormatError::Encode { structure: Self::NAME, field: "key", got: got.into() };
        match (&self.keys, context.kind) {
            (BTreeV1Keys::Group(names), BTreeV1Kind::Group) => {
                let name = names.get(index).ok_or_else(|| mismatch("fewer names than keys"))?;
                writer.length(context.params, *name, "key");
            }
            (BTreeV1Keys::Chunks(keys), BTreeV1Kind::Chunks { rank }) => {
                let (Some(size), Some(mask), Some(offset)) =
                    (keys.sizes.get(index), keys.filter_masks.get(index), keys.offset(index))
                else {
                    return Err(mismatch("fields of different lengths"));
                };
                if keys.width != rank + 1 {
                    return Err(mismatch("coordinates of another rank"));
                }
                writer.u32(*size);
                writer.u32(*mask);
                for coordinate in offset {
                    writer.u64(*coordinate);
                }
            }
            _ => return Err(mismatch("keys of the other kind of tree")),
        }
        Ok(())
    }
}

fn read_chunk_key(reader: &mut Reader<'_>, keys: &mut ChunkKeys) -> Result<()> {
    keys.sizes.push(reader.u32("chunk size")?);
    keys.filter_masks.push(reader.u32("filter mask")?);
    let bytes = reader.take(keys.width * 8, "chunk offset")?;
    keys.offsets.extend(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const NARROW: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    #[test]
    fn group_leaf() {
        let context = BTreeV1Context { params: NARROW, kind: BTreeV1Kind::Group, k: 1 };
        #[rustfmt::skip]
        let bytes = [
            b'T', b'R', b'E', b'E', 0, 0, 1, 0,
            0xff, 0xff, 0xff, 0xff, 0x00, 0x10, 0, 0,
            0, 0,  0x40, 0, 0, 0,  8, 0,
            // unused: child 1, key 2
            9, 9, 9, 9, 7, 7,
        ];
        assert_eq!(BTreeV1Node::size(&context), bytes.len());
        let node = BTreeV1Node::decode(&bytes, &context).unwrap();
        let expected = BTreeV1Node {
            level: 0,
            left: Address::UNDEFINED,
            right: Address::new(0x1000),
            keys: BTreeV1Keys::Group(vec![0, 8]),
            children: vec![Address::new(0x40)],
        };
        assert_eq!(node, expected);
        let written = node.encode(&context).unwrap();
        assert_eq!(written[..24], bytes[..24]);
        assert_eq!(written[24..], [0; 6]);
    }

    #[test]
    fn chunk_leaf() {
        let context = BTreeV1Context { params: NARROW, kind: BTreeV1Kind::Chunks { rank: 1 }, k: 1 };
        let mut bytes = b"TREE\x01\x00\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff".to_vec();
        bytes.extend([100, 0, 0, 0, 1, 0, 0, 0]);
        bytes.extend([10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([0, 2, 0, 0]);
        bytes.extend([0; 8]);
        bytes.extend([20, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
        bytes.resize(BTreeV1Node::size(&context), 0);
        let node = BTreeV1Node::decode(&bytes, &context).unwrap();
        let keys = node.keys.as_chunks().unwrap();
        assert_eq!((keys.sizes.as_slice(), keys.filter_masks.as_slice()), (&[100, 0][..], &[1, 0][..]));
        assert_eq!(
            (keys.offset(0), keys.offset(1), keys.offset(2)),
            (Some(&[10, 0][..]), Some(&[20, 4][..]), None)
        );
        assert_eq!(node.encode(&context).unwrap(), bytes);
    }

    #[test]
    fn refusals() {
        let context = BTreeV1Context { params: NARROW, kind: BTreeV1Kind::Group, k: 1 };
        let node = BTreeV1Node {
            level: 0,
            left: Address::UNDEFINED,
            right: Address::UNDEFINED,
            keys: BTreeV1Keys::Group(vec![0, 8]),
            children: vec![Address::new(0x40)],
        };
        let good = node.encode(&context).unwrap();
        let with = |position: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[position] = value;
            BTreeV1Node::decode(&bytes, &context).unwrap_err().to_string()
        };
        assert!(with(0, b'X').contains("signature"));
        assert!(with(4, 1).contains("node type"));
        assert!(with(6, 3).contains("at most 2K = 2"));
        let short = BTreeV1Node::decode(&good[..20], &context).unwrap_err().to_string();
        assert!(short.contains("key") || short.contains("entries used"), "{short}");
        let chunks = BTreeV1Context { kind: BTreeV1Kind::Chunks { rank: 2 }, ..context };
        assert!(node.encode(&chunks).is_err());
    }

    fn node() -> impl Strategy<Value = (BTreeV1Context, BTreeV1Node)> {
        (0_usize..5, 1_u16..5, any::<u8>()).prop_flat_map(|(rank, k, level)| {
            let address =
                prop_oneof![Just(Address::UNDEFINED), any::<u32>().prop_map(|a| Address::new(a.into()))];
            let children = prop::collection::vec(address.clone(), 0..=usize::from(k) * 2);
            (children, address.clone(), address, any::<[u32; 4]>()).prop_map(
                move |(children, left, right, seed)| {
                    let count = children.len() + 1;
                    let kind = if rank == 0 { BTreeV1Kind::Group } else { BTreeV1Kind::Chunks { rank } };
                    let number = |i: usize| u64::from(seed[i % 4]).wrapping_mul(i as u64 + 1);
                    let keys = if rank == 0 {
                        BTreeV1Keys::Group((0..count).map(number).collect())
                    } else {
                        let mut keys = ChunkKeys::new(rank);
                        for i in 0..count {
                            let offset: Vec<u64> = (0..=rank).map(|d| number(i + d)).collect();
                            keys.push(seed[i % 4], seed[(i + 1) % 4], &offset);
                        }
                        BTreeV1Keys::Chunks(keys)
                    };
                    let context = BTreeV1Context { params: FileParams::DEFAULT, kind, k };
                    (context, BTreeV1Node { level, left, right, keys, children })
                },
            )
        })
    }

    proptest! {
        #[test]
        fn round_trip((context, node) in node()) {
            let bytes = node.encode(&context).unwrap();
            prop_assert_eq!(bytes.len(), BTreeV1Node::size(&context));
            prop_assert_eq!(BTreeV1Node::decode(&bytes, &context).unwrap(), node);
        }

        #[test]
        fn damaged((context, node) in node(), damage in damage()) {
            damage.inflict(&node.encode(&context).unwrap(), |bytes| drop(BTreeV1Node::decode(bytes, &context)));
        }
    }
}
