//! LZ4 blocks, implemented by the C library.

use liblz4::block;

use crate::{FilterError, FilterId, Result};

/// Decodes the LZ4 block `input` into `output`. The decoded bytes must fill `output` exactly.
pub(crate) fn decode(id: FilterId, input: &[u8], output: &mut [u8]) -> Result<()> {
    let corrupt = |detail: String| FilterError::corrupt(id, format!("an LZ4 block is invalid: {detail}"));
    let size = length(id, input.len()).and_then(|_| length(id, output.len()))?;
    let found =
        block::decompress_to_buffer(input, Some(size), output).map_err(|error| corrupt(error.to_string()))?;
    if found < output.len() {
        return Err(corrupt(format!("{found} bytes, expected {}", output.len())));
    }
    Ok(())
}

/// Encodes `input` with LZ4 and appends the LZ4 block to `output`.
pub(crate) fn encode(id: FilterId, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let failed = |reason: &str| FilterError::failed(id, reason);
    length(id, input.len())?;
    let bound = block::compress_bound(input.len()).map_err(|error| failed(&error.to_string()))?;
    let start = output.len();
    output.resize(start + bound, 0);
    let free = output.split_at_mut(start).1;
    let written =
        block::compress_to_buffer(input, None, false, free).map_err(|error| failed(&error.to_string()))?;
    output.truncate(start + written);
    Ok(())
}

/// Returns a number of bytes in the type of the C library.
fn length(id: FilterId, bytes: usize) -> Result<i32> {
    i32::try_from(bytes).map_err(|_| FilterError::failed(id, "a block of LZ4 exceeds 2 GiB"))
}
