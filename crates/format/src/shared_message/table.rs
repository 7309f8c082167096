//! Shared object header message table (File Format Specification, section III.I).
//!
//! ```text
//! byte  0   signature "SMTB"
//!           for each index:
//!       0     version 0
//!       1     index type               0 list, 1 version 2 B-tree
//!       2     message type flags (2)   bit 0 dataspace, 1 datatype, 2 fill value,
//!                                      3 filter pipeline, 4 attribute (see `SharedMessageTypes`)
//!       4     minimum message size (4)
//!       8     list cutoff (2)          largest number of messages in a list
//!      10     B-tree cutoff (2)        a B-tree with fewer messages becomes a list
//!      12     number of messages (2)
//!      14     index address (O)
//!    14+O     fractal heap address (O)
//!           checksum (4)
//! ```

use crate::codec::{Address, CHECKSUM_SIZE, FileParams, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"SMTB";
const VERSION: u8 = 0;
const LIST: u8 = 0;
const BTREE: u8 = 1;

bitflags::bitflags! {
    /// A set of object header message types, for an index of shared messages. As in files of
    /// libhdf5, the bit number of a type is the number of the message type. The specification
    /// numbers the bits from 0 instead.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct SharedMessageTypes: u16 {
        /// The bit for dataspace messages in the set of message types of a shared message index.
        const DATASPACE = 1 << 1;
        /// The bit for datatype messages in the set of message types of a shared message index.
        const DATATYPE = 1 << 3;
        /// The bit for fill value messages in the set of message types of a shared message index.
        /// Bit 4 stands for the old fill value message.
        const FILL_VALUE = 1 << 5;
        /// The bit for filter pipeline messages in the set of message types of a shared message
        /// index.
        const FILTER_PIPELINE = 1 << 11;
        /// The bit for attribute messages in the set of message types of a shared message index.
        const ATTRIBUTE = 1 << 12;
        /// All bits of the set of message types of a shared message index, including bits without a
        /// defined meaning.
        const _ = !0;
    }
}

/// Parameters that determine the layout of the master table of a file's shared message indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessageTableContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Number of indexes in the table, from the shared message table message.
    pub indexes: u8,
}

/// The master table of a file's shared message indexes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SharedMessageTable {
    /// Indexes of the table.
    pub indexes: Vec<SharedMessageIndex>,
}

/// The storage form of an index of shared messages: a list or a B-tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedMessageIndexKind {
    /// A [`SharedMessageList`](super::SharedMessageList).
    List,
    /// A version 2 B-tree of type 7.
    BTree,
}

/// The description of one index of shared messages in the file's master table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMessageIndex {
    /// Current storage form.
    pub kind: SharedMessageIndexKind,
    /// Types of messages in the index.
    pub message_types: SharedMessageTypes,
    /// Size in bytes of the smallest message that is shared.
    pub min_message_size: u32,
    /// Largest number of messages in a list.
    pub list_cutoff: u16,
    /// Smallest number of messages in a B-tree.
    pub btree_cutoff: u16,
    /// Number of messages in the index.
    pub messages: u16,
    /// Address of the list, or of the B-tree's header.
    pub index: Address,
    /// Address of the fractal heap with messages that several object headers use.
    pub heap: Address,
}

impl SharedMessageIndex {
    /// An empty index of shared messages that holds no message types.
    pub const EMPTY: Self = Self {
        kind: SharedMessageIndexKind::List,
        message_types: SharedMessageTypes::empty(),
        min_message_size: 0,
        list_cutoff: 0,
        btree_cutoff: 0,
        messages: 0,
        index: Address::UNDEFINED,
        heap: Address::UNDEFINED,
    };
}

impl Structure for SharedMessageTable {
    const NAME: &'static str = "shared message table";
    type Context = SharedMessageTableContext;

    fn size(context: &SharedMessageTableContext) -> usize {
        let index = 14 + 2 * context.params.offset_width();
        SIGNATURE.len() + usize::from(context.indexes) * index + CHECKSUM_SIZE
    }

    fn decode(bytes: &[u8], context: &SharedMessageTableContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(SIGNATURE)?;
        let mut indexes = Vec::with_capacity(usize::from(context.indexes));
        for _ in 0..context.indexes {
            indexes.push(read_index(&mut reader, context.params)?);
        }
        reader.checksum()?;
        reader.finish()?;
        Ok(Self { indexes })
    }

