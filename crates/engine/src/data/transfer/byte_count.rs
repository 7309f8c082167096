//! The size in bytes of a number of elements in memory.

use hyperslab_exact::{TooLarge, to_u64, to_usize};

use crate::error::{Error, Result};

/// Returns the total size in bytes of `elements` elements of `element_size` bytes. Returns an error
/// if the size is too large.
///
/// # Errors
/// Returns [`Error::Limit`] if memory cannot hold this many bytes.
pub(crate) fn byte_count(elements: u64, element_size: usize, subject: &'static str) -> Result<usize> {
    let bytes = elements.checked_mul(to_u64(element_size)).and_then(|bytes| to_usize(bytes).ok());
    bytes.ok_or_else(|| Error::Limit {
        subject: format!("{subject}: number of elements"),
        got: elements,
        limit: TooLarge::LIMIT / to_u64(element_size).max(1),
    })
}
