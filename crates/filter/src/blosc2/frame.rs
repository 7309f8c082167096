//! The contiguous frame of Blosc 2: MessagePack with all fields at fixed offsets.
//!
//! ```text
//! offset, bytes | meaning (numbers are big-endian)
//! -------------+----------------------------------------------------------------------------------
//! 2, 8         | "b2frame\0"
//! 11, 4        | bytes of the header
//! 16, 8        | bytes of the frame
//! 25, 1        | bits 0 to 3: version, 4 and 5: 1 for offsets of 64 bits, 6: chunks of varying
//!              | length, 7: blocks of varying length
//! 26, 1        | 0: contiguous
//! 27, 1        | bits 0 to 3: compressor, 4 to 7: level
//! 28, 1        | mode in which blocks are split
//! 30, 8        | bytes of the decoded frame
//! 39, 8        | bytes of all encoded chunks
//! 48, 4        | bytes of an element
//! 53, 4        | bytes of a decoded block
//! 58, 4        | bytes of a decoded chunk
//! 63, 2; 66, 2 | number of threads for encoding; for decoding
//! 68, 1        | true if variable-length metalayers follow the chunks
//! 70, 1; 71, 8 | number of transforms; their numbers
//! 79, 8        | one parameter for each transform
//! 87           | metalayers: [offset of the contents, {name: offset}, [contents]]
//! header       | the chunks, then a chunk of chunk offsets: each of 64 bits, little-endian, from
//!              | the end of the header; a negative offset stands for a chunk of one value without
//!              | stored bytes
//! 35           | a trailer
//! ```

use hyperslab_exact::to_u64;

use crate::Result;
use crate::codec::blosc_codec::Codec;

use super::array::Array;
use super::chunk::{Chunk, Special};
use super::chunk_encode::Blosc2Settings;
use super::{corrupt, failed, unsupported};

const MAGIC: &[u8] = b"b2frame\0";

/// The offset of the metadata sections (metalayers) in a Blosc2 frame, in bytes.
const METALAYERS_OFFSET: usize = 87;

const WIDE_OFFSETS: u8 = 1 << 4;
const OFFSET_WIDTH_MASK: u8 = 3 << 4;
const VARYING_CHUNKS: u8 = 1 << 6;
const VARYING_BLOCKS: u8 = 1 << 7;

/// A Blosc2 frame with its parsed header.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// Size of the decoded frame in bytes.
    pub(super) length: usize,
    /// Size of a decoded chunk in bytes.
    pub(super) chunk: usize,
    /// Size of an element in bytes; not 0.
    pub(super) size: usize,
    /// The contents of the metalayer with the array's shape, if the frame has one.
    pub(super) array: Option<&'a [u8]>,
    /// All bytes after the header: the chunks, the chunk offsets and the trailer.
    chunks: &'a [u8],
    /// The offset of the chunk offsets in `chunks`.
    index_offset: usize,
}

/// The location of a chunk in a Blosc2 frame, or the value of a chunk that is not stored.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChunkLocation<'a> {
    /// The chunk is stored at the start of these bytes.
    At(&'a [u8]),
    /// The chunk has no stored bytes: all its elements have this value.
    Special(Special),
}

/// Reads `N` bytes at the offset `at` of a Blosc2 frame.
fn take<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let taken = bytes.get(at..).and_then(<[u8]>::first_chunk);
    taken.copied().ok_or_else(|| corrupt("the frame header is truncated"))
}

fn short(bytes: &[u8], at: usize) -> Result<usize> {
    usize::try_from(u32::from_be_bytes(take(bytes, at)?))
        .map_err(|_| corrupt("a number in the frame header is too large"))
}

fn long(bytes: &[u8], at: usize) -> Result<usize> {
    usize::try_from(u64::from_be_bytes(take(bytes, at)?))
        .map_err(|_| corrupt("a number in the frame header is too large"))
}

