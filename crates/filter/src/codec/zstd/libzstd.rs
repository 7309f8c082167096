//! Zstandard by the C library.

use std::io::Read;

use crate::{FilterError, FilterId, Result};

/// Appends the contents of a frame, up to `limit` bytes.
pub(crate) fn decode(id: FilterId, input: &[u8], output: &mut Vec<u8>, limit: usize) -> Result<()> {
    let corrupt = |error: std::io::Error| FilterError::corrupt(id, format!("its Zstandard frame: {error}"));
    let start = output.len();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let frame = zstd::stream::read::Decoder::with_buffer(input).map_err(corrupt)?.single_frame();
    frame.take(most).read_to_end(output).map_err(corrupt)?;
    if output.len() - start > limit {
        return Err(FilterError::Limit { id, limit });
    }
    Ok(())
}

/// Appends `input` as a frame that tells its length.
pub(crate) fn encode(id: FilterId, level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let level = i32::try_from(level).unwrap_or(i32::MAX).min(*zstd::compression_level_range().end());
    let frame =
        zstd::bulk::compress(input, level).map_err(|error| FilterError::failed(id, error.to_string()))?;
    output.extend_from_slice(&frame);
    Ok(())
}
