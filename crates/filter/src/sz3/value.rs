//! The value types of SZ3 and the arithmetic of predictions. The arithmetic follows C: integers of
//! fewer than 4 bytes are promoted to 4 bytes, and all integers wrap around.

/// A type of values that SZ3 chunks store.
pub(super) trait Value: Copy + Default {
    /// The wider type in which predictions of SZ3 values of this type are computed.
    type Wide: Wide;
    /// Size of a value of an SZ3 chunk in bytes.
    const SIZE: usize;
    /// Reads a value of an SZ3 chunk from its little-endian bytes.
    fn read(bytes: &[u8]) -> Option<Self>;
    fn append(self, output: &mut Vec<u8>);
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
    fn real(self) -> f64;
    /// Converts a floating-point number to a value of an SZ3 chunk; integer types truncate.
    fn from_real(real: f64) -> Self;
}

/// A type in which SZ3 predictions are computed.
pub(super) trait Wide: Copy + Default {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, factor: i8) -> Self;
    fn over(self, divisor: i8) -> Self;
}

/// Converts an integer to this type by keeping its low bytes.
macro_rules! lowest {
    ($wide:expr) => {
        $wide.to_le_bytes().first_chunk().map_or(0, |bytes| Self::from_le_bytes(*bytes))
    };
}

macro_rules! wide_integer {
    ($($type:ident)*) => {$(
        impl Wide for $type {
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline]
            fn times(self, factor: i8) -> Self {
                self.wrapping_mul(lowest!(i64::from(factor)))
            }

            #[inline]
            fn over(self, divisor: i8) -> Self {
                self.checked_div(lowest!(i64::from(divisor))).unwrap_or(0)
            }
        }
    )*};
}
wide_integer!(i32 u32 i64 u64);

macro_rules! wide_real {
    ($($type:ident)*) => {$(
        impl Wide for $type {
            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self - other
            }

            #[inline]
            fn times(self, factor: i8) -> Self {
                self * Self::from(factor)
            }

            #[inline]
            fn over(self, divisor: i8) -> Self {
                self / Self::from(divisor)
            }
        }
    )*};
}
wide_real!(f32 f64);

/// Truncates to `i32`; numbers out of range become the smallest integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked, and the fraction is meant to be dropped"
)]
fn truncate_to_i32(real: f64) -> i32 {
    if real > -2_147_483_649.0 && real < 2_147_483_648.0 { real as i32 } else { i32::MIN }
}

/// Truncates to `i64`; numbers out of range become the smallest integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked, and the fraction is meant to be dropped"
)]
fn truncate_to_i64(real: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&real) {
        real as i64
    } else {
        i64::MIN
    }
}

/// Truncates an SZ3 prediction to `u64`. Negative numbers wrap around.
fn truncate_to_u64(real: f64) -> u64 {
    if real >= 9_223_372_036_854_775_808.0 {
        truncate_to_i64(real - 9_223_372_036_854_775_808.0).cast_unsigned() ^ 1 << 63
    } else {
        truncate_to_i64(real).cast_unsigned()
    }
}

/// Rounds an SZ3 prediction to the nearest `f32`.
#[expect(clippy::cast_possible_truncation, reason = "the value is rounded to the nearest number")]
fn round_to_f32(real: f64) -> f32 {
    real as f32
}

/// Implements the methods that are the same for all value types.
macro_rules! common {
    ($wide:ident) => {
        type Wide = $wide;
        const SIZE: usize = size_of::<Self>();

        #[inline]
        fn read(bytes: &[u8]) -> Option<Self> {
            bytes.first_chunk().map(|bytes| Self::from_le_bytes(*bytes))
        }

        #[inline]
        fn append(self, output: &mut Vec<u8>) {
            output.extend_from_slice(&self.to_le_bytes());
        }

        #[inline]
        fn widen(self) -> $wide {
            self as $wide
        }

        #[inline]
        fn real(self) -> f64 {
            self as f64
        }
    };
}

macro_rules! real {
    ($($type:ident, $from_real:expr;)*) => {$(
        impl Value for $type {
            common!($type);

            #[inline]
            fn narrow(wide: $type) -> Self {
                wide
            }

            #[inline]
            fn from_real(real: f64) -> Self {
                $from_real(real)
            }
        }
    )*};
}
real! {
    f32, round_to_f32;
    f64, std::convert::identity;
}

macro_rules! integer {
    ($($type:ident in $wide:ident, $truncate:expr;)*) => {$(
        impl Value for $type {
            common!($wide);

            #[inline]
            fn narrow(wide: $wide) -> Self {
                lowest!(wide)
            }

            #[inline]
            fn from_real(real: f64) -> Self {
                lowest!($truncate(real))
            }
        }
    )*};
}
integer! {
    i8 in i32, truncate_to_i32;
    u8 in i32, truncate_to_i32;
    i16 in i32, truncate_to_i32;
    u16 in i32, truncate_to_i32;
    i32 in i32, truncate_to_i32;
    u32 in u32, truncate_to_i64;
    i64 in i64, truncate_to_i64;
    u64 in u64, truncate_to_u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_cut_as_processors_do() {
        assert_eq!([-1.9, 1.9, 127.9, 128.0, 1e10].map(i8::from_real), [-1, 1, 127, -128, 0]);
        assert_eq!([-1.9, 300.0].map(u8::from_real), [255, 44]);
        assert_eq!([-2.5e9, 2.5e9, f64::NAN].map(i32::from_real), [i32::MIN; 3]);
        assert_eq!([-1.0, 2.5e9, 1e30].map(u32::from_real), [u32::MAX, 2_500_000_000, 0]);
        assert_eq!([-1.0, 1e19, 1e30].map(u64::from_real), [u64::MAX, 10_000_000_000_000_000_000, 0]);
        assert_eq!(i64::from_real(1e19), i64::MIN);
    }

    #[test]
    fn integers_are_computed_as_in_c() {
        // Small integers are computed in 4 bytes, of which the low ones are kept.
        assert_eq!(u8::narrow(200_u8.widen().times(3).minus(250_u8.widen()).over(2)), 175);
        assert_eq!(i8::narrow((-7_i8).widen().over(2)), -3);
        assert_eq!(7_u32.times(-1).over(2), (u32::MAX - 6) / 2);
        assert_eq!(i32::MAX.plus(1), i32::MIN);
    }
}