impl<'a> Frame<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        if bytes.get(2..10) != Some(MAGIC) {
            return Err(corrupt("the chunk is not a Blosc 2 frame"));
        }
        let [flags, kind] = take(bytes, 25)?;
        if kind & 0xf != 0 {
            return Err(unsupported("a sparse frame"));
        }
        if flags & OFFSET_WIDTH_MASK != WIDE_OFFSETS || flags & (VARYING_CHUNKS | VARYING_BLOCKS) != 0 {
            return Err(unsupported("a frame with chunks or blocks of varying length"));
        }
        let bytes = bytes.get(..long(bytes, 16)?).ok_or_else(|| corrupt("the frame is truncated"))?;
        let header = bytes.get(..short(bytes, 11)?).filter(|header| header.len() >= METALAYERS_OFFSET);
        let header = header.ok_or_else(|| corrupt("the frame header is truncated"))?;
        let chunks = bytes.split_at(header.len()).1;
        let size = short(bytes, 48)?;
        if size == 0 {
            return Err(corrupt("the element size in the frame header is 0"));
        }
        Ok(Self {
            length: long(bytes, 30)?,
            chunk: short(bytes, 58)?,
            size,
            array: metalayer(header, &[b"b2nd", b"caterva"])?,
            chunks,
            index_offset: long(bytes, 39)?,
        })
    }

    /// Returns the locations of all chunks of a Blosc2 frame. `count` is the expected number of
    /// chunks.
    pub(super) fn locations(&self, count: usize) -> Result<Vec<ChunkLocation<'a>>> {
        // Chunks with a single value take no bytes. But no encoder writes more such chunks than the
        // frame has bytes.
        if count > self.chunks.len() {
            return Err(corrupt("the frame has more chunks than bytes"));
        }
        let index =
            self.chunks.get(self.index_offset..).ok_or_else(|| corrupt("the chunk offsets are truncated"))?;
        let index = Chunk::parse(index, 8)?;
        if Some(index.length) != count.checked_mul(8) {
            return Err(corrupt("the number of chunk offsets differs from the number of chunks"));
        }
        let mut offsets = vec![0; index.length];
        let mut decoder = index.decoder();
        for block in offsets.chunks_mut(index.block.max(1)) {
            decoder.decode_next(block)?;
        }
        let location = |bytes: &[u8; 8]| {
            let [.., high] = bytes;
            if high & 0x80 != 0 {
                let special = Special::of_number(high & 7).filter(|special| *special != Special::Value);
                return special
                    .map(ChunkLocation::Special)
                    .ok_or_else(|| corrupt("a chunk offset has an unknown special value"));
            }
            usize::try_from(u64::from_le_bytes(*bytes))
                .ok()
                .and_then(|at| self.chunks.get(at..))
                .map(ChunkLocation::At)
                .ok_or_else(|| corrupt("a chunk lies outside the frame"))
        };
        offsets.as_chunks().0.iter().map(location).collect()
    }
}

/// Returns the contents of a metadata section (metalayer) of a Blosc2 frame: the first section with
/// one of the names `names`.
fn metalayer<'a>(header: &'a [u8], names: &[&[u8]]) -> Result<Option<&'a [u8]>> {
    let invalid = || corrupt("the metalayers of the frame are invalid");
    let Some(map) = header.get(METALAYERS_OFFSET..).filter(|bytes| !bytes.is_empty()) else {
        return Ok(None);
    };
    let [0x93, 0xcd, _, _, 0xde, high, low, entries @ ..] = map else { return Err(invalid()) };
    let mut entries = entries;
    for _ in 0..u16::from_be_bytes([*high, *low]) {
        let (kind, rest) = entries.split_first().ok_or_else(invalid)?;
        let (name, rest) = rest.split_at_checked(usize::from(kind & 0x1f)).ok_or_else(invalid)?;
        let ([_, offset @ ..], rest) = rest.split_first_chunk::<5>().ok_or_else(invalid)?;
        entries = rest;
        if names.contains(&name) {
            let offset = usize::try_from(u32::from_be_bytes(*offset)).map_err(|_| invalid())?;
            let start = offset.checked_add(1).ok_or_else(invalid)?;
            let length = short(header, start)?;
            let contents = header.get(start..).and_then(|rest| rest.get(4..)?.get(..length));
            return contents.map(Some).ok_or_else(invalid);
        }
    }
    Ok(None)
}

