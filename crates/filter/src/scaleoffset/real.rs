//! Arithmetic of scaleoffset with floating-point numbers. It uses the precision of the elements, so
//! that results equal those of libhdf5.

use crate::bits::bulk::Word;

/// A floating-point type that the scaleoffset filter encodes: `f32` or `f64`.
pub(super) trait Real: Copy + PartialOrd {
    /// The unsigned integer type of the same size as a floating-point type of the scaleoffset
    /// filter.
    type Bits: Word<Row = Self::Bits>;
    /// Returns the floating-point number with the bits `bits`, for the scaleoffset filter.
    fn from_bits(bits: Self::Bits) -> Self;
    /// Returns the bits of a floating-point number, for the scaleoffset filter.
    fn to_bits(self) -> Self::Bits;
    /// Computes `10 ** digits`, the factor by which the scaleoffset filter scales floating-point
    /// numbers.
    fn power_of_ten(digits: i32) -> Self;
    /// Computes the absolute difference of two floating-point numbers of the scaleoffset filter.
    fn distance(self, other: Self) -> Self;
    /// Computes the scaled distance of a floating-point number from the minimum, for the
    /// scaleoffset filter: `value * scale - minimum * scale`.
    fn scaled(value: Self, minimum: Self, scale: Self) -> Self;
    /// Rounds a distance of the scaleoffset filter to the nearest integer, halves away from 0.
    /// Returns [`None`] if the result is negative or too large, or if the number is NaN.
    fn rounded(self) -> Option<u64>;
    /// Rounds a distance of the scaleoffset filter below `2 ** 31` to the nearest integer, halves
    /// away from 0. Negative numbers and NaN become 0.
    fn nearest_small(self) -> u32;
    /// Converts an integer distance of the scaleoffset filter below `2 ** 31` to the nearest
    /// floating-point number.
    fn from_small(integer: u32) -> Self;
    /// Converts an integer distance of the scaleoffset filter to the nearest floating-point number.
    fn from_wide(integer: u64) -> Self;
    /// Restores a floating-point number that the scaleoffset filter encoded: `minimum + distance /
    /// scale`.
    fn restored(minimum: Self, distance: Self, scale: Self) -> Self;
}

macro_rules! real {
    ($real:ty, $bits:ty) => {
        impl Real for $real {
            type Bits = $bits;

            #[inline]
            fn from_bits(bits: $bits) -> Self {
                Self::from_bits(bits)
            }

            #[inline]
            fn to_bits(self) -> $bits {
                Self::to_bits(self)
            }

            fn power_of_ten(digits: i32) -> Self {
                (10.0 as $real).powf(digits as $real)
            }

            #[inline]
            fn distance(self, other: Self) -> Self {
                (self - other).abs()
            }

            #[inline]
            fn scaled(value: Self, minimum: Self, scale: Self) -> Self {
                value * scale - minimum * scale
            }

            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the range is checked"
            )]
            fn rounded(self) -> Option<u64> {
                (self > -0.5 && self <= 9_223_372_036_854_775_808.0).then(|| self.round() as u64)
            }

            #[inline]
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the conversion truncates, and NaN becomes 0"
            )]
            fn nearest_small(self) -> u32 {
                // The compiler vectorises this code to two instructions. `round` would be a
                // function call for each number.
                let whole = self as i32;
                let up = self - whole as $real >= 0.5;
                whole.saturating_add(i32::from(up)).max(0).cast_unsigned()
            }

            #[inline]
            fn from_small(integer: u32) -> Self {
                integer.cast_signed() as $real
            }

            #[inline]
            fn from_wide(integer: u64) -> Self {
                integer as $real
            }

            #[inline]
            fn restored(minimum: Self, distance: Self, scale: Self) -> Self {
                distance / scale + minimum
            }
        }
    };
}

real!(f32, u32);
real!(f64, u64);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn halves_round_away_from_zero() {
        let numbers = [0.0, -0.0, 0.49, 0.5, 1.49, 1.5, 2.5, 8_388_607.5, 8_388_609.0, -0.4, -7.0, f32::NAN];
        let nearest = numbers.map(Real::nearest_small);
        assert_eq!(nearest, [0, 0, 0, 1, 1, 2, 3, 8_388_608, 8_388_609, 0, 0, 0]);
        assert_eq!(Real::nearest_small(0.499_999_999_999_999_94_f64), 0);
        assert_eq!(Real::nearest_small(2_147_483_646.5_f64), 2_147_483_647);
    }

    proptest! {
        #[test]
        fn nearest_is_rounded(small in 0.0..4.0_f32, large in 0.0..2_147_483_000.0_f64, half in 0..1_000_000_u32) {
            prop_assert_eq!(Some(u64::from(small.nearest_small())), Real::rounded(small));
            prop_assert_eq!(Some(u64::from(large.nearest_small())), Real::rounded(large));
            let half = f64::from(half) + 0.5;
            prop_assert_eq!(Some(u64::from(half.nearest_small())), Real::rounded(half));
        }
    }
}
