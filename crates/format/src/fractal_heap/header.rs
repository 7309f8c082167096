//! Fractal heap header (File Format Specification, section III.G).
//!
//! ```text
//! byte  0   signature "FRHP"
//!       4   version 0
//!       5   heap ID length (2)
//!       7   I/O filters' encoded length (2)        F
//!       9   flags                                  bit 0 huge IDs wrapped,
//!                                                  bit 1 direct blocks have checksums
//!      10   maximum size of managed objects (4)
//!      14   next huge object ID (L)
//!           B-tree of huge objects (O)
//!           free space in managed blocks (L)
//!           free-space manager of managed blocks (O)
//!           managed space (L), allocated managed space (L)
//!           offset of the direct block allocation iterator (L)
//!           managed objects (L)
//!           size (L) and number (L) of huge objects
//!           size (L) and number (L) of tiny objects
//!           table width (2)
//!           starting block size (L), maximum direct block size (L)
//!           maximum heap size (2)                  bits of an offset in the heap
//!           starting rows of the root indirect block (2)
//!           root block (O)
//!           current rows of the root indirect block (2)    0: the root is a direct block
//!           only if F > 0: stored size of the root direct block (L), its filter mask (4),
//!                          filter pipeline (F)
//!           checksum (4)
//! ```

use crate::codec::{Address, FileParams, FormatError, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"FRHP";
const VERSION: u8 = 0;

bitflags::bitflags! {
    /// The flags of a fractal heap.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct FractalHeapFlags: u8 {
        /// A flag of a fractal heap: the counter of huge object IDs has wrapped around. A program
        /// must then search for an unused ID.
        const HUGE_IDS_WRAPPED = 1 << 0;
        /// A flag of a fractal heap: the direct blocks have checksums.
        const CHECKSUM_DIRECT_BLOCKS = 1 << 1;
        /// All flag bits of a fractal heap, including bits without a defined meaning.
        const _ = !0;
    }
}

/// Parameters that determine the length of a fractal heap header. These are the sizes of the file's
/// addresses and lengths, and the length of the filter pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FractalHeapHeaderContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Length of the encoded filter pipeline in bytes. [`FractalHeapHeader::stored_context`] reads
    /// the length from the first bytes of the header.
    pub filters_length: u16,
}

/// The header of a fractal heap. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FractalHeapHeader {
    /// Length of a heap ID in bytes.
    pub id_length: u16,
    /// Flags of the heap.
    pub flags: FractalHeapFlags,
    /// Size of the largest managed object. Larger objects are huge objects.
    pub max_managed_size: u32,
    /// Key for the next indirect huge object.
    pub next_huge_id: u64,
    /// Address of the version 2 B-tree of huge objects.
    pub huge_btree: Address,
    /// Number of free bytes in direct blocks.
    pub free_space: u64,
    /// Address of the free-space manager of the direct blocks.
    pub free_space_manager: Address,
    /// End of the heap's address space.
    pub managed_size: u64,
    /// Total size of the allocated direct blocks.
    pub allocated_size: u64,
    /// Offset in the heap's address space of the next direct block to allocate.
    pub iterator_offset: u64,
    /// Number of managed objects.
    pub managed_objects: u64,
    /// Total size of all huge objects.
    pub huge_size: u64,
    /// Number of huge objects.
    pub huge_objects: u64,
    /// Total size of all tiny objects.
    pub tiny_size: u64,
    /// Number of tiny objects.
    pub tiny_objects: u64,
    /// Number of columns of the doubling table.
    pub table_width: u16,
    /// Size of the blocks in the first two rows.
    pub starting_block_size: u64,
    /// Size of the largest direct block.
    pub max_direct_size: u64,
    /// Number of bits of an offset in the heap's address space.
    pub max_heap_bits: u16,
    /// Number of rows in a new root indirect block; 0 for the largest possible number.
    pub starting_rows: u16,
    /// Address of the root block; undefined for a heap without managed objects.
    pub root: Address,
    /// Number of rows of the root indirect block; 0 if the root is a direct block.
    pub root_rows: u16,
    /// Filters of the heap.
    pub filters: Option<FractalHeapFilters>,
}

