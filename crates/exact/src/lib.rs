//! Checked conversions and arithmetic for the integers of HDF5 files. The API has no stability
//! promise: programs use the crate `hyperslab`.
//!
//! HDF5 stores sizes, counts and addresses as integers of up to 64 bits. `usize`, which indexes
//! memory, has only 32 bits on some targets. The functions of this crate never change a value: a
//! result that does not fit is an error.
//!
//! ```
//! use hyperslab_exact::{Overflow, TooLarge, product, to_u64, to_usize};
//!
//! /// The error of a decoder.
//! #[derive(Debug, PartialEq)]
//! enum Error {
//!     Limit(u64),
//!     Corrupt(&'static str),
//! }
//!
//! impl From<TooLarge> for Error {
//!     fn from(error: TooLarge) -> Self {
//!         Self::Limit(error.value)
//!     }
//! }
//!
//! impl From<Overflow> for Error {
//!     fn from(error: Overflow) -> Self {
//!         Self::Corrupt(error.subject)
//!     }
//! }
//!
//! fn chunk_bytes(dims: [u64; 2], element: usize) -> Result<usize, Error> {
//!     let elements = product("number of elements", dims)?;
//!     let bytes = product("size of the chunk", [elements, to_u64(element)])?;
//!     Ok(to_usize(bytes)?)
//! }
//!
//! assert_eq!(chunk_bytes([3, 4], 8), Ok(96));
//! assert_eq!(chunk_bytes([u64::MAX, 4], 8), Err(Error::Corrupt("number of elements")));
//! ```
#![no_std]
#![forbid(unsafe_code)]

use core::error;
use core::fmt;

/// The error that a value exceeds the largest `usize` of the target platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TooLarge {
    /// The value that does not fit.
    pub value: u64,
}

impl TooLarge {
    /// The largest value of a `usize` on the target platform, as a `u64`.
    pub const LIMIT: u64 = to_u64(usize::MAX);
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is more than the largest size in memory, {}", self.value, Self::LIMIT)
    }
}

impl error::Error for TooLarge {}

/// The error that a sum or a product does not fit in 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Overflow {
    /// The name of the result, for instance "number of elements".
    pub subject: &'static str,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} does not fit in 64 bits", self.subject)
    }
}

impl error::Error for Overflow {}

/// Converts a length or an index to `usize`. On platforms whose `usize` has 64 bits, the conversion
/// cannot fail and costs nothing.
///
/// ```
/// assert_eq!(hyperslab_exact::to_usize(1 << 20), Ok(1_048_576));
/// ```
///
/// # Errors
/// [`TooLarge`] on targets whose `usize` has less than 64 bits, if `value` does not fit.
#[inline]
pub fn to_usize(value: u64) -> Result<usize, TooLarge> {
    narrow(value)
}

#[inline]
fn narrow<T: TryFrom<u64>>(value: u64) -> Result<T, TooLarge> {
    T::try_from(value).map_err(|_| TooLarge { value })
}

/// Converts a length or an index to `u64`. Never fails: no platform has a `usize` of more than 64
/// bits.
///
/// ```
/// const PAGE: u64 = hyperslab_exact::to_u64(4096);
/// assert_eq!(PAGE, 4096);
/// ```
#[inline]
#[must_use]
pub const fn to_u64(value: usize) -> u64 {
    const { assert!(usize::BITS <= u64::BITS) };
    value as u64
}

/// Returns the sum of `terms`, or an error if the sum does not fit in 64 bits.
///
/// ```
/// use hyperslab_exact::{Overflow, sum};
///
/// assert_eq!(sum("end", [10, 20, 30]), Ok(60));
/// assert_eq!(sum("end", [u64::MAX, 1]), Err(Overflow { subject: "end" }));
/// ```
///
/// # Errors
/// [`Overflow`] with the name `subject`, if the sum does not fit in 64 bits.
#[inline]
pub fn sum(subject: &'static str, terms: impl IntoIterator<Item = u64>) -> Result<u64, Overflow> {
    terms.into_iter().try_fold(0_u64, u64::checked_add).ok_or(Overflow { subject })
}

/// Returns the product of `factors`, or an error if the product does not fit in 64 bits. The
/// product is 0 if any factor is 0, even if the other factors overflow.
///
/// ```
/// use hyperslab_exact::{Overflow, product};
///
/// assert_eq!(product("number of elements", [3, 4, 5]), Ok(60));
/// assert_eq!(product("number of elements", [u64::MAX, 2, 0]), Ok(0));
/// let overflow = Overflow { subject: "number of elements" };
/// assert_eq!(product("number of elements", [u64::MAX, 2]), Err(overflow));
/// ```
///
/// # Errors
/// [`Overflow`] with the name `subject`, if the product does not fit in 64 bits.
#[inline]
pub fn product(subject: &'static str, factors: impl IntoIterator<Item = u64>) -> Result<u64, Overflow> {
    let mut product = Some(1_u64);
    for factor in factors {
        if factor == 0 {
            return Ok(0);
        }
        product = product.and_then(|product| product.checked_mul(factor));
    }
    product.ok_or(Overflow { subject })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_value_that_does_not_fit_is_an_error() {
        assert_eq!(narrow::<u32>(u64::from(u32::MAX)), Ok(u32::MAX));
        assert_eq!(narrow::<u32>(1 << 32), Err(TooLarge { value: 1 << 32 }));
        let message = TooLarge { value: u64::MAX }.to_string();
        assert!(message.starts_with("18446744073709551615 is more than"), "{message}");
    }

    #[test]
    fn every_usize_survives_both_conversions() {
        for value in [0, 1, usize::MAX / 2, usize::MAX] {
            assert_eq!(to_usize(to_u64(value)), Ok(value));
        }
    }

    #[test]
    fn an_overflow_before_a_zero_does_not_count() {
        assert_eq!(product("x", [u64::MAX, u64::MAX, 0]), Ok(0));
        assert_eq!(product("x", []), Ok(1));
        assert_eq!(Overflow { subject: "size" }.to_string(), "the size does not fit in 64 bits");
    }
}
