//! Checked sums of sizes and addresses that a file states.
//!
//! A corrupt file can state sizes whose sum exceeds 64 bits. The results then stay at the largest
//! number: a count that no file has, and an end beyond every file. The checks that use the results
//! report the sizes.

/// Adds `more` to the total `sum` of bytes or blocks. On overflow, the total is the largest number
/// of its type.
pub(crate) fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// Returns the end of a range of `length` bytes that begins at `start`. On overflow, returns the
/// largest number of the type.
pub(crate) fn end_of(start: u64, length: u64) -> u64 {
    start.saturating_add(length)
}

/// Returns the start of item number `number` in a sequence of items of `size` units each. On
/// overflow, returns the largest number of the type.
pub(crate) fn start_of(number: u64, size: u64) -> u64 {
    number.saturating_mul(size)
}

/// Returns the product of all sizes in `sizes`. On overflow, returns the largest number of the
/// type.
pub(crate) fn product(sizes: impl IntoIterator<Item = u64>) -> u64 {
    sizes.into_iter().fold(1, u64::saturating_mul)
}
