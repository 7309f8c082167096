//! Lengths of texts that functions return.

use crate::error::{Failure, Outcome};

/// Returns the length of a text as functions return it, without its zero byte.
///
/// # Errors
/// Fails if the text is longer than the result can state; no text is.
pub fn length(text: &[u8]) -> Outcome<isize> {
    isize::try_from(text.len()).map_err(|_| Failure::bad_value("the text is too long"))
}
