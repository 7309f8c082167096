//! Fractal heap direct block (File Format Specification, section III.G).
//!
//! ```text
//! byte  0   signature "FHDB"
//!       4   version 0
//!       5   heap header address (O)
//!     5+O   block offset in the heap's address space (bits of the heap, in whole bytes)
//!           checksum (4), if the heap has checksums: of the whole block with this field zeroed
//!           objects
//! ```
//! In a heap with filters, these are the decoded bytes.

use crate::codec::{
    Address, CHECKSUM_SIZE, FileParams, FormatError, Reader, Result, Structure, Writer, checksum,
};

const SIGNATURE: &[u8; 4] = b"FHDB";
const VERSION: u8 = 0;

/// Parameters that determine the layout of a direct block of a fractal heap. Created by
/// [`DoublingTable::direct_block`](super::DoublingTable::direct_block).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FractalHeapDirectContext {
    /// Sizes of addresses and lengths in the file.
    pub params: FileParams,
    /// Address of the heap's header.
    pub header: Address,
    /// Width of an offset in the heap, in bytes.
    pub offset_width: usize,
    /// True if the block has a checksum.
    pub checksum: bool,
    /// Decoded size of the block in bytes.
    pub size: usize,
}

/// A direct block of a fractal heap, which contains objects. Heap IDs contain the objects' offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FractalHeapDirectBlock {
    /// Offset of the block in the heap's address space.
    pub block_offset: u64,
    /// All bytes of the block. Offsets of objects in the block count from the first byte.
    /// [`encode`](Structure::encode) overwrites the fields before the objects.
    pub bytes: Vec<u8>,
}

impl FractalHeapDirectContext {
    /// Returns the number of bytes before the first object in a direct block of a fractal heap.
    pub fn prefix_size(&self) -> usize {
        let checksum = if self.checksum { CHECKSUM_SIZE } else { 0 };
        5 + self.params.offset_width() + self.offset_width + checksum
    }
}

impl Structure for FractalHeapDirectBlock {
    const NAME: &'static str = "fractal heap direct block";
    type Context = FractalHeapDirectContext;

    fn size(context: &FractalHeapDirectContext) -> usize {
        context.size
    }

    fn decode(bytes: &[u8], context: &FractalHeapDirectContext) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        if bytes.len() != context.size {
            return Err(reader.corrupt("size", format!("{} bytes", context.size), bytes.len()));
        }
        reader.signature(SIGNATURE)?;
        reader.version(&[VERSION])?;
        let header = reader.offset(context.params, "heap header address")?;
        if header != context.header {
            return Err(reader.corrupt("heap header address", context.header.to_string(), header));
        }
        let block_offset = reader.uint(context.offset_width, "block offset")?;
        if context.checksum {
            let at = reader.position();
            let stored = reader.u32("checksum")?;
            let (computed, whole) = checksum_without(bytes, at)?;
            if stored != computed {
                let expected = format!("{computed:#010x}");
                return Err(reader.corrupt("checksum", expected, format_args!("{stored:#010x}")));
            }
            return Ok(Self { block_offset, bytes: whole });
        }
        Ok(Self { block_offset, bytes: bytes.to_vec() })
    }

    fn encode(&self, context: &FractalHeapDirectContext) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(SIGNATURE);
        writer.u8(VERSION);
        writer.offset(context.params, context.header, "heap header address");
        writer.uint(context.offset_width, self.block_offset, "block offset");
        let at = writer.len();
        if context.checksum {
            writer.zeros(CHECKSUM_SIZE);
        }
        match self.bytes.get(writer.len()..) {
            Some(objects) if self.bytes.len() == context.size => writer.bytes(objects),
            _ => writer.fail("size", self.bytes.len()),
        }
        let mut bytes = writer.finish()?;
        if context.checksum {
            let sum = checksum(&bytes).to_le_bytes();
            *checksum_field(&mut bytes, at)? = sum;
        }
        Ok(bytes)
    }
}

/// Computes the checksum of a direct block of a fractal heap without its checksum field: the bytes
/// of the field at the offset `at` count as zero. Returns the checksum and a copy of the block.
fn checksum_without(bytes: &[u8], at: usize) -> Result<(u32, Vec<u8>)> {
    let mut copy = bytes.to_vec();
    let stored = std::mem::replace(checksum_field(&mut copy, at)?, [0; CHECKSUM_SIZE]);
    let sum = checksum(&copy);
    *checksum_field(&mut copy, at)? = stored;
    Ok((sum, copy))
}

