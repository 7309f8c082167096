//! The size of elements in memory.

use crate::error::{Error, Result};

/// Returns the bytes of `elements` elements.
///
/// # Errors
/// [`Error::Limit`] if so many bytes cannot be in memory.
pub(crate) fn byte_count(elements: u64, element_size: usize, what: &'static str) -> Result<usize> {
    let bytes = elements.checked_mul(element_size as u64).and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| Error::Limit { what: format!("{what}: bytes"), got: u64::MAX, limit: u64::MAX })
}