/// The filters that encode direct blocks and huge objects of a fractal heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FractalHeapFilters {
    /// Stored size of the root block in bytes, if the root is a direct block.
    pub root_size: u64,
    /// Filter mask of the root direct block: bit i is set if filter i was skipped.
    pub root_mask: u32,
    /// Encoded filter pipeline message.
    pub pipeline: Vec<u8>,
}

impl Structure for FractalHeapHeader {
    const NAME: &'static str = "fractal heap header";
    type Context = FractalHeapHeaderContext;

    fn size(context: &FractalHeapHeaderContext) -> usize {
        let (offset, length) = (context.params.offset_width(), context.params.length_width());
        let filters = match usize::from(context.filters_length) {
            0 => 0,
            encoded => length + 4 + encoded,
        };
        26 + 3 * offset + 12 * length + filters
    }

    fn decode(bytes: &[u8], context: &FractalHeapHeaderContext) -> Result<Self> {
        let params = context.params;
        let mut reader = Reader::new(Self::NAME, bytes);
        let (id_length, filters_length) = read_prefix(&mut reader)?;
        let mut header = Self {
            id_length,
            flags: FractalHeapFlags::from_bits_retain(reader.u8("flags")?),
            max_managed_size: reader.u32("maximum size of managed objects")?,
            next_huge_id: reader.length(params, "next huge object ID")?,
            huge_btree: reader.offset(params, "v2 B-tree address of huge objects")?,
            free_space: reader.length(params, "amount of free space in managed blocks")?,
            free_space_manager: reader.offset(params, "address of managed block free space manager")?,
            managed_size: reader.length(params, "amount of managed space in heap")?,
            allocated_size: reader.length(params, "amount of allocated managed space in heap")?,
            iterator_offset: reader.length(params, "offset of direct block allocation iterator")?,
            managed_objects: reader.length(params, "number of managed objects in heap")?,
            huge_size: reader.length(params, "size of huge objects in heap")?,
            huge_objects: reader.length(params, "number of huge objects in heap")?,
            tiny_size: reader.length(params, "size of tiny objects in heap")?,
            tiny_objects: reader.length(params, "number of tiny objects in heap")?,
            table_width: reader.u16("table width")?,
            starting_block_size: reader.length(params, "starting block size")?,
            max_direct_size: reader.length(params, "maximum direct block size")?,
            max_heap_bits: reader.u16("maximum heap size")?,
            starting_rows: reader.u16("starting number of rows in root indirect block")?,
            root: reader.offset(params, "address of root block")?,
            root_rows: reader.u16("current number of rows in root indirect block")?,
            filters: None,
        };
        if filters_length > 0 {
            header.filters = Some(FractalHeapFilters {
                root_size: reader.length(params, "size of filtered root direct block")?,
                root_mask: reader.u32("I/O filter mask")?,
                pipeline: reader.take(usize::from(filters_length), "I/O filter information")?.to_vec(),
            });
        }
        reader.checksum()?;
        reader.finish()?;
        Ok(header)
    }

    fn encode(&self, context: &FractalHeapHeaderContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        let params = context.params;
        let pipeline = self.filters.as_ref().map_or(&[][..], |filters| &filters.pipeline);
        if pipeline.len() != usize::from(context.filters_length)
            || pipeline.is_empty() != self.filters.is_none()
        {
            writer.fail("I/O filters' encoded length", pipeline.len());
        }
        writer.bytes(SIGNATURE);
        writer.u8(VERSION);
        writer.u16(self.id_length);
        writer.u16(context.filters_length);
        writer.u8(self.flags.bits());
        writer.u32(self.max_managed_size);
        self.write_statistics(&mut writer, params);
        self.write_table(&mut writer, params);
        if let Some(filters) = &self.filters {
            writer.length(params, filters.root_size, "size of filtered root direct block");
            writer.u32(filters.root_mask);
            writer.bytes(&filters.pipeline);
        }
        writer.checksum();
        writer.finish()
    }
}

fn read_prefix(reader: &mut Reader<'_>) -> Result<(u16, u16)> {
    reader.signature(SIGNATURE)?;
    reader.version(&[VERSION])?;
    Ok((reader.u16("heap ID length")?, reader.u16("I/O filters' encoded length")?))
}

