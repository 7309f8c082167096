//! Extensible array header (File Format Specification, section VII.D).
//!
//! ```text
//! byte  0   signature "EAHD"
//!       4   version 0; 1 with structured chunks
//!       5   client ID
//!       6   element size
//!       7   max nelmts bits
//!       8   index block elements
//!       9   data block min elements
//!      10   secondary block min data pointers
//!      11   max data block page nelmts bits
//!      12   number and bytes of secondary blocks (L each)
//!           number and bytes of data blocks (L each)
//!           max index set (L)
//!           number of elements (L)         that allocated blocks hold
//!           index block address (O)
//!           checksum (4)
//! ```

use super::ChunkIndexClient;
use crate::codec::{Address, FileParams, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"EAHD";

/// The header of an extensible array: a chunk index for datasets with one unlimited dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensibleArrayHeader {
    /// Version: 0, or 1 with structured chunks.
    pub version: u8,
    /// Client of the array, which determines the fields of the elements.
    pub client: ChunkIndexClient,
    /// Size of an element in bytes.
    pub element_size: u8,
    /// Number of bits in the largest possible number of elements.
    pub max_elements_bits: u8,
    /// Number of elements in the index block.
    pub index_block_elements: u8,
    /// Number of elements in the smallest data block.
    pub min_data_block_elements: u8,
    /// Number of data blocks in the smallest secondary block.
    pub min_secondary_block_pointers: u8,
    /// Binary logarithm of the number of elements in a page of a data block.
    pub page_bits: u8,
    /// Number of secondary blocks.
    pub secondary_blocks: u64,
    /// Total size of all secondary blocks in bytes.
    pub secondary_block_size: u64,
    /// Number of data blocks.
    pub data_blocks: u64,
    /// Total size of all data blocks in bytes.
    pub data_block_size: u64,
    /// Greatest index ever set, plus one.
    pub max_index_set: u64,
    /// Number of elements that the allocated blocks hold.
    pub elements: u64,
    /// Address of the index block.
    pub index_block: Address,
}

impl Structure for ExtensibleArrayHeader {
    const NAME: &'static str = "extensible array header";
    type Context = FileParams;

    fn size(params: &FileParams) -> usize {
        16 + 6 * params.length_width() + params.offset_width()
    }

