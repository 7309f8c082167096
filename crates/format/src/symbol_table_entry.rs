//! Symbol table entry (File Format Specification, section III.C): a link of a symbol table group,
//! and the root group in superblock versions 0 and 1.
//!
//! ```text
//! byte  0   link name offset in the local heap (L)    the specification says O; files have L
//!       L   object header address (O)
//!     L+O   cache type (4)       0 nothing, 1 group, 2 symbolic link
//!   L+O+4   reserved (4)
//!   L+O+8   scratch pad (16)     1: B-tree address (O), name heap address (O)
//!                                2: offset of the link's value in the local heap (4)
//! ```

use crate::codec::{Address, FileParams, Reader, Result, Structure, Writer};

const SCRATCH_SIZE: usize = 16;
const CACHE_NOTHING: u32 = 0;
const CACHE_GROUP: u32 = 1;
const CACHE_SYMBOLIC_LINK: u32 = 2;

/// A link of a symbol table group: its name and target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolTableEntry {
    /// Offset of the name in the data segment of the group's local heap.
    pub name_offset: u64,
    /// Address of the object header; undefined for a symbolic link.
    pub header: Address,
    /// Cached information about the object.
    pub cache: SymbolTableCache,
}

/// The cached information in a symbol table entry about the link's target: cache type and scratch
/// pad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolTableCache {
    /// Nothing is cached.
    Nothing,
    /// The object is a symbol table group.
    Group {
        /// Address of the root of the group's version 1 B-tree.
        btree: Address,
        /// Address of the group's local heap.
        heap: Address,
    },
    /// The link is symbolic.
    SymbolicLink {
        /// Offset of the path in the data segment of the group's local heap.
        value_offset: u32,
    },
    /// An unknown cache type, or a group with addresses that are too wide for the scratch pad.
    Other {
        /// Cache type number.
        cache_type: u32,
        /// Bytes of the scratch pad.
        scratch: [u8; SCRATCH_SIZE],
    },
}

impl Structure for SymbolTableEntry {
    const NAME: &'static str = "symbol table entry";
    type Context = FileParams;

    fn size(params: &FileParams) -> usize {
        params.length_width() + params.offset_width() + 8 + SCRATCH_SIZE
    }

    fn decode(bytes: &[u8], params: &FileParams) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let entry = Self::read(&mut reader, *params)?;
        reader.finish()?;
        Ok(entry)
    }

    fn encode(&self, params: &FileParams) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        self.write(&mut writer, *params);
        writer.finish()
    }
}

impl SymbolTableEntry {
    /// Reads a symbol table entry (a link of a group) from `reader`, which may be within another
    /// structure.
    ///
    /// # Errors
    /// Returns `Corrupt` if bytes are missing.
    pub fn read(reader: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let name_offset = reader.length(params, "link name offset")?;
        let header = reader.offset(params, "object header address")?;
        let cache_type = reader.u32("cache type")?;
        reader.skip(4, "reserved")?;
        let scratch: [u8; SCRATCH_SIZE] = reader.array("scratch-pad space")?;
        let mut pad = Reader::new(Self::NAME, &scratch);
        let cache = match cache_type {
            CACHE_NOTHING => SymbolTableCache::Nothing,
            CACHE_GROUP if params.offset_width() * 2 <= SCRATCH_SIZE => SymbolTableCache::Group {
                btree: pad.offset(params, "address of B-tree")?,
                heap: pad.offset(params, "address of name heap")?,
            },
            CACHE_SYMBOLIC_LINK => {
                SymbolTableCache::SymbolicLink { value_offset: pad.u32("offset to link value")? }
            }
            _ => SymbolTableCache::Other { cache_type, scratch },
        };
        Ok(Self { name_offset, header, cache })
    }

    /// Writes the symbol table entry (a link of a group) to `writer`, within another structure.
    pub fn write(&self, writer: &mut Writer, params: FileParams) {
        writer.length(params, self.name_offset, "link name offset");
        writer.offset(params, self.header, "object header address");
        let cache_type = match self.cache {
            SymbolTableCache::Nothing => CACHE_NOTHING,
            SymbolTableCache::Group { .. } => CACHE_GROUP,
            SymbolTableCache::SymbolicLink { .. } => CACHE_SYMBOLIC_LINK,
            SymbolTableCache::Other { cache_type, .. } => cache_type,
        };
        writer.u32(cache_type);
        writer.zeros(4);
        let end = writer.len() + SCRATCH_SIZE;
        match &self.cache {
            SymbolTableCache::Nothing => {}
            SymbolTableCache::Group { btree, heap } => {
                writer.offset(params, *btree, "address of B-tree");
                writer.offset(params, *heap, "address of name heap");
            }
            SymbolTableCache::SymbolicLink { value_offset } => writer.u32(*value_offset),
            SymbolTableCache::Other { scratch, .. } => writer.bytes(scratch),
        }
        writer.pad_to(end, "scratch-pad space");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 8 };