impl FractalHeapHeader {
    /// Number of bytes at the start of a fractal heap header that
    /// [`stored_context`](Self::stored_context) needs.
    pub const PREFIX_SIZE: usize = 9;

    /// Reads the parameters that determine the length of a fractal heap header from the first bytes
    /// of the header.
    ///
    /// # Errors
    /// Returns an error if `prefix` does not begin a fractal heap header.
    pub fn stored_context(prefix: &[u8], params: FileParams) -> Result<FractalHeapHeaderContext> {
        let (_, filters_length) = read_prefix(&mut Reader::new(Self::NAME, prefix))?;
        Ok(FractalHeapHeaderContext { params, filters_length })
    }

    /// Returns the parameters that determine the length of this fractal heap header.
    ///
    /// # Errors
    /// Returns [`FormatError::Encode`] if the filter pipeline is too long.
    pub fn context(&self, params: FileParams) -> Result<FractalHeapHeaderContext> {
        let length = self.filters.as_ref().map_or(0, |filters| filters.pipeline.len());
        let Ok(filters_length) = u16::try_from(length) else {
            let (structure, field) = (Self::NAME, "I/O filters' encoded length");
            return Err(FormatError::Encode { structure, field, got: length.to_string() });
        };
        Ok(FractalHeapHeaderContext { params, filters_length })
    }

    /// Returns true if direct blocks of the fractal heap have checksums.
    pub fn has_checksums(&self) -> bool {
        self.flags.contains(FractalHeapFlags::CHECKSUM_DIRECT_BLOCKS)
    }

    fn write_statistics(&self, writer: &mut Writer, params: FileParams) {
        writer.length(params, self.next_huge_id, "next huge object ID");
        writer.offset(params, self.huge_btree, "v2 B-tree address of huge objects");
        writer.length(params, self.free_space, "amount of free space in managed blocks");
        writer.offset(params, self.free_space_manager, "address of managed block free space manager");
        writer.length(params, self.managed_size, "amount of managed space in heap");
        writer.length(params, self.allocated_size, "amount of allocated managed space in heap");
        writer.length(params, self.iterator_offset, "offset of direct block allocation iterator");
        writer.length(params, self.managed_objects, "number of managed objects in heap");
        writer.length(params, self.huge_size, "size of huge objects in heap");
        writer.length(params, self.huge_objects, "number of huge objects in heap");
        writer.length(params, self.tiny_size, "size of tiny objects in heap");
        writer.length(params, self.tiny_objects, "number of tiny objects in heap");
    }

