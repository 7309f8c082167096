//! Zstandard frames, implemented by the C library.

use zstd::bulk::Decompressor;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use hyperslab_exact::to_u64;

use crate::{FilterError, FilterId, Result};

/// A Zstandard decoder that is reused from frame to frame.
#[derive(Default)]
pub(crate) struct State {
    decoder: Option<Decompressor<'static>>,
}

/// Decodes the Zstandard frame `input` into `output` and returns the number of decoded bytes.
/// Returns [`None`] if `output` is too short.
pub(crate) fn decode(
    id: FilterId,
    state: &mut State,
    input: &[u8],
    output: &mut [u8],
) -> Result<Option<usize>> {
    let corrupt = |error: &dyn std::fmt::Display| {
        FilterError::corrupt(id, format!("a Zstandard frame is invalid: {error}"))
    };
    let end =
        find_frame_compressed_size(input).map_err(|code| corrupt(&zstd::zstd_safe::get_error_name(code)))?;
    let frame = input.get(..end).ok_or_else(|| corrupt(&"truncated"))?;
    let length = get_frame_content_size(frame).map_err(|error| corrupt(&error))?;
    let available = to_u64(output.len());
    if length.is_some_and(|length| length > available) {
        return Ok(None);
    }
    let mut decoder = match state.decoder.take() {
        Some(decoder) => decoder,
        None => Decompressor::new().map_err(|error| corrupt(&error))?,
    };
    let decoded = decoder.decompress_to_buffer(frame, output);
    state.decoder = Some(decoder);
    match decoded {
        Ok(length) => Ok(Some(length)),
        // The frame does not state its decoded length, so the output may be too short.
        Err(error) if length.is_none() && error.to_string().contains("too small") => Ok(None),
        Err(error) => Err(corrupt(&error)),
    }
}

/// Encodes `input` with Zstandard, and appends the Zstandard frame to `output`. The frame states
/// the decoded length.
pub(crate) fn encode(id: FilterId, level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let max_level = zstd::compression_level_range().end().unsigned_abs();
    let level = level.min(max_level).cast_signed();
    let frame =
        zstd::bulk::compress(input, level).map_err(|error| FilterError::failed(id, error.to_string()))?;
    output.extend_from_slice(&frame);
    Ok(())
}
