//! Placeholder for Zstandard if the features are off.

use crate::{FilterError, FilterId, Result};

/// The empty state of the Zstandard decoder in builds without Zstandard.
#[derive(Debug, Default)]
pub(crate) struct State {}

/// Returns an error, because this build cannot decode Zstandard.
pub(crate) fn decode(
    id: FilterId,
    _state: &mut State,
    _input: &[u8],
    _output: &mut [u8],
) -> Result<Option<usize>> {
    let subject = "Zstandard (features `zstd-rs` and `zstd` are off)".to_owned();
    Err(FilterError::Unsupported { id, subject })
}

/// Returns an error, because this build cannot encode Zstandard.
pub(crate) fn encode(id: FilterId, _level: u32, _input: &[u8], _output: &mut Vec<u8>) -> Result<()> {
    Err(FilterError::failed(id, "Zstandard is not available (features `zstd-rs` and `zstd` are off)"))
}
