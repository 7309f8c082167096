//! The decoding of a Blosc2 frame.

use crate::codec::times;
use crate::{FilterError, Result};

use super::array::Array;
use super::chunk::Chunk;
use super::frame::{ChunkLocation, Frame};
use super::{ID, corrupt};

/// A Blosc2 frame with the length of the decoded HDF5 chunk.
#[derive(Debug)]
pub(super) struct DecodableFrame<'i> {
    frame: Frame<'i>,
    array: Option<Array>,
    /// Bytes of the decoded chunk.
    pub(super) length: usize,
}

impl<'i> DecodableFrame<'i> {
    /// Parses the Blosc2 frame in `input`. The decoded chunk has at most `limit` bytes.
    pub(super) fn parse(input: &'i [u8], limit: usize) -> Result<Self> {
        let frame = Frame::parse(input)?;
        let array = frame.array.map(Array::parse).transpose()?;
        let length = array.as_ref().map_or(Some(frame.length), |array| array.length(frame.size));
        let length = length.filter(|length| *length <= limit);
        let length = length.ok_or(FilterError::Limit { id: ID, limit })?;
        Ok(Self { frame, array, length })
    }

    /// Decodes the Blosc2 frame into `output`, which has the length of the decoded chunk.
    pub(super) fn decode_into(&self, output: &mut [u8]) -> Result<()> {
        match &self.array {
            Some(array) => decode_array(&self.frame, array, output),
            None => decode_plain(&self.frame, output),
        }
    }
}

/// Decodes all chunks of a Blosc2 frame without dimensions into `output`. The length of `output` is
/// the length of the decoded HDF5 chunk.
fn decode_plain(frame: &Frame<'_>, output: &mut [u8]) -> Result<()> {
    if output.is_empty() {
        return Ok(());
    }
    if frame.chunk == 0 {
        return Err(corrupt("the chunk size in the frame header is 0"));
    }
    let locations = frame.locations(output.len().div_ceil(frame.chunk))?;
    for (to, location) in output.chunks_mut(frame.chunk).zip(locations) {
        let chunk = match location {
            ChunkLocation::Special(special) => Chunk::special(special, frame.size, to.len(), to.len()),
            ChunkLocation::At(bytes) => Chunk::parse(bytes, frame.size)?,
        };
        if chunk.length != to.len() {
            return Err(corrupt("the length of a chunk differs from the frame header"));
        }
        let mut decoder = chunk.decoder();
        for block in to.chunks_mut(chunk.block.max(1)) {
            decoder.decode_next(block)?;
        }
    }
    Ok(())
}

/// Decodes the blocks of all chunks of a Blosc2 frame, and copies their elements into the bytes
/// `output` of the Blosc2 array.
fn decode_array(frame: &Frame<'_>, array: &Array, output: &mut [u8]) -> Result<()> {
    let size = frame.size;
    let block = array
        .checked_block_length(size)
        .ok_or_else(|| corrupt("the block size of the array is too large"))?;
    if block > times(output.len(), 2) {
        return Err(corrupt("the blocks are larger than the array"));
    }
    let mut memory = vec![0; block];
    let locations = frame.locations(array.chunks())?;
    for (at, location) in locations.into_iter().enumerate() {
        let whole =
            array.chunk_length(size).ok_or_else(|| corrupt("the chunk size of the array is too large"))?;
        let chunk = match location {
            ChunkLocation::Special(special) => Chunk::special(special, size, whole, block),
            ChunkLocation::At(bytes) => Chunk::parse(bytes, size)?,
        };
        if (chunk.length, chunk.block) != (whole, block) {
            return Err(corrupt("the length or block size of a chunk differs from the array's shape"));
        }
        let mut decoder = chunk.decoder();
        array.each_block(at, |index, part| {
            decoder.decode_at(index, &mut memory)?;
            array
                .scatter(part, size, &memory, output)
                .ok_or_else(|| corrupt("a block lies outside the array"))
        })?;
    }
    Ok(())
}
