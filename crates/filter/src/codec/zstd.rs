//! Zstandard frames.

#[cfg(feature = "zstd")]
#[path = "zstd/libzstd.rs"]
mod codec;

#[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
#[path = "zstd/ruzstd.rs"]
mod codec;

#[cfg(not(any(feature = "ruzstd", feature = "zstd")))]
#[path = "zstd/absent.rs"]
mod codec;

use crate::{FilterError, FilterId, Result};

pub(crate) use codec::{decode, encode};

/// Decodes a frame that fills `output`.
pub(crate) fn decode_exactly(id: FilterId, input: &[u8], output: &mut [u8]) -> Result<()> {
    let mut bytes = Vec::with_capacity(output.len());
    decode(id, input, &mut bytes, output.len())?;
    if bytes.len() != output.len() {
        let detail = format!("its frame has {} bytes, where {} are needed", bytes.len(), output.len());
        return Err(FilterError::corrupt(id, detail));
    }
    output.copy_from_slice(&bytes);
    Ok(())
}
