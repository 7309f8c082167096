//! Deflate by libdeflate.

use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use super::Plan;
use crate::{FilterError, FilterId, Result};

const ID: FilterId = FilterId::DEFLATE;

/// What is kept from one chunk to the next: a decoder, and an encoder with its level.
#[derive(Default)]
pub(super) struct State {
    decoder: Decompressor,
    encoder: Option<(i32, Compressor)>,
}

/// Decodes a zlib stream into `output`: the bytes decoded, or [`None`] if they are more.
pub(super) fn decode(state: &mut State, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
    let corrupt = |detail: &str| FilterError::corrupt(ID, detail);
    if input.is_empty() {
        return Err(corrupt("the zlib stream is cut off"));
    }
    match state.decoder.zlib_decompress(input, output) {
        Ok(length) => Ok(Some(length)),
        Err(DecompressionError::BadData) => Err(corrupt("not a zlib stream, or cut off")),
        Err(DecompressionError::InsufficientSpace) => Ok(None),
    }
}

/// Encodes `input` as a zlib stream.
pub(super) fn encode(state: &mut State, plan: &Plan, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    // It ends blocks where it pays by itself.
    let level = plan.level;
    let failed = |reason: String| FilterError::failed(ID, reason);
    let number = i32::try_from(level).unwrap_or(i32::MAX);
    let mut stream = match state.encoder.take() {
        Some((kept, stream)) if kept == number => stream,
        _ => Compressor::new(CompressionLvl::new(number).map_err(|_| failed(format!("no level {level}")))?),
    };
    output.resize(stream.zlib_compress_bound(input.len()), 0);
    let length = stream.zlib_compress(input, output).map_err(|error| failed(error.to_string()))?;
    output.truncate(length);
    state.encoder = Some((number, stream));
    Ok(())
}
