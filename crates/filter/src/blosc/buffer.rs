//! The buffer format of Blosc 1.
//!
//! ```text
//! bytes        | meaning
//! -------------+----------------------------------------------------------------------------------
//! 1            | version of the format: 2
//! 1            | version of the codec's format: 1
//! 1            | flags; bit 0: bytes are shuffled, bit 1: the elements are stored uncompressed,
//!              | bit 2: bits are shuffled, bit 4: blocks are not split, bits 5 to 7: 0 BloscLZ, 1
//!              | LZ4, 2 Snappy, 3 zlib, 4 Zstandard
//! 1            | bytes of an element
//! 4            | bytes of the decoded buffer; all numbers are little-endian
//! 4            | bytes of a decoded block; the last block may be shorter
//! 4            | bytes of the encoded buffer
//! 4 per block  | offset of the block in the buffer
//! per stream: 4| bytes of the encoded stream
//! n            | the stream; stored uncompressed if encoded and decoded length are equal
//! ```
//! A block consists of one stream, or of one stream for each byte of an element. Blocks are split
//! into such streams unless bit 4 is set, the element has more than 16 bytes, the block has fewer
//! than 128 elements, or the block is a shorter last one.

use crate::codec::bit_planes;
use crate::codec::blosc_codec::Codec;
use crate::codec::length_u32;
use crate::codec::resize;
use crate::filter::copy_start;
use crate::{FilterError, Produced, Result, shuffle};

use super::ID;

const HEADER_BYTES: usize = 16;

const VERSION: u8 = 2;

const BYTE_SHUFFLE_FLAG: u8 = 1;
const UNCOMPRESSED_FLAG: u8 = 1 << 1;
const BIT_SHUFFLE_FLAG: u8 = 1 << 2;
const UNSPLIT_FLAG: u8 = 1 << 4;

/// The maximum number of streams in a Blosc block. A block with larger elements (in bytes) is not
/// split into streams.
const MAX_STREAMS: usize = 16;

/// The minimum size of a stream in a Blosc block in bytes. Blocks with smaller streams are not
/// split.
const MIN_STREAM_BYTES: usize = 128;

/// The maximum ratio of decoded to encoded bytes of Blosc, for all codecs.
const MAX_EXPANSION_RATIO: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shuffle {
    None,
    Bytes,
    Bits,
}

/// The settings of an encoder of Blosc buffers.
#[derive(Debug, Clone, Copy)]
pub(super) struct BloscSettings {
    /// Bytes of an element.
    pub(super) size: u8,
    pub(super) level: u32,
    pub(super) shuffle: Shuffle,
    pub(super) codec: Codec,
}

/// The properties that all blocks of a Blosc buffer share. They come from the header of the buffer.
#[derive(Debug, Clone, Copy)]
struct Layout {
    size: usize,
    block: usize,
    shuffle: Shuffle,
    codec: Codec,
    is_split: bool,
}

fn corrupt(problem: &str) -> FilterError {
    FilterError::corrupt(ID, problem)
}

fn unsupported(subject: &str) -> FilterError {
    FilterError::Unsupported { id: ID, subject: subject.to_owned() }
}

/// A parsed Blosc buffer.
#[derive(Debug)]
pub(super) struct Buffer<'i> {
    bytes: &'i [u8],
    /// Bytes of the decoded buffer.
    pub(super) length: usize,
    /// The properties of the blocks, or [`None`] if the elements are stored uncompressed.
    layout: Option<Layout>,
}

impl<'i> Buffer<'i> {
    /// Parses the header of the Blosc buffer in `bytes`. A decoded buffer has at most `limit`
    /// bytes.
    pub(super) fn parse(bytes: &'i [u8], limit: usize) -> Result<Self> {
        let header = bytes.first_chunk::<HEADER_BYTES>().ok_or_else(|| corrupt("the header is truncated"))?;
        let [version, _, flags, size, numbers @ ..] = header;
        let [length, block, _] = numbers.as_chunks::<4>().0 else {
            return Err(corrupt("the header is truncated"));
        };
        let (length, block) = (number(length), number(block));
        if *version > VERSION {
            return Err(unsupported("this version of Blosc's format"));
        }
        if length > limit {
            return Err(FilterError::Limit { id: ID, limit });
        }
        if flags & UNCOMPRESSED_FLAG != 0 {
            return Ok(Self { bytes, length, layout: None });
        }
        let layout = Layout {
            size: usize::from(*size),
            block: block.min(length),
            shuffle: match (flags & BYTE_SHUFFLE_FLAG != 0, flags & BIT_SHUFFLE_FLAG != 0) {
                (true, _) => Shuffle::Bytes,
                (false, true) => Shuffle::Bits,
                (false, false) => Shuffle::None,
            },
            codec: Codec::of_format(flags >> 5)
                .ok_or_else(|| unsupported("the codec number in the header of a Blosc chunk"))?,
            is_split: flags & UNSPLIT_FLAG == 0,
        };
        if length > 0 {
            if layout.size == 0 || layout.block == 0 || length / MAX_EXPANSION_RATIO > bytes.len() {
                return Err(corrupt("the element size, block size or length in the header is invalid"));
            }
            if length.div_ceil(layout.block) > (bytes.len() - HEADER_BYTES) / 4 {
                return Err(corrupt("the block offsets are truncated"));
            }
        }
        Ok(Self { bytes, length, layout: Some(layout) })
    }

