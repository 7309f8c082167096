//! Zstandard frames.

#[cfg(feature = "zstd")]
#[path = "libzstd.rs"]
mod codec;

#[cfg(all(feature = "rust-zstd", any(test, not(feature = "zstd"))))]
mod by_rust_zstd;
#[cfg(all(feature = "rust-zstd", not(feature = "zstd")))]
use by_rust_zstd as codec;

#[cfg(all(
    feature = "zstd-rs",
    any(all(test, feature = "rust-zstd"), not(any(feature = "zstd", feature = "rust-zstd")))
))]
mod by_zstd_rs;
#[cfg(all(feature = "zstd-rs", not(any(feature = "zstd", feature = "rust-zstd"))))]
use by_zstd_rs as codec;

#[cfg(not(any(feature = "zstd-rs", feature = "zstd")))]
#[path = "absent.rs"]
mod codec;

use crate::{FilterError, FilterId, Result};

pub(crate) use codec::{State, decode, encode};

/// The magic numbers of skippable Zstandard frames, which hold no encoded data.
#[cfg(feature = "zstd-rs")]
const SKIPPABLE: std::ops::RangeInclusive<u32> = 0x184d_2a50..=0x184d_2a5f;

/// Returns whether `input` starts with a frame that holds no encoded data.
#[cfg(feature = "zstd-rs")]
fn is_skippable(input: &[u8]) -> bool {
    input.first_chunk().is_some_and(|four| SKIPPABLE.contains(&u32::from_le_bytes(*four)))
}

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

#[cfg(test)]
#[cfg(feature = "rust-zstd")]
mod tests;
