//! Deflate decoded by `fdeflate`, the fastest of those in Rust, and encoded by zlib-rs.

use flate2::{Compress, Compression, FlushCompress, Status};

use crate::codec::inflate::inflate;
use crate::{FilterError, FilterId, Result};

const ID: FilterId = FilterId::DEFLATE;

/// What is kept from one chunk to the next: an encoder, with its level.
#[derive(Debug, Default)]
pub(super) struct State {
    encoder: Option<(u32, Compress)>,
}

/// Decodes a zlib stream into `output`: the bytes decoded, or [`None`] if they are more.
pub(super) fn decode(_state: &mut State, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
    inflate(input, output).map_err(|detail| FilterError::corrupt(ID, detail))
}

/// Encodes `input` as a zlib stream.
pub(super) fn encode(state: &mut State, level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let mut stream = match state.encoder.take() {
        Some((kept, mut stream)) if kept == level => {
            stream.reset();
            stream
        }
        _ => Compress::new(Compression::new(level), true),
    };
    output.clear();
    // Stored blocks of at least 8 KiB cost 5 bytes each; head and checksum cost 6.
    output.reserve(input.len().saturating_add(input.len() / 1000).saturating_add(64));
    loop {
        let consumed = usize::try_from(stream.total_in()).unwrap_or(usize::MAX);
        let rest = input.get(consumed..).unwrap_or_default();
        let status = stream
            .compress_vec(rest, output, FlushCompress::Finish)
            .map_err(|error| FilterError::failed(ID, error.to_string()))?;
        if status == Status::StreamEnd {
            state.encoder = Some((level, stream));
            return Ok(());
        }
        output.reserve(output.len().max(64));
    }
}