    fn encode(&self, context: &SharedMessageTableContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        if self.indexes.len() != usize::from(context.indexes) {
            writer.fail("indexes", self.indexes.len());
        }
        writer.bytes(SIGNATURE);
        for index in &self.indexes {
            writer.u8(VERSION);
            writer.u8(match index.kind {
                SharedMessageIndexKind::List => LIST,
                SharedMessageIndexKind::BTree => BTREE,
            });
            writer.u16(index.message_types.bits());
            writer.u32(index.min_message_size);
            writer.u16(index.list_cutoff);
            writer.u16(index.btree_cutoff);
            writer.u16(index.messages);
            writer.offset(context.params, index.index, "index address");
            writer.offset(context.params, index.heap, "fractal heap address");
        }
        writer.checksum();
        writer.finish()
    }
}

fn read_index(reader: &mut Reader<'_>, params: FileParams) -> Result<SharedMessageIndex> {
    reader.version(&[VERSION])?;
    let kind = match reader.u8("index type")? {
        LIST => SharedMessageIndexKind::List,
        BTREE => SharedMessageIndexKind::BTree,
        other => return Err(reader.corrupt("index type", "0 or 1", other)),
    };
    Ok(SharedMessageIndex {
        kind,
        message_types: SharedMessageTypes::from_bits_retain(reader.u16("message type flags")?),
        min_message_size: reader.u32("minimum message size")?,
        list_cutoff: reader.u16("list cutoff")?,
        btree_cutoff: reader.u16("v2 B-tree cutoff")?,
        messages: reader.u16("number of messages")?,
        index: reader.offset(params, "index address")?,
        heap: reader.offset(params, "fractal heap address")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const CONTEXT: SharedMessageTableContext = SharedMessageTableContext {
        params: FileParams { size_of_offsets: 4, size_of_lengths: 4 },
        indexes: 1,
    };

    #[test]
    fn one_index() {
        let mut bytes = b"SMTB\x00\x01\x0a\x10\x28\x00\x00\x00\x32\x00\x28\x00\x3c\x00".to_vec();
        bytes.extend([0x00, 0x10, 0, 0, 0x00, 0x20, 0, 0]);
        bytes.extend(checksum(&bytes).to_le_bytes());
        let table = SharedMessageTable::decode(&bytes, &CONTEXT).unwrap();
        let expected = SharedMessageIndex {
            kind: SharedMessageIndexKind::BTree,
            message_types: SharedMessageTypes::DATASPACE
                | SharedMessageTypes::DATATYPE
                | SharedMessageTypes::ATTRIBUTE,
            min_message_size: 40,
            list_cutoff: 50,
            btree_cutoff: 40,
            messages: 60,
            index: Address::new(0x1000),
            heap: Address::new(0x2000),
        };
        assert_eq!(table.indexes, [expected]);
        assert_eq!(table.encode(&CONTEXT).unwrap(), bytes);
        assert_eq!(SharedMessageTable::size(&CONTEXT), bytes.len());
        bytes[5] = 2;
        assert!(SharedMessageTable::decode(&bytes, &CONTEXT).is_err());
        bytes[4] = 1;
        assert!(SharedMessageTable::decode(&bytes, &CONTEXT).unwrap_err().to_string().contains("version 1"));
    }

    fn index() -> impl Strategy<Value = SharedMessageIndex> {
        any::<(bool, u16, u32, [u16; 3], [u32; 2])>().prop_map(
            |(list, types, min_message_size, counts, places)| SharedMessageIndex {
                kind: if list { SharedMessageIndexKind::List } else { SharedMessageIndexKind::BTree },
                message_types: SharedMessageTypes::from_bits_retain(types),
                min_message_size,
                list_cutoff: counts[0],
                btree_cutoff: counts[1],
                messages: counts[2],
                index: Address::new(u64::from(places[0]) / 2),
                heap: Address::new(u64::from(places[1]) / 2),
            },
        )
    }

    proptest! {
        #[test]
        fn round_trip(indexes in prop::collection::vec(index(), 0..8)) {
            let context = SharedMessageTableContext { indexes: u8::try_from(indexes.len()).unwrap(), ..CONTEXT };
            let table = SharedMessageTable { indexes };
            let bytes = table.encode(&context).unwrap();
            prop_assert_eq!(SharedMessageTable::decode(&bytes, &context).unwrap(), table);
        }

        #[test]
        fn damaged(index in index(), damage in damage()) {
            let bytes = SharedMessageTable { indexes: vec![index] }.encode(&CONTEXT).unwrap();
            damage.inflict(&bytes, |bytes| drop(SharedMessageTable::decode(bytes, &CONTEXT)));
        }
    }
}
