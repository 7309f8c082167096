//! Placeholder for Snappy if the feature is off.

use crate::{FilterError, FilterId, Result};

/// Returns an error, because this build cannot decode Snappy.
pub(crate) fn decode(id: FilterId, _input: &[u8], _output: &mut [u8]) -> Result<()> {
    Err(FilterError::Unsupported { id, subject: "Snappy (feature `snappy` is off)".to_owned() })
}

/// Returns an error, because this build cannot encode Snappy.
pub(crate) fn encode(id: FilterId, _input: &[u8], _output: &mut Vec<u8>) -> Result<()> {
    Err(FilterError::failed(id, "Snappy is not available (feature `snappy` is off)"))
}
