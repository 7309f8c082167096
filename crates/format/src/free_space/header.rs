//! Free-space manager header (File Format Specification, section III.H).
//!
//! ```text
//! byte  0   signature "FSHD"
//!       4   version 0
//!       5   client ID                      0 fractal heap, 1 file
//!       6   total space tracked (L)
//!           sections: all (L), serialized (L), un-serialized (L)
//!           number of section classes (2)
//!           shrink percent (2), expand percent (2)
//!           bits of an offset in the address space (2)
//!           maximum section size (L)
//!           section list: address (O), bytes used (L), bytes allocated (L)
//!           checksum (4)
//! ```

use crate::codec::{Address, FileParams, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"FSHD";
const VERSION: u8 = 0;

/// The client of a free-space manager: the file or a fractal heap. The manager records the free
/// space of its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FreeSpaceClient(pub u8);

impl FreeSpaceClient {
    /// Client ID in a free-space manager's header: the manager records free space of a fractal
    /// heap.
    pub const FRACTAL_HEAP: Self = Self(0);
    /// Client ID in a free-space manager's header: the manager records free space of the file.
    pub const FILE: Self = Self(1);
}

/// The header of a free-space manager, which records free space in the file or in a fractal heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeSpaceHeader {
    /// Client whose free space the manager records.
    pub client: FreeSpaceClient,
    /// Total size of all sections in bytes.
    pub total_space: u64,
    /// Number of sections.
    pub sections: u64,
    /// Number of sections in the section list.
    pub serialized_sections: u64,
    /// Number of sections that are not in the list, because they follow from other sections.
    pub unserialized_sections: u64,
    /// Number of section classes of the client.
    pub section_classes: u16,
    /// Percentage of the current size for shrinking the allocated section list.
    pub shrink_percent: u16,
    /// Percentage of the current size for growing the allocated section list.
    pub expand_percent: u16,
    /// Number of bits of an offset in the client's address space.
    pub address_bits: u16,
    /// Size of the largest section in bytes.
    pub max_section_size: u64,
    /// Address of the section list; undefined if the file stores no sections.
    pub list: Address,
    /// Used size of the section list in bytes.
    pub list_used: u64,
    /// Allocated size of the section list in bytes.
    pub list_allocated: u64,
}

impl Structure for FreeSpaceHeader {
    const NAME: &'static str = "free-space manager header";
    type Context = FileParams;

    fn size(params: &FileParams) -> usize {
        18 + 7 * params.length_width() + params.offset_width()
    }

    fn decode(bytes: &[u8], params: &FileParams) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(SIGNATURE)?;
        reader.version(&[VERSION])?;
        let header = Self {
            client: FreeSpaceClient(reader.u8("client ID")?),
            total_space: reader.length(*params, "total space tracked")?,
            sections: reader.length(*params, "total number of sections")?,
            serialized_sections: reader.length(*params, "number of serialized sections")?,
            unserialized_sections: reader.length(*params, "number of un-serialized sections")?,
            section_classes: reader.u16("number of section classes")?,
            shrink_percent: reader.u16("shrink percent")?,
            expand_percent: reader.u16("expand percent")?,
            address_bits: reader.u16("size of address space")?,
            max_section_size: reader.length(*params, "maximum section size")?,
            list: reader.offset(*params, "address of serialized section list")?,
            list_used: reader.length(*params, "size of serialized section list used")?,
            list_allocated: reader.length(*params, "allocated size of serialized section list")?,
        };
        reader.checksum()?;
        reader.finish()?;
        Ok(header)
    }

    fn encode(&self, params: &FileParams) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(SIGNATURE);
        writer.u8(VERSION);
        writer.u8(self.client.0);
        writer.length(*params, self.total_space, "total space tracked");
        writer.length(*params, self.sections, "total number of sections");
        writer.length(*params, self.serialized_sections, "number of serialized sections");
        writer.length(*params, self.unserialized_sections, "number of un-serialized sections");
        writer.u16(self.section_classes);
        writer.u16(self.shrink_percent);
        writer.u16(self.expand_percent);
        writer.u16(self.address_bits);
        writer.length(*params, self.max_section_size, "maximum section size");
        writer.offset(*params, self.list, "address of serialized section list");
        writer.length(*params, self.list_used, "size of serialized section list used");
        writer.length(*params, self.list_allocated, "allocated size of serialized section list");
        writer.checksum();
        writer.finish()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    pub(crate) fn file_header() -> FreeSpaceHeader {
        FreeSpaceHeader {
            client: FreeSpaceClient::FILE,
            total_space: 300,
            sections: 3,
            serialized_sections: 3,
            unserialized_sections: 0,
            section_classes: 3,
            shrink_percent: 80,
            expand_percent: 120,
            address_bits: 64,
            max_section_size: 0x7fff,
            list: Address::new(0x1000),
            list_used: 50,
            list_allocated: 60,
        }
    }

    #[test]
    fn file_client() {
        let mut bytes =
            b"FSHD\x00\x01\x2c\x01\x03\x00\x03\x00\x00\x00\x03\x00\x50\x00\x78\x00\x40\x00".to_vec();
        bytes.extend([0xff, 0x7f, 0, 0x10, 0, 0, 50, 0, 60, 0]);
        bytes.extend(checksum(&bytes).to_le_bytes());
        assert_eq!(FreeSpaceHeader::decode(&bytes, &PARAMS).unwrap(), file_header());
        assert_eq!(file_header().encode(&PARAMS).unwrap(), bytes);
        assert_eq!(FreeSpaceHeader::size(&PARAMS), bytes.len());
        bytes[6] = 0;
        assert!(FreeSpaceHeader::decode(&bytes, &PARAMS).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(client: u8, lengths: [u64; 7], shorts: [u16; 4], list: u32) {
            let header = FreeSpaceHeader {
                client: FreeSpaceClient(client),
                total_space: lengths[0],
                sections: lengths[1],
                serialized_sections: lengths[2],
                unserialized_sections: lengths[3],
                section_classes: shorts[0],
                shrink_percent: shorts[1],
                expand_percent: shorts[2],
                address_bits: shorts[3],
                max_section_size: lengths[4],
                list: Address::new(list.into()),
                list_used: lengths[5],
                list_allocated: lengths[6],
            };
            let bytes = header.encode(&FileParams::DEFAULT).unwrap();
            prop_assert_eq!(FreeSpaceHeader::decode(&bytes, &FileParams::DEFAULT).unwrap(), header);
        }

        #[test]
        fn damaged(damage in damage()) {
            let bytes = file_header().encode(&FileParams::DEFAULT).unwrap();
            damage.inflict(&bytes, |bytes| {
                if let Ok(header) = FreeSpaceHeader::decode(bytes, &FileParams::DEFAULT) {
                    drop(super::super::FreeSpaceSectionsContext::new(&header, Address::new(0), 4, FileParams::DEFAULT));
                }
            });
        }
    }
}
