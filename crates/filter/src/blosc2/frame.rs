//! A contiguous frame of Blosc 2. It is MessagePack, but what stands where is fixed.
//!
//! ```text
//! at, bytes    | meaning (numbers are big-endian)
//! -------------+------------------------------------------------------------------------------------------
//! 2, 8         | "b2frame\0"
//! 11, 4        | bytes of the header
//! 16, 8        | bytes of the frame
//! 25, 1        | bits 0 to 3: version, 4 and 5: 1 for places of 64 bits, 6: chunks of varying length, 7: blocks
//!              | of varying length
//! 26, 1        | 0: contiguous
//! 27, 1        | bits 0 to 3: compressor, 4 to 7: level
//! 28, 1        | how blocks are split
//! 30, 8        | bytes it decodes to
//! 39, 8        | bytes of its chunks
//! 48, 4        | bytes of an element
//! 53, 4        | bytes of a block
//! 58, 4        | bytes a chunk decodes to
//! 63, 2; 66, 2 | threads to encode, to decode
//! 68, 1        | whether metalayers follow behind
//! 70, 1; 71, 8 | how many filters; their numbers
//! 79, 8        | what is to be known about each
//! 87           | metalayers: [bytes up to their contents, {name: place}, [contents]]
//! header       | the chunks, then a chunk of places: each of 64 bits, little-endian, from the end of the header;
//!              | negative for a chunk that is not there, but of which all is the same
//! 35           | a trailer
//! ```

use hyperslab_exact::to_u64;

use crate::Result;
use crate::codec::choice::Codec;

use super::array::Array;
use super::chunk::{Chunk, Special};
use super::plan::Plan;
use super::{corrupt, failed, unsupported};

const MAGIC: &[u8] = b"b2frame\0";

/// The metalayers begin here.
const METALAYERS: usize = 87;

const WIDE_PLACES: u8 = 1 << 4;
const PLACES: u8 = 3 << 4;
const VARYING_CHUNKS: u8 = 1 << 6;
const VARYING_BLOCKS: u8 = 1 << 7;

/// What a frame says of itself.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// Bytes it decodes to, those of a chunk, and those of an element; the last is not 0.
    pub(super) length: usize,
    pub(super) chunk: usize,
    pub(super) size: usize,
    /// The shape, if it has one.
    pub(super) array: Option<&'a [u8]>,
    /// The chunks and all behind.
    chunks: &'a [u8],
    /// Where in it the places begin.
    places: usize,
}

/// Where a chunk is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// It begins here.
    At(&'a [u8]),
    /// Nowhere, as all is the same.
    Special(Special),
}

/// Big-endian bytes at a place.
fn take<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let taken = bytes.get(at..).and_then(<[u8]>::first_chunk);
    taken.copied().ok_or_else(|| corrupt("its header is cut off"))
}

fn short(bytes: &[u8], at: usize) -> Result<usize> {
    usize::try_from(u32::from_be_bytes(take(bytes, at)?)).map_err(|_| corrupt("its header"))
}

fn long(bytes: &[u8], at: usize) -> Result<usize> {
    usize::try_from(u64::from_be_bytes(take(bytes, at)?)).map_err(|_| corrupt("its header"))
}

impl<'a> Frame<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        if bytes.get(2..10) != Some(MAGIC) {
            return Err(corrupt("it is no frame"));
        }
        let [flags, kind] = take(bytes, 25)?;
        if kind & 0xf != 0 {
            return Err(unsupported("a sparse frame"));
        }
        if flags & PLACES != WIDE_PLACES || flags & (VARYING_CHUNKS | VARYING_BLOCKS) != 0 {
            return Err(unsupported("a frame of chunks or blocks of varying length"));
        }
        let bytes = bytes.get(..long(bytes, 16)?).ok_or_else(|| corrupt("it is cut off"))?;
        let header = bytes.get(..short(bytes, 11)?).filter(|header| header.len() >= METALAYERS);
        let header = header.ok_or_else(|| corrupt("its header is cut off"))?;
        let chunks = bytes.split_at(header.len()).1;
        let size = short(bytes, 48)?;
        if size == 0 {
            return Err(corrupt("elements of no bytes"));
        }
        Ok(Self {
            length: long(bytes, 30)?,
            chunk: short(bytes, 58)?,
            size,
            array: metalayer(header, &[b"b2nd", b"caterva"])?,
            chunks,
            places: long(bytes, 39)?,
        })
    }

    /// Where its chunks are, of which there are so many.
    pub(super) fn places(&self, count: usize) -> Result<Vec<Place<'a>>> {
        // Chunks that are not there take no bytes, but nobody stores so many of them.
        if count > self.chunks.len() {
            return Err(corrupt("it has more chunks than bytes"));
        }
        let index =
            self.chunks.get(self.places..).ok_or_else(|| corrupt("the places of its chunks are cut off"))?;
        let index = Chunk::parse(index, 8)?;
        if Some(index.length) != count.checked_mul(8) {
            return Err(corrupt("it has not as many chunks as needed"));
        }
        let mut places = vec![0; index.length];
        let mut decoder = index.decoder();
        for block in places.chunks_mut(index.block.max(1)) {
            decoder.decode_next(block)?;
        }
        let place = |bytes: &[u8; 8]| {
            let [.., high] = bytes;
            if high & 0x80 != 0 {
                let special = Special::of_number(high & 7).filter(|special| *special != Special::Value);
                return special.map(Place::Special).ok_or_else(|| corrupt("a chunk of unknown contents"));
            }
            let at = usize::try_from(u64::from_le_bytes(*bytes)).unwrap_or(usize::MAX);
            self.chunks.get(at..).map(Place::At).ok_or_else(|| corrupt("a chunk is outside of it"))
        };
        places.as_chunks().0.iter().map(place).collect()
    }
}