    fn decode(bytes: &[u8], params: &FileParams) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(SIGNATURE)?;
        let header = Self {
            version: reader.version(&[0, 1])?,
            client: ChunkIndexClient(reader.u8("client ID")?),
            element_size: reader.u8("element size")?,
            max_elements_bits: reader.u8("bits of the maximum number of elements")?,
            index_block_elements: reader.u8("number of elements in the index block")?,
            min_data_block_elements: reader.u8("minimum number of elements in a data block")?,
            min_secondary_block_pointers: reader
                .u8("minimum number of data block pointers of a secondary block")?,
            page_bits: reader.u8("bits of the maximum number of elements in a data block page")?,
            secondary_blocks: reader.length(*params, "number of secondary blocks")?,
            secondary_block_size: reader.length(*params, "size of all secondary blocks")?,
            data_blocks: reader.length(*params, "number of data blocks")?,
            data_block_size: reader.length(*params, "size of all data blocks")?,
            max_index_set: reader.length(*params, "maximum index set")?,
            elements: reader.length(*params, "number of elements")?,
            index_block: reader.offset(*params, "index block address")?,
        };
        reader.checksum()?;
        reader.finish()?;
        Ok(header)
    }

    fn encode(&self, params: &FileParams) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(SIGNATURE);
        writer.u8(self.version);
        writer.u8(self.client.0);
        writer.u8(self.element_size);
        writer.u8(self.max_elements_bits);
        writer.u8(self.index_block_elements);
        writer.u8(self.min_data_block_elements);
        writer.u8(self.min_secondary_block_pointers);
        writer.u8(self.page_bits);
        writer.length(*params, self.secondary_blocks, "number of secondary blocks");
        writer.length(*params, self.secondary_block_size, "size of all secondary blocks");
        writer.length(*params, self.data_blocks, "number of data blocks");
        writer.length(*params, self.data_block_size, "size of all data blocks");
        writer.length(*params, self.max_index_set, "maximum index set");
        writer.length(*params, self.elements, "number of elements");
        writer.offset(*params, self.index_block, "index block address");
        writer.checksum();
        writer.finish()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::chunk_index::ExtensibleArrayGeometry;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 1 };

    /// Returns an extensible array header with libhdf5's parameters for a chunk index.
    pub(crate) fn default_header() -> ExtensibleArrayHeader {
        ExtensibleArrayHeader {
            version: 0,
            client: ChunkIndexClient::CHUNKS,
            element_size: 4,
            max_elements_bits: 32,
            index_block_elements: 4,
            min_data_block_elements: 16,
            min_secondary_block_pointers: 4,
            page_bits: 10,
            secondary_blocks: 1,
            secondary_block_size: 50,
            data_blocks: 2,
            data_block_size: 200,
            max_index_set: 37,
            elements: 36,
            index_block: Address::new(0x2000),
        }
    }

    #[test]
    fn default_parameters() {
        let mut bytes = b"EAHD\x00\x00\x04\x20\x04\x10\x04\x0a".to_vec();
        bytes.extend([1, 50, 2, 200, 37, 36, 0, 0x20, 0, 0]);
        bytes.extend(checksum(&bytes).to_le_bytes());
        assert_eq!(ExtensibleArrayHeader::decode(&bytes, &PARAMS).unwrap(), default_header());
        assert_eq!(default_header().encode(&PARAMS).unwrap(), bytes);
        assert_eq!(ExtensibleArrayHeader::size(&PARAMS), bytes.len());
        bytes[12] = 2;
        assert!(ExtensibleArrayHeader::decode(&bytes, &PARAMS).is_err());
    }

    fn header() -> impl Strategy<Value = ExtensibleArrayHeader> {
        (0_u8..2, any::<[u8; 7]>(), any::<[u64; 6]>(), any::<u32>()).prop_map(|(version, b, l, block)| {
            ExtensibleArrayHeader {
                version,
                client: ChunkIndexClient(b[0]),
                element_size: b[1],
                max_elements_bits: b[2],
                index_block_elements: b[3],
                min_data_block_elements: b[4],
                min_secondary_block_pointers: b[5],
                page_bits: b[6],
                secondary_blocks: l[0],
                secondary_block_size: l[1],
                data_blocks: l[2],
                data_block_size: l[3],
                max_index_set: l[4],
                elements: l[5],
                index_block: Address::new(block.into()),
            }
        })
    }

    proptest! {
        #[test]
        fn round_trip(header in header()) {
            let bytes = header.encode(&FileParams::DEFAULT).unwrap();
            prop_assert_eq!(ExtensibleArrayHeader::decode(&bytes, &FileParams::DEFAULT).unwrap(), header);
        }

        #[test]
        fn damaged(header in header(), sane: bool, damage in damage(), index: u64) {
            let header = if sane { default_header() } else { header };
            damage.inflict(&header.encode(&FileParams::DEFAULT).unwrap(), |bytes| {
                if let Ok(header) = ExtensibleArrayHeader::decode(bytes, &FileParams::DEFAULT)
                    && let Ok(geometry) = ExtensibleArrayGeometry::new(&header)
                {
                    let _ = geometry.locate(index);
                    let maximum = u32::from(header.max_elements_bits) - header.min_data_block_elements.ilog2();
                    let mut shapes = (0..=maximum).map(|number| geometry.secondary_block(number));
                    assert!(shapes.all(|shape| shape.data_blocks > 0));
                    let _ = geometry.index_block_data_blocks();
                }
            });
        }
    }
}
