//! zlib streams of known length.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::{FilterError, FilterId, Result};

/// Decodes a stream that fills `output`.
pub(crate) fn decode(id: FilterId, input: &[u8], output: &mut [u8]) -> Result<()> {
    let corrupt = |detail: &str| FilterError::corrupt(id, format!("its zlib stream: {detail}"));
    let mut stream = Decompress::new(true);
    let status = stream.decompress(input, output, FlushDecompress::Finish);
    let status = status.map_err(|error| corrupt(&error.to_string()))?;
    if status != Status::StreamEnd || usize::try_from(stream.total_out()) != Ok(output.len()) {
        return Err(corrupt("not as long as needed"));
    }
    Ok(())
}

/// Appends `input` as a stream.
pub(crate) fn encode(id: FilterId, level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let mut stream = Compress::new(Compression::new(level.min(9)), true);
    // Stored blocks of at least 8 KiB cost 5 bytes each; head and checksum cost 6.
    output.reserve(input.len().saturating_add(input.len() / 1000).saturating_add(64));
    match stream.compress_vec(input, output, FlushCompress::Finish) {
        Ok(Status::StreamEnd) => Ok(()),
        Ok(_) => Err(FilterError::failed(id, "zlib asks for more room than it needs")),
        Err(error) => Err(FilterError::failed(id, error.to_string())),
    }
}