/// The contents of the first metalayer with one of these names.
fn metalayer<'a>(header: &'a [u8], names: &[&[u8]]) -> Result<Option<&'a [u8]>> {
    let broken = || corrupt("its metalayers");
    let Some(map) = header.get(METALAYERS..).filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
    let [0x93, 0xcd, _, _, 0xde, high, low, entries @ ..] = map else { return Err(broken()) };
    let mut entries = entries;
    for _ in 0..u16::from_be_bytes([*high, *low]) {
        let (kind, rest) = entries.split_first().ok_or_else(broken)?;
        let (name, rest) = rest.split_at_checked(usize::from(kind & 0x1f)).ok_or_else(broken)?;
        let ([_, place @ ..], rest) = rest.split_first_chunk::<5>().ok_or_else(broken)?;
        entries = rest;
        if names.contains(&name) {
            let place = usize::try_from(u32::from_be_bytes(*place)).map_err(|_| broken())?;
            let start = place.checked_add(1).ok_or_else(broken)?;
            let length = short(header, start)?;
            let contents = header.get(start..).and_then(|rest| rest.get(4..)?.get(..length));
            return contents.map(Some).ok_or_else(broken);
        }
    }
    Ok(None)
}

/// Replaces `output` by a frame of one chunk that decodes to `length` bytes, or of none.
pub(super) fn encode(
    plan: &Plan,
    array: Option<&Array>,
    length: usize,
    chunk: &[u8],
    output: &mut Vec<u8>,
) -> Result<()> {
    let number = |number: usize| u32::try_from(number).map(u32::to_be_bytes);
    let too_large = |_| failed("the chunk is too large");
    let wide = |number: usize| to_u64(number).to_be_bytes();
    output.clear();
    output.extend([0x9e, 0xa8]);
    output.extend_from_slice(MAGIC);
    // The lengths of the header and of the frame are filled in below.
    output.extend([0xd2, 0, 0, 0, 0, 0xcf, 0, 0, 0, 0, 0, 0, 0, 0, 0xa4]);
    output.extend([2 | WIDE_PLACES, 0, compressor(plan.codec) | plan.level.to_le_bytes()[0] << 4, 3]);
    for size in [length, chunk.len()] {
        output.push(0xd3);
        output.extend_from_slice(&wide(size));
    }
    for size in [plan.size, plan.block, length] {
        output.push(0xd2);
        output.extend_from_slice(&number(size).map_err(too_large)?);
    }
    output.extend([0xd1, 0, 1, 0xd1, 0, 1, 0xc2, 0xd8, 6]);
    output.extend([0, 0, 0, 0, 0, plan.transform.number()]);
    output.extend([compressor(plan.codec), 0]);
    output.extend([0; 8]);
    let mut shape = Vec::new();
    match array {
        None => output.extend([0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0]),
        Some(array) => {
            array.write(plan.size, &mut shape)?;
            output.extend([0x93, 0xcd, 0, 17, 0xde, 0, 1, 0xa4]);
            output.extend_from_slice(b"b2nd");
            output.push(0xd2);
            // Behind this number, the array and how many it has.
            output.extend_from_slice(&number(output.len() + 4 + 3).map_err(too_large)?);
            output.extend([0xdc, 0, 1, 0xc6]);
            output.extend_from_slice(&number(shape.len()).map_err(too_large)?);
            output.extend_from_slice(&shape);
        }
    }
    let header = number(output.len()).map_err(too_large)?;
    output.extend_from_slice(chunk);
    if length > 0 {
        // The one place is the beginning.
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

/// The number of a compressor in a frame.
fn compressor(codec: Codec) -> u8 {
    match codec {
        Codec::BloscLz => 0,
        Codec::Lz4 => 1,
        Codec::Snappy => 3,
        Codec::Zlib => 4,
        Codec::Zstd => 5,
    }
}