    /// Returns the bytes after the header of the Blosc buffer, which are the elements if they are
    /// stored uncompressed.
    fn uncompressed(&self) -> Result<&'i [u8]> {
        let elements = self.bytes.get(HEADER_BYTES..).and_then(|rest| rest.get(..self.length));
        elements.ok_or_else(|| corrupt("the uncompressed bytes are truncated"))
    }

    /// Decodes the Blosc buffer into `output`.
    pub(super) fn decode(&self, output: &mut Vec<u8>, scratch: &mut BlockScratch) -> Result<Produced> {
        if self.layout.is_none() {
            return Ok(Produced::Input(HEADER_BYTES..HEADER_BYTES + self.uncompressed()?.len()));
        }
        // The decoder overwrites all bytes.
        resize(ID, output, self.length)?;
        self.decode_into(output, scratch)?;
        Ok(Produced::Output)
    }

    /// Decodes the Blosc buffer into `output`, which has the length of the decoded buffer.
    pub(super) fn decode_into(&self, output: &mut [u8], scratch: &mut BlockScratch) -> Result<()> {
        let Some(layout) = &self.layout else {
            copy_start(self.uncompressed()?, output);
            return Ok(());
        };
        if output.is_empty() {
            return Ok(());
        }
        let offsets = self.bytes.get(HEADER_BYTES..).ok_or_else(|| corrupt("the header is truncated"))?;
        let mut blocks = output.chunks_mut(layout.block).zip(offsets.as_chunks::<4>().0);
        blocks.try_for_each(|(block, offset)| {
            let streams = self.bytes.get(number(offset)..);
            let streams = streams.ok_or_else(|| corrupt("a block lies outside the buffer"))?;
            layout.decode_block(streams, block, scratch)
        })
    }
}

fn number(bytes: &[u8; 4]) -> usize {
    u32::from_le_bytes(*bytes) as usize
}

/// Largest number of bytes of the buffers that a [`BlockScratch`] keeps from chunk to chunk.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// Buffers in memory that the Blosc filter reuses from block to block, and from chunk to chunk.
#[derive(Debug, Default)]
pub(super) struct BlockScratch {
    planes: Vec<u8>,
    spare: Vec<u8>,
    stream: Vec<u8>,
}

impl BlockScratch {
    /// Returns whether the buffers are small enough to keep them for further chunks.
    pub(super) fn is_small(&self) -> bool {
        self.planes.capacity() + self.spare.capacity() + self.stream.capacity() <= MAX_KEPT_BYTES
    }
}

impl Layout {
    /// Returns the number of streams in a Blosc block. `block` is the decoded size of the block in
    /// bytes.
    fn streams(&self, block: usize) -> usize {
        let is_split = self.is_split
            && self.size <= MAX_STREAMS
            && self.block / self.size >= MIN_STREAM_BYTES
            && block == self.block
            && block.is_multiple_of(self.size);
        if is_split { self.size } else { 1 }
    }

    fn decode_block(&self, input: &[u8], block: &mut [u8], scratch: &mut BlockScratch) -> Result<()> {
        let bits = self.shuffle == Shuffle::Bits && self.has_groups(block.len());
        if self.shuffle != Shuffle::Bytes && !bits {
            return self.decode_streams(input, block, &mut scratch.stream);
        }
        scratch.planes.resize(block.len(), 0);
        self.decode_streams(input, &mut scratch.planes, &mut scratch.stream)?;
        let planes = &scratch.planes;
        match self.shuffle {
            Shuffle::Bytes => shuffle::from_planes(self.size, planes, block),
            Shuffle::Bits | Shuffle::None => {
                let whole = block.len() / self.size * self.size;
                let (from, from_tail) = planes.split_at(whole);
                let (to, to_tail) = block.split_at_mut(whole);
                bit_planes::from_bit_planes(self.size, from, to, &mut scratch.spare);
                to_tail.copy_from_slice(from_tail);
            }
        }
        Ok(())
    }

