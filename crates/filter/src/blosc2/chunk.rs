//! A chunk of Blosc 2, which consists of transformed and encoded blocks.
//!
//! ```text
//! bytes        | meaning (numbers are little-endian)
//! -------------+----------------------------------------------------------------------------------
//! 1, 1         | version of the format, up to 5; version of the codec's format: 1
//! 1            | flags; bit 1: the blocks are stored uncompressed, bit 4: blocks are not split,
//!              | bits 5 to 7: codec as in Blosc 1; bits 0 and 2 both set: a long header with 16
//!              | bytes more; otherwise bits 0, 2 and 3: shuffle, bitshuffle, delta
//! 1            | bytes of an element
//! 4            | bytes of the decoded chunk
//! 4            | bytes of a decoded block; the last block may be shorter
//! 4            | bytes of the encoded chunk
//! 6, 2         | numbers of the transforms, in the order of encoding; codec, if it is not one of
//!              | Blosc's own
//! 6, 1         | one parameter for each transform; flags, bit 0: blocks of varying length
//! 1            | flags, bit 0: the codec uses a dictionary, 3: the blocks are stored elsewhere, 4
//!              | to 6: kind of a chunk of one value, see `Special`, 7: not encoded, only
//!              | instrumented
//! 4 per block  | offset of the block in the chunk
//! per stream: 4| bytes of the encoded stream; 0: all bytes are zero; -n, with a byte 1 after it:
//!              | all bytes are n
//! n            | the stream; stored uncompressed if encoded and decoded length are equal
//! ```
//! A block consists of one stream, or of one stream for each byte of an element. Blocks are split
//! into such streams unless bit 4 is set or the block is a shorter last one.

use crate::Result;
use crate::codec::blosc_codec::Codec;

use super::transform::{Elements, Transform};
use super::{ID, corrupt, unsupported};

/// Size of the short header of a Blosc2 chunk in bytes.
pub(super) const HEADER_BYTES: usize = 16;
/// Size of the long header of a Blosc2 chunk in bytes. The long header starts with the short
/// header.
pub(super) const LONG_HEADER_BYTES: usize = 32;

/// The version of Blosc2 chunks that the encoder writes.
pub(super) const VERSION: u8 = 5;
/// The latest version of Blosc2 chunks that the decoder supports.
const LATEST_VERSION: u8 = 6;

const SHUFFLE_FLAG: u8 = 1;
pub(super) const UNCOMPRESSED_FLAG: u8 = 1 << 1;
const BITSHUFFLE_FLAG: u8 = 1 << 2;
const DELTA_FLAG: u8 = 1 << 3;
pub(super) const UNSPLIT_FLAG: u8 = 1 << 4;
pub(super) const LONG_HEADER_FLAGS: u8 = SHUFFLE_FLAG | BITSHUFFLE_FLAG;

const DICTIONARY_FLAG: u8 = 1;
const EXTERNAL_FLAG: u8 = 1 << 3;
const INSTRUMENTED_FLAG: u8 = 1 << 7;
const VARYING_BLOCKS_FLAG: u8 = 1;

/// The number of transforms of bytes that a long Blosc2 chunk header stores.
pub(super) const TRANSFORM_COUNT: usize = 6;

/// A flag of a Blosc2 stream: all bytes of the stream are equal. The flag follows a negative stream
/// length.
pub(super) const RUN_FLAG: u8 = 1;

/// The value of all elements of a Blosc2 chunk that stores no blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    Zeros,
    /// NaN, for floating-point elements of 4 or 8 bytes.
    Nan,
    /// The element that is stored after the header.
    Value,
    /// Unspecified values; decoded as zeros.
    Unset,
}

impl Special {
    pub(super) fn of_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Zeros),
            2 => Some(Self::Nan),
            3 => Some(Self::Value),
            4 => Some(Self::Unset),
            _ => None,
        }
    }
}

/// A chunk of a Blosc2 frame with its parsed header.
#[derive(Debug, Clone)]
pub(super) struct Chunk<'a> {
    /// Size of the decoded chunk in bytes.
    pub(super) length: usize,
    /// Size of a decoded block in bytes; not larger than the chunk.
    pub(super) block: usize,
    bytes: &'a [u8],
    /// Size of the header in bytes.
    header: usize,
    version: u8,
    flags: u8,
    /// Bytes of an element, not 0.
    size: usize,
    transforms: Vec<Transform>,
    special: Option<Special>,
}

