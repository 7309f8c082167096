//! Local heap (File Format Specification, section III.D). Local heaps store the names of symbol
//! table groups and of external files.
//!
//! ```text
//! byte  0   signature "HEAP"
//!       4   version 0
//!       5   reserved (3)
//!       8   data segment size (L)
//!     8+L   offset of the first free block in the data segment (L)   1: none (also all ones)
//!    8+2L   address of the data segment (O)
//!
//! free block, in the data segment
//!       0   offset of the next free block (L)                        1: none
//!       L   size of this free block (L), including these two fields
//! ```

use crate::codec::{Address, FileParams, FormatError, Reader, Result, Structure, Writer};

const SIGNATURE: &[u8; 4] = b"HEAP";
const VERSION: u8 = 0;
/// The offset that marks the end of the list of free blocks in a local heap.
const END_OF_FREE_LIST: u64 = 1;
const SEGMENT: &str = "local heap data segment";

/// Alignment in bytes: sizes and offsets of objects in a local heap are multiples of this number.
pub const LOCAL_HEAP_ALIGNMENT: u64 = 8;

/// The header of a local heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalHeapHeader {
    /// Size of the data segment in bytes.
    pub segment_size: u64,
    /// Offset of the first free block in the data segment.
    pub free_list: Option<u64>,
    /// Address of the data segment.
    pub segment: Address,
}

/// A range of unused bytes in a local heap's data segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalHeapFreeBlock {
    /// Offset of the block in the data segment.
    pub offset: u64,
    /// Size of the block in bytes.
    pub size: u64,
}

impl Structure for LocalHeapHeader {
    const NAME: &'static str = "local heap";
    type Context = FileParams;

    fn size(params: &FileParams) -> usize {
        8 + 2 * params.length_width() + params.offset_width()
    }

    fn decode(bytes: &[u8], params: &FileParams) -> Result<Self> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.signature(SIGNATURE)?;
        reader.version(&[VERSION])?;
        reader.skip(3, "reserved")?;
        let segment_size = reader.length(*params, "data segment size")?;
        let free_list = reader
            .length_or_undefined(*params, "offset to head of free-list")?
            .filter(|offset| *offset != END_OF_FREE_LIST);
        if let Some(offset) = free_list
            && offset >= segment_size
        {
            let inside = format!("an offset below the segment's size of {segment_size}");
            return Err(reader.corrupt("offset to head of free-list", inside, offset));
        }
        let segment = reader.offset(*params, "address of data segment")?;
        reader.finish()?;
        Ok(Self { segment_size, free_list, segment })
    }

    fn encode(&self, params: &FileParams) -> Result<Vec<u8>> {
        let mut writer = Writer::new(Self::NAME);
        writer.bytes(SIGNATURE);
        writer.u8(VERSION);
        writer.zeros(3);
        writer.length(*params, self.segment_size, "data segment size");
        writer.length(*params, self.free_list.unwrap_or(END_OF_FREE_LIST), "offset to head of free-list");
        writer.offset(*params, self.segment, "address of data segment");
        writer.finish()
    }
}

/// Returns the free blocks of a local heap's data segment, in list order. `first` is the offset of
/// the first free block.
///
/// # Errors
/// Returns [`FormatError::Corrupt`] if a block lies outside of the segment, or if the list has more
/// blocks than the segment can hold.
pub fn read_free_blocks(
    segment: &[u8],
    first: Option<u64>,
    params: FileParams,
) -> Result<Vec<LocalHeapFreeBlock>> {
    let mut blocks = Vec::new();
    let maximum = segment.len() / (2 * params.length_width()).max(1);
    let mut next = first;
    while let Some(offset) = next {
        let bytes = usize::try_from(offset).ok().and_then(|offset| segment.get(offset..));
        let Some(bytes) = bytes else {
            let expected = format!("at most {}", segment.len());
            return Err(FormatError::corrupt(SEGMENT, "offset of free block", expected, offset));
        };
        let mut reader = Reader::new(SEGMENT, bytes);
        if blocks.len() >= maximum {
            return Err(reader.corrupt(
                "free list",
                format!("at most {maximum} blocks"),
                "a longer list or a cycle",
            ));
        }
        next =
            reader.length_or_undefined(params, "next free block")?.filter(|next| *next != END_OF_FREE_LIST);
        let size = reader.length(params, "size of free block")?;
        if offset.checked_add(size).is_none_or(|end| end > segment.len() as u64) {
            let inside = format!("a block within {} bytes", segment.len());
            return Err(reader.corrupt("size of free block", inside, format_args!("{size} at {offset}")));
        }
        blocks.push(LocalHeapFreeBlock { offset, size });
    }
    Ok(blocks)
}

/// Writes the list of free blocks into a local heap's data segment. Returns the offset of the first
/// free block for the heap's header.
///
/// # Errors
/// Returns [`FormatError::Encode`] if a block is too small or outside of the segment.
pub fn write_free_blocks(
    segment: &mut [u8],
    blocks: &[LocalHeapFreeBlock],
    params: FileParams,
) -> Result<Option<u64>> {
    for (index, block) in blocks.iter().enumerate() {
        let mut writer = Writer::new(SEGMENT);
        let next = blocks.get(index + 1).map_or(END_OF_FREE_LIST, |next| next.offset);
        writer.length(params, next, "next free block");
        writer.length(params, block.size, "size of free block");
        let entry = writer.finish()?;
        let target = (block.size >= entry.len() as u64)
            .then(|| usize::try_from(block.offset).ok())
            .flatten()
            .and_then(|offset| segment.get_mut(offset..)?.get_mut(..entry.len()));
        let Some(target) = target else {
            let got = format!("{} bytes at {}", block.size, block.offset);
            return Err(FormatError::Encode { structure: SEGMENT, field: "free block", got });
        };
        target.copy_from_slice(&entry);
    }
    Ok(blocks.first().map(|block| block.offset))
}

