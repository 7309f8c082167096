//! Free-space section list (File Format Specification, section III.H).
//!
//! ```text
//! byte  0   signature "FSSE"
//!       4   version 0
//!       5   header address (O)
//!           sets of sections of equal size, up to the used size of the list:
//!             number of sections (bytes to hold the header's number of serialized sections)
//!             size of each (bytes to hold the header's maximum section size)
//!             for each: offset (bits of the address space, in whole bytes), type (1), data
//!           checksum (4)
//!           undefined up to the size allocated
//!
//! type, data    file          0 a range of bytes: none
//!               fractal heap  0 single: none
//!                             1 first row, 3 indirect: offset of the indirect block (bits of the
//!                               heap, in whole bytes), start row (2), start column (2),
//!                               number of blocks (2)
//!                             2 normal row: none
//! ```
//! A file with paged aggregation uses types 1 (small) and 2 (large), without data. If the maximum
//! section size is 2^8, 2^16, …, old libraries wrote sizes one byte narrower; decoders accept both
//! widths.

use hyperslab_exact::{to_u64, to_usize};

use super::{FreeSpaceClient, FreeSpaceHeader};
use crate::codec::{Address, CHECKSUM_SIZE, FileParams, FormatError, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"FSSE";
const VERSION: u8 = 0;
const FIRST_ROW: u8 = 1;
const INDIRECT: u8 = 3;

/// Parameters that determine the layout of a free-space manager's list of free-space sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpaceSectionsContext {
    params: FileParams,
    header: Address,
    client: FreeSpaceClient,
    count_width: usize,
    size_width: usize,
    narrow_size_width: usize,
    offset_width: usize,
    heap_offset_width: usize,
    used: usize,
    sections: u64,
}

/// The list of free-space sections of a free-space manager.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FreeSpaceSections {
    /// Free-space sections. Sections of equal size are adjacent.
    pub sections: Vec<FreeSpaceSection>,
}

/// A free-space section: a range of unused bytes in the file or in a fractal heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpaceSection {
    /// Offset of the section in the client's address space.
    pub offset: u64,
    /// Size of the section in bytes.
    pub size: u64,
    /// Type of the section and type-specific data.
    pub kind: FreeSpaceSectionKind,
}

/// The type of a free-space section in a free-space manager's list, with type-specific data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreeSpaceSectionKind {
    /// A section without further data: in a file, or a "single" or "normal row" section of a heap.
    Plain(u8),
    /// First row of the unallocated blocks of an indirect block.
    FirstRow(IndirectSection),
    /// Unallocated blocks of an indirect block.
    Indirect(IndirectSection),
}

/// A free-space section for the unallocated blocks of a fractal heap's indirect block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndirectSection {
    /// Offset of the indirect block in the heap's address space.
    pub block_offset: u64,
    /// Row of the first block.
    pub row: u16,
    /// Column of the first block.
    pub column: u16,
    /// Number of blocks.
    pub blocks: u16,
}

impl FreeSpaceSectionKind {
    /// Type number of a free-space section in the file.
    pub const FILE: Self = Self::Plain(0);
    /// Type number of a free-space section in an allocated direct block of a fractal heap.
    pub const SINGLE: Self = Self::Plain(0);
    /// Type number of a free-space section for a row of unallocated blocks in a fractal heap's
    /// indirect block. The row is not the first row of such blocks.
    pub const NORMAL_ROW: Self = Self::Plain(2);
}

/// Returns the width in bytes of a field in a list of free-space sections. The field must hold
/// every number up to `limit`.
fn width_for(limit: u64) -> usize {
    limit.max(1).ilog2() as usize / 8 + 1
}

/// Returns the width in bytes of a field in a list of free-space sections that an old version of
/// libhdf5 wrote. If `limit` is 2^8, 2^16 and so on, this width is one byte too narrow.
fn narrow_width_for(limit: u64) -> usize {
    limit.max(1).ilog2().div_ceil(8).max(1) as usize
}

/// Returns the size in bytes of the data of a free-space section for unallocated blocks. These
/// blocks are children of a fractal heap's indirect block.
fn indirect_size(heap_offset_width: usize) -> usize {
    heap_offset_width + 6
}

