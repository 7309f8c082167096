//! A decoder of zlib streams that uses `fdeflate`.

use fdeflate::{DecompressionError, Decompressor};

/// Decodes the zlib stream `input` into `output` and returns the number of decoded bytes. Returns
/// [`None`] if `output` is too short. Bytes after the end of the stream are ignored.
pub(super) fn inflate(input: &[u8], output: &mut [u8]) -> Result<Option<usize>, String> {
    let (mut stream, mut rest, mut at) = (Decompressor::new(), input, 0);
    while !stream.is_done() {
        let (taken, given) = stream.read(rest, output, at, true).map_err(|error| match error {
            DecompressionError::InsufficientInput => "the zlib stream is truncated".to_owned(),
            error => format!("the zlib stream is invalid: {error:?}"),
        })?;
        rest = rest.split_at(taken).1;
        at += given;
        // The decoder is not resumed with a larger buffer: in fdeflate 0.3.7, the checksum misses a
        // part of a match for which the buffer was too short twice.
        if at == output.len() && !stream.is_done() || taken == 0 && given == 0 {
            return Ok(None);
        }
    }
    Ok(Some(at))
}
