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
            #[expect(clippy::allow_attributes, reason = "not all types need them")]
            #[allow(clippy::cast_sign_loss, clippy::cast_lossless, reason = "negative factors wrap")]
            fn times(self, factor: i8) -> Self {
                self.wrapping_mul(factor as Self)
            }

            #[inline]
            #[expect(clippy::allow_attributes, reason = "not all types need them")]
            #[allow(clippy::cast_sign_loss, clippy::cast_lossless, reason = "divisors are positive")]
            fn over(self, divisor: i8) -> Self {
                self.checked_div(divisor as Self).unwrap_or(0)
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

macro_rules! value {
    ($($type:ident in $wide:ident, $from_real:expr;)*) => {$(
        impl Value for $type {
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
            #[expect(clippy::allow_attributes, reason = "not all types need them")]
            #[allow(clippy::cast_lossless, trivial_numeric_casts, reason = "it has room")]
            fn widen(self) -> $wide {
                self as $wide
            }

            #[inline]
            #[expect(clippy::allow_attributes, reason = "not all types need them")]
            #[allow(
                clippy::cast_possible_truncation, clippy::cast_sign_loss, trivial_numeric_casts,
                reason = "it is meant to wrap"
            )]
            fn narrow(wide: $wide) -> Self {
                wide as Self
            }

            #[inline]
            #[expect(clippy::allow_attributes, reason = "not all types need them")]
            #[allow(
                clippy::cast_precision_loss, clippy::cast_lossless, trivial_numeric_casts,
                reason = "it is to be rounded to the nearest"
            )]
            fn real(self) -> f64 {
                self as f64
            }

            #[inline]
            #[expect(clippy::allow_attributes, reason = "not all types need them")]
            #[allow(
                clippy::cast_possible_truncation, clippy::cast_sign_loss, trivial_numeric_casts,
                reason = "integers wrap, and reals are rounded to the nearest"
            )]
            fn from_real(real: f64) -> Self {
                $from_real(real) as Self
            }
        }
    )*};
}
value! {
    f32 in f32, std::convert::identity;
    f64 in f64, std::convert::identity;
    i8 in i32, cut_to_4;
    u8 in i32, cut_to_4;
    i16 in i32, cut_to_4;
    u16 in i32, cut_to_4;
    i32 in i32, cut_to_4;
    u32 in u32, cut_to_8;
    i64 in i64, cut_to_8;
    u64 in u64, cut_to_unsigned_8;
}
