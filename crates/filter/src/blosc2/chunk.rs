//! A chunk of Blosc 2: blocks that are transformed and encoded.
//!
//! ```text
//! bytes        | meaning (numbers are little-endian)
//! -------------+------------------------------------------------------------------------------------------
//! 1, 1         | version of the format: up to 5; of the codec's: 1
//! 1            | flags; bit 1: the bytes follow as they are, bit 4: blocks are not split, bits 5 to 7: codec, as
//!              | in Blosc 1; bits 0 and 2: here follow 16 bytes more, otherwise bits 0, 2 and 3 say which of
//!              | shuffle, bitshuffle and difference there is
//! 1            | bytes of an element
//! 4            | bytes it decodes to
//! 4            | bytes of a block; the last one has what is left
//! 4            | bytes of the chunk
//! 6, 2         | the transforms, in the order in which they are applied; the codec, if it is none of Blosc
//! 6, 1         | what is to be known about each of them; bit 0: blocks of varying length
//! 1            | bit 0: a dictionary is used, 3: the blocks are elsewhere, 4 to 6: all is the same, see
//!              | `Special`, 7: not encoded, but measured
//! 4 per block  | where the block begins in the chunk
//! per stream: 4| bytes of the encoded stream; 0: it is zeros, -n: with a byte 1 behind, it is n again and again
//! n            | the stream; as it was, if it has as many bytes encoded
//! ```
//! A block is one stream, or as many as an element has bytes, unless bit 4 is set or it is a shorter last one.

use crate::Result;
use crate::codec::choice::Codec;

use super::transform::{Elements, Transform};
use super::{ID, corrupt, unsupported};

pub(super) const HEADER: usize = 16;
pub(super) const LONG_HEADER: usize = 32;

/// What is written, and the latest that is read.
pub(super) const VERSION: u8 = 5;
const LATEST: u8 = 6;

const SHUFFLED: u8 = 1;
pub(super) const AS_IT_IS: u8 = 1 << 1;
const BITSHUFFLED: u8 = 1 << 2;
const DIFFERENCES: u8 = 1 << 3;
pub(super) const NOT_SPLIT: u8 = 1 << 4;
pub(super) const IS_LONG: u8 = SHUFFLED | BITSHUFFLED;

const DICTIONARY: u8 = 1;
const ELSEWHERE: u8 = 1 << 3;
const MEASURED: u8 = 1 << 7;
const VARYING_BLOCKS: u8 = 1;

pub(super) const TRANSFORMS: usize = 6;

/// The byte behind the length of a stream that is one byte again and again.
pub(super) const RUN: u8 = 1;

/// What all of a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    Zeros,
    /// Floating-point numbers that are none, of 4 or 8 bytes.
    Nan,
    /// An element that stands behind the header.
    Value,
    /// Anything: here, zeros.
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

/// What a header says.
#[derive(Debug, Clone)]
pub(super) struct Chunk<'a> {
    /// Bytes it decodes to, and those of a block; no block is larger than the chunk.
    pub(super) length: usize,
    pub(super) block: usize,
    bytes: &'a [u8],
    /// Of the header.
    header: usize,
    version: u8,
    flags: u8,
    /// Bytes of an element, not 0.
    size: usize,
    transforms: Vec<Transform>,
    special: Option<Special>,
}

impl<'a> Chunk<'a> {
    /// The chunk at the beginning of `bytes`, in a frame of elements of `size` bytes.
    pub(super) fn parse(bytes: &'a [u8], size: usize) -> Result<Self> {
        let cut = || corrupt("a chunk is cut off");
        let [version, _, flags, element, numbers @ ..] = bytes.first_chunk::<HEADER>().ok_or_else(cut)?;
        let numbers: Vec<usize> =
            numbers.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number) as usize).collect();
        let [length, block, whole] = numbers.try_into().map_err(|_| cut())?;
        if *version > LATEST {
            return Err(unsupported("this version of Blosc's format"));
        }
        let is_long = flags & IS_LONG == IS_LONG;
        let header = if is_long { LONG_HEADER } else { HEADER };
        let bytes = bytes.get(..whole).filter(|bytes| bytes.len() >= header).ok_or_else(cut)?;
        if *element == 0 || block == 0 && length > 0 || block > length {
            return Err(corrupt("the element or block size of a chunk cannot be"));
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
        match bytes.get(HEADER..).and_then(<[u8]>::first_chunk).filter(|_| is_long) {
            Some(more) => chunk.parse_more(more, size)?,
            None => chunk.transforms_of_flags(),
        }
        let is_first = |at: usize| chunk.transforms.get(..at).is_none_or(<[_]>::is_empty);
        let delta = chunk.transforms.iter().position(|transform| *transform == Transform::Delta);
        if delta.is_some_and(|at| !is_first(at)) {
            return Err(unsupported("a difference of what was transformed before"));
        }
        Ok(chunk)
    }

    fn parse_more(&mut self, more: &[u8; LONG_HEADER - HEADER], size: usize) -> Result<()> {
        let (numbers, rest) = more.split_at(TRANSFORMS);
        let [_, _, metas @ .., flags2, flags] = rest else { return Err(corrupt("a header of a chunk")) };
        if flags2 & VARYING_BLOCKS != 0 {
            return Err(unsupported("blocks of varying length"));
        }
        if flags & (ELSEWHERE | MEASURED) != 0 {
            return Err(unsupported("a chunk without its data"));
        }
        if flags & DICTIONARY != 0 {
            return Err(unsupported("a dictionary"));
        }
        if flags >> 4 != 0 {
            let special = Special::of_number(flags >> 4);
            self.special = Some(special.ok_or_else(|| corrupt("a chunk of unknown contents"))?);
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
            (DIFFERENCES, Transform::Delta),
            (SHUFFLED, Transform::Shuffle),
            (BITSHUFFLED, Transform::Bitshuffle),
        ];
        let set = flags.into_iter().filter(|(flag, _)| self.flags & flag != 0);
        self.transforms = set.map(|(_, transform)| transform).collect();
    }

    /// A chunk that is not there, of elements of `size` bytes.
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
        Decoder { chunk: self, next: 0, first: Vec::new(), planes: Vec::new(), memory: Memory::default() }
    }
}

