//! In place of a decoder of Zstandard, where the features are off.

use crate::{FilterError, FilterId, Result};

/// Nothing.
#[derive(Debug, Default)]
pub(crate) struct State {}

/// Not there.
pub(crate) fn decode(
    id: FilterId,
    _state: &mut State,
    _input: &[u8],
    _output: &mut [u8],
) -> Result<Option<usize>> {
    let what = "Zstandard (features `ruzstd` and `zstd` are off)".to_owned();
    Err(FilterError::Unsupported { id, what })
}