/// Replaces the content of `output` by a Blosc2 frame with one chunk. `length` is the decoded size
/// of the chunk in bytes. If `length` is 0, the frame has no chunk.
pub(super) fn encode(
    settings: &Blosc2Settings,
    array: Option<&Array>,
    length: usize,
    chunk: &[u8],
    output: &mut Vec<u8>,
) -> Result<()> {
    let number = |number: usize| u32::try_from(number).map(u32::to_be_bytes);
    let too_large = |_| failed("the chunk is too large for a frame");
    let wide = |number: usize| to_u64(number).to_be_bytes();
    output.clear();
    output.extend([0x9e, 0xa8]);
    output.extend_from_slice(MAGIC);
    // The lengths of the header and of the frame are filled in below.
    output.extend([0xd2, 0, 0, 0, 0, 0xcf, 0, 0, 0, 0, 0, 0, 0, 0, 0xa4]);
    output.extend([
        2 | WIDE_OFFSETS,
        0,
        compressor(settings.codec) | settings.level.to_le_bytes()[0] << 4,
        3,
    ]);
    for size in [length, chunk.len()] {
        output.push(0xd3);
        output.extend_from_slice(&wide(size));
    }
    for size in [settings.size, settings.block, length] {
        output.push(0xd2);
        output.extend_from_slice(&number(size).map_err(too_large)?);
    }
    output.extend([0xd1, 0, 1, 0xd1, 0, 1, 0xc2, 0xd8, 6]);
    output.extend([0, 0, 0, 0, 0, settings.transform.number()]);
    output.extend([compressor(settings.codec), 0]);
    output.extend([0; 8]);
    let mut shape = Vec::new();
    match array {
        None => output.extend([0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0]),
        Some(array) => {
            array.write(settings.size, &mut shape)?;
            output.extend([0x93, 0xcd, 0, 17, 0xde, 0, 1, 0xa4]);
            output.extend_from_slice(b"b2nd");
            output.push(0xd2);
            // Write the offset of the contents, which follow this number, the array header and the
            // entry count.
            output.extend_from_slice(&number(output.len() + 4 + 3).map_err(too_large)?);
            output.extend([0xdc, 0, 1, 0xc6]);
            output.extend_from_slice(&number(shape.len()).map_err(too_large)?);
            output.extend_from_slice(&shape);
        }
    }
    let header = number(output.len()).map_err(too_large)?;
    output.extend_from_slice(chunk);
    if length > 0 {
        // The only chunk offset is 0.
        output.extend([5, 1, 7, 8, 8, 0, 0, 0, 8, 0, 0, 0, 40, 0, 0, 0]);
        output.extend([0; 24]);
    }
    output.extend([0x94, 1, 0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0, 0xce, 0, 0, 0, 35, 0xd8, 0]);
    output.extend([0; 16]);
    let frame = wide(output.len());
    for (at, bytes) in [(11, &header[..]), (16, &frame[..])] {
        output.split_at_mut(at).1.split_at_mut(bytes.len()).0.copy_from_slice(bytes);
    }
    Ok(())
}

/// Returns the number of the codec in a Blosc2 frame header.
fn compressor(codec: Codec) -> u8 {
    match codec {
        Codec::BloscLz => 0,
        Codec::Lz4 => 1,
        Codec::Snappy => 3,
        Codec::Zlib => 4,
        Codec::Zstd => 5,
    }
}
