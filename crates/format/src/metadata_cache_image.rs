//! Metadata cache image: metadata blocks written together when a file was closed, to be taken in place of what
//! lies at their addresses. The specification does not describe the block; this is what files have.
//!
//! ```text
//! byte  0   signature "MDCI"
//!       4   version 0
//!       5   flags
//!       6   length of the image (L), as in the metadata cache image message
//!     6+L   number of entries (4)
//!           for each entry:
//!       0     type of block (1)
//!       1     flags (1)               bit 0 dirty, 1 in the list of recently used, 2 has children, 3 has parents
//!       2     ring (1)                order of flushing
//!       3     age (1)
//!       4     flush dependencies: children (2), dirty children (2), parents (2)
//!      10     rank in the list of recently used (4), -1 for none
//!      14     address (O), length (L)
//!             addresses of the flush dependency parents (O each)
//!             the block
//!           checksum (4)
//! ```

use std::ops::Range;

use crate::codec::{Address, CHECKSUM_SIZE, FileParams, FormatError, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"MDCI";
const VERSION: u8 = 0;

/// What the layout of a metadata cache image depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataCacheImageContext {
    /// Widths of the file.
    pub params: FileParams,
    /// Bytes of the image, from the metadata cache image message.
    pub size: usize,
}

/// Metadata blocks that count in place of what lies at their addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetadataCacheImage {
    /// Flags of the image.
    pub flags: u8,
    /// The blocks.
    pub entries: Vec<MetadataCacheEntry>,
    data: Vec<u8>,
}

/// A block of a metadata cache image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataCacheEntry {
    /// What kind of block it is, by the numbers of libhdf5.
    pub block_type: u8,
    /// Bit 0 dirty, 1 in the list of recently used, 2 has flush dependency children, 3 has parents.
    pub flags: u8,
    /// Order of flushing.
    pub ring: u8,
    /// Files closed since the block was last used.
    pub age: u8,
    /// Blocks that must be flushed before this one.
    pub children: u16,
    /// Those of them that are dirty.
    pub dirty_children: u16,
    /// Rank in the list of recently used blocks; -1 for none.
    pub lru_rank: i32,
    /// Where the block belongs.
    pub address: Address,
    /// Blocks that must be flushed after this one.
    pub parents: Vec<Address>,
    data: Range<usize>,
}

impl Structure for MetadataCacheImage {
    const NAME: &'static str = "metadata cache image";
    type Context = MetadataCacheImageContext;

    fn size(context: &MetadataCacheImageContext) -> usize {
        context.size
    }

    fn decode(bytes: &[u8], context: &MetadataCacheImageContext) -> Result<Self> {
        let params = context.params;
        let mut reader = Reader::new(Self::NAME, bytes.get(..context.size).unwrap_or(bytes));
        reader.trailing_checksum()?;
        reader.signature(SIGNATURE)?;
        reader.version(&[VERSION])?;
        let flags = reader.u8("flags")?;
        let length = reader.length(params, "image data length")?;
        if length != context.size as u64 {
            return Err(reader.corrupt("image data length", context.size.to_string(), length));
        }
        let count = reader.u32("number of entries")?;
        let least = 14 + params.offset_width() + params.length_width();
        let count = reader.count(count.into(), least, "number of entries")?;
        let mut entries = Vec::with_capacity(count);
        for _ in 0..count {
            entries.push(read_entry(&mut reader, params)?);
        }
        let data = reader.taken().to_vec();
        reader.finish()?;
        Ok(Self { flags, entries, data })
    }

    fn encode(&self, context: &MetadataCacheImageContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        let params = context.params;
        writer.bytes(SIGNATURE);
        writer.u8(VERSION);
        writer.u8(self.flags);
        writer.length(params, context.size as u64, "image data length");
        writer.narrow_u32(self.entries.len(), "number of entries");
        for entry in &self.entries {
            let block = self.block(entry);
            writer.bytes(&[entry.block_type, entry.flags, entry.ring, entry.age]);
            writer.u16(entry.children);
            writer.u16(entry.dirty_children);
            writer.narrow_u16(entry.parents.len(), "flush dependency parents");
            writer.u32(entry.lru_rank.cast_unsigned());
            writer.offset(params, entry.address, "address");
            writer.length(params, block.len() as u64, "length");
            for parent in &entry.parents {
                writer.offset(params, *parent, "flush dependency parent");
            }
            writer.bytes(block);
        }
        writer.checksum();
        if writer.len() != context.size {
            writer.fail("image data length", writer.len());
        }
        writer.finish()
    }
}

