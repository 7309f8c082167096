//! Fractal heap indirect block (File Format Specification, section III.G).
//!
//! ```text
//! byte  0   signature "FHIB"
//!       4   version 0
//!       5   heap header address (O)
//!     5+O   block offset in the heap's address space (bits of the heap, in whole bytes)
//!           K direct blocks: address (O); with filters also stored size (L) and filter mask (4)
//!           N indirect blocks: address (O)
//!           checksum (4)
//! ```

use crate::codec::{Address, FileParams, FormatError, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"FHIB";
const VERSION: u8 = 0;

/// Parameters that determine the layout of an indirect block of a fractal heap. Created by
/// [`DoublingTable::indirect_block`](super::DoublingTable::indirect_block).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FractalHeapIndirectContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Address of the heap's header.
    pub header: Address,
    /// Width of an offset in the heap, in bytes.
    pub offset_width: usize,
    /// True if the heap has filters.
    pub filtered: bool,
    /// Number of direct block entries.
    pub direct: usize,
    /// Number of indirect block entries.
    pub indirect: usize,
}

/// An indirect block of a fractal heap: the addresses of its child blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FractalHeapIndirectBlock {
    /// Offset of the table in the heap's address space.
    pub block_offset: u64,
    /// Addresses of the child blocks, row by row; undefined for a block that does not exist.
    pub children: Vec<Address>,
    /// Filter information of each direct block; empty in a heap without filters.
    pub filtered: Vec<FilteredBlock>,
}

/// The filter information of a fractal heap's direct block: encoded size and filter mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FilteredBlock {
    /// Stored size of the block in bytes.
    pub size: u64,
    /// Filter mask: bit i is set if filter i of the pipeline was skipped.
    pub filter_mask: u32,
}

impl FractalHeapIndirectContext {
    fn direct_entry_size(&self) -> usize {
        let filtered = if self.filtered { self.params.length_width() + 4 } else { 0 };
        self.params.offset_width() + filtered
    }
}

impl Structure for FractalHeapIndirectBlock {
    const NAME: &'static str = "fractal heap indirect block";
    type Context = FractalHeapIndirectContext;

    fn size(context: &FractalHeapIndirectContext) -> usize {
        let direct = context.direct * context.direct_entry_size();
        let indirect = context.indirect * context.params.offset_width();
        direct + indirect + 9 + context.params.offset_width() + context.offset_width
    }

    fn decode(bytes: &[u8], context: &FractalHeapIndirectContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let params = context.params;
        reader.signature(SIGNATURE)?;
        reader.version(&[VERSION])?;
        let header = reader.offset(params, "heap header address")?;
        if header != context.header {
            return Err(reader.corrupt("heap header address", context.header.to_string(), header));
        }
        let block_offset = reader.uint(context.offset_width, "block offset")?;
        let Some(total) = context.direct.checked_add(context.indirect) else {
            return Err(FormatError::internal(Self::NAME, "memory can address the entries of a table"));
        };
        let total = reader.count(total as u64, params.offset_width(), "child blocks")?;
        let mut children = Vec::with_capacity(total);
        let mut filtered = Vec::with_capacity(if context.filtered { context.direct.min(total) } else { 0 });
        for _ in 0..context.direct {
            children.push(reader.offset(params, "child direct block address")?);
            if context.filtered {
                let size = reader.length(params, "size of filtered direct block")?;
                filtered
                    .push(FilteredBlock { size, filter_mask: reader.u32("filter mask for direct block")? });
            }
        }
        for _ in 0..context.indirect {
            children.push(reader.offset(params, "child indirect block address")?);
        }
        reader.checksum()?;
        reader.finish()?;
        Ok(Self { block_offset, children, filtered })
    }

    fn encode(&self, context: &FractalHeapIndirectContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        let filtered = if context.filtered { context.direct } else { 0 };
        if self.children.len() != context.direct + context.indirect || self.filtered.len() != filtered {
            writer.fail(
                "child blocks",
                format_args!("{} addresses and {} filter entries", self.children.len(), self.filtered.len()),
            );
        }
        writer.bytes(SIGNATURE);
        writer.u8(VERSION);
        writer.offset(context.params, context.header, "heap header address");
        writer.uint(context.offset_width, self.block_offset, "block offset");
        for (number, child) in self.children.iter().enumerate() {
            writer.offset(context.params, *child, "child block address");
            if let Some(filtered) = self.filtered.get(number) {
                writer.length(context.params, filtered.size, "size of filtered direct block");
                writer.u32(filtered.filter_mask);
            }
        }
        writer.checksum();
        writer.finish()
    }
}

