//! LZ4 blocks, by `lz4rip-decode` and `lz4rip-encode`, without unsafe code.

use crate::{FilterError, FilterId, Result};

/// Decodes the LZ4 block `input` into `output`. The decoded bytes must fill `output` exactly.
pub(crate) fn decode(id: FilterId, input: &[u8], output: &mut [u8]) -> Result<()> {
    let corrupt = |detail: String| FilterError::corrupt(id, format!("an LZ4 block is invalid: {detail}"));
    let length = lz4rip_decode::decompress_into(input, output).map_err(|error| corrupt(error.to_string()))?;
    if length < output.len() {
        return Err(corrupt(format!("{length} bytes, expected {}", output.len())));
    }
    Ok(())
}

/// Encodes `input` with LZ4 and appends the LZ4 block to `output`.
pub(crate) fn encode(id: FilterId, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let start = output.len();
    output.resize(start + lz4rip_encode::get_maximum_output_size(input.len()), 0);
    let free = output.split_at_mut(start).1;
    let length = lz4rip_encode::compress_into(input, free)
        .map_err(|error| FilterError::failed(id, error.to_string()))?;
    output.truncate(start + length);
    Ok(())
}