fn read_entry(reader: &mut Reader<'_>, params: FileParams) -> Result<MetadataCacheEntry> {
    let [block_type, flags, ring, age] = reader.array("entry")?;
    let children = reader.u16("flush dependency children")?;
    let dirty_children = reader.u16("dirty flush dependency children")?;
    let parents = reader.u16("flush dependency parents")?;
    let lru_rank = reader.u32("rank")?.cast_signed();
    let address = reader.offset(params, "address")?;
    if !address.is_defined() {
        return Err(reader.corrupt("address", "a defined address", address));
    }
    let length = reader.length(params, "length")?;
    let parents = reader.count(parents.into(), params.offset_width(), "flush dependency parents")?;
    let parents = (0..parents)
        .map(|_| reader.offset(params, "flush dependency parent"))
        .collect::<Result<Vec<_>, FormatError>>()?;
    let start = reader.position();
    reader.take_u64(length, "block")?;
    let data = start..reader.position();
    Ok(MetadataCacheEntry {
        block_type,
        flags,
        ring,
        age,
        children,
        dirty_children,
        lru_rank,
        address,
        parents,
        data,
    })
}

impl MetadataCacheImage {
    /// The bytes that count at an entry's address.
    pub fn block(&self, entry: &MetadataCacheEntry) -> &[u8] {
        self.data.get(entry.data.clone()).unwrap_or_default()
    }

    /// The blocks: address and bytes of each.
    pub fn blocks(&self) -> impl Iterator<Item = (Address, &[u8])> {
        self.entries.iter().map(|entry| (entry.address, self.block(entry)))
    }

    /// Adds a block that nothing depends on.
    pub fn push(&mut self, block_type: u8, ring: u8, address: Address, block: &[u8]) {
        let start = self.data.len();
        self.data.extend_from_slice(block);
        let rank = i32::try_from(self.entries.len()).unwrap_or(-1);
        self.entries.push(MetadataCacheEntry {
            block_type,
            flags: 0b11,
            ring,
            age: 0,
            children: 0,
            dirty_children: 0,
            lru_rank: rank,
            address,
            parents: Vec::new(),
            data: start..self.data.len(),
        });
    }

    /// The context to encode the image with.
    pub fn context(&self, params: FileParams) -> MetadataCacheImageContext {
        let fixed = 14 + params.offset_width() + params.length_width();
        let entry = |entry: &MetadataCacheEntry| {
            fixed + entry.parents.len().saturating_mul(params.offset_width()) + self.block(entry).len()
        };
        let entries: usize = self.entries.iter().map(entry).sum();
        MetadataCacheImageContext { params, size: 10 + params.length_width() + entries + CHECKSUM_SIZE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    #[test]
    fn two_entries() {
        let mut bytes = b"MDCI\x00\x00\x46\x00\x02\x00\x00\x00".to_vec();
        bytes.extend([22, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x00, 0x10, 0, 0, 3, 0]);
        bytes.extend(b"abc");
        bytes.extend([23, 11, 1, 0, 0, 0, 0, 0, 1, 0, 5, 0, 0, 0, 0x00, 0x20, 0, 0, 7, 0]);
        bytes.extend([0x00, 0x10, 0, 0]);
        bytes.extend(b"defghij");
        bytes.extend(checksum(&bytes).to_le_bytes());
        let context = MetadataCacheImageContext { params: PARAMS, size: bytes.len() };
        assert_eq!(bytes.len(), 0x46);
        let image = MetadataCacheImage::decode(&bytes, &context).unwrap();
        let blocks: Vec<_> = image.blocks().collect();
        assert_eq!(blocks, [(Address::new(0x1000), &b"abc"[..]), (Address::new(0x2000), b"defghij")]);
        assert_eq!((image.entries[0].lru_rank, image.entries[0].children), (-1, 1));
        assert_eq!(image.entries[1].parents, [Address::new(0x1000)]);
        assert_eq!(image.context(PARAMS), context);
        assert_eq!(image.encode(&context).unwrap(), bytes);
        let other = MetadataCacheImageContext { size: 0x45, ..context };
        assert!(MetadataCacheImage::decode(&bytes, &other).is_err());
        bytes[20] = 9;
        assert!(MetadataCacheImage::decode(&bytes, &context).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(blocks in prop::collection::vec((any::<u8>(), any::<u16>(), prop::collection::vec(any::<u8>(), 0..30)), 0..8), damage in damage()) {
            let mut image = MetadataCacheImage::default();
            for (kind, address, block) in &blocks {
                image.push(*kind, 1, Address::new(u64::from(*address)), block);
            }
            let context = image.context(PARAMS);
            let bytes = image.encode(&context).unwrap();
            let again = MetadataCacheImage::decode(&bytes, &context).unwrap();
            prop_assert!(again.blocks().eq(image.blocks()));
            prop_assert_eq!(again.encode(&context).unwrap(), bytes.clone());
            damage.inflict(&bytes, |bytes| drop(MetadataCacheImage::decode(bytes, &context)));
        }
    }
}
