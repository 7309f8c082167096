//! Deflate by zlib-rs.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::{FilterError, FilterId, Result};

const ID: FilterId = FilterId::DEFLATE;

/// Decodes a zlib stream into `output`, which first gets room for `guess` bytes.
pub(super) fn decode(input: &[u8], output: &mut Vec<u8>, guess: usize, limit: usize) -> Result<()> {
    let corrupt = |detail: &str| FilterError::corrupt(ID, detail);
    let mut stream = Decompress::new(true);
    output.clear();
    // One byte over the limit is room enough to see that a stream passes it.
    let most = limit.saturating_add(1);
    output.reserve_exact(guess.clamp(64, most.max(64)));
    loop {
        let consumed = usize::try_from(stream.total_in()).unwrap_or(usize::MAX);
        let rest = input.get(consumed..).unwrap_or_default();
        let before = output.len();
        let status = stream
            .decompress_vec(rest, output, FlushDecompress::None)
            .map_err(|error| corrupt(&format!("not a zlib stream: {error}")))?;
        if output.len() > limit {
            return Err(FilterError::Limit { id: ID, limit });
        }
        match status {
            Status::StreamEnd => return Ok(()),
            _ if output.len() == output.capacity() => {
                let more = output.len().max(64).min(most.saturating_sub(output.len()));
                output.reserve_exact(more.max(1));
            }
            _ if rest.is_empty() || output.len() == before => {
                return Err(corrupt("the zlib stream is cut off"));
            }
            _ => {}
        }
    }
}

/// Encodes `input` as a zlib stream.
pub(super) fn encode(level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let mut stream = Compress::new(Compression::new(level), true);
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
            return Ok(());
        }
        output.reserve(output.len().max(64));
    }
}
