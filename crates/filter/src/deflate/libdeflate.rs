//! The deflate filter's codec, implemented by libdeflate.

use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use super::DeflateSettings;
use crate::{FilterError, FilterId, Result};

const ID: FilterId = FilterId::DEFLATE;

/// A decoder of the deflate filter, and an encoder with its level. Both are reused from chunk to
/// chunk.
#[derive(Default)]
pub(super) struct State {
    decoder: Decompressor,
    encoder: Option<(i32, Compressor)>,
}

/// Decodes the zlib stream `input` of the deflate filter into `output` and returns the number of
/// decoded bytes. Returns [`None`] if `output` is too short.
pub(super) fn decode(state: &mut State, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
    let corrupt = |detail: &str| FilterError::corrupt(ID, detail);
    if input.is_empty() {
        return Err(corrupt("the zlib stream is truncated"));
    }
    match state.decoder.zlib_decompress(input, output) {
        Ok(length) => Ok(Some(length)),
        Err(DecompressionError::BadData) => Err(corrupt("the zlib stream is invalid or truncated")),
        Err(DecompressionError::InsufficientSpace) => Ok(None),
    }
}

/// Encodes `input` with deflate and replaces the content of `output` by the zlib stream.
pub(super) fn encode(
    state: &mut State,
    settings: &DeflateSettings,
    input: &[u8],
    output: &mut Vec<u8>,
) -> Result<()> {
    // libdeflate chooses the ends of blocks by itself, so `settings.plane` has no effect.
    let level = settings.level;
    let failed = |reason: String| FilterError::failed(ID, reason);
    let unsupported = || failed(format!("level {level} is not supported"));
    let number = i32::try_from(level).map_err(|_| unsupported())?;
    let mut stream = match state.encoder.take() {
        Some((kept, stream)) if kept == number => stream,
        _ => Compressor::new(CompressionLvl::new(number).map_err(|_| unsupported())?),
    };
    output.resize(stream.zlib_compress_bound(input.len()), 0);
    let length = stream.zlib_compress(input, output).map_err(|error| failed(error.to_string()))?;
    output.truncate(length);
    state.encoder = Some((number, stream));
    Ok(())
}
