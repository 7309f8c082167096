//! A buffer of Blosc 1.
//!
//! ```text
//! bytes        | meaning
//! -------------+------------------------------------------------------------------------------------------
//! 1            | version of the format: 2
//! 1            | version of the codec's format: 1
//! 1            | flags; bit 0: bytes are shuffled, bit 1: the elements follow as they are, bit 2: bits are
//!              | shuffled, bit 4: blocks are not split, bits 5 to 7: 0 BloscLZ, 1 LZ4, 2 Snappy, 3 zlib,
//!              | 4 Zstandard
//! 1            | bytes of an element
//! 4            | bytes it decodes to; all numbers are little-endian
//! 4            | bytes of a block; the last one has what is left
//! 4            | bytes of the buffer
//! 4 per block  | where the block begins in the buffer
//! per stream: 4| bytes of the encoded stream
//! n            | the stream; as it was, if it has as many bytes encoded
//! ```
//! A block is one stream, or as many as an element has bytes: blocks are split unless bit 4 says otherwise, the
//! element has more than 16 bytes, the block fewer than 128 elements, or the block is a shorter last one.

use crate::codec::bit_planes;
use crate::codec::choice::Codec;
use crate::codec::length_u32;
use crate::codec::resize;
use crate::{FilterError, Produced, Result, shuffle};

use super::ID;

const HEADER: usize = 16;

const VERSION: u8 = 2;

const SHUFFLED_BYTES: u8 = 1;
const AS_IT_IS: u8 = 1 << 1;
const SHUFFLED_BITS: u8 = 1 << 2;
const NOT_SPLIT: u8 = 1 << 4;

/// Elements of at most so many bytes are split.
const MOST_STREAMS: usize = 16;

/// Streams of fewer bytes are not worth splitting.
const LEAST_STREAM: usize = 128;

/// No codec makes more bytes of one.
const EXPANSION: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shuffle {
    None,
    Bytes,
    Bits,
}

/// How to encode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Bytes of an element.
    pub(super) size: u8,
    pub(super) level: u32,
    pub(super) shuffle: Shuffle,
    pub(super) codec: Codec,
}

/// What a header says of all blocks.
#[derive(Debug, Clone, Copy)]
struct Layout {
    size: usize,
    block: usize,
    shuffle: Shuffle,
    codec: Codec,
    is_split: bool,
}

fn corrupt(what: &str) -> FilterError {
    FilterError::corrupt(ID, what)
}

fn unsupported(what: &str) -> FilterError {
    FilterError::Unsupported { id: ID, what: what.to_owned() }
}

pub(super) fn decode(input: &[u8], output: &mut Vec<u8>, limit: usize) -> Result<Produced> {
    let header = input.first_chunk::<HEADER>().ok_or_else(|| corrupt("no room for its header"))?;
    let [version, _, flags, size, numbers @ ..] = header;
    let [length, block, _] = numbers.as_chunks::<4>().0 else {
        return Err(corrupt("no room for its header"));
    };
    let number = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes) as usize;
    let (length, block) = (number(length), number(block));
    if *version > VERSION {
        return Err(unsupported("this version of Blosc's format"));
    }
    if length > limit {
        return Err(FilterError::Limit { id: ID, limit });
    }
    if flags & AS_IT_IS != 0 {
        let end = HEADER.checked_add(length).filter(|end| *end <= input.len());
        return Ok(Produced::Input(HEADER..end.ok_or_else(|| corrupt("its bytes are cut off"))?));
    }
    let layout = Layout {
        size: usize::from(*size),
        block: block.min(length),
        shuffle: match (flags & SHUFFLED_BYTES != 0, flags & SHUFFLED_BITS != 0) {
            (true, _) => Shuffle::Bytes,
            (false, true) => Shuffle::Bits,
            (false, false) => Shuffle::None,
        },
        codec: Codec::of_format(flags >> 5).ok_or_else(|| unsupported("its codec"))?,
        is_split: flags & NOT_SPLIT == 0,
    };
    output.clear();
    if length == 0 {
        return Ok(Produced::Output);
    }
    if layout.size == 0 || layout.block == 0 || length / EXPANSION > input.len() {
        return Err(corrupt("its element size, block size or length cannot be"));
    }
    if length.div_ceil(layout.block) > input.len() / 4 {
        return Err(corrupt("the places of its blocks are cut off"));
    }
    resize(ID, output, length)?;
    let mut memory = Memory::default();
    let places = input.get(HEADER..).ok_or_else(|| corrupt("its header is cut off"))?.as_chunks::<4>().0;
    let mut blocks = output.chunks_mut(layout.block).zip(places);
    blocks.try_for_each(|(block, place)| {
        let streams = input.get(number(place)..).ok_or_else(|| corrupt("a block is outside of it"))?;
        layout.decode_block(streams, block, &mut memory)
    })?;
    Ok(Produced::Output)
}

/// Memory that is used for all blocks.
#[derive(Debug, Default)]
struct Memory {
    planes: Vec<u8>,
    spare: Vec<u8>,
    stream: Vec<u8>,
}

impl Layout {
    /// Streams of a block of so many bytes.
    fn streams(&self, block: usize) -> usize {
        let is_split = self.is_split
            && self.size <= MOST_STREAMS
            && self.block / self.size >= LEAST_STREAM
            && block == self.block
            && block.is_multiple_of(self.size);
        if is_split { self.size } else { 1 }
    }

