//! The numbers of this machine, in the arithmetic of C.

use super::Operator;

/// A number of this machine with `SIZE` bytes.
pub(super) trait Number<const SIZE: usize>: Copy {
    /// Returns the number that memory holds.
    fn from_memory(bytes: [u8; SIZE]) -> Self;

    /// Returns the bytes of the number in memory.
    fn to_memory(self) -> [u8; SIZE];

    /// Returns the number as a 64-bit floating-point number.
    fn number(self) -> f64;

    /// Converts a floating-point number. The fraction is cut. Numbers out of range become the
    /// numbers that x86-64 processors give C programs.
    fn of(number: f64) -> Self;

    /// Returns the result of an operator for two numbers, wrapped to the range of the type. Returns
    /// `None` for an integer division by zero.
    fn with(self, operator: Operator, right: Self) -> Option<Self>;
}

/// Implements [`Number`] for an integer type. `$through` is the type to which a processor converts a
/// floating-point number first.
macro_rules! integers {
    ($($type:ty, $size:literal, $through:ident;)*) => {$(
        impl Number<$size> for $type {
            #[expect(clippy::host_endian_bytes, reason = "the bytes are in the program's memory")]
            fn from_memory(bytes: [u8; $size]) -> Self {
                Self::from_ne_bytes(bytes)
            }

            #[expect(clippy::host_endian_bytes, reason = "the bytes are in the program's memory")]
            fn to_memory(self) -> [u8; $size] {
                self.to_ne_bytes()
            }

            #[allow(clippy::cast_precision_loss, clippy::cast_lossless, reason = "one line for all integers")]
            fn number(self) -> f64 {
                self as f64
            }

            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_possible_wrap,
                clippy::unnecessary_cast,
                reason = "C cuts the number in the same way"
            )]
            fn of(number: f64) -> Self {
                $through(number) as Self
            }

            fn with(self, operator: Operator, right: Self) -> Option<Self> {
                match operator {
                    Operator::Add => Some(self.wrapping_add(right)),
                    Operator::Subtract => Some(self.wrapping_sub(right)),
                    Operator::Multiply => Some(self.wrapping_mul(right)),
                    Operator::Divide if right == 0 => None,
                    Operator::Divide => Some(self.wrapping_div(right)),
                }
            }
        }
    )*};
}

integers! {
    i8, 1, to_i32; u8, 1, to_i32; i16, 2, to_i32; u16, 2, to_i32; i32, 4, to_i32; u32, 4, to_i64; i64, 8, to_i64;
    u64, 8, to_u64;
}

/// Implements [`Number`] for a floating-point type.
macro_rules! floats {
    ($($type:ty, $size:literal;)*) => {$(
        impl Number<$size> for $type {
            #[expect(clippy::host_endian_bytes, reason = "the bytes are in the program's memory")]
            fn from_memory(bytes: [u8; $size]) -> Self {
                Self::from_ne_bytes(bytes)
            }

            #[expect(clippy::host_endian_bytes, reason = "the bytes are in the program's memory")]
            fn to_memory(self) -> [u8; $size] {
                self.to_ne_bytes()
            }

            fn number(self) -> f64 {
                self.into()
            }

            #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "C rounds to `float` too")]
            fn of(number: f64) -> Self {
                number as Self
            }

            fn with(self, operator: Operator, right: Self) -> Option<Self> {
                Some(match operator {
                    Operator::Add => self + right,
                    Operator::Subtract => self - right,
                    Operator::Multiply => self * right,
                    Operator::Divide => self / right,
                })
            }
        }
    )*};
}

floats! { f32, 4; f64, 8; }

/// Converts a number to 32 bits. Numbers out of range become the least number.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn to_i32(number: f64) -> i32 {
    let cut = number.trunc();
    if (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&cut) { cut as i32 } else { i32::MIN }
}

/// Converts a number to 64 bits. Numbers out of range become the least number.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn to_i64(number: f64) -> i64 {
    let limit = -(i64::MIN as f64); // A power of two, so the conversion is exact.
    if (-limit..limit).contains(&number) { number as i64 } else { i64::MIN }
}

/// Converts a number to 64 bits without a sign. Negative numbers wrap.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "C cuts the number in the same way"
)]
fn to_u64(number: f64) -> u64 {
    if number < 0.0 { to_i64(number) as u64 } else { number as u64 }
}
