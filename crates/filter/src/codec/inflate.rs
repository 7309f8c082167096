//! A decoder of zlib streams (RFC 1950) that uses `fdeflate`.

use fdeflate::{DecompressionError, Decompressor};

/// Decodes the zlib stream `input` into `output` and returns the number of decoded bytes. Returns
/// [`None`] if `output` is too short. Bytes after the end of the stream are ignored.
pub(crate) fn inflate(input: &[u8], output: &mut [u8]) -> Result<Option<usize>, String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FilterId;
    use crate::codec::zlib;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_room_too_much_is_needed(
            chunk in proptest::collection::vec(0..9_u8, 0..9000),
            repeat in 1..60_usize,
            level in 0..10_u32,
            less in 1..600_usize,
        ) {
            let chunk: Vec<u8> = chunk.into_iter().flat_map(|byte| std::iter::repeat_n(byte, repeat)).collect();
            let mut stored = Vec::new();
            zlib::encode(FilterId::DEFLATE, level, &chunk, &mut stored).unwrap();
            let end = stored.len();
            stored.extend([1, 2, 3]);
            for capacity in [chunk.len(), chunk.len() + 1, chunk.len() + 1000] {
                let mut output = vec![0xee; capacity];
                prop_assert_eq!(inflate(&stored, &mut output), Ok(Some(chunk.len())));
                prop_assert_eq!(&output[..chunk.len()], &chunk[..]);
                // If the buffer is full, the decoder may report that there is more.
                let truncated = inflate(&stored[..end - 1], &mut output);
                prop_assert!(truncated.is_err() || capacity == chunk.len() && truncated == Ok(None));
            }
            if let Some(capacity) = chunk.len().checked_sub(less) {
                prop_assert_eq!(inflate(&stored, &mut vec![0xee; capacity]), Ok(None));
            }
        }
    }
}
