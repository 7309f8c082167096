//! Metadata cache image block: the metadata blocks that the writer had in its cache when it closed
//! the file. The [message](crate::message::MetadataCacheImage) in the superblock extension states
//! the address of the image. The specification does not describe the block; the layout is that of
//! libhdf5 1.10 and later.
//!
//! ```text
//! size  field
//! 4     signature "MDCI"
//! 1     version = 0
//! 1     flags: bit 0 the cache size is also stored (unused so far)
//! L     bytes of the whole block
//! 4     number of entries
//! ..    entries
//! 4     checksum
//! ```
//! An entry:
//! ```text
//! size  field
//! 1     type of metadata, a number internal to libhdf5
//! 1     flags: bit 0 dirty, bit 1 in the list of least recently used entries,
//!              bit 2 flushed after other entries, bit 3 flushed before other entries
//! 1     ring: the order of flushing, 1 to 5
//! 1     age: number of consecutive images with this entry
//! 2     number of entries that must be flushed before this entry
//! 2     number of dirty entries among these
//! 2     number of entries that must be flushed after this entry (p)
//! 4     position in the list of least recently used entries, or -1
//! O     address of the block in the file
//! L     bytes of the block (n)
//! p x O addresses of the entries that must be flushed after this entry
//! n     bytes of the block
//! ```
//!
//! A dirty entry is newer than the bytes at its address in the file. A reader must use the entry.

use crate::codec::{Address, CHECKSUM_SIZE, FileParams, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"MDCI";
/// Total size in bytes of the fields of fixed size in an entry of the metadata cache image.
const FIXED_ENTRY_BYTES: usize = 14;

/// The block that holds the metadata cache image: copies of the metadata blocks that were in the
/// cache when the file was closed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetadataCacheBlock {
    /// Entries of the image.
    pub entries: Vec<CachedEntry>,
}

/// Parameters that determine the layout of the metadata cache image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MetadataCacheContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Size of the image in bytes, from the message.
    pub length: usize,
}

/// The entry of one metadata block in the metadata cache image.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CachedEntry {
    /// Type of metadata, a number internal to libhdf5.
    pub kind: u8,
    /// State of the entry.
    pub flags: CachedEntryFlags,
    /// The ring, 1 to 5, which determines the order of flushes.
    pub ring: u8,
    /// Number of consecutive images with this entry.
    pub age: u8,
    /// Number of entries that must be flushed before this entry.
    pub children: u16,
    /// Number of dirty entries among the `children`.
    pub dirty_children: u16,
    /// Position in the list of least recently used entries; `u32::MAX` if the entry is not in the
    /// list.
    pub lru_rank: u32,
    /// Address of the block in the file.
    pub address: Address,
    /// Addresses of the entries that must be flushed after this entry.
    pub parents: Vec<Address>,
    /// Bytes of the block.
    pub image: Vec<u8>,
}

bitflags::bitflags! {
    /// The state flags of an entry in the metadata cache image.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct CachedEntryFlags: u8 {
        /// A flag of a metadata block in the metadata cache image: the block is newer than the
        /// bytes at its address in the file.
        const DIRTY = 1 << 0;
        /// A flag of a metadata block in the metadata cache image: the block is in the list of
        /// least recently used blocks.
        const IN_LRU = 1 << 1;
        /// A flag of a metadata block in the metadata cache image: some other blocks must be
        /// flushed before this block.
        const FLUSH_PARENT = 1 << 2;
        /// A flag of a metadata block in the metadata cache image: this block must be flushed
        /// before some other blocks.
        const FLUSH_CHILD = 1 << 3;
    }
}

impl Structure for MetadataCacheBlock {
    const NAME: &'static str = "metadata cache image";
    type Context = MetadataCacheContext;

    fn size(context: &Self::Context) -> usize {
        context.length
    }

    fn decode(bytes: &[u8], context: &Self::Context) -> Result<Self> {
        let params = context.params;
        let mut r = Reader::new(Self::NAME, bytes);
        r.signature(SIGNATURE)?;
        r.version(&[0])?;
        r.trailing_checksum()?;
        let flags = r.u8("flags")?;
        if flags != 0 {
            return Err(r.unsupported(format!("flags {flags:#04x}")));
        }
        let length = r.length(params, "image data length")?;
        if usize::try_from(length).ok() != Some(bytes.len()) {
            return Err(r.corrupt("image data length", format!("{}", bytes.len()), length));
        }
        let count = r.u32("number of entries")?;
        let entry_size = FIXED_ENTRY_BYTES + params.offset_width() + params.length_width();
        let count = r.count(count.into(), entry_size, "number of entries")?;
        let mut entries = Vec::with_capacity(count);
        for _ in 0..count {
            entries.push(CachedEntry::decode(&mut r, params)?);
        }
        r.finish()?;
        Ok(Self { entries })
    }

    fn encode(&self, context: &Self::Context) -> Result<Vec<u8>> {
        let params = context.params;
        let mut w = Writer::new(Self::NAME);
        w.bytes(SIGNATURE);
        w.u8(0);
        w.u8(0);
        w.length(params, context.length as u64, "image data length");
        w.narrow_u32(self.entries.len(), "number of entries");
        for entry in &self.entries {
            entry.encode(params, &mut w);
        }
        if w.len() + CHECKSUM_SIZE != context.length {
            w.fail("image data length", context.length);
        }
        w.checksum();
        w.finish()
    }
}

