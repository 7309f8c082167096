//! In place of Snappy, where the feature is off.

use crate::{FilterError, FilterId, Result};

/// Not there.
pub(crate) fn decode(id: FilterId, _input: &[u8], _output: &mut [u8]) -> Result<()> {
    Err(FilterError::Unsupported { id, what: "Snappy (feature `snappy` is off)".to_owned() })
}

/// Not there.
pub(crate) fn encode(id: FilterId, _input: &[u8], _output: &mut Vec<u8>) -> Result<()> {
    Err(FilterError::failed(id, "Snappy is not there (feature `snappy` is off)"))
}
