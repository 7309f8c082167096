//! zlib streams with a known decoded length.

use flate2::{Compress, Compression, FlushCompress, Status};

use crate::codec::inflate::inflate;
use crate::codec::remaining_input;
use crate::{FilterError, FilterId, Result};

/// Decodes the zlib stream `input` into `output`. The decoded bytes must fill `output` exactly.
pub(crate) fn decode(id: FilterId, input: &[u8], output: &mut [u8]) -> Result<()> {
    let corrupt = |detail: String| FilterError::corrupt(id, format!("a zlib stream is invalid: {detail}"));
    match inflate(input, output).map_err(corrupt)? {
        Some(length) if length == output.len() => Ok(()),
        _ => Err(corrupt(format!("the decoded length is not {} bytes", output.len()))),
    }
}

/// Encodes `input` with zlib and appends the zlib stream to `output`.
pub(crate) fn encode(id: FilterId, level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let mut stream = Compress::new(Compression::new(level.min(9)), true);
    output.reserve(input.len() + 64);
    loop {
        let rest = remaining_input(id, input, stream.total_in())?;
        match stream.compress_vec(rest, output, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => return Ok(()),
            Ok(_) => output.reserve(input.len() / 8 + 64),
            Err(error) => return Err(FilterError::failed(id, error.to_string())),
        }
    }
}