impl MetadataCacheBlock {
    /// Returns the size of the metadata cache image in bytes.
    pub fn length(&self, params: FileParams) -> usize {
        let (offset, length) = (params.offset_width(), params.length_width());
        let head = SIGNATURE.len() + 2 + length + 4 + CHECKSUM_SIZE;
        self.entries.iter().fold(head, |sum, entry| {
            let parents = entry.parents.len() * offset;
            sum + FIXED_ENTRY_BYTES + offset + length + parents + entry.image.len()
        })
    }
}

impl CachedEntry {
    fn decode(r: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let kind = r.u8("entry type")?;
        let flags = CachedEntryFlags::from_bits_retain(r.u8("entry flags")?);
        let ring = r.u8("ring")?;
        let age = r.u8("age")?;
        let children = r.u16("flush dependency child count")?;
        let dirty_children = r.u16("dirty flush dependency child count")?;
        let parent_count = r.u16("flush dependency parent count")?;
        let lru_rank = r.u32("index in LRU")?;
        let address = r.offset(params, "entry address")?;
        if !address.is_defined() {
            return Err(r.corrupt("entry address", "a defined address", address));
        }
        let size = r.length(params, "entry size")?;
        let parent_count =
            r.count(parent_count.into(), params.offset_width(), "flush dependency parent count")?;
        let mut parents = Vec::with_capacity(parent_count);
        for _ in 0..parent_count {
            parents.push(r.offset(params, "flush dependency parent address")?);
        }
        let image = r.take_u64(size, "entry image")?.to_vec();
        Ok(Self { kind, flags, ring, age, children, dirty_children, lru_rank, address, parents, image })
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        w.u8(self.kind);
        w.u8(self.flags.bits());
        w.u8(self.ring);
        w.u8(self.age);
        w.u16(self.children);
        w.u16(self.dirty_children);
        w.narrow_u16(self.parents.len(), "flush dependency parent count");
        w.u32(self.lru_rank);
        if !self.address.is_defined() {
            w.fail("entry address", self.address);
        }
        w.offset(params, self.address, "entry address");
        w.length(params, self.image.len() as u64, "entry size");
        for parent in &self.parents {
            w.offset(params, *parent, "flush dependency parent address");
        }
        w.bytes(&self.image);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::message::laws::{addresses, damaged, params};
    use proptest::prelude::*;

    const SMALL: FileParams = FileParams { size_of_offsets: 2, size_of_lengths: 2 };

    fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    #[test]
    fn one_dirty_entry() {
        let mut bytes = b"MDCI\0\0\x27\0\x01\0\0\0".to_vec();
        bytes.extend([0x16, 1, 2, 3, 4, 0, 5, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xdf, 1, 3, 0, 0x88, 0]);
        bytes.extend([7, 8, 9]);
        let bytes = seal(bytes);
        let context = MetadataCacheContext { params: SMALL, length: bytes.len() };
        let block = MetadataCacheBlock::decode(&bytes, &context).unwrap();
        assert_eq!(
            block.entries,
            [CachedEntry {
                kind: 0x16,
                flags: CachedEntryFlags::DIRTY,
                ring: 2,
                age: 3,
                children: 4,
                dirty_children: 5,
                lru_rank: u32::MAX,
                address: Address::new(0x1df),
                parents: vec![Address::new(0x88)],
                image: vec![7, 8, 9],
            }]
        );
        assert_eq!(block.length(SMALL), bytes.len());
        assert_eq!(block.encode(&context).unwrap(), bytes);
        for copy in damaged(&bytes) {
            assert!(MetadataCacheBlock::decode(&copy, &context).is_err());
        }
    }

    #[test]
    fn refuses_contradictions() {
        for bytes in [
            &b"MDCI\0\0\x11\0\0\0\0\0"[..],    // length
            b"MDCI\0\x01\x10\0\0\0\0\0",       // flags
            b"MDCI\x01\0\x10\0\0\0\0\0",       // version
            b"MDCI\0\0\x10\0\xff\xff\xff\xff", // number of entries
        ] {
            let bytes = seal(bytes.to_vec());
            let context = MetadataCacheContext { params: SMALL, length: bytes.len() };
            assert!(MetadataCacheBlock::decode(&bytes, &context).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(
            params in params(),
            entries in prop::collection::vec((
                any::<[u8; 4]>(),
                any::<[u16; 2]>(),
                any::<u32>(),
                0_u64..0xffff,
                prop::collection::vec(addresses(), 0..4),
                prop::collection::vec(any::<u8>(), 0..40),
            ), 0..4),
        ) {
            let entries = entries.into_iter().map(|(bytes, counts, lru_rank, address, parents, image)| CachedEntry {
                kind: bytes[0],
                flags: CachedEntryFlags::from_bits_retain(bytes[1]),
                ring: bytes[2],
                age: bytes[3],
                children: counts[0],
                dirty_children: counts[1],
                lru_rank,
                address: Address::new(address),
                parents,
                image,
            });
            let block = MetadataCacheBlock { entries: entries.collect() };
            let context = MetadataCacheContext { params, length: block.length(params) };
            let bytes = block.encode(&context).unwrap();
            prop_assert_eq!(bytes.len(), MetadataCacheBlock::size(&context));
            prop_assert_eq!(MetadataCacheBlock::decode(&bytes, &context).unwrap(), block);
        }

        #[test]
        fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..100), count in 0_u8..4) {
            let length = u8::try_from(12 + bytes.len() + 4).unwrap();
            let head = [b'M', b'D', b'C', b'I', 0, 0, length, 0, count, 0, 0, 0];
            let block = seal([&head[..], &bytes].concat());
            let context = MetadataCacheContext { params: SMALL, length: block.len() };
            if let Ok(decoded) = MetadataCacheBlock::decode(&block, &context) {
                prop_assert_eq!(decoded.encode(&context).unwrap(), block);
            }
        }
    }
}
