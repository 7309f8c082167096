//! Zstandard frames.

#[cfg(feature = "zstd")]
#[path = "libzstd.rs"]
mod codec;

#[cfg(all(feature = "zstd-rs", not(feature = "zstd")))]
#[path = "safe.rs"]
mod codec;

#[cfg(not(any(feature = "zstd-rs", feature = "zstd")))]
#[path = "absent.rs"]
mod codec;

use crate::{FilterError, FilterId, Result};

pub(crate) use codec::{State, decode, encode};

/// Decodes the Zstandard frame `input` into `output`. The decoded bytes must fill `output` exactly.
pub(crate) fn decode_exactly(id: FilterId, input: &[u8], output: &mut [u8]) -> Result<()> {
    decode_exactly_with(id, &mut State::default(), input, output)
}

/// Decodes the Zstandard frame `input` into `output`, and reuses the decoder `state`. The decoded
/// bytes must fill `output` exactly.
pub(crate) fn decode_exactly_with(
    id: FilterId,
    state: &mut State,
    input: &[u8],
    output: &mut [u8],
) -> Result<()> {
    let has = match decode(id, state, input, output)? {
        Some(length) if length == output.len() => return Ok(()),
        Some(length) => length.to_string(),
        None => "more".to_owned(),
    };
    let detail = format!("a Zstandard frame decodes to {has} bytes, expected {}", output.len());
    Err(FilterError::corrupt(id, detail))
}
