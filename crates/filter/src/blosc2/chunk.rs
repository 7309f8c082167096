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

use crate::codec::bit_planes;
use crate::codec::choice::Codec;
use crate::{Result, shuffle};

use super::{ID, corrupt, failed, unsupported};

const HEADER: usize = 16;
const LONG_HEADER: usize = 32;

/// What is written, and the latest that is read.
const VERSION: u8 = 5;
const LATEST: u8 = 6;

/// Up to this version, bits are shuffled only in blocks of whole groups of elements.
const WHOLE_GROUPS: u8 = 2;

const SHUFFLED: u8 = 1;
const AS_IT_IS: u8 = 1 << 1;
const BITSHUFFLED: u8 = 1 << 2;
const DIFFERENCES: u8 = 1 << 3;
const NOT_SPLIT: u8 = 1 << 4;
const IS_LONG: u8 = SHUFFLED | BITSHUFFLED;

const DICTIONARY: u8 = 1;
const ELSEWHERE: u8 = 1 << 3;
const MEASURED: u8 = 1 << 7;
const VARYING_BLOCKS: u8 = 1;

const TRANSFORMS: usize = 6;

/// The byte behind the length of a stream that is one byte again and again.
const RUN: u8 = 1;

/// What is done to a block before it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transform {
    Nothing,
    /// All first bytes of the elements, all second ones and so on.
    Shuffle,
    /// The same with bits.
    Bitshuffle,
    /// What differs from the first block; there, from the element before.
    Delta,
    /// Each byte is what is to be added to the one before, in as many rows as an element has bytes.
    ByteDelta {
        rows: usize,
    },
}

impl Transform {
    fn of_number(number: u8, meta: u8, size: usize) -> Result<Self> {
        match number {
            // Numbers 4 and 36 drop bits and have nothing to be undone.
            0 | 4 | 36 => Ok(Self::Nothing),
            1 => Ok(Self::Shuffle),
            2 => Ok(Self::Bitshuffle),
            3 => Ok(Self::Delta),
            35 => Ok(Self::ByteDelta { rows: if meta == 0 { size } else { usize::from(meta) } }),
            _ => Err(unsupported(&format!("filter {number} of Blosc2"))),
        }
    }

    pub(super) fn number(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Shuffle => 1,
            Self::Bitshuffle => 2,
            Self::Delta => 3,
            Self::ByteDelta { .. } => 35,
        }
    }
}

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
        let numbers: Vec<usize> = numbers
            .as_chunks()
            .0
            .iter()
            .map(|number| usize::try_from(u32::from_le_bytes(*number)).unwrap_or(usize::MAX))
            .collect();
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
struct Memory {
    planes: Vec<u8>,
    bits: Vec<u8>,
    stream: Vec<u8>,
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
        let place = chunk.bytes.get(chunk.header..).unwrap_or_default().as_chunks().0.get(index);
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

    /// Undoes a transform of the planes.
    fn undo(&mut self, transform: Transform, index: usize, elements: &mut [u8]) {
        let size = self.chunk.size;
        let planes = &self.planes;
        match transform {
            Transform::Nothing => elements.copy_from_slice(planes),
            Transform::Shuffle => shuffle::from_planes(size, planes, elements),
            Transform::Bitshuffle => {
                let whole = groups(self.chunk.version, size, planes.len());
                let (from, from_tail) = planes.split_at_checked(whole).unwrap_or_default();
                let (to, to_tail) = elements.split_at_mut_checked(whole).unwrap_or_default();
                bit_planes::from_bit_planes(size, from, to, &mut self.memory.bits);
                to_tail.copy_from_slice(from_tail);
            }
            Transform::Delta => {
                elements.copy_from_slice(planes);
                let width = difference_width(size);
                let end = elements.len() / width * width;
                if index == 0 {
                    for at in width..end {
                        let before = elements.get(at - width).copied().unwrap_or(0);
                        elements.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= before);
                    }
                } else {
                    elements.iter_mut().take(end).zip(&self.first).for_each(|(byte, first)| *byte ^= first);
                }
            }
            Transform::ByteDelta { rows } => {
                elements.copy_from_slice(planes);
                let row = elements.len() / rows.max(1);
                for row in elements.chunks_exact_mut(row.max(1)).take(rows) {
                    let mut sum = 0_u8;
                    for byte in row {
                        sum = sum.wrapping_add(*byte);
                        *byte = sum;
                    }
                }
            }
        }
    }
}

/// Bytes of the elements of which bits are shuffled.
fn groups(version: u8, size: usize, length: usize) -> usize {
    let count = length / size;
    let whole = count - count % bit_planes::GROUP;
    if version <= WHOLE_GROUPS && whole != count { 0 } else { whole * size }
}

