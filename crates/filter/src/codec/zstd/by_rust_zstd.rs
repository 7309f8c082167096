//! Zstandard frames, implemented by `rust-zstd`, which has unsafe code.

use rust_zstd::{CompressOptions, Compressor, Decompressor};

use crate::{FilterError, FilterId, Result};

/// The highest level of Zstandard.
const MAX_LEVEL: u32 = 22;

/// The binary logarithm of the largest Zstandard window that the encoder of the C library uses. The
/// decoder allocates memory for decoded bytes, not for the window.
const WINDOW_LOG: u32 = if cfg!(target_pointer_width = "64") { 31 } else { 30 };

/// A Zstandard decoder with its tables, which are reused from frame to frame.
#[derive(Default)]
pub(crate) struct State {
    decoder: Decompressor,
}

/// Decodes the Zstandard frame `input` into `output` and returns the number of decoded bytes.
/// Returns [`None`] if `output` is too short.
pub(crate) fn decode(
    id: FilterId,
    state: &mut State,
    input: &[u8],
    output: &mut [u8],
) -> Result<Option<usize>> {
    let corrupt = |detail: &str| FilterError::corrupt(id, format!("a Zstandard frame is invalid: {detail}"));
    let (mut taken, mut length) = (0, 0);
    state.decoder.reset();
    state.decoder.set_window_log_max(WINDOW_LOG);
    loop {
        let start = taken;
        let missing = state.decoder.decompress_stream(input, &mut taken, output, &mut length);
        if missing.map_err(|error| corrupt(&error))? > 0 {
            // The decoder lacks input, or it has more bytes than the output takes.
            let (mut byte, mut more) = ([0], 0);
            let outcome = state.decoder.decompress_stream(input, &mut taken, &mut byte, &mut more);
            outcome.map_err(|error| corrupt(&error))?;
            return if more > 0 { Ok(None) } else { Err(corrupt("it is truncated")) };
        }
        // The decoder has also reached the end of a frame that holds no encoded data.
        if !input.get(start..).is_some_and(super::is_skippable) {
            return Ok(Some(length));
        }
    }
}

/// Encodes `input` with Zstandard, and appends the Zstandard frame to `output`. The frame states
/// the decoded length.
pub(crate) fn encode(_id: FilterId, level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    // Levels above the maximum are reduced to it. Level 0 is the default level.
    let level = level.min(MAX_LEVEL).cast_signed();
    Compressor::new(CompressOptions { level, ..CompressOptions::default() }).compress(input, output);
    Ok(())
}
