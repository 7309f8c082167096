//! Version 2 B-tree header (File Format Specification, section III.A.2).
//!
//! ```text
//! byte  0   signature "BTHD"
//!       4   version 0; 1 with structured chunks
//!       5   type                      see `records`
//!       6   node size (4)
//!      10   record size (2)
//!      12   depth (2)                 0: the root is a leaf
//!      14   split percent
//!      15   merge percent
//!      16   root node address (O)
//!    16+O   records in the root (2)
//!    18+O   records in the tree (L)
//!  18+O+L   checksum (4)
//! ```

use crate::codec::{Address, FileParams, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"BTHD";

/// The header of a version 2 B-tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BTreeV2Header {
    /// Version: 0, or 1 for structured chunks.
    pub version: u8,
    /// Record type: one of the constants of [`records::types`](super::records::types).
    pub record_type: u8,
    /// Size of every node in bytes.
    pub node_size: u32,
    /// Size of a record in bytes.
    pub record_size: u16,
    /// Number of levels of internal nodes.
    pub depth: u16,
    /// Fill percentage above which a node is split.
    pub split_percent: u8,
    /// Fill percentage below which a node is merged.
    pub merge_percent: u8,
    /// Address of the root node; undefined for a tree without records.
    pub root: Address,
    /// Number of records in the root node.
    pub root_records: u16,
    /// Number of records in the whole tree.
    pub total_records: u64,
}

impl Structure for BTreeV2Header {
    const NAME: &'static str = "version 2 B-tree header";
    type Context = FileParams;

    fn size(params: &FileParams) -> usize {
        22 + params.offset_width() + params.length_width()
    }

    fn decode(bytes: &[u8], params: &FileParams) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(SIGNATURE)?;
        let header = Self {
            version: reader.version(&[0, 1])?,
            record_type: reader.u8("type")?,
            node_size: reader.u32("node size")?,
            record_size: reader.u16("record size")?,
            depth: reader.u16("depth")?,
            split_percent: reader.u8("split percent")?,
            merge_percent: reader.u8("merge percent")?,
            root: reader.offset(*params, "root node address")?,
            root_records: reader.u16("number of records in root node")?,
            total_records: reader.length(*params, "total number of records in B-tree")?,
        };
        reader.checksum()?;
        reader.finish()?;
        Ok(header)
    }

    fn encode(&self, params: &FileParams) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(SIGNATURE);
        writer.u8(self.version);
        writer.u8(self.record_type);
        writer.u32(self.node_size);
        writer.u16(self.record_size);
        writer.u16(self.depth);
        writer.u8(self.split_percent);
        writer.u8(self.merge_percent);
        writer.offset(*params, self.root, "root node address");
        writer.u16(self.root_records);
        writer.length(*params, self.total_records, "total number of records in B-tree");
        writer.checksum();
        writer.finish()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    #[test]
    fn link_name_index() {
        let mut bytes = b"BTHD\x00\x05\x00\x02\x00\x00\x0b\x00\x01\x00\x64\x28".to_vec();
        bytes.extend([0x00, 0x10, 0, 0, 3, 0, 90, 0]);
        bytes.extend(checksum(&bytes).to_le_bytes());
        let header = BTreeV2Header::decode(&bytes, &PARAMS).unwrap();
        let expected = BTreeV2Header {
            version: 0,
            record_type: 5,
            node_size: 512,
            record_size: 11,
            depth: 1,
            split_percent: 100,
            merge_percent: 40,
            root: Address::new(0x1000),
            root_records: 3,
            total_records: 90,
        };
        assert_eq!(header, expected);
        assert_eq!(header.encode(&PARAMS).unwrap(), bytes);
        assert_eq!(BTreeV2Header::size(&PARAMS), bytes.len());
        bytes[20] = 4;
        assert!(BTreeV2Header::decode(&bytes, &PARAMS).unwrap_err().to_string().contains("checksum"));
        bytes[4] = 2;
        let error = BTreeV2Header::decode(&bytes, &PARAMS).unwrap_err().to_string();
        assert_eq!(error, "version 2 B-tree header: version 2 is not supported");
    }

    pub(crate) fn header() -> impl Strategy<Value = BTreeV2Header> {
        let shape = (0_u8..2, 0_u8..14, 64_u32..8192, 1_u16..100, 0_u16..5);
        (shape, any::<(u8, u8, u32, u16, u32)>()).prop_map(|(shape, rest)| BTreeV2Header {
            version: shape.0,
            record_type: shape.1,
            node_size: shape.2,
            record_size: shape.3,
            depth: shape.4,
            split_percent: rest.0,
            merge_percent: rest.1,
            root: Address::new(rest.2.into()),
            root_records: rest.3,
            total_records: rest.4.into(),
        })
    }

    proptest! {
        #[test]
        fn round_trip(header in header()) {
            let bytes = header.encode(&FileParams::DEFAULT).unwrap();
            prop_assert_eq!(BTreeV2Header::decode(&bytes, &FileParams::DEFAULT).unwrap(), header);
        }

        #[test]
        fn damaged(header in header(), damage in damage()) {
            let bytes = header.encode(&FileParams::DEFAULT).unwrap();
            damage.inflict(&bytes, |bytes| {
                if let Ok(header) = BTreeV2Header::decode(bytes, &FileParams::DEFAULT) {
                    drop(super::super::BTreeV2Layout::new(&header, FileParams::DEFAULT));
                }
            });
        }
    }
}
