//! Version 2 B-tree internal node (File Format Specification, section III.A.2).
//!
//! ```text
//! byte  0   signature "BTIN"
//!       4   version 0; 1 is also accepted
//!       5   type
//!       6   records 0 … N-1
//!           N+1 times: address of child (O), records in the child (w),
//!                      records in the child and its subtree (t; none at level 1)
//!           checksum (4), directly after the last pointer
//!           undefined up to the node size
//! ```
//! The widths w and t are in [`BTreeV2Layout`](super::BTreeV2Layout).

use super::layout::OVERHEAD_BYTES;
use super::leaf::read_prefix;
use crate::codec::{Address, FileParams, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"BTIN";

/// Parameters that determine the layout of an internal node of a version 2 B-tree. Created by
/// [`BTreeV2Layout::internal`](super::BTreeV2Layout::internal).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTreeV2InternalContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Record type from the header.
    pub record_type: u8,
    /// Size of a record in bytes.
    pub record_size: usize,
    /// Size of the node in bytes.
    pub node_size: usize,
    /// Number of records in the node, from the pointer to the node.
    pub records: usize,
    /// Width in bytes of a child's record count.
    pub count_width: usize,
    /// Width in bytes of a child's total record count; 0 directly above the leaves.
    pub total_width: usize,
    /// Largest number of records in a child.
    pub max_child_records: u64,
    /// Largest number of records in a child and its subtree.
    pub max_child_total: u64,
}

/// An internal node of a version 2 B-tree: N records between N+1 children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTreeV2Internal {
    /// Version: 0; 1 is also accepted.
    pub version: u8,
    /// Concatenated bytes of the records.
    pub records: Vec<u8>,
    /// Pointers to the children: one more than the number of records.
    pub children: Vec<BTreeV2Child>,
}

/// A pointer of a version 2 B-tree to a node of the next lower level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTreeV2Child {
    /// Address of the node.
    pub address: Address,
    /// Number of records in the node.
    pub records: u64,
    /// Number of records in the node and its subtree. For a leaf, equal to `records`.
    pub total: u64,
}

impl Structure for BTreeV2Internal {
    const NAME: &'static str = "version 2 B-tree internal node";
    type Context = BTreeV2InternalContext;

    fn size(context: &BTreeV2InternalContext) -> usize {
        context.node_size
    }

    fn decode(bytes: &[u8], context: &BTreeV2InternalContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let version = read_prefix(&mut reader, SIGNATURE, context.record_type)?;
        let records = reader.take(context.records * context.record_size, "records")?;
        let count =
            reader.count((context.records + 1) as u64, context.pointer_size(), "child node pointers")?;
        let mut children = Vec::with_capacity(count);
        for _ in 0..count {
            children.push(read_child(&mut reader, context)?);
        }
        reader.checksum()?;
        Ok(Self { version, records: records.to_vec(), children })
    }

    fn encode(&self, context: &BTreeV2InternalContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        if self.records.len() != context.records * context.record_size
            || self.children.len() != context.records + 1
        {
            let got = format_args!("{} bytes and {} children", self.records.len(), self.children.len());
            writer.fail("records", got);
        }
        writer.bytes(SIGNATURE);
        writer.u8(self.version);
        writer.u8(context.record_type);
        writer.bytes(&self.records);
        for child in &self.children {
            writer.offset(context.params, child.address, "child node pointer");
            writer.uint(context.count_width, child.records, "number of records in child node");
            if context.total_width > 0 {
                writer.uint(context.total_width, child.total, "total number of records in child node");
            }
        }
        writer.checksum();
        writer.pad_to(context.node_size, "records");
        writer.finish()
    }
}

impl BTreeV2InternalContext {
    fn pointer_size(&self) -> usize {
        self.params.offset_width() + self.count_width + self.total_width
    }

    /// Returns the number of used bytes in an internal node of a version 2 B-tree. Padding fills
    /// the other bytes.
    pub fn used_size(&self) -> usize {
        let pointers = (self.records + 1) * self.pointer_size();
        self.records * self.record_size + pointers + OVERHEAD_BYTES
    }
}