impl FractalHeapIndirectBlock {
    /// Creates an indirect block of a fractal heap without child blocks.
    pub fn new(block_offset: u64, context: &FractalHeapIndirectContext) -> Self {
        let filtered = if context.filtered { context.direct } else { 0 };
        Self {
            block_offset,
            children: vec![Address::UNDEFINED; context.direct + context.indirect],
            filtered: vec![FilteredBlock::default(); filtered],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::checksum;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const CONTEXT: FractalHeapIndirectContext = FractalHeapIndirectContext {
        params: FileParams { size_of_offsets: 2, size_of_lengths: 2 },
        header: Address::new(0x1000),
        offset_width: 3,
        filtered: false,
        direct: 2,
        indirect: 1,
    };

    #[test]
    fn without_filters() {
        let mut bytes = b"FHIB\x00\x00\x10\x00\x02\x00\x00\x20\xff\xff\x00\x30".to_vec();
        bytes.extend(checksum(&bytes).to_le_bytes());
        let block = FractalHeapIndirectBlock::decode(&bytes, &CONTEXT).unwrap();
        assert_eq!(block.block_offset, 512);
        assert_eq!(block.children, [Address::new(0x2000), Address::UNDEFINED, Address::new(0x3000)]);
        assert_eq!(block.encode(&CONTEXT).unwrap(), bytes);
        assert_eq!(FractalHeapIndirectBlock::size(&CONTEXT), bytes.len());
        let other = FractalHeapIndirectContext { header: Address::new(1), ..CONTEXT };
        assert!(FractalHeapIndirectBlock::decode(&bytes, &other).is_err());
        let larger = FractalHeapIndirectContext { direct: usize::MAX, ..CONTEXT };
        assert!(FractalHeapIndirectBlock::decode(&bytes, &larger).is_err());
    }

    #[test]
    fn with_filters() {
        let context = FractalHeapIndirectContext { filtered: true, direct: 1, ..CONTEXT };
        let mut bytes = b"FHIB\x00\x00\x10\x00\x02\x00\x00\x20\x2c\x01\x05\x00\x00\x00\x00\x30".to_vec();
        bytes.extend(checksum(&bytes).to_le_bytes());
        let block = FractalHeapIndirectBlock::decode(&bytes, &context).unwrap();
        assert_eq!(block.children, [Address::new(0x2000), Address::new(0x3000)]);
        assert_eq!(block.filtered, [FilteredBlock { size: 300, filter_mask: 5 }]);
        assert_eq!(block.encode(&context).unwrap(), bytes);
        assert_eq!(FractalHeapIndirectBlock::size(&context), bytes.len());
        assert!(block.encode(&CONTEXT).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(places in prop::collection::vec(0_u64..0xffff, 1..20), split in 0_usize..20, filtered: bool) {
            let direct = split.min(places.len());
            let context = FractalHeapIndirectContext { filtered, direct, indirect: places.len() - direct, ..CONTEXT };
            let mut block = FractalHeapIndirectBlock::new(places[0], &context);
            for (child, place) in block.children.iter_mut().zip(&places) {
                *child = Address::new(*place);
            }
            for (entry, size) in block.filtered.iter_mut().zip(&places) {
                *entry = FilteredBlock { size: *size, filter_mask: 3 };
            }
            let bytes = block.encode(&context).unwrap();
            prop_assert_eq!(bytes.len(), FractalHeapIndirectBlock::size(&context));
            prop_assert_eq!(FractalHeapIndirectBlock::decode(&bytes, &context).unwrap(), block);
        }

        #[test]
        fn damaged(damage in damage(), filtered: bool) {
            let context = FractalHeapIndirectContext { filtered, ..CONTEXT };
            let bytes = FractalHeapIndirectBlock::new(5, &context).encode(&context).unwrap();
            damage.inflict(&bytes, |bytes| drop(FractalHeapIndirectBlock::decode(bytes, &context)));
        }
    }
}
