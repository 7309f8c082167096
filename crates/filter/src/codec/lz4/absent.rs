//! Placeholder for LZ4 if the feature is off.

use crate::{FilterError, FilterId, Result};

/// Returns an error, because this build cannot decode LZ4.
pub(crate) fn decode(id: FilterId, _input: &[u8], _output: &mut [u8]) -> Result<()> {
    Err(FilterError::Unsupported { id, subject: "LZ4 (feature `lz4` is off)".to_owned() })
}

/// Returns an error, because this build cannot encode LZ4.
pub(crate) fn encode(id: FilterId, _input: &[u8], _output: &mut Vec<u8>) -> Result<()> {
    Err(FilterError::failed(id, "LZ4 is not available (feature `lz4` is off)"))
}
