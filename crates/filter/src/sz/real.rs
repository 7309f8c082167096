//! The floating-point types of SZ values: `f32` and `f64`.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A floating-point type of the values of an SZ stream. All results are rounded to the precision of
/// the type.
pub(super) trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Size of a floating-point SZ value in bytes.
    const SIZE: usize;

    fn from_be(bytes: &[u8]) -> Option<Self>;
    fn from_le(bytes: &[u8]) -> Option<Self>;
    fn put(self, output: &mut Vec<u8>);
    fn abs(self) -> Self;
    /// Converts an integer to a floating-point SZ value, rounded to the nearest number.
    fn of(whole: i64) -> Self;
    fn wide(self) -> f64;
    /// Converts an `f64` to a floating-point SZ value, rounded to the nearest number.
    fn narrow(wide: f64) -> Self;
}

impl Real for f32 {
    const SIZE: usize = 4;

    fn from_be(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(|bytes| Self::from_be_bytes(*bytes))
    }

    fn from_le(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(|bytes| Self::from_le_bytes(*bytes))
    }

    fn put(self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.to_le_bytes());
    }

    fn abs(self) -> Self {
        Self::abs(self)
    }

    fn of(whole: i64) -> Self {
        whole as Self
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the value is rounded to the nearest number")]
    fn narrow(wide: f64) -> Self {
        wide as Self
    }
}

impl Real for f64 {
    const SIZE: usize = 8;

    fn from_be(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(|bytes| Self::from_be_bytes(*bytes))
    }

    fn from_le(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(|bytes| Self::from_le_bytes(*bytes))
    }

    fn put(self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.to_le_bytes());
    }

    fn abs(self) -> Self {
        Self::abs(self)
    }

    fn of(whole: i64) -> Self {
        whole as Self
    }

    fn wide(self) -> f64 {
        self
    }

    fn narrow(wide: f64) -> Self {
        wide
    }
}
