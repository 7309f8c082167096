//! Zstandard decoded by `ruzstd`: what others made is left to a decoder that is hardly any unsafe code.

use std::io::Read;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::{FilterError, FilterId, Result};

/// Bytes that are decoded before the limit is looked at; a block more at most.
const STEP: usize = 1 << 20;

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