    fn write_table(&self, writer: &mut Writer, params: FileParams) {
        writer.u16(self.table_width);
        writer.length(params, self.starting_block_size, "starting block size");
        writer.length(params, self.max_direct_size, "maximum direct block size");
        writer.u16(self.max_heap_bits);
        writer.u16(self.starting_rows);
        writer.offset(params, self.root, "address of root block");
        writer.u16(self.root_rows);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::fractal_heap::{DoublingTable, HeapIdLayout};
    use crate::mutation::damage;
    use proptest::prelude::*;

    const NARROW: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    /// Returns a fractal heap header with libhdf5's parameters for a heap of links.
    pub(crate) fn link_heap() -> FractalHeapHeader {
        FractalHeapHeader {
            id_length: 7,
            flags: FractalHeapFlags::CHECKSUM_DIRECT_BLOCKS,
            max_managed_size: 4096,
            next_huge_id: 0,
            huge_btree: Address::UNDEFINED,
            free_space: 400,
            free_space_manager: Address::new(0x300),
            managed_size: 512,
            allocated_size: 512,
            iterator_offset: 512,
            managed_objects: 8,
            huge_size: 0,
            huge_objects: 0,
            tiny_size: 0,
            tiny_objects: 0,
            table_width: 4,
            starting_block_size: 512,
            max_direct_size: 32768,
            max_heap_bits: 32,
            starting_rows: 1,
            root: Address::new(0x100),
            root_rows: 0,
            filters: None,
        }
    }

    fn link_heap_bytes() -> Vec<u8> {
        let mut bytes = b"FRHP\x00\x07\x00\x00\x00\x02\x00\x10\x00\x00".to_vec();
        bytes.extend([0, 0, 0xff, 0xff, 0xff, 0xff, 0x90, 1, 0, 3, 0, 0]);
        bytes.extend([0, 2, 0, 2, 0, 2, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([4, 0, 0, 2, 0, 0x80, 32, 0, 1, 0, 0, 1, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn without_filters() {
        let mut bytes = link_heap_bytes();
        bytes.extend(checksum(&bytes).to_le_bytes());
        let context = FractalHeapHeader::stored_context(&bytes[..9], NARROW).unwrap();
        assert_eq!(FractalHeapHeader::size(&context), bytes.len());
        assert_eq!(FractalHeapHeader::decode(&bytes, &context).unwrap(), link_heap());
        assert_eq!(link_heap().encode(&context).unwrap(), bytes);
        bytes[20] ^= 1;
        assert!(FractalHeapHeader::decode(&bytes, &context).is_err());
    }

    #[test]
    fn with_filters() {
        let mut bytes = link_heap_bytes();
        bytes[7] = 3;
        bytes.extend([0x2c, 1, 5, 0, 0, 0, b'a', b'b', b'c']);
        bytes.extend(checksum(&bytes).to_le_bytes());
        let filters = FractalHeapFilters { root_size: 300, root_mask: 5, pipeline: b"abc".to_vec() };
        let expected = FractalHeapHeader { filters: Some(filters), ..link_heap() };
        let context = FractalHeapHeader::stored_context(&bytes, NARROW).unwrap();
        assert_eq!(FractalHeapHeader::size(&context), bytes.len());
        assert_eq!(expected.context(NARROW).unwrap(), context);
        assert_eq!(FractalHeapHeader::decode(&bytes, &context).unwrap(), expected);
        assert_eq!(expected.encode(&context).unwrap(), bytes);
        assert!(link_heap().encode(&context).is_err());
    }

    fn header() -> impl Strategy<Value = FractalHeapHeader> {
        let filters =
            prop::option::of((any::<u64>(), any::<u32>(), prop::collection::vec(any::<u8>(), 1..20)));
        (any::<[u64; 13]>(), any::<[u16; 5]>(), any::<(u8, u32)>(), filters).prop_map(|(l, s, n, filters)| {
            FractalHeapHeader {
                id_length: s[0],
                flags: FractalHeapFlags::from_bits_retain(n.0),
                max_managed_size: n.1,
                next_huge_id: l[0],
                huge_btree: Address::new(l[1]),
                free_space: l[2],
                free_space_manager: Address::UNDEFINED,
                managed_size: l[3],
                allocated_size: l[4],
                iterator_offset: l[5],
                managed_objects: l[6],
                huge_size: l[7],
                huge_objects: l[8],
                tiny_size: l[9],
                tiny_objects: l[10],
                table_width: s[1],
                starting_block_size: l[11],
                max_direct_size: l[12],
                max_heap_bits: s[2],
                starting_rows: s[3],
                root: Address::new(7),
                root_rows: s[4],
                filters: filters.map(|(root_size, root_mask, pipeline)| FractalHeapFilters {
                    root_size,
                    root_mask,
                    pipeline,
                }),
            }
        })
    }

    proptest! {
        #[test]
        fn round_trip(header in header()) {
            let context = header.context(FileParams::DEFAULT).unwrap();
            let bytes = header.encode(&context).unwrap();
            prop_assert_eq!(bytes.len(), FractalHeapHeader::size(&context));
            prop_assert_eq!(FractalHeapHeader::decode(&bytes, &context).unwrap(), header);
        }

        #[test]
        fn damaged(header in header(), sane: bool, damage in damage()) {
            let header = if sane { link_heap() } else { header };
            let context = header.context(FileParams::DEFAULT).unwrap();
            damage.inflict(&header.encode(&context).unwrap(), |bytes| {
                if let Ok(header) = FractalHeapHeader::decode(bytes, &context) {
                    drop(HeapIdLayout::new(&header, FileParams::DEFAULT));
                    if let Ok(table) = DoublingTable::new(&header) {
                        for offset in [0, 511, 512, 1 << 20, u64::MAX] {
                            let _ = table.locate(offset);
                        }
                        let _ = (table.row_offset(70), table.row_block_size(70), table.indirect_entries(70));
                    }
                }
            });
        }
    }
}
