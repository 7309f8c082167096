//! The exact values of an SZ stream: values that could not be predicted, truncated to their
//! significant bits.
//!
//! Each value consists of leading bytes that it shares with the preceding value, whole bytes of its
//! own, and a few more bits.

use std::marker::PhantomData;

use crate::Result;

use super::corrupt;
use super::real::Real;

/// A reader of the exact values of an SZ stream. The encoder stored these values exactly because it
/// could not predict them.
#[derive(Debug)]
pub(super) struct Exact<'a, T> {
    /// The number of bytes that each value shares with the preceding value, in two bits per value.
    shared: &'a [u8],
    count: usize,
    /// The bytes of all values that are not shared with the preceding value.
    bytes: &'a [u8],
    /// The additional bits of all values.
    bits: &'a [u8],
    /// The number of whole bytes of a value.
    whole: usize,
    /// The number of bits after the whole bytes.
    part: usize,
    at: usize,
    last: [u8; 8],
    of: PhantomData<T>,
}

impl<'a, T: Real> Exact<'a, T> {
    /// Creates a reader of exact values from the three arrays of an SZ stream. `count` is the
    /// number of values, and `length` is the number of bits of a value.
    pub(super) fn new(
        length: u8,
        count: usize,
        shared: &'a [u8],
        bytes: &'a [u8],
        bits: &'a [u8],
    ) -> Result<Self> {
        let length = usize::from(length);
        if length > 8 * T::SIZE {
            return Err(corrupt("the number of bits of an exact value exceeds the value size"));
        }
        let (whole, part) = (length / 8, length % 8);
        Ok(Self { shared, count, bytes, bits, whole, part, at: 0, last: [0; 8], of: PhantomData })
    }

    /// Reads the next exact value of an SZ stream. The encoder could not predict exact values.
    pub(super) fn next(&mut self) -> Result<T> {
        let truncated = || corrupt("the exact values are truncated");
        let shared = self.shared.get(self.at / 4).filter(|_| self.at < self.count).ok_or_else(truncated)?;
        let shared = usize::from(shared >> (6 - 2 * (self.at % 4)) & 3);
        let own = self.whole.saturating_sub(shared);
        let (own, rest) = self.bytes.split_at_checked(own).ok_or_else(truncated)?;
        self.bytes = rest;
        let part = if self.part == 0 { None } else { Some(self.part(self.at).ok_or_else(truncated)?) };
        let mut value = [0; 8];
        let from = self.last.iter().take(shared).chain(own);
        value.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        if let (Some(to), Some(part)) = (value.get_mut(self.whole), part) {
            *to = part;
        }
        self.at += 1;
        self.last = value;
        T::from_be(&value).ok_or_else(truncated)
    }

    /// Returns the bits of an exact SZ value that are only a part of a byte. They follow the whole
    /// bytes of the value. The result has them as its highest bits.
    fn part(&self, at: usize) -> Option<u8> {
        let position = at.checked_mul(self.part)?;
        let first = *self.bits.get(position / 8)?;
        let second = self.bits.get(position / 8 + 1).copied().unwrap_or(0);
        let [byte, _] = (u16::from_be_bytes([first, second]) << (position % 8)).to_be_bytes();
        Some(byte & u8::MAX << (8 - self.part))
    }
}