    fn decode_block(&self, input: &[u8], block: &mut [u8], memory: &mut Memory) -> Result<()> {
        let cut = || corrupt("a block is cut off");
        memory.planes.resize(block.len(), 0);
        let stream = block.len() / self.streams(block.len());
        let mut rest = input;
        for plane in memory.planes.chunks_exact_mut(stream) {
            let (size, after) = rest.split_first_chunk().ok_or_else(cut)?;
            let size = u32::from_le_bytes(*size) as usize;
            let (encoded, after) = after.split_at_checked(size).ok_or_else(cut)?;
            if size == plane.len() {
                plane.copy_from_slice(encoded);
            } else {
                self.codec.decode(ID, encoded, plane, &mut memory.stream)?;
            }
            rest = after;
        }
        let planes = &memory.planes;
        match self.shuffle {
            Shuffle::Bytes => shuffle::from_planes(self.size, planes, block),
            Shuffle::Bits if self.has_groups(block.len()) => {
                let whole = block.len() / self.size * self.size;
                let (from, from_tail) = planes.split_at(whole);
                let (to, to_tail) = block.split_at_mut(whole);
                bit_planes::from_bit_planes(self.size, from, to, &mut memory.spare);
                to_tail.copy_from_slice(from_tail);
            }
            Shuffle::Bits | Shuffle::None => block.copy_from_slice(planes),
        }
        Ok(())
    }

    /// Whether a block has whole groups of elements; otherwise bits are not shuffled.
    fn has_groups(&self, block: usize) -> bool {
        (block / self.size).is_multiple_of(bit_planes::GROUP)
    }

    fn encode_block(
        &self,
        level: u32,
        block: &[u8],
        output: &mut Vec<u8>,
        memory: &mut Memory,
    ) -> Result<()> {
        memory.planes.resize(block.len(), 0);
        match self.shuffle {
            Shuffle::Bytes => shuffle::to_planes(self.size, block, &mut memory.planes),
            Shuffle::Bits if self.has_groups(block.len()) => {
                let whole = block.len() / self.size * self.size;
                let (from, from_tail) = block.split_at(whole);
                let (to, to_tail) = memory.planes.split_at_mut(whole);
                bit_planes::to_bit_planes(self.size, from, to, &mut memory.spare);
                to_tail.copy_from_slice(from_tail);
            }
            Shuffle::Bits | Shuffle::None => memory.planes.copy_from_slice(block),
        }
        let stream = block.len() / self.streams(block.len());
        for plane in memory.planes.chunks_exact(stream) {
            let encoded = &mut memory.stream;
            encoded.clear();
            self.codec.encode(ID, level, plane, encoded)?;
            let stream = if encoded.len() < plane.len() { encoded } else { plane };
            output.extend_from_slice(&length_u32(ID, stream.len())?.to_le_bytes());
            output.extend_from_slice(stream);
        }
        Ok(())
    }
}

pub(super) fn encode(plan: Plan, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let length = i32::try_from(input.len()).ok().filter(|length| i32::MAX - length >= 16);
    let length = length.ok_or_else(|| FilterError::failed(ID, "the chunk has more than 2 GiB"))?;
    let size = usize::from(plan.size);
    let (is_split, block) = (plan.codec.is_split(), plan.codec.block());
    let group = size * bit_planes::GROUP;
    let block = (block / group * group).min(input.len());
    let layout = Layout { size, block, shuffle: plan.shuffle, codec: plan.codec, is_split };
    let flags = match plan.shuffle {
        Shuffle::None => 0,
        Shuffle::Bytes => SHUFFLED_BYTES,
        Shuffle::Bits => SHUFFLED_BITS,
    } | if is_split { 0 } else { NOT_SPLIT }
        | plan.codec.format() << 5;
    let number = |number: usize| length_u32(ID, number).map(u32::to_le_bytes);
    output.clear();
    output.extend([VERSION, 1, flags, plan.size]);
    output.extend_from_slice(&length.to_le_bytes());
    output.extend_from_slice(&number(block)?);
    output.extend_from_slice(&[0; 4]);
    if plan.level > 0 && block > 0 {
        let places = output.len();
        output.resize(places + 4 * input.len().div_ceil(block), 0);
        let mut memory = Memory::default();
        for (at, bytes) in input.chunks(block).enumerate() {
            let place = number(output.len())?;
            if let Some(to) = output.get_mut(places..).and_then(|places| places.as_chunks_mut().0.get_mut(at))
            {
                *to = place;
            }
            layout.encode_block(plan.level, bytes, output, &mut memory)?;
        }
    }
    // What is as long as the input would be taken for it: libhdf5 keeps the filter mask of a chunk that it replaces by one of as
    // many bytes, and its filter leaves out chunks that do not become smaller.
    if output.len() >= input.len() + HEADER || output.len() == input.len() || plan.level == 0 {
        output.truncate(HEADER);
        output.extend_from_slice(input);
        if let Some(to) = output.get_mut(2) {
            *to |= AS_IT_IS;
        }
    }
    let total = number(output.len())?;
    if let Some(to) = output.get_mut(12..HEADER).and_then(<[u8]>::first_chunk_mut) {
        *to = total;
    }
    Ok(())
}
