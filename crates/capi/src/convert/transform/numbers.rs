//! The numbers of this machine, in the arithmetic of C.

#![expect(clippy::disallowed_methods, reason = "the bytes are in the program's memory, not in a file")]

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

/// Implements [`Number`] for an integer type. `$exact` converts an integer to a floating-point
/// number, and `$through` converts a floating-point number to the bytes of an integer of 64 bits.
macro_rules! integers {
    ($($type:ty, $size:literal, $exact:expr, $through:ident;)*) => {$(
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
                let exact: fn(Self) -> f64 = $exact;
                exact(self)
            }

            fn of(number: f64) -> Self {
                Self::from_le_bytes(low($through(number)))
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
    i8, 1, f64::from, to_i32; u8, 1, f64::from, to_i32; i16, 2, f64::from, to_i32;
    u16, 2, f64::from, to_i32; i32, 4, f64::from, to_i32; u32, 4, f64::from, to_i64;
    i64, 8, of_i64, to_i64; u64, 8, of_u64, to_u64;
}

/// Implements [`Number`] for a floating-point type. `$round` converts a number of 64 bits.
macro_rules! floats {
    ($($type:ty, $size:literal, $round:expr;)*) => {$(
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

            fn of(number: f64) -> Self {
                let round: fn(f64) -> Self = $round;
                round(number)
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

floats! { f32, 4, to_f32; f64, 8, std::convert::identity; }

/// Returns the lowest `SIZE` bytes of an integer.
fn low<const SIZE: usize>(bytes: [u8; 8]) -> [u8; SIZE] {
    let mut low = [0; SIZE];
    low.iter_mut().zip(bytes).for_each(|(low, byte)| *low = byte);
    low
}

/// Rounds a number to 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "C rounds to `float` too")]
fn to_f32(number: f64) -> f32 {
    number as f32
}

/// Converts an integer to a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "the C library computes with `double` too")]
fn of_i64(number: i64) -> f64 {
    number as f64
}

/// Converts an integer without a sign to a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "the C library computes with `double` too")]
fn of_u64(number: u64) -> f64 {
    number as f64
}

/// Converts a number to 32 bits. Numbers out of range become the least number.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn to_i32(number: f64) -> [u8; 8] {
    let cut = number.trunc();
    let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&cut);
    let integer = if fits { cut as i32 } else { i32::MIN };
    i64::from(integer).to_le_bytes()
}

/// Converts a number to 64 bits. Numbers out of range become the least number.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn to_i64(number: f64) -> [u8; 8] {
    let limit = -of_i64(i64::MIN); // A power of two, so the conversion is exact.
    let integer = if (-limit..limit).contains(&number) { number as i64 } else { i64::MIN };
    integer.to_le_bytes()
}

/// Converts a number to 64 bits without a sign. Negative numbers wrap.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "C cuts the number too")]
fn to_u64(number: f64) -> [u8; 8] {
    if number < 0.0 { to_i64(number) } else { (number as u64).to_le_bytes() }
}