impl<'a> Chunk<'a> {
    /// Parses the header of a Blosc2 chunk at the start of `bytes`. `size` is the element size of
    /// the Blosc2 frame.
    pub(super) fn parse(bytes: &'a [u8], size: usize) -> Result<Self> {
        let truncated = || corrupt("a chunk is truncated");
        let [version, _, flags, element, numbers @ ..] =
            bytes.first_chunk::<HEADER_BYTES>().ok_or_else(truncated)?;
        let numbers: Vec<usize> =
            numbers.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number) as usize).collect();
        let [length, block, whole] = numbers.try_into().map_err(|_| truncated())?;
        if *version > LATEST_VERSION {
            return Err(unsupported("this version of the Blosc 2 chunk format"));
        }
        let is_long = flags & LONG_HEADER_FLAGS == LONG_HEADER_FLAGS;
        let header = if is_long { LONG_HEADER_BYTES } else { HEADER_BYTES };
        let bytes = bytes.get(..whole).filter(|bytes| bytes.len() >= header).ok_or_else(truncated)?;
        if *element == 0 || block == 0 && length > 0 || block > length {
            return Err(corrupt("a chunk header has an invalid element or block size"));
        }
        let mut chunk = Self {
            length,
            block,
            bytes,
            header,
            version: *version,
            flags: *flags,
            size: usize::from(*element),
            transforms: Vec::new(),
            special: None,
        };
        match bytes.get(HEADER_BYTES..).and_then(<[u8]>::first_chunk).filter(|_| is_long) {
            Some(more) => chunk.parse_long_header(more, size)?,
            None => chunk.transforms_of_flags(),
        }
        let is_first = |at: usize| chunk.transforms.get(..at).is_none_or(<[_]>::is_empty);
        let delta = chunk.transforms.iter().position(|transform| *transform == Transform::Delta);
        if delta.is_some_and(|at| !is_first(at)) {
            return Err(unsupported("a delta transform after another transform"));
        }
        Ok(chunk)
    }

    fn parse_long_header(
        &mut self,
        more: &[u8; LONG_HEADER_BYTES - HEADER_BYTES],
        size: usize,
    ) -> Result<()> {
        let (numbers, rest) = more.split_at(TRANSFORM_COUNT);
        let [_, _, metas @ .., flags2, flags] = rest else {
            return Err(corrupt("a chunk header is truncated"));
        };
        if flags2 & VARYING_BLOCKS_FLAG != 0 {
            return Err(unsupported("blocks of varying length"));
        }
        if flags & (EXTERNAL_FLAG | INSTRUMENTED_FLAG) != 0 {
            return Err(unsupported("a chunk without stored blocks"));
        }
        if flags & DICTIONARY_FLAG != 0 {
            return Err(unsupported("a codec dictionary"));
        }
        if flags >> 4 != 0 {
            let special = Special::of_number(flags >> 4);
            self.special =
                Some(special.ok_or_else(|| corrupt("a chunk header has an unknown special value"))?);
            return Ok(());
        }
        for (number, meta) in numbers.iter().zip(metas) {
            let transform = Transform::of_number(*number, *meta, size)?;
            if transform != Transform::Nothing {
                self.transforms.push(transform);
            }
        }
        Ok(())
    }

    fn transforms_of_flags(&mut self) {
        let flags = [
            (DELTA_FLAG, Transform::Delta),
            (SHUFFLE_FLAG, Transform::Shuffle),
            (BITSHUFFLE_FLAG, Transform::Bitshuffle),
        ];
        let set = flags.into_iter().filter(|(flag, _)| self.flags & flag != 0);
        self.transforms = set.map(|(_, transform)| transform).collect();
    }

    /// Creates a Blosc2 chunk whose elements all have one special value. `size` is the size of an
    /// element in bytes. The chunk stores no elements.
    pub(super) fn special(special: Special, size: usize, length: usize, block: usize) -> Self {
        Self {
            length,
            block,
            bytes: &[],
            header: 0,
            version: VERSION,
            flags: 0,
            size,
            transforms: Vec::new(),
            special: Some(special),
        }
    }

    pub(super) fn decoder(&self) -> Decoder<'_> {
        Decoder {
            chunk: self,
            next: 0,
            first: Vec::new(),
            planes: Vec::new(),
            scratch: BlockScratch::default(),
        }
    }
}

/// Buffers that the Blosc2 decoder reuses for all blocks of a Blosc2 chunk.
#[derive(Debug, Default)]
pub(super) struct BlockScratch {
    pub(super) planes: Vec<u8>,
    pub(super) bits: Vec<u8>,
    pub(super) stream: Vec<u8>,
}

/// A decoder of the blocks of a Blosc2 chunk.
#[derive(Debug)]
pub(super) struct Decoder<'a> {
    chunk: &'a Chunk<'a>,
    next: usize,
    /// The decoded first block, if other blocks are stored as differences from it.
    first: Vec<u8>,
    /// The decoded streams of a block.
    planes: Vec<u8>,
    scratch: BlockScratch,
}

