//! Zstandard by `ruzstd`. It encodes at one level, about the first of the C library.

use std::io::Read;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::{FilterError, FilterId, Result};

/// Bytes that are decoded before the limit is looked at; a block more at most.
const STEP: usize = 1 << 20;

/// Magic number and descriptor of a frame.
const HEAD: usize = 5;

/// In the descriptor: the length of the contents follows as 8 bytes.
const LONG_LENGTH: u8 = 0b1100_0000;

/// A decoder, with its tables and its window.
#[derive(Default)]
pub(crate) struct State {
    frame: FrameDecoder,
}

/// Decodes a frame into `output`: the bytes decoded, or [`None`] if they are more.
pub(crate) fn decode(
    id: FilterId,
    state: &mut State,
    input: &[u8],
    output: &mut [u8],
) -> Result<Option<usize>> {
    let corrupt =
        |error: &dyn std::fmt::Display| FilterError::corrupt(id, format!("its Zstandard frame: {error}"));
    let (frame, mut rest, mut at) = (&mut state.frame, input, 0);
    frame.reset(&mut rest).map_err(|error| corrupt(&error))?;
    loop {
        let step = BlockDecodingStrategy::UptoBytes(STEP);
        let is_finished = frame.decode_blocks(&mut rest, step).map_err(|error| corrupt(&error))?;
        at += frame.read(output.get_mut(at..).unwrap_or_default()).map_err(|error| corrupt(&error))?;
        if frame.can_collect() > 0 {
            return Ok(None);
        }
        if is_finished {
            break;
        }
    }
    match (frame.get_checksum_from_data(), frame.get_calculated_checksum()) {
        (Some(stored), Some(computed)) if stored != computed => Err(corrupt(&"wrong checksum")),
        _ => Ok(Some(at)),
    }
}

/// Appends `input` as a frame that tells its length.
pub(crate) fn encode(id: FilterId, level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let level = if level == 0 { CompressionLevel::Uncompressed } else { CompressionLevel::Fastest };
    let frame = compress_to_vec(input, level);
    // The frame leaves its length out, and others ask for it before they decode.
    let unknown = || FilterError::failed(id, "a Zstandard frame of unknown form");
    let (head, rest) = frame.split_first_chunk::<HEAD>().ok_or_else(unknown)?;
    let (window, blocks) = rest.split_first().ok_or_else(unknown)?;
    let [magic @ .., descriptor] = head;
    // Nothing but the window and a checksum may be named.
    if descriptor & !0b100 != 0 {
        return Err(unknown());
    }
    output.reserve(frame.len() + 8);
    output.extend_from_slice(magic);
    output.extend([descriptor | LONG_LENGTH, *window]);
    output.extend_from_slice(&u64::try_from(input.len()).unwrap_or(u64::MAX).to_le_bytes());
    output.extend_from_slice(blocks);
    Ok(())
}
