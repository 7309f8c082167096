//! The encoder of Blosc 2 chunks.

use crate::Result;
use crate::codec::blosc_codec::Codec;
use crate::codec::length_u32;

use super::chunk::{
    BlockScratch, HEADER_BYTES, LONG_HEADER_BYTES, LONG_HEADER_FLAGS, RUN_FLAG, TRANSFORM_COUNT,
    UNCOMPRESSED_FLAG, UNSPLIT_FLAG, VERSION,
};
use super::transform::{Elements, Transform};
use super::{ID, failed};

/// The parameters of the Blosc2 encoder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blosc2Settings {
    pub(super) codec: Codec,
    pub(super) level: u32,
    pub(super) transform: Transform,
    /// Bytes of an element.
    pub(super) size: usize,
    /// Bytes of a block.
    pub(super) block: usize,
}

impl Blosc2Settings {
    /// Returns the element size for a Blosc2 chunk header. If the true size does not fit into one
    /// byte, returns 1.
    fn element(&self) -> u8 {
        // The header field has one byte. Larger elements count as single bytes.
        u8::try_from(self.size).unwrap_or(1)
    }

    /// Returns true if the Blosc2 encoder splits blocks into one stream for each byte of an
    /// element.
    fn is_split(&self) -> bool {
        self.codec.is_split() && self.element() > 1 && self.block.is_multiple_of(usize::from(self.element()))
    }

    /// Returns the header of a Blosc2 chunk whose decoded size is `length` bytes. The encoded size
    /// in the header is 0 until the chunk is encoded.
    fn header(&self, length: u32) -> Result<[u8; LONG_HEADER_BYTES]> {
        let mut header = [0; LONG_HEADER_BYTES];
        let flags =
            LONG_HEADER_FLAGS | self.codec.format() << 5 | if self.is_split() { 0 } else { UNSPLIT_FLAG };
        let block = length_u32(ID, self.block)?;
        let [l0, l1, l2, l3] = length.to_le_bytes();
        let [b0, b1, b2, b3] = block.to_le_bytes();
        let start = [VERSION, 1, flags, self.element(), l0, l1, l2, l3, b0, b1, b2, b3];
        header.iter_mut().zip(start).for_each(|(to, from)| *to = from);
        header
            .iter_mut()
            .skip(HEADER_BYTES + TRANSFORM_COUNT - 1)
            .take(1)
            .for_each(|to| *to = self.transform.number());
        Ok(header)
    }
}

/// Encodes `input` as a Blosc2 chunk. Returns no bytes if `input` is empty.
pub(super) fn encode(settings: Blosc2Settings, input: &[u8]) -> Result<Vec<u8>> {
    if input.is_empty() {
        return Ok(Vec::new());
    }
    let length = i32::try_from(input.len()).ok().filter(|length| i32::MAX - length >= 32);
    let length = length.ok_or_else(|| failed("the chunk has more than 2 GiB"))?.cast_unsigned();
    let mut output = settings.header(length)?.to_vec();
    if settings.level > 0 {
        let offsets = output.len();
        output.resize(offsets + 4 * input.len().div_ceil(settings.block), 0);
        let mut scratch = BlockScratch::default();
        let first = input.get(..settings.block).unwrap_or(input);
        for (at, block) in input.chunks(settings.block).enumerate() {
            let offset = length_u32(ID, output.len())?.to_le_bytes();
            if let Some(to) = output.get_mut(offsets + 4 * at..).and_then(<[u8]>::first_chunk_mut) {
                *to = offset;
            }
            settings.encode_block(
                if at > 0 { Some(first) } else { None },
                block,
                &mut output,
                &mut scratch,
            )?;
        }
    }
    if settings.level == 0 || output.len() >= LONG_HEADER_BYTES + input.len() {
        output.truncate(LONG_HEADER_BYTES);
        output.extend_from_slice(input);
        output.iter_mut().skip(2).take(1).for_each(|flags| *flags |= UNCOMPRESSED_FLAG);
    }
    let whole = length_u32(ID, output.len())?.to_le_bytes();
    if let Some(to) = output.get_mut(12..).and_then(<[u8]>::first_chunk_mut) {
        *to = whole;
    }
    Ok(output)
}

impl Blosc2Settings {
    fn encode_block(
        &self,
        first: Option<&[u8]>,
        block: &[u8],
        output: &mut Vec<u8>,
        scratch: &mut BlockScratch,
    ) -> Result<()> {
        scratch.planes.resize(block.len(), 0);
        let layout = Elements { size: usize::from(self.element()), version: VERSION };
        layout.apply(self.transform, first, block, &mut scratch.planes, &mut scratch.bits);
        let is_split = self.is_split() && block.len() == self.block;
        let streams = if is_split { usize::from(self.element()) } else { 1 };
        for plane in scratch.planes.chunks_exact(block.len() / streams) {
            if let Some((byte, others)) = plane.split_first()
                && others.iter().all(|other| other == byte)
            {
                output.extend_from_slice(&(-i32::from(*byte)).to_le_bytes());
                output.extend((*byte != 0).then_some(RUN_FLAG));
                continue;
            }
            scratch.stream.clear();
            self.codec.encode(ID, self.level, plane, &mut scratch.stream)?;
            let stream = if scratch.stream.len() < plane.len() { &scratch.stream } else { plane };
            output.extend_from_slice(&length_u32(ID, stream.len())?.to_le_bytes());
            output.extend_from_slice(stream);
        }
        Ok(())
    }
}