impl FreeSpaceHeader {
    /// Returns the used size of a free-space manager's section list in bytes.
    ///
    /// The list has the header's number of serialized sections. The sections have `sizes` distinct
    /// sizes, and `indirect` of the sections refer to an indirect block. `heap_offset_width` is
    /// described at [`FreeSpaceSectionsContext::new`]. The sections are in memory, so the result
    /// fits 64 bits.
    pub fn list_size(
        &self,
        sizes: usize,
        indirect: usize,
        heap_offset_width: usize,
        params: FileParams,
    ) -> u64 {
        let set = width_for(self.serialized_sections) + width_for(self.max_section_size);
        let section = u64::from(self.address_bits.div_ceil(8)) + 1;
        let fixed = (5 + params.offset_width() + CHECKSUM_SIZE) as u64;
        let indirect = to_u64(indirect * indirect_size(heap_offset_width));
        fixed + to_u64(sizes * set) + self.serialized_sections * section + indirect
    }
}

impl FreeSpaceSectionsContext {
    /// Computes the layout of the list of free-space sections of the free-space manager with its
    /// header at `address`.
    ///
    /// `heap_offset_width` is the width in bytes of an offset in the fractal heap
    /// ([`DoublingTable::offset_width`](crate::fractal_heap::DoublingTable::offset_width)); the
    /// layout for a file ignores it.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if the address space exceeds 64 bits or the used size is
    /// impossible.
    pub fn new(
        header: &FreeSpaceHeader,
        address: Address,
        heap_offset_width: usize,
        params: FileParams,
    ) -> Result<Self> {
        let corrupt = |field, expected: String, got: u64| {
            Err(FormatError::corrupt(FreeSpaceHeader::NAME, field, expected, got))
        };
        if header.address_bits > 64 || header.address_bits == 0 {
            return corrupt("size of address space", "1 to 64 bits".into(), header.address_bits.into());
        }
        let least = 9 + params.offset_width();
        let used = usize::try_from(header.list_used).ok().filter(|used| {
            header.list_used <= header.list_allocated && (*used >= least || header.serialized_sections == 0)
        });
        let Some(used) = used else {
            let expected = format!("{least} to {} (the allocated size)", header.list_allocated);
            return corrupt("size of serialized section list used", expected, header.list_used);
        };
        Ok(Self {
            params,
            header: address,
            client: header.client,
            count_width: width_for(header.serialized_sections),
            size_width: width_for(header.max_section_size),
            narrow_size_width: narrow_width_for(header.max_section_size),
            offset_width: usize::from(header.address_bits.div_ceil(8)),
            heap_offset_width,
            used,
            sections: header.serialized_sections,
        })
    }

    fn indirect_size(&self) -> usize {
        indirect_size(self.heap_offset_width)
    }

    fn data_size(&self, kind: &FreeSpaceSectionKind) -> usize {
        match kind {
            FreeSpaceSectionKind::Plain(_) => 0,
            FreeSpaceSectionKind::FirstRow(_) | FreeSpaceSectionKind::Indirect(_) => self.indirect_size(),
        }
    }

    fn read_kind(&self, reader: &mut Reader<'_>) -> Result<FreeSpaceSectionKind> {
        let kind = reader.u8("type")?;
        Ok(match (self.client, kind) {
            (FreeSpaceClient::FRACTAL_HEAP, FIRST_ROW) => {
                FreeSpaceSectionKind::FirstRow(self.read_indirect(reader)?)
            }
            (FreeSpaceClient::FRACTAL_HEAP, INDIRECT) => {
                FreeSpaceSectionKind::Indirect(self.read_indirect(reader)?)
            }
            (FreeSpaceClient::FRACTAL_HEAP, 0 | 2) | (FreeSpaceClient::FILE, 0..=2) => {
                FreeSpaceSectionKind::Plain(kind)
            }
            (FreeSpaceClient(client), _) => {
                return Err(reader.unsupported(format!("section type {kind} of client {client}")));
            }
        })
    }

    fn read_indirect(&self, reader: &mut Reader<'_>) -> Result<IndirectSection> {
        Ok(IndirectSection {
            block_offset: reader.uint(self.heap_offset_width, "fractal heap block offset")?,
            row: reader.u16("block start row")?,
            column: reader.u16("block start column")?,
            blocks: reader.u16("number of blocks")?,
        })
    }