/// Returns the name or link value at `offset` of a local heap's data segment, without its
/// terminating zero byte.
///
/// # Errors
/// Returns [`FormatError::Corrupt`] if the offset lies outside of the segment, or if no zero byte
/// follows.
pub fn name_at(segment: &[u8], offset: u64) -> Result<&[u8]> {
    let bytes = usize::try_from(offset).ok().and_then(|offset| segment.get(offset..));
    let Some(bytes) = bytes else {
        let inside = format!("an offset below {}", segment.len());
        return Err(FormatError::corrupt(SEGMENT, "name", inside, offset));
    };
    Reader::new(SEGMENT, bytes).until_nul("name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::damage;
    use proptest::prelude::*;

    const PARAMS: FileParams = FileParams { size_of_offsets: 4, size_of_lengths: 2 };

    #[test]
    fn header() {
        let bytes = *b"HEAP\x00\x00\x00\x00\x28\x00\x18\x00\x00\x01\x00\x00";
        let heap = LocalHeapHeader::decode(&bytes, &PARAMS).unwrap();
        assert_eq!(
            heap,
            LocalHeapHeader { segment_size: 40, free_list: Some(24), segment: Address::new(256) }
        );
        assert_eq!(heap.encode(&PARAMS).unwrap(), bytes);
    }

    #[test]
    fn a_full_heap_has_no_free_list() {
        let bytes = *b"HEAP\x00\x00\x00\x00\x28\x00\x01\x00\x00\x01\x00\x00";
        let heap = LocalHeapHeader::decode(&bytes, &PARAMS).unwrap();
        assert_eq!(heap.free_list, None);
        assert_eq!(heap.encode(&PARAMS).unwrap(), bytes);
        let all_ones = *b"HEAP\x00\x00\x00\x00\x28\x00\xff\xff\x00\x01\x00\x00";
        assert_eq!(LocalHeapHeader::decode(&all_ones, &PARAMS).unwrap(), heap);
        let outside = *b"HEAP\x00\x00\x00\x00\x28\x00\x28\x00\x00\x01\x00\x00";
        assert!(LocalHeapHeader::decode(&outside, &PARAMS).is_err());
    }

    #[test]
    fn free_list() {
        let mut segment = vec![0xaa_u8; 40];
        segment[8..12].copy_from_slice(&[24, 0, 8, 0]);
        segment[24..28].copy_from_slice(&[1, 0, 16, 0]);
        let blocks = read_free_blocks(&segment, Some(8), PARAMS).unwrap();
        let expected =
            [LocalHeapFreeBlock { offset: 8, size: 8 }, LocalHeapFreeBlock { offset: 24, size: 16 }];
        assert_eq!(blocks, expected);
        let mut again = vec![0xaa_u8; 40];
        assert_eq!(write_free_blocks(&mut again, &blocks, PARAMS), Ok(Some(8)));
        assert_eq!(again, segment);
        assert_eq!(read_free_blocks(&segment, None, PARAMS), Ok(vec![]));
    }

    #[test]
    fn bad_free_lists() {
        let mut cycle = vec![0_u8; 40];
        cycle[8..12].copy_from_slice(&[8, 0, 8, 0]);
        assert!(read_free_blocks(&cycle, Some(8), PARAMS).unwrap_err().to_string().contains("cycle"));
        let mut long = vec![0_u8; 40];
        long[8..12].copy_from_slice(&[1, 0, 33, 0]);
        assert!(read_free_blocks(&long, Some(8), PARAMS).is_err());
        assert!(read_free_blocks(&long, Some(38), PARAMS).is_err());
        assert!(read_free_blocks(&long, Some(4000), PARAMS).is_err());
        let block = LocalHeapFreeBlock { offset: 38, size: 8 };
        assert!(write_free_blocks(&mut long, &[block], PARAMS).is_err());
    }

    #[test]
    fn names() {
        let segment = b"\0\0\0\0\0\0\0\0data\0\0\0\0open";
        assert_eq!(name_at(segment, 0), Ok(&b""[..]));
        assert_eq!(name_at(segment, 8), Ok(&b"data"[..]));
        assert!(name_at(segment, 16).is_err());
        assert!(name_at(segment, 99).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(segment_size in 2_u64.., offset in any::<u64>(), address in any::<u64>()) {
            let free_list = Some(offset % segment_size).filter(|offset| *offset != 1);
            let heap = LocalHeapHeader { segment_size, free_list, segment: Address::new(address) };
            let bytes = heap.encode(&FileParams::DEFAULT).unwrap();
            prop_assert_eq!(LocalHeapHeader::decode(&bytes, &FileParams::DEFAULT).unwrap(), heap);
        }

        #[test]
        fn damaged(damage in damage(), first in 0_u64..80) {
            let header = LocalHeapHeader { segment_size: 64, free_list: Some(8), segment: Address::new(1) };
            damage.inflict(&header.encode(&PARAMS).unwrap(), |bytes| drop(LocalHeapHeader::decode(bytes, &PARAMS)));
            let mut segment = vec![0_u8; 64];
            let blocks =
                [8, 24, 48].map(|offset| LocalHeapFreeBlock { offset, size: 8 });
            write_free_blocks(&mut segment, &blocks, PARAMS).unwrap();
            damage.inflict(&segment, |bytes| {
                drop(read_free_blocks(bytes, Some(first), PARAMS));
                drop(name_at(bytes, first));
            });
        }
    }
}