fn checksum_field(bytes: &mut [u8], at: usize) -> Result<&mut [u8; CHECKSUM_SIZE]> {
    let field = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut());
    field.ok_or_else(|| FormatError::internal(FractalHeapDirectBlock::NAME, "the checksum lies in the block"))
}

impl FractalHeapDirectBlock {
    /// Creates a direct block of a fractal heap without objects.
    pub fn new(block_offset: u64, context: &FractalHeapDirectContext) -> Self {
        Self { block_offset, bytes: vec![0; context.size] }
    }

    /// Returns the object of `length` bytes at `offset` of the fractal heap's address space, from
    /// the direct block.
    ///
    /// # Errors
    /// Returns [`FormatError::Corrupt`] if the object does not lie within this block, after the
    /// prefix.
    pub fn object(&self, offset: u64, length: u64, context: &FractalHeapDirectContext) -> Result<&[u8]> {
        let within = || {
            let start = usize::try_from(offset.checked_sub(self.block_offset)?).ok()?;
            let length = usize::try_from(length).ok()?;
            self.bytes.get(start..start.checked_add(length)?).filter(|_| start >= context.prefix_size())
        };
        within().ok_or_else(|| {
            let expected = format!("an object in the {} bytes from {}", self.bytes.len(), self.block_offset);
            FormatError::corrupt(Self::NAME, "object", expected, format_args!("{length} bytes at {offset}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const CONTEXT: FractalHeapDirectContext = FractalHeapDirectContext {
        params: FileParams { size_of_offsets: 4, size_of_lengths: 4 },
        header: Address::new(0x1000),
        offset_width: 3,
        checksum: false,
        size: 32,
    };

    #[test]
    fn without_checksum() {
        let mut bytes = b"FHDB\x00\x00\x10\x00\x00\x00\x02\x00object".to_vec();
        bytes.resize(32, 0);
        let block = FractalHeapDirectBlock::decode(&bytes, &CONTEXT).unwrap();
        assert_eq!(block.block_offset, 512);
        assert_eq!(block.object(512 + 12, 6, &CONTEXT).unwrap(), b"object");
        assert_eq!(block.encode(&CONTEXT).unwrap(), bytes);
        for (offset, length) in [(511, 1), (512, 1), (512 + 11, 2), (512 + 31, 2), (512 + 12, u64::MAX)] {
            assert!(block.object(offset, length, &CONTEXT).is_err(), "{offset} {length}");
        }
        let other = FractalHeapDirectContext { header: Address::new(0x1001), ..CONTEXT };
        assert!(FractalHeapDirectBlock::decode(&bytes, &other).is_err());
        assert!(FractalHeapDirectBlock::decode(&bytes[..31], &CONTEXT).is_err());
    }

    #[test]
    fn with_checksum() {
        let context = FractalHeapDirectContext { checksum: true, ..CONTEXT };
        let mut bytes = b"FHDB\x00\x00\x10\x00\x00\x00\x02\x00\x00\x00\x00\x00object".to_vec();
        bytes.resize(32, 0);
        let sum = checksum(&bytes).to_le_bytes();
        bytes[12..16].copy_from_slice(&sum);
        let block = FractalHeapDirectBlock::decode(&bytes, &context).unwrap();
        assert_eq!(block.object(512 + 16, 6, &context).unwrap(), b"object");
        assert_eq!(block.encode(&context).unwrap(), bytes);
        bytes[31] = 1;
        assert!(
            FractalHeapDirectBlock::decode(&bytes, &context).unwrap_err().to_string().contains("checksum")
        );
    }

    proptest! {
        #[test]
        fn round_trip(block_offset in 0_u64..1 << 24, byte: u8, checksum: bool) {
            let context = FractalHeapDirectContext { checksum, ..CONTEXT };
            let mut block = FractalHeapDirectBlock::new(block_offset, &context);
            block.bytes.fill(byte);
            let bytes = block.encode(&context).unwrap();
            let again = FractalHeapDirectBlock::decode(&bytes, &context).unwrap();
            prop_assert_eq!((again.block_offset, &again.bytes), (block_offset, &bytes));
            prop_assert_eq!(&again.bytes[context.prefix_size()..], &block.bytes[context.prefix_size()..]);
            prop_assert_eq!(again.encode(&context).unwrap(), bytes);
        }

        #[test]
        fn damaged(damage in damage(), checksum: bool) {
            let context = FractalHeapDirectContext { checksum, ..CONTEXT };
            let bytes = FractalHeapDirectBlock::new(5, &context).encode(&context).unwrap();
            damage.inflict(&bytes, |bytes| drop(FractalHeapDirectBlock::decode(bytes, &context)));
        }
    }
}