    fn write_kind(&self, writer: &mut Writer, kind: &FreeSpaceSectionKind) {
        let (number, section) = match kind {
            FreeSpaceSectionKind::Plain(number) => return writer.u8(*number),
            FreeSpaceSectionKind::FirstRow(section) => (FIRST_ROW, section),
            FreeSpaceSectionKind::Indirect(section) => (INDIRECT, section),
        };
        writer.u8(number);
        writer.uint(self.heap_offset_width, section.block_offset, "fractal heap block offset");
        writer.u16(section.row);
        writer.u16(section.column);
        writer.u16(section.blocks);
    }
}

impl Structure for FreeSpaceSections {
    const NAME: &'static str = "free-space section list";
    type Context = FreeSpaceSectionsContext;

    /// Returns the number of used bytes of the list of free-space sections. The allocated size may
    /// be larger.
    fn size(context: &FreeSpaceSectionsContext) -> usize {
        context.used
    }

    fn decode(bytes: &[u8], context: &FreeSpaceSectionsContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes.get(..context.used).unwrap_or(bytes));
        reader.trailing_checksum()?;
        let narrow = context.narrow_size_width;
        match Self::read(reader.clone(), context, context.size_width) {
            Err(_) if narrow != context.size_width && Self::read(reader.clone(), context, narrow).is_ok() => {
                Self::read(reader, context, narrow)
            }
            sections => sections,
        }
    }

    fn encode(&self, context: &FreeSpaceSectionsContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(SIGNATURE);
        writer.u8(VERSION);
        writer.offset(context.params, context.header, "free-space manager header address");
        for set in self.sections.chunk_by(|a, b| a.size == b.size) {
            writer.uint(context.count_width, set.len() as u64, "number of section records");
            writer.uint(
                context.size_width,
                set.first().map_or(0, |section| section.size),
                "size of free-space section",
            );
            for section in set {
                writer.uint(context.offset_width, section.offset, "offset");
                context.write_kind(&mut writer, &section.kind);
            }
        }
        writer.checksum();
        if writer.len() != context.used || self.sections.len() as u64 != context.sections {
            writer.fail("size of serialized section list used", writer.len());
        }
        writer.finish()
    }
}

impl FreeSpaceSections {
    fn read(mut reader: Reader<'_>, context: &FreeSpaceSectionsContext, size_width: usize) -> Result<Self> {
        reader.signature(SIGNATURE)?;
        reader.version(&[VERSION])?;
        let header = reader.offset(context.params, "free-space manager header address")?;
        if header != context.header {
            let expected = context.header.to_string();
            return Err(reader.corrupt("free-space manager header address", expected, header));
        }
        let section_size = context.offset_width + 1;
        let total = reader.count(context.sections, section_size, "number of serialized sections")?;
        let mut sections = Vec::with_capacity(total);
        while !reader.is_empty() {
            // libhdf5 may leave zeros at the end of a list in place of sections that were merged
            // with other sections.
            if sections.len() == total && reader.peek_rest().iter().all(|byte| *byte == 0) {
                break;
            }
            let count = reader.uint(context.count_width, "number of section records")?;
            let size = reader.uint(size_width, "size of free-space section")?;
            let count = reader.count(count, section_size, "number of section records")?;
            if count == 0 || count > total - sections.len() {
                let maximum = format!("1 to {}", total - sections.len());
                return Err(reader.corrupt("number of section records", maximum, count));
            }
            for _ in 0..count {
                let offset = reader.uint(context.offset_width, "offset")?;
                sections.push(FreeSpaceSection { offset, size, kind: context.read_kind(&mut reader)? });
            }
        }
        if sections.len() != total {
            return Err(reader.corrupt("number of section records", total.to_string(), sections.len()));
        }
        Ok(Self { sections })
    }

