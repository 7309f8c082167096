//! Deflate by libdeflate.

use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use crate::{FilterError, FilterId, Result};

const ID: FilterId = FilterId::DEFLATE;

/// Decodes a zlib stream into `output`, which first gets room for `guess` bytes.
pub(super) fn decode(input: &[u8], output: &mut Vec<u8>, guess: usize, limit: usize) -> Result<()> {
    let corrupt = |detail: &str| FilterError::corrupt(ID, detail);
    if input.is_empty() {
        return Err(corrupt("the zlib stream is cut off"));
    }
    let mut stream = Decompressor::new();
    let mut room = guess.max(64).min(limit);
    loop {
        output.resize(room, 0);
        match stream.zlib_decompress(input, output) {
            Ok(length) => {
                output.truncate(length);
                return Ok(());
            }
            Err(DecompressionError::BadData) => return Err(corrupt("not a zlib stream, or cut off")),
            Err(DecompressionError::InsufficientSpace) if room >= limit => {
                return Err(FilterError::Limit { id: ID, limit });
            }
            Err(DecompressionError::InsufficientSpace) => room = room.saturating_mul(2).max(64).min(limit),
        }
    }
}

/// Encodes `input` as a zlib stream.
pub(super) fn encode(level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let failed = |reason: String| FilterError::failed(ID, reason);
    let level = i32::try_from(level)
        .ok()
        .and_then(|level| CompressionLvl::new(level).ok())
        .ok_or_else(|| failed(format!("no level {level}")))?;
    let mut stream = Compressor::new(level);
    output.resize(stream.zlib_compress_bound(input.len()), 0);
    let length = stream.zlib_compress(input, output).map_err(|error| failed(error.to_string()))?;
    output.truncate(length);
    Ok(())
}
