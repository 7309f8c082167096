//! Values of SZ3, and the arithmetic in which they are predicted: that of C, where integers of fewer than 4 bytes
//! are computed in 4, and all of them wrap.

/// A value as it is stored.
pub(super) trait Value: Copy + Default {
    /// What it is computed in.
    type Wide: Wide;
    /// Bytes of a value.
    const SIZE: usize;
    /// From its little-endian bytes.
    fn read(bytes: &[u8]) -> Option<Self>;
    fn append(self, output: &mut Vec<u8>);
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
    fn real(self) -> f64;
    /// Cut to an integer where it must be one.
    fn from_real(real: f64) -> Self;
}

/// What values are computed in.
pub(super) trait Wide: Copy + Default {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, factor: i8) -> Self;
    fn over(self, divisor: i8) -> Self;
}

/// The lowest bytes of an integer, as one of this type.
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

/// Cut to an integer of 4 bytes; the smallest one where it does not fit.
#[expect(clippy::cast_possible_truncation, reason = "it is meant to be cut, and fits")]
fn cut_to_4(real: f64) -> i32 {
    if real > -2_147_483_649.0 && real < 2_147_483_648.0 { real as i32 } else { i32::MIN }
}

/// Cut to an integer of 8 bytes; the smallest one where it does not fit.
#[expect(clippy::cast_possible_truncation, reason = "it is meant to be cut, and fits")]
fn cut_to_8(real: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&real) {
        real as i64
    } else {
        i64::MIN
    }
}

/// The same for integers that are not negative: those that are wrap.
fn cut_to_unsigned_8(real: f64) -> u64 {
    if real >= 9_223_372_036_854_775_808.0 {
        cut_to_8(real - 9_223_372_036_854_775_808.0).cast_unsigned() ^ 1 << 63
    } else {
        cut_to_8(real).cast_unsigned()
    }
}

/// Rounded to the nearest.
#[expect(clippy::cast_possible_truncation, reason = "it is to be rounded to the nearest")]
fn single(real: f64) -> f32 {
    real as f32
}

/// What is the same for all values.
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
    f32, single;
    f64, std::convert::identity;
}

macro_rules! integer {
    ($($type:ident in $wide:ident, $cut:expr;)*) => {$(
        impl Value for $type {
            common!($wide);

            #[inline]
            fn narrow(wide: $wide) -> Self {
                lowest!(wide)
            }

            #[inline]
            fn from_real(real: f64) -> Self {
                lowest!($cut(real))
            }
        }
    )*};
}
integer! {
    i8 in i32, cut_to_4;
    u8 in i32, cut_to_4;
    i16 in i32, cut_to_4;
    u16 in i32, cut_to_4;
    i32 in i32, cut_to_4;
    u32 in u32, cut_to_8;
    i64 in i64, cut_to_8;
    u64 in u64, cut_to_unsigned_8;
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
        // Small ones in four bytes, of which the lowest are kept.
        assert_eq!(u8::narrow(200_u8.widen().times(3).minus(250_u8.widen()).over(2)), 175);
        assert_eq!(i8::narrow((-7_i8).widen().over(2)), -3);
        assert_eq!(7_u32.times(-1).over(2), (u32::MAX - 6) / 2);
        assert_eq!(i32::MAX.plus(1), i32::MIN);
    }
}
