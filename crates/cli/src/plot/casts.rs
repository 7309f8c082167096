//! Numbers of plots: casts between floating-point numbers and integers, and the division of a range
//! into equal parts.

use hyperslab_exact::to_u64;

/// Converts an unsigned integer to floating point for a plot. Large numbers are rounded, because
/// plots need fewer digits.
#[expect(clippy::cast_precision_loss, reason = "what is drawn has fewer digits")]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

/// Converts a signed integer to floating point for a plot. Numbers of more than 53 bits are
/// rounded.
#[expect(clippy::cast_precision_loss, reason = "dates have fewer digits")]
pub(super) fn signed(number: i64) -> f64 {
    number as f64
}

/// Rounds a number to the nearest integer. If the integer is out of the range of the type, returns
/// the nearer end of the range.
#[expect(clippy::cast_possible_truncation, reason = "the cast clamps")]
pub(super) fn nearest(number: f64) -> i64 {
    number.round() as i64
}

/// Rounds a number to an index or a number of digits. NaN and negative numbers become 0; too large
/// numbers become the largest number of the type.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast clamps")]
pub(super) fn whole(number: f64) -> usize {
    number.round() as usize
}

/// Rounds a number to a pixel coordinate. If the coordinate is out of the range of the type,
/// returns the nearer end of the range.
#[cfg(feature = "plots")]
#[expect(clippy::cast_possible_truncation, reason = "the cast clamps")]
pub(super) fn pixel(number: f64) -> i32 {
    number.round() as i32
}

/// Rounds a colour component to a byte. A number out of the range becomes 0 or 255.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast clamps")]
pub(super) fn byte(number: f64) -> u8 {
    number.round() as u8
}

/// Divides `0..all` into `parts` equal parts, and returns the number of the part that contains the
/// position `at`. Larger positions belong to the last part.
pub(super) fn part(at: u64, all: u64, parts: usize) -> usize {
    let last = parts.max(1) - 1;
    // Both factors have 64 bits, so that the product fits.
    let scaled = (u128::from(at) * u128::from(to_u64(parts))).checked_div(u128::from(all)).unwrap_or(0);
    usize::try_from(scaled).map_or(last, |part| part.min(last))
}

/// Divides `0..all` into `parts` equal parts, and returns the first position of the part `number`.
/// Returns `all` if the number is too large.
pub(super) fn start_of(number: usize, all: u64, parts: usize) -> u64 {
    let product = u128::from(to_u64(number)) * u128::from(all);
    u64::try_from(product.div_ceil(u128::from(to_u64(parts.max(1))))).map_or(all, |start| start.min(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other() {
        for (all, parts) in [(10, 3), (1000, 7), (5, 5), (u64::MAX, 100)] {
            for number in 0..parts {
                let start = start_of(number, all, parts);
                assert_eq!(part(start, all, parts), number, "{all} {parts}");
                assert!(start == 0 || part(start - 1, all, parts) == number - 1, "{all} {parts}");
            }
        }
        assert_eq!(part(0, 0, 5), 0);
    }
}
