//! In place of an encoder of Zstandard, where the features are off.

use crate::{FilterError, FilterId, Result};

/// Not there.
pub(crate) fn encode(id: FilterId, _level: u32, _input: &[u8], _output: &mut Vec<u8>) -> Result<()> {
    Err(FilterError::failed(id, "Zstandard is not encoded (features `rust-zstd` and `zstd` are off)"))
}
