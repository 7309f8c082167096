//! Snappy streams, implemented by `snap`.

use snap::raw;

use crate::{FilterError, FilterId, Result};

/// Decodes the Snappy stream `input` into `output`. The decoded bytes must fill `output` exactly.
pub(crate) fn decode(id: FilterId, input: &[u8], output: &mut [u8]) -> Result<()> {
    let corrupt = |detail: String| FilterError::corrupt(id, format!("a Snappy stream is invalid: {detail}"));
    let length = raw::decompress_len(input).map_err(|error| corrupt(error.to_string()))?;
    if length != output.len() {
        return Err(corrupt(format!("{length} bytes, expected {}", output.len())));
    }
    raw::Decoder::new().decompress(input, output).map_err(|error| corrupt(error.to_string()))?;
    Ok(())
}

/// Encodes `input` with Snappy and appends the Snappy stream to `output`.
pub(crate) fn encode(id: FilterId, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let start = output.len();
    output.resize(start + raw::max_compress_len(input.len()), 0);
    let free = output.split_at_mut(start).1;
    let length = raw::Encoder::new()
        .compress(input, free)
        .map_err(|error| FilterError::failed(id, error.to_string()))?;
    output.truncate(start + length);
    Ok(())
}
