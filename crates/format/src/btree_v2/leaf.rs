//! Version 2 B-tree leaf node (File Format Specification, section III.A.2).
//!
//! ```text
//! byte  0   signature "BTLF"
//!       4   version 0; 1 is also accepted
//!       5   type
//!       6   records
//!           checksum (4), directly after the last record
//!           undefined up to the node size
//! ```

use super::layout::OVERHEAD_BYTES;
use crate::codec::{Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"BTLF";

/// Parameters that determine the layout of a leaf of a version 2 B-tree. Created by
/// [`BTreeV2Layout::leaf`](super::BTreeV2Layout::leaf).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTreeV2LeafContext {
    /// Record type from the header.
    pub record_type: u8,
    /// Size of a record in bytes.
    pub record_size: usize,
    /// Size of the node in bytes.
    pub node_size: usize,
    /// Number of records in the node, from the pointer to the node.
    pub records: usize,
}

/// A leaf of a version 2 B-tree with its records as stored in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTreeV2Leaf {
    /// Version: 0; 1 is also accepted.
    pub version: u8,
    /// Concatenated bytes of the records.
    pub records: Vec<u8>,
}

impl Structure for BTreeV2Leaf {
    const NAME: &'static str = "version 2 B-tree leaf node";
    type Context = BTreeV2LeafContext;

    fn size(context: &BTreeV2LeafContext) -> usize {
        context.node_size
    }

    fn decode(bytes: &[u8], context: &BTreeV2LeafContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let version = read_prefix(&mut reader, SIGNATURE, context.record_type)?;
        let records = reader.take(context.records * context.record_size, "records")?;
        reader.checksum()?;
        Ok(Self { version, records: records.to_vec() })
    }

    fn encode(&self, context: &BTreeV2LeafContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        if self.records.len() != context.records * context.record_size {
            writer.fail(
                "records",
                format_args!("{} bytes for {} records", self.records.len(), context.records),
            );
        }
        writer.bytes(SIGNATURE);
        writer.u8(self.version);
        writer.u8(context.record_type);
        writer.bytes(&self.records);
        writer.checksum();
        writer.pad_to(context.node_size, "records");
        writer.finish()
    }
}

impl BTreeV2LeafContext {
    /// Returns the number of used bytes in a leaf of a version 2 B-tree. Padding fills the other
    /// bytes.
    pub fn used_size(&self) -> usize {
        self.records * self.record_size + OVERHEAD_BYTES
    }
}

/// Reads the first fields of a version 2 B-tree node, which are the same for leaves and internal
/// nodes. Returns the version.
pub(super) fn read_prefix(
    reader: &mut Reader<'_>,
    signature: &'static [u8; 4],
    record_type: u8,
) -> Result<u8> {
    reader.signature(signature)?;
    let version = reader.version(&[0, 1])?;
    let got = reader.u8("type")?;
    if got != record_type {
        return Err(reader.corrupt("type", format!("the header's type {record_type}"), got));
    }
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const CONTEXT: BTreeV2LeafContext =
        BTreeV2LeafContext { record_type: 5, record_size: 3, node_size: 24, records: 2 };

    #[test]
    fn two_records() {
        let mut bytes = b"BTLF\x00\x05abcdef".to_vec();
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes.resize(24, 0);
        let leaf = BTreeV2Leaf::decode(&bytes, &CONTEXT).unwrap();
        assert_eq!(leaf, BTreeV2Leaf { version: 0, records: b"abcdef".to_vec() });
        assert_eq!(leaf.encode(&CONTEXT).unwrap(), bytes);
        assert_eq!(CONTEXT.used_size(), 16);
        // Bytes after the checksum do not matter.
        bytes[23] = 1;
        assert!(BTreeV2Leaf::decode(&bytes, &CONTEXT).is_ok());
        bytes[7] = 1;
        assert!(BTreeV2Leaf::decode(&bytes, &CONTEXT).is_err());
        let other = BTreeV2LeafContext { record_type: 6, ..CONTEXT };
        assert!(BTreeV2Leaf::decode(&bytes, &other).unwrap_err().to_string().contains("type"));
        let fewer = BTreeV2LeafContext { records: 1, ..CONTEXT };
        assert!(leaf.encode(&fewer).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(version in 0_u8..2, record_type in 0_u8..14, records in prop::collection::vec(any::<[u8; 7]>(), 0..9)) {
            let context = BTreeV2LeafContext { record_type, record_size: 7, node_size: 80, records: records.len() };
            let leaf = BTreeV2Leaf { version, records: records.concat() };
            let bytes = leaf.encode(&context).unwrap();
            prop_assert_eq!(bytes.len(), BTreeV2Leaf::size(&context));
            prop_assert_eq!(BTreeV2Leaf::decode(&bytes, &context).unwrap(), leaf);
        }

        #[test]
        fn damaged(damage in damage()) {
            let leaf = BTreeV2Leaf { version: 0, records: vec![1, 2, 3, 4, 5, 6] };
            let bytes = leaf.encode(&CONTEXT).unwrap();
            damage.inflict(&bytes[..16], |bytes| drop(BTreeV2Leaf::decode(bytes, &CONTEXT)));
        }
    }
}