/// Memory that is used for all blocks.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) planes: Vec<u8>,
    pub(super) bits: Vec<u8>,
    pub(super) stream: Vec<u8>,
}

/// Decodes the blocks of a chunk.
#[derive(Debug)]
pub(super) struct Decoder<'a> {
    chunk: &'a Chunk<'a>,
    next: usize,
    /// The first block, if others are differences from it.
    first: Vec<u8>,
    /// The streams of a block.
    planes: Vec<u8>,
    memory: Memory,
}

impl Decoder<'_> {
    /// Decodes the block behind the last one decoded.
    pub(super) fn decode_next(&mut self, block: &mut [u8]) -> Result<()> {
        let index = self.next;
        self.next += 1;
        self.decode_at(index, block)
    }

    /// Decodes the block of this number; the first one must be decoded before others. `block` is as long as it.
    pub(super) fn decode_at(&mut self, index: usize, block: &mut [u8]) -> Result<()> {
        let chunk = self.chunk;
        if let Some(special) = chunk.special {
            return chunk.fill(special, block);
        }
        let cut = || corrupt("a block is outside of its chunk");
        if chunk.flags & AS_IT_IS != 0 {
            let start = index.checked_mul(chunk.block).and_then(|start| start.checked_add(chunk.header));
            let bytes = start.and_then(|start| chunk.bytes.get(start..)?.get(..block.len()));
            block.copy_from_slice(bytes.ok_or_else(cut)?);
            return Ok(());
        }
        let places = chunk.bytes.get(chunk.header..).ok_or_else(cut)?.as_chunks().0;
        let place = places.get(index);
        let place = usize::try_from(u32::from_le_bytes(*place.ok_or_else(cut)?)).map_err(|_| cut())?;
        let streams = chunk.bytes.get(place..).ok_or_else(cut)?;
        let Some((first, others)) = chunk.transforms.split_first() else {
            return chunk.decode_streams(streams, block, &mut self.memory.stream);
        };
        self.planes.resize(block.len(), 0);
        chunk.decode_streams(streams, &mut self.planes, &mut self.memory.stream)?;
        for transform in others.iter().rev() {
            let mut elements = std::mem::take(&mut self.memory.planes);
            elements.resize(block.len(), 0);
            self.undo(*transform, index, &mut elements);
            self.memory.planes = std::mem::replace(&mut self.planes, elements);
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
        layout.undo(transform, first, &self.planes, elements, &mut self.memory.bits);
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
                value.ok_or_else(|| corrupt("the value of a chunk is cut off"))?
            }
            Special::Nan if self.size == 4 => &f32::NAN.to_le_bytes(),
            Special::Nan if self.size == 8 => &f64::NAN.to_le_bytes(),
            Special::Nan => return Err(corrupt("elements of this size cannot be no numbers")),
        };
        if !block.len().is_multiple_of(element.len()) {
            return Err(corrupt("a block of one value is not one of whole elements"));
        }
        block.chunks_exact_mut(element.len()).for_each(|to| to.copy_from_slice(element));
        Ok(())
    }

    /// Streams of a block of so many bytes.
    fn streams(&self, block: usize) -> usize {
        if self.flags & NOT_SPLIT == 0 && block == self.block { self.size } else { 1 }
    }

    fn decode_streams(&self, input: &[u8], block: &mut [u8], memory: &mut Vec<u8>) -> Result<()> {
        let cut = || corrupt("a block is cut off");
        let streams = self.streams(block.len());
        if block.is_empty() || !block.len().is_multiple_of(streams) {
            return Err(corrupt("a block cannot be split into its streams"));
        }
        let length = block.len() / streams;
        let mut rest = input;
        for plane in block.chunks_exact_mut(length) {
            let (size, after) = rest.split_first_chunk().ok_or_else(cut)?;
            let size = i32::from_le_bytes(*size);
            let Ok(size) = usize::try_from(size) else {
                let (token, after) = after.split_first().ok_or_else(cut)?;
                let byte = size.checked_neg().and_then(|byte| u8::try_from(byte).ok());
                let byte =
                    byte.filter(|_| token & RUN != 0).ok_or_else(|| corrupt("a stream of unknown kind"))?;
                plane.fill(byte);
                rest = after;
                continue;
            };
            let (encoded, after) = after.split_at_checked(size).ok_or_else(cut)?;
            rest = after;
            if size == 0 {
                plane.fill(0);
            } else if size == plane.len() {
                plane.copy_from_slice(encoded);
            } else {
                let codec = Codec::of_format(self.flags >> 5).filter(|codec| *codec != Codec::Snappy);
                let codec = codec.ok_or_else(|| unsupported("its codec"))?;
                codec.decode(ID, encoded, plane, memory)?;
            }
        }
        Ok(())
    }
}
