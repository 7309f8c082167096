//! Zstandard frames, implemented by `zstd-rs`, which has no unsafe code.

use zstd_rs::{CompressionConfig, Compressor, Decompressor, Error, MAX_LEVEL};

use crate::{FilterError, FilterId, Result};

/// The binary logarithm of the largest Zstandard window that the C library's decoder accepts by
/// default.
const WINDOW_LOG: u32 = 27;

/// A Zstandard decoder with its tables, and a buffer for decoded bytes. Both are reused from frame
/// to frame.
#[derive(Default)]
pub(crate) struct State {
    decoder: Decompressor,
    decoded: Vec<u8>,
}

/// Decodes the Zstandard frame `input` into `output` and returns the number of decoded bytes.
/// Returns [`None`] if `output` is too short.
pub(crate) fn decode(
    id: FilterId,
    state: &mut State,
    input: &[u8],
    output: &mut [u8],
) -> Result<Option<usize>> {
    let (decoded, mut rest) = (&mut state.decoded, input);
    decoded.clear();
    loop {
        let is_skipped = super::is_skippable(rest);
        let used = match state.decoder.decompress_frame(rest, None, output.len(), decoded) {
            Ok(used) => used,
            Err(Error::OutputLimit) => return Ok(None),
            Err(error) => {
                return Err(FilterError::corrupt(id, format!("a Zstandard frame is invalid: {error}")));
            }
        };
        rest = rest.split_at(used).1;
        if !is_skipped {
            break;
        }
    }
    let Some(target) = output.get_mut(..decoded.len()) else { return Ok(None) };
    target.copy_from_slice(decoded);
    Ok(Some(decoded.len()))
}

/// Encodes `input` with Zstandard, and appends the Zstandard frame to `output`. The frame states
/// the decoded length.
pub(crate) fn encode(id: FilterId, level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let failed = |error: Error| FilterError::failed(id, error.to_string());
    let level = match level {
        0 => CompressionConfig::DEFAULT.level,
        // Levels above the maximum are reduced to it.
        level => level.min(MAX_LEVEL.unsigned_abs()).cast_signed(),
    };
    let config = CompressionConfig { level, window_log: WINDOW_LOG, ..CompressionConfig::DEFAULT };
    Compressor::new(config).map_err(failed)?.compress(input, None, output).map_err(failed)
}
