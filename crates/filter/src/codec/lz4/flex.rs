//! LZ4 by `lz4_flex`.

use lz4_flex::block;

use crate::{FilterError, FilterId, Result};

/// Decodes a block that fills `output`.
pub(crate) fn decode(id: FilterId, input: &[u8], output: &mut [u8]) -> Result<()> {
    let corrupt = |detail: String| FilterError::corrupt(id, format!("its LZ4 block: {detail}"));
    let length = block::decompress_into(input, output).map_err(|error| corrupt(error.to_string()))?;
    if length < output.len() {
        return Err(corrupt(format!("{length} bytes, where {} are needed", output.len())));
    }
    Ok(())
}

/// Appends `input` as a block.
pub(crate) fn encode(id: FilterId, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let start = output.len();
    output.resize(start + block::get_maximum_output_size(input.len()), 0);
    let room = output.split_at_mut(start).1;
    let length =
        block::compress_into(input, room).map_err(|error| FilterError::failed(id, error.to_string()))?;
    output.truncate(start + length);
    Ok(())
}
