//! Error stacks (`H5E*`).

use crate::error::stack;

/// Prints the records of the thread's stack to the standard error.
pub fn print_to_stderr() {
    let _ = stack::copy();
}
