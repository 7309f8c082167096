//! Zstandard encoded by `rust-zstd`, at every level as the C library does it.

use crate::{FilterId, Result};

/// The highest level that there is.
const HIGHEST: i32 = 22;

/// Appends `input` as a frame that tells its length.
#[expect(clippy::unnecessary_wraps, reason = "other encoders fail")]
pub(crate) fn encode(_id: FilterId, level: u32, input: &[u8], output: &mut Vec<u8>) -> Result<()> {
    let level = i32::try_from(level).unwrap_or(i32::MAX).min(HIGHEST);
    output.extend_from_slice(&rust_zstd::compress(input, level));
    Ok(())
}