    /// Sorts the free-space sections by size and offset, and updates the counts and list sizes in
    /// the free-space manager's header. Call this method before [`encode`](Structure::encode). The
    /// allocated size grows if necessary.
    ///
    /// # Errors
    /// Returns the errors of [`FreeSpaceSectionsContext::new`].
    pub fn arrange(
        &mut self,
        header: &mut FreeSpaceHeader,
        address: Address,
        heap_offset_width: usize,
        params: FileParams,
    ) -> Result<FreeSpaceSectionsContext> {
        self.sections.sort_by_key(|section| (section.size, section.offset));
        header.serialized_sections = self.sections.len() as u64;
        header.list_used = 0;
        header.list_allocated = header.list_allocated.max(1);
        let empty = FreeSpaceHeader { serialized_sections: 0, ..header.clone() };
        let mut context = FreeSpaceSectionsContext::new(&empty, address, heap_offset_width, params)?;
        context.sections = header.serialized_sections;
        context.count_width = width_for(header.serialized_sections);
        let sets = self.sections.chunk_by(|a, b| a.size == b.size).count();
        let with_data = self.sections.iter().filter(|section| context.data_size(&section.kind) > 0).count();
        header.list_used = header.list_size(sets, with_data, heap_offset_width, params);
        context.used = to_usize(header.list_used)?;
        header.list_allocated = header.list_allocated.max(header.list_used);
        Ok(context)
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::file_header;
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 4 };
    const ADDRESS: Address = Address::new(0x500);

    fn plain(offset: u64, size: u64) -> FreeSpaceSection {
        FreeSpaceSection { offset, size, kind: FreeSpaceSectionKind::FILE }
    }

    #[test]
    fn file_sections() {
        let mut header = FreeSpaceHeader { address_bits: 32, ..file_header() };
        let mut list =
            FreeSpaceSections { sections: vec![plain(0x900, 16), plain(0x100, 200), plain(0x300, 16)] };
        let context = list.arrange(&mut header, ADDRESS, 0, PARAMS).unwrap();
        let mut bytes = b"FSSE\x00\x00\x05\x00\x00".to_vec();
        bytes.extend([2, 16, 0, 0x00, 3, 0, 0, 0, 0x00, 9, 0, 0, 0]);
        bytes.extend([1, 200, 0, 0x00, 1, 0, 0, 0]);
        bytes.extend(checksum(&bytes).to_le_bytes());
        assert_eq!(list.encode(&context).unwrap(), bytes);
        assert_eq!((header.list_used, header.list_allocated), (bytes.len() as u64, 60));
        assert_eq!(FreeSpaceSectionsContext::new(&header, ADDRESS, 0, PARAMS).unwrap(), context);
        assert_eq!(FreeSpaceSections::decode(&bytes, &context).unwrap(), list);
        bytes.resize(60, 0xee);
        assert_eq!(FreeSpaceSections::decode(&bytes, &context).unwrap(), list);
        let fewer = FreeSpaceHeader { serialized_sections: 2, ..header.clone() };
        let context = FreeSpaceSectionsContext::new(&fewer, ADDRESS, 0, PARAMS).unwrap();
        assert!(FreeSpaceSections::decode(&bytes, &context).is_err());
        let more = FreeSpaceHeader { serialized_sections: 4, ..header };
        let context = FreeSpaceSectionsContext::new(&more, ADDRESS, 0, PARAMS).unwrap();
        assert!(FreeSpaceSections::decode(&bytes, &context).is_err());
    }

    #[test]
    fn a_list_with_zeros_at_its_end() {
        let header =
            FreeSpaceHeader { address_bits: 32, serialized_sections: 1, list_used: 29, ..file_header() };
        let context = FreeSpaceSectionsContext::new(&header, ADDRESS, 0, PARAMS).unwrap();
        let mut bytes = b"FSSE\x00\x00\x05\x00\x00".to_vec();
        bytes.extend([1, 200, 0, 0x00, 1, 0, 0, 0]);
        bytes.extend([0; 8]);
        bytes.extend(checksum(&bytes).to_le_bytes());
        assert_eq!(FreeSpaceSections::decode(&bytes, &context).unwrap().sections, [plain(0x100, 200)]);
        bytes[24] = 1;
        let sum = checksum(&bytes[..25]).to_le_bytes();
        bytes[25..].copy_from_slice(&sum);
        assert!(FreeSpaceSections::decode(&bytes, &context).is_err());
    }