impl Decoder<'_> {
    /// Decodes one Blosc2 block into `block`. Blocks are decoded in order, beginning with block 0.
    pub(super) fn decode_next(&mut self, block: &mut [u8]) -> Result<()> {
        let index = self.next;
        self.next += 1;
        self.decode_at(index, block)
    }

    /// Decodes the Blosc2 block with the number `index` into `block`. The length of `block` is the
    /// length of the decoded block. Block 0 must be decoded before other blocks.
    pub(super) fn decode_at(&mut self, index: usize, block: &mut [u8]) -> Result<()> {
        let chunk = self.chunk;
        if let Some(special) = chunk.special {
            return chunk.fill(special, block);
        }
        let outside = || corrupt("a block lies outside its chunk");
        if chunk.flags & UNCOMPRESSED_FLAG != 0 {
            let start = index.checked_mul(chunk.block).and_then(|start| start.checked_add(chunk.header));
            let bytes = start.and_then(|start| chunk.bytes.get(start..)?.get(..block.len()));
            block.copy_from_slice(bytes.ok_or_else(outside)?);
            return Ok(());
        }
        let offsets = chunk.bytes.get(chunk.header..).ok_or_else(outside)?.as_chunks().0;
        let offset = offsets.get(index);
        let offset =
            usize::try_from(u32::from_le_bytes(*offset.ok_or_else(outside)?)).map_err(|_| outside())?;
        let streams = chunk.bytes.get(offset..).ok_or_else(outside)?;
        let Some((first, others)) = chunk.transforms.split_first() else {
            return chunk.decode_streams(streams, block, &mut self.scratch.stream);
        };
        self.planes.resize(block.len(), 0);
        chunk.decode_streams(streams, &mut self.planes, &mut self.scratch.stream)?;
        for transform in others.iter().rev() {
            let mut elements = std::mem::take(&mut self.scratch.planes);
            elements.resize(block.len(), 0);
            self.undo(*transform, index, &mut elements);
            self.scratch.planes = std::mem::replace(&mut self.planes, elements);
        }
        self.undo(*first, index, block);
        if *first == Transform::Delta && index == 0 {
            self.first = block.to_vec();
        }
        Ok(())
    }

    fn undo(&mut self, transform: Transform, index: usize, elements: &mut [u8]) {
        let layout = Elements { size: self.chunk.size, version: self.chunk.version };
        let first = (index > 0).then_some(&self.first[..]);
        layout.undo(transform, first, &self.planes, elements, &mut self.scratch.bits);
    }
}

impl Chunk<'_> {
    fn fill(&self, special: Special, block: &mut [u8]) -> Result<()> {
        let element: &[u8] = match special {
            Special::Zeros | Special::Unset => {
                block.fill(0);
                return Ok(());
            }
            Special::Value => {
                let value = self.bytes.get(self.header..).and_then(|rest| rest.get(..self.size));
                value.ok_or_else(|| corrupt("the value of a chunk of one value is truncated"))?
            }
            Special::Nan if self.size == 4 => &f32::NAN.to_le_bytes(),
            Special::Nan if self.size == 8 => &f64::NAN.to_le_bytes(),
            Special::Nan => {
                return Err(corrupt("a chunk of NaN values has elements of neither 4 nor 8 bytes"));
            }
        };
        if !block.len().is_multiple_of(element.len()) {
            return Err(corrupt(
                "the block length of a chunk of one value is not a multiple of the element size",
            ));
        }
        block.chunks_exact_mut(element.len()).for_each(|to| to.copy_from_slice(element));
        Ok(())
    }

    /// Returns the number of streams in a decoded Blosc2 block of `block` bytes.
    fn streams(&self, block: usize) -> usize {
        if self.flags & UNSPLIT_FLAG == 0 && block == self.block { self.size } else { 1 }
    }

    fn decode_streams(&self, input: &[u8], block: &mut [u8], scratch: &mut Vec<u8>) -> Result<()> {
        let truncated = || corrupt("a block is truncated");
        let streams = self.streams(block.len());
        if block.is_empty() || !block.len().is_multiple_of(streams) {
            return Err(corrupt("the block length is not a multiple of the number of streams"));
        }
        let length = block.len() / streams;
        let mut rest = input;
        for plane in block.chunks_exact_mut(length) {
            let (size, after) = rest.split_first_chunk().ok_or_else(truncated)?;
            let size = i32::from_le_bytes(*size);
            let Ok(size) = usize::try_from(size) else {
                let (token, after) = after.split_first().ok_or_else(truncated)?;
                let byte = size.checked_neg().and_then(|byte| u8::try_from(byte).ok());
                let byte = byte
                    .filter(|_| token & RUN_FLAG != 0)
                    .ok_or_else(|| corrupt("a stream has an invalid length"))?;
                plane.fill(byte);
                rest = after;
                continue;
            };
            let (encoded, after) = after.split_at_checked(size).ok_or_else(truncated)?;
            rest = after;
            if size == 0 {
                plane.fill(0);
            } else if size == plane.len() {
                plane.copy_from_slice(encoded);
            } else {
                let codec = Codec::of_format(self.flags >> 5).filter(|codec| *codec != Codec::Snappy);
                let codec = codec.ok_or_else(|| unsupported("the codec number of a chunk"))?;
                codec.decode(ID, encoded, plane, scratch)?;
            }
        }
        Ok(())
    }
}