/// Bytes of what differences are taken of.
fn difference_width(size: usize) -> usize {
    match size {
        1 | 2 | 4 | 8 => size,
        _ if size.is_multiple_of(8) => 8,
        _ => 1,
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

/// How to encode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) codec: Codec,
    pub(super) level: u32,
    pub(super) transform: Transform,
    /// Bytes of an element.
    pub(super) size: usize,
    /// Bytes of a block.
    pub(super) block: usize,
}

impl Plan {
    /// Bytes of an element as a chunk has it: one byte, where they are too many for its header.
    fn element(&self) -> u8 {
        u8::try_from(self.size).unwrap_or(1)
    }

    /// Whether its blocks are split.
    fn is_split(&self) -> bool {
        self.codec.is_split() && self.element() > 1 && self.block.is_multiple_of(usize::from(self.element()))
    }

    /// A header, but for the bytes of the chunk.
    fn header(&self, length: u32) -> [u8; LONG_HEADER] {
        let mut header = [0; LONG_HEADER];
        let flags = IS_LONG | self.codec.format() << 5 | if self.is_split() { 0 } else { NOT_SPLIT };
        let block = u32::try_from(self.block).unwrap_or(length);
        let [l0, l1, l2, l3] = length.to_le_bytes();
        let [b0, b1, b2, b3] = block.to_le_bytes();
        let start = [VERSION, 1, flags, self.element(), l0, l1, l2, l3, b0, b1, b2, b3];
        header.iter_mut().zip(start).for_each(|(to, from)| *to = from);
        header.iter_mut().skip(HEADER + TRANSFORMS - 1).take(1).for_each(|to| *to = self.transform.number());
        header
    }
}

/// A chunk of these bytes; nothing for none.
pub(super) fn encode(plan: Plan, input: &[u8]) -> Result<Vec<u8>> {
    if input.is_empty() {
        return Ok(Vec::new());
    }
    let length = i32::try_from(input.len()).ok().filter(|length| i32::MAX - length >= 32);
    let length = length.ok_or_else(|| failed("the chunk has more than 2 GiB"))?.cast_unsigned();
    let mut output = plan.header(length).to_vec();
    if plan.level > 0 {
        let places = output.len();
        output.resize(places + 4 * input.len().div_ceil(plan.block), 0);
        let mut memory = Memory::default();
        let first = input.get(..plan.block).unwrap_or(input);
        for (at, block) in input.chunks(plan.block).enumerate() {
            let place = u32::try_from(output.len()).unwrap_or(u32::MAX).to_le_bytes();
            if let Some(to) = output.get_mut(places + 4 * at..).and_then(<[u8]>::first_chunk_mut) {
                *to = place;
            }
            plan.encode_block(if at > 0 { Some(first) } else { None }, block, &mut output, &mut memory)?;
        }
    }
    if plan.level == 0 || output.len() >= LONG_HEADER + input.len() {
        output.truncate(LONG_HEADER);
        output.extend_from_slice(input);
        output.iter_mut().skip(2).take(1).for_each(|flags| *flags |= AS_IT_IS);
    }
    let whole = u32::try_from(output.len()).unwrap_or(u32::MAX).to_le_bytes();
    if let Some(to) = output.get_mut(12..).and_then(<[u8]>::first_chunk_mut) {
        *to = whole;
    }
    Ok(output)
}

impl Plan {
    fn encode_block(
        &self,
        first: Option<&[u8]>,
        block: &[u8],
        output: &mut Vec<u8>,
        memory: &mut Memory,
    ) -> Result<()> {
        memory.planes.resize(block.len(), 0);
        self.transform(first, block, memory);
        let is_split = self.is_split() && block.len() == self.block;
        let streams = if is_split { usize::from(self.element()) } else { 1 };
        for plane in memory.planes.chunks_exact(block.len() / streams) {
            if let Some((byte, others)) = plane.split_first()
                && others.iter().all(|other| other == byte)
            {
                output.extend_from_slice(&(-i32::from(*byte)).to_le_bytes());
                output.extend((*byte != 0).then_some(RUN));
                continue;
            }
            memory.stream.clear();
            self.codec.encode(ID, self.level, plane, &mut memory.stream)?;
            let stream = if memory.stream.len() < plane.len() { &memory.stream } else { plane };
            output.extend_from_slice(&u32::try_from(stream.len()).unwrap_or(u32::MAX).to_le_bytes());
            output.extend_from_slice(stream);
        }
        Ok(())
    }

    /// Fills the planes; `first` is the first block, where this is another one.
    fn transform(&self, first: Option<&[u8]>, block: &[u8], memory: &mut Memory) {
        let size = usize::from(self.element());
        let planes = &mut memory.planes;
        match self.transform {
            Transform::Shuffle => shuffle::to_planes(size, block, planes),
            Transform::Bitshuffle => {
                let whole = groups(VERSION, size, block.len());
                let (from, from_tail) = block.split_at_checked(whole).unwrap_or_default();
                let (to, to_tail) = planes.split_at_mut_checked(whole).unwrap_or_default();
                bit_planes::to_bit_planes(size, from, to, &mut memory.bits);
                to_tail.copy_from_slice(from_tail);
            }
            Transform::Delta => {
                planes.copy_from_slice(block);
                let width = difference_width(size);
                let end = block.len() / width * width;
                let reference = first.unwrap_or(block);
                let skipped = if first.is_none() { width } else { 0 };
                let elements = planes.iter_mut().take(end).skip(skipped);
                elements.zip(reference).for_each(|(byte, reference)| *byte ^= reference);
            }
            // The other one is only read.
            Transform::Nothing | Transform::ByteDelta { .. } => planes.copy_from_slice(block),
        }
    }
}