    #[test]
    fn narrow_sizes_of_old_libraries() {
        let header = FreeSpaceHeader {
            client: FreeSpaceClient::FRACTAL_HEAP,
            address_bits: 32,
            max_section_size: 1 << 16,
            serialized_sections: 2,
            list_used: 29,
            ..file_header()
        };
        let context = FreeSpaceSectionsContext::new(&header, ADDRESS, 4, PARAMS).unwrap();
        let mut bytes = b"FSSE\x00\x00\x05\x00\x00".to_vec();
        bytes.extend([1, 18, 0, 0xba, 0, 0, 0, 0]);
        bytes.extend([1, 0x1e, 1, 0xe2, 0, 0, 0, 0]);
        bytes.extend(checksum(&bytes).to_le_bytes());
        let list = FreeSpaceSections::decode(&bytes, &context).unwrap();
        assert_eq!(list.sections, [plain(0xba, 18), plain(0xe2, 0x11e)]);
    }

    #[test]
    fn heap_sections() {
        let mut header =
            FreeSpaceHeader { client: FreeSpaceClient::FRACTAL_HEAP, address_bits: 32, ..file_header() };
        let indirect = IndirectSection { block_offset: 0x800, row: 2, column: 1, blocks: 3 };
        let mut list = FreeSpaceSections {
            sections: vec![FreeSpaceSection {
                offset: 0x900,
                size: 512,
                kind: FreeSpaceSectionKind::FirstRow(indirect),
            }],
        };
        let context = list.arrange(&mut header, ADDRESS, 3, PARAMS).unwrap();
        let mut bytes = b"FSSE\x00\x00\x05\x00\x00\x01\x00\x02\x00\x09\x00\x00\x01".to_vec();
        bytes.extend([0, 8, 0, 2, 0, 1, 0, 3, 0]);
        bytes.extend(checksum(&bytes).to_le_bytes());
        assert_eq!(list.encode(&context).unwrap(), bytes);
        assert_eq!(FreeSpaceSections::decode(&bytes, &context).unwrap(), list);
        bytes[16] = 4;
        let sum = checksum(&bytes[..26]).to_le_bytes();
        bytes[26..].copy_from_slice(&sum);
        let error = FreeSpaceSections::decode(&bytes, &context).unwrap_err().to_string();
        assert!(error.contains("section type 4 of client 0"), "{error}");
    }

    fn section(heap: bool) -> impl Strategy<Value = FreeSpaceSection> {
        let kind =
            (0_u8..4, any::<(u32, u16, u16, u16)>()).prop_map(move |(kind, (block, row, column, blocks))| {
                let section = IndirectSection { block_offset: block.into(), row, column, blocks };
                match kind {
                    1 if heap => FreeSpaceSectionKind::FirstRow(section),
                    3 if heap => FreeSpaceSectionKind::Indirect(section),
                    kind => FreeSpaceSectionKind::Plain(if heap { kind & 2 } else { kind.min(2) }),
                }
            });
        (any::<u32>(), 1_u64..9, kind).prop_map(|(offset, size, kind)| FreeSpaceSection {
            offset: offset.into(),
            size,
            kind,
        })
    }

    fn list() -> impl Strategy<Value = (bool, Vec<FreeSpaceSection>)> {
        any::<bool>().prop_flat_map(|heap| (Just(heap), prop::collection::vec(section(heap), 0..20)))
    }

    proptest! {
        #[test]
        fn round_trip((heap, sections) in list(), damage in damage()) {
            let client = FreeSpaceClient(u8::from(!heap));
            let mut header = FreeSpaceHeader { client, ..file_header() };
            let mut list = FreeSpaceSections { sections };
            let context = list.arrange(&mut header, ADDRESS, 4, PARAMS).unwrap();
            let bytes = list.encode(&context).unwrap();
            prop_assert_eq!(bytes.len(), FreeSpaceSections::size(&context));
            prop_assert_eq!(&FreeSpaceSections::decode(&bytes, &context).unwrap(), &list);
            damage.inflict(&bytes, |bytes| drop(FreeSpaceSections::decode(bytes, &context)));
        }
    }
}
