//! Fast repeated divisions of offsets by the sizes of a box of elements.

use crate::Dims;

/// A divisor with precomputed values for fast division of the offsets of elements.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Divisor {
    by: u64,
    /// 2^64 divided by `by`, rounded up. For numbers below 2^32 the rounding does not change the
    /// quotient. 0 if the numbers may be larger; `divide` then uses a division.
    reciprocal: u64,
}

impl Divisor {
    /// Creates a divisor for fast division of offsets of elements. `by` is the divisor, and all
    /// offsets are below `total`.
    pub(super) fn new(by: u64, total: u64) -> Self {
        let by = by.max(1);
        let exact = by > 1 && super::store::fits_offsets32(total);
        Self { by, reciprocal: if exact { u64::MAX / by + 1 } else { 0 } }
    }

    /// Divides the offset of an element by the precomputed divisor. Returns the quotient and the
    /// remainder.
    #[inline]
    pub(super) fn divide(self, number: u64) -> (u64, u64) {
        let quotient = if self.reciprocal == 0 {
            number / self.by
        } else {
            ((u128::from(number) * u128::from(self.reciprocal)) >> 64) as u64
        };
        (quotient, number - quotient * self.by)
    }
}

/// A converter from offsets of elements in a box, in C order, to coordinates.
#[derive(Debug)]
pub(super) struct Unravel<const R: usize> {
    divisors: [Divisor; R],
}

impl<const R: usize> Unravel<R> {
    /// Creates a converter from offsets to coordinates, for a box of elements of the rank `R`.
    pub(super) fn new(dims: &[u64], total: u64) -> Self {
        let mut divisors = [Divisor::default(); R];
        divisors.iter_mut().zip(dims).for_each(|(to, size)| *to = Divisor::new(*size, total));
        Self { divisors }
    }

    /// Returns the coordinates, in a box of elements, of the element at the offset `offset`.
    #[inline]
    pub(super) fn coordinates(&self, offset: u64) -> [u64; R] {
        let mut coordinates = [0; R];
        let mut rest = offset;
        for (at, divisor) in coordinates.iter_mut().zip(&self.divisors).skip(1).rev() {
            (rest, *at) = divisor.divide(rest);
        }
        if let Some(first) = coordinates.first_mut() {
            *first = rest;
        }
        coordinates
    }
}

/// Returns the coordinates of the element at the offset `offset` in a box of the shape `dims`, for
/// any rank.
pub(super) fn unravel(dims: &[u64], offset: u64) -> Dims {
    let mut coordinates = Dims::from_elem(0, dims.len());
    let mut rest = offset;
    for (at, size) in coordinates.iter_mut().zip(dims).rev() {
        (rest, *at) = (rest / (*size).max(1), rest % (*size).max(1));
    }
    coordinates
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quotients(number in any::<u64>(), by in 1..=1_u64 << 32, small in 1..100_u64) {
            let near = number >> 32;
            let edges = [near, near / by * by, (near / by * by).saturating_sub(1), (1 << 32) - 1];
            for by in [by, small, by >> (small % 32)].map(|by| by.max(1)) {
                for number in edges {
                    let expected = (number / by, number % by);
                    prop_assert_eq!(Divisor::new(by, 1 << 32).divide(number), expected);
                }
                prop_assert_eq!(Divisor::new(by, u64::MAX).divide(number), (number / by, number % by));
            }
        }
    }
}
