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

/// Decodes a frame that fills `output`.
pub(crate) fn decode_exactly(id: FilterId, input: &[u8], output: &mut [u8]) -> Result<()> {
    decode_exactly_with(id, &mut State::default(), input, output)
}

/// [`decode_exactly`] with a decoder that is kept for the next frame.
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
    let detail = format!("its frame has {has} bytes, where {} are needed", output.len());
    Err(FilterError::corrupt(id, detail))
}
