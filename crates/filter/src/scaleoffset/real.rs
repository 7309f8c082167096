//! Floating-point numbers as scaleoffset computes with them: in their own precision, so that results equal those
//! of libhdf5.

/// `f32` or `f64`.
pub(super) trait Real: Copy + PartialOrd {
    /// The number of these bits.
    fn from_bits(bits: u64) -> Self;
    /// Its bits.
    fn to_bits(self) -> u64;
    /// `10 ** digits`.
    fn power_of_ten(digits: i32) -> Self;
    /// How far apart two numbers are.
    fn distance(self, other: Self) -> Self;
    /// `value * scale - minimum * scale`.
    fn scaled(value: Self, minimum: Self, scale: Self) -> Self;
    /// The nearest integer, halves away from 0; [`None`] if it is negative, too large, or not a number.
    fn rounded(self) -> Option<u64>;
    /// `minimum + distance / scale`.
    fn restored(minimum: Self, distance: u64, scale: Self) -> Self;
}

macro_rules! real {
    ($real:ty, $bits:ty) => {
        impl Real for $real {
            fn from_bits(bits: u64) -> Self {
                Self::from_bits(<$bits>::try_from(bits & u64::from(<$bits>::MAX)).unwrap_or(0))
            }

            fn to_bits(self) -> u64 {
                u64::from(Self::to_bits(self))
            }

            fn power_of_ten(digits: i32) -> Self {
                (10.0 as $real).powf(digits as $real)
            }

            fn distance(self, other: Self) -> Self {
                (self - other).abs()
            }

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

            fn restored(minimum: Self, distance: u64, scale: Self) -> Self {
                distance as $real / scale + minimum
            }
        }
    };
}

real!(f32, u32);
real!(f64, u64);

/// Turns distances from the number whose bits are `minimum` into the bits of numbers.
pub(super) fn restore<T: Real>(digits: i32, minimum: u64) -> impl Fn(u64) -> u64 {
    let (scale, minimum) = (T::power_of_ten(digits), T::from_bits(minimum));
    move |distance| T::restored(minimum, distance, scale).to_bits()
}
