//! The length of a text as a return value of C functions.

use crate::error::{Failure, Outcome};

/// Returns the length of a text in the integer type that C functions return, not counting the zero
/// byte.
///
/// # Errors
/// Fails if the length does not fit in the return type.
pub fn length(text: &[u8]) -> Outcome<isize> {
    isize::try_from(text.len()).map_err(|_| Failure::bad_value("the text is too long"))
}