fn read_child(reader: &mut Reader<'_>, context: &BTreeV2InternalContext) -> Result<BTreeV2Child> {
    let address = reader.offset(context.params, "child node pointer")?;
    let records = reader.uint(context.count_width, "number of records in child node")?;
    if records > context.max_child_records {
        let maximum = format!("at most {}", context.max_child_records);
        return Err(reader.corrupt("number of records in child node", maximum, records));
    }
    let total = match context.total_width {
        0 => records,
        width => reader.uint(width, "total number of records in child node")?,
    };
    if total < records || total > context.max_child_total {
        let maximum = format!("{records} to {}", context.max_child_total);
        return Err(reader.corrupt("total number of records in child node", maximum, total));
    }
    Ok(BTreeV2Child { address, records, total })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const CONTEXT: BTreeV2InternalContext = BTreeV2InternalContext {
        params: FileParams { size_of_offsets: 2, size_of_lengths: 2 },
        record_type: 5,
        record_size: 3,
        node_size: 40,
        records: 1,
        count_width: 1,
        total_width: 2,
        max_child_records: 5,
        max_child_total: 300,
    };

    fn child(address: u64, records: u64, total: u64) -> BTreeV2Child {
        BTreeV2Child { address: Address::new(address), records, total }
    }

    #[test]
    fn one_record_two_children() {
        let mut bytes = b"BTIN\x00\x05abc\x00\x10\x02\x0a\x00\x00\x20\x03\x2c\x01".to_vec();
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes.resize(40, 0);
        let node = BTreeV2Internal::decode(&bytes, &CONTEXT).unwrap();
        assert_eq!(node.records, b"abc");
        assert_eq!(node.children, [child(0x1000, 2, 10), child(0x2000, 3, 300)]);
        assert_eq!(node.encode(&CONTEXT).unwrap(), bytes);
        assert_eq!(CONTEXT.used_size(), 23);
        let too_many = BTreeV2InternalContext { max_child_records: 2, ..CONTEXT };
        assert!(BTreeV2Internal::decode(&bytes, &too_many).unwrap_err().to_string().contains("at most 2"));
        let too_many = BTreeV2InternalContext { max_child_total: 299, ..CONTEXT };
        assert!(BTreeV2Internal::decode(&bytes, &too_many).unwrap_err().to_string().contains("3 to 299"));
    }

    #[test]
    fn above_leaves_there_is_no_total() {
        let context = BTreeV2InternalContext { total_width: 0, max_child_total: 5, ..CONTEXT };
        let mut bytes = b"BTIN\x00\x05abc\x00\x10\x02\x00\x20\x03".to_vec();
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes.resize(40, 0);
        let node = BTreeV2Internal::decode(&bytes, &context).unwrap();
        assert_eq!(node.children, [child(0x1000, 2, 2), child(0x2000, 3, 3)]);
        assert_eq!(node.encode(&context).unwrap(), bytes);
    }

    fn node() -> impl Strategy<Value = (BTreeV2InternalContext, BTreeV2Internal)> {
        let children = prop::collection::vec((any::<u16>(), 0_u64..6, 0_u64..290), 2..8);
        (children, any::<u8>(), 0_u8..2).prop_map(|(children, byte, version)| {
            let records = children.len() - 1;
            let children = children
                .into_iter()
                .map(|(a, records, more)| child(u64::from(a) / 2, records, records + more));
            let node =
                BTreeV2Internal { version, records: vec![byte; records * 3], children: children.collect() };
            (BTreeV2InternalContext { records, node_size: 200, ..CONTEXT }, node)
        })
    }

    proptest! {
        #[test]
        fn round_trip((context, node) in node()) {
            let bytes = node.encode(&context).unwrap();
            prop_assert_eq!(bytes.len(), BTreeV2Internal::size(&context));
            prop_assert_eq!(BTreeV2Internal::decode(&bytes, &context).unwrap(), node);
        }

        #[test]
        fn damaged((context, node) in node(), damage in damage()) {
            let bytes = node.encode(&context).unwrap();
            damage.inflict(&bytes[..context.used_size()], |bytes| drop(BTreeV2Internal::decode(bytes, &context)));
        }
    }
}