    /// Decodes the streams of a Blosc block into `block`, without undoing the shuffle.
    fn decode_streams(&self, input: &[u8], block: &mut [u8], scratch: &mut Vec<u8>) -> Result<()> {
        let truncated = || corrupt("a block is truncated");
        let stream = block.len() / self.streams(block.len());
        let mut rest = input;
        for plane in block.chunks_exact_mut(stream) {
            let (size, after) = rest.split_first_chunk().ok_or_else(truncated)?;
            let (encoded, after) = after.split_at_checked(number(size)).ok_or_else(truncated)?;
            if encoded.len() == plane.len() {
                plane.copy_from_slice(encoded);
            } else {
                self.codec.decode(ID, encoded, plane, scratch)?;
            }
            rest = after;
        }
        Ok(())
    }

    /// Returns true if the elements of a Blosc block form whole groups of eight elements. Blosc
    /// shuffles bits only in such blocks.
    fn has_groups(&self, block: usize) -> bool {
        (block / self.size).is_multiple_of(bit_planes::GROUP_ELEMENTS)
    }

    fn encode_block(
        &self,
        level: u32,
        block: &[u8],
        output: &mut Vec<u8>,
        scratch: &mut BlockScratch,
    ) -> Result<()> {
        scratch.planes.resize(block.len(), 0);
        match self.shuffle {
            Shuffle::Bytes => shuffle::to_planes(self.size, block, &mut scratch.planes),
            Shuffle::Bits if self.has_groups(block.len()) => {
                let whole = block.len() / self.size * self.size;
                let (from, from_tail) = block.split_at(whole);
                let (to, to_tail) = scratch.planes.split_at_mut(whole);
                bit_planes::to_bit_planes(self.size, from, to, &mut scratch.spare);
                to_tail.copy_from_slice(from_tail);
            }
            Shuffle::Bits | Shuffle::None => scratch.planes.copy_from_slice(block),
        }
        let stream = block.len() / self.streams(block.len());
        for plane in scratch.planes.chunks_exact(stream) {
            let encoded = &mut scratch.stream;
            encoded.clear();
            self.codec.encode(ID, level, plane, encoded)?;
            let stream = if encoded.len() < plane.len() { encoded } else { plane };
            output.extend_from_slice(&length_u32(ID, stream.len())?.to_le_bytes());
            output.extend_from_slice(stream);
        }
        Ok(())
    }
}

pub(super) fn encode(settings: BloscSettings, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let length = i32::try_from(input.len()).ok().filter(|length| i32::MAX - length >= 16);
    let length = length.ok_or_else(|| FilterError::failed(ID, "the chunk has more than 2 GiB"))?;
    let size = usize::from(settings.size);
    let (is_split, block) = (settings.codec.is_split(), settings.codec.block());
    let group = size * bit_planes::GROUP_ELEMENTS;
    let block = (block / group * group).min(input.len());
    let layout = Layout { size, block, shuffle: settings.shuffle, codec: settings.codec, is_split };
    let flags = match settings.shuffle {
        Shuffle::None => 0,
        Shuffle::Bytes => BYTE_SHUFFLE_FLAG,
        Shuffle::Bits => BIT_SHUFFLE_FLAG,
    } | if is_split { 0 } else { UNSPLIT_FLAG }
        | settings.codec.format() << 5;
    let encoded = |number: usize| length_u32(ID, number).map(u32::to_le_bytes);
    output.clear();
    output.extend([VERSION, 1, flags, settings.size]);
    output.extend_from_slice(&length.to_le_bytes());
    output.extend_from_slice(&encoded(block)?);
    output.extend_from_slice(&[0; 4]);
    if settings.level > 0 && block > 0 {
        let offsets = output.len();
        output.resize(offsets + 4 * input.len().div_ceil(block), 0);
        let mut scratch = BlockScratch::default();
        for (at, bytes) in input.chunks(block).enumerate() {
            let offset = encoded(output.len())?;
            if let Some(to) =
                output.get_mut(offsets..).and_then(|offsets| offsets.as_chunks_mut().0.get_mut(at))
            {
                *to = offset;
            }
            layout.encode_block(settings.level, bytes, output, &mut scratch)?;
        }
    }
    // A chunk whose encoded length equals the input length is ambiguous: when libhdf5 replaces a
    // chunk by one of the same length, libhdf5 keeps the chunk's filter mask, and its Blosc filter
    // skips chunks that do not become smaller.
    if output.len() >= input.len() + HEADER_BYTES || output.len() == input.len() || settings.level == 0 {
        output.truncate(HEADER_BYTES);
        output.extend_from_slice(input);
        if let Some(to) = output.get_mut(2) {
            *to |= UNCOMPRESSED_FLAG;
        }
    }
    let total = encoded(output.len())?;
    if let Some(to) = output.get_mut(12..HEADER_BYTES).and_then(<[u8]>::first_chunk_mut) {
        *to = total;
    }
    Ok(())
}