    #[test]
    fn group_entry() {
        #[rustfmt::skip]
        let bytes = [
            8, 0, 0, 0, 0, 0, 0, 0,  0x84, 2, 0, 0,  1, 0, 0, 0,  0, 0, 0, 0,
            0xac, 2, 0, 0,  0x44, 4, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0,
        ];
        let entry = SymbolTableEntry::decode(&bytes, &PARAMS).unwrap();
        assert_eq!((entry.name_offset, entry.header), (8, Address::new(0x284)));
        let cache = SymbolTableCache::Group { btree: Address::new(0x2ac), heap: Address::new(0x444) };
        assert_eq!(entry.cache, cache);
        assert_eq!(entry.encode(&PARAMS).unwrap(), bytes);
        assert!(SymbolTableEntry::decode(&bytes[..35], &PARAMS).is_err());
    }

    #[test]
    fn symbolic_link_entry() {
        let mut bytes = [0_u8; 36];
        bytes[..4].copy_from_slice(&[24, 0, 0, 0]);
        bytes[8..12].fill(0xff);
        bytes[12] = 2;
        bytes[20] = 32;
        let entry = SymbolTableEntry::decode(&bytes, &PARAMS).unwrap();
        assert_eq!((entry.name_offset, entry.header), (24, Address::UNDEFINED));
        assert_eq!(entry.cache, SymbolTableCache::SymbolicLink { value_offset: 32 });
        assert_eq!(entry.encode(&PARAMS).unwrap(), bytes);
    }

    #[test]
    fn wide_addresses_do_not_fit_the_scratch_pad() {
        let wide = FileParams { size_of_offsets: 16, size_of_lengths: 8 };
        let mut bytes = vec![0_u8; SymbolTableEntry::size(&wide)];
        bytes[24] = 1;
        let entry = SymbolTableEntry::decode(&bytes, &wide).unwrap();
        assert_eq!(entry.cache, SymbolTableCache::Other { cache_type: 1, scratch: [0; 16] });
        let group = SymbolTableCache::Group { btree: Address::new(0), heap: Address::new(0) };
        assert!(SymbolTableEntry { cache: group, ..entry }.encode(&wide).is_err());
    }

    pub(crate) fn entry() -> impl Strategy<Value = SymbolTableEntry> {
        let cache = prop_oneof![
            Just(SymbolTableCache::Nothing),
            any::<[u32; 2]>().prop_map(|[btree, heap]| SymbolTableCache::Group {
                btree: Address::new(btree.into()),
                heap: Address::new(heap.into()),
            }),
            any::<u32>().prop_map(|value_offset| SymbolTableCache::SymbolicLink { value_offset }),
            (3_u32.., any::<[u8; SCRATCH_SIZE]>())
                .prop_map(|(cache_type, scratch)| SymbolTableCache::Other { cache_type, scratch }),
        ];
        (any::<u64>(), any::<u64>(), cache).prop_map(|(name_offset, header, cache)| SymbolTableEntry {
            name_offset,
            header: Address::new(header),
            cache,
        })
    }

    proptest! {
        #[test]
        fn round_trip(entry in entry()) {
            let bytes = entry.encode(&FileParams::DEFAULT).unwrap();
            prop_assert_eq!(bytes.len(), SymbolTableEntry::size(&FileParams::DEFAULT));
            prop_assert_eq!(SymbolTableEntry::decode(&bytes, &FileParams::DEFAULT).unwrap(), entry);
        }

        #[test]
        fn damaged(entry in entry(), damage in damage()) {
            let bytes = entry.encode(&FileParams::DEFAULT).unwrap();
            damage.inflict(&bytes, |bytes| drop(SymbolTableEntry::decode(bytes, &FileParams::DEFAULT)));
        }
    }
}
