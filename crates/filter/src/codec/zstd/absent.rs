//! In place of Zstandard, where the features are off.

use crate::{FilterError, FilterId, Result};

/// Not there.
pub(crate) fn decode(id: FilterId, _input: &[u8], _output: &mut Vec<u8>, _limit: usize) -> Result<()> {
    let what = "Zstandard (features `ruzstd` and `zstd` are off)".to_owned();
    Err(FilterError::Unsupported { id, what })
}

/// Not there.
pub(crate) fn encode(id: FilterId, _level: u32, _input: &[u8], _output: &mut Vec<u8>) -> Result<()> {
    Err(FilterError::failed(id, "Zstandard is not there (features `ruzstd` and `zstd` are off)"))
}
