//! Values that could not be predicted, cut to the bits that count.
//!
//! Each is a few leading bytes of the one before it, whole bytes of its own, and some bits more.

use std::marker::PhantomData;

use crate::Result;

use super::corrupt;
use super::real::Real;

/// The values, one after the other.
#[derive(Debug)]
pub(super) struct Exact<'a, T> {
    /// How many bytes each shares with the one before it, in two bits.
    shared: &'a [u8],
    count: usize,
    /// Bytes of all values.
    bytes: &'a [u8],
    /// Bits of all values.
    bits: &'a [u8],
    /// Whole bytes of a value.
    whole: usize,
    /// Bits behind them.
    part: usize,
    at: usize,
    last: [u8; 8],
    of: PhantomData<T>,
}

impl<'a, T: Real> Exact<'a, T> {
    /// `count` values of `length` bits, of which `bytes` and `bits` hold what `shared` leaves.
    pub(super) fn new(
        length: u8,
        count: usize,
        shared: &'a [u8],
        bytes: &'a [u8],
        bits: &'a [u8],
    ) -> Result<Self> {
        let length = usize::from(length);
        if length > 8 * T::SIZE {
            return Err(corrupt("the bits of a value"));
        }
        let (whole, part) = (length / 8, length % 8);
        Ok(Self { shared, count, bytes, bits, whole, part, at: 0, last: [0; 8], of: PhantomData })
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Result<T> {
        let cut = || corrupt("its exact values are cut off");
        let shared = self.shared.get(self.at / 4).filter(|_| self.at < self.count).ok_or_else(cut)?;
        let shared = usize::from(shared >> (6 - 2 * (self.at % 4)) & 3);
        let own = self.whole.saturating_sub(shared);
        let (own, rest) = self.bytes.split_at_checked(own).ok_or_else(cut)?;
        self.bytes = rest;
        let part = if self.part == 0 { None } else { Some(self.part(self.at).ok_or_else(cut)?) };
        let mut value = [0; 8];
        let from = self.last.iter().take(shared).chain(own);
        value.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        if let (Some(to), Some(part)) = (value.get_mut(self.whole), part) {
            *to = part;
        }
        self.at += 1;
        self.last = value;
        T::from_be(&value).ok_or_else(cut)
    }

    /// The bits behind the whole bytes, as the high bits of a byte.
    fn part(&self, at: usize) -> Option<u8> {
        let place = at.checked_mul(self.part)?;
        let first = *self.bits.get(place / 8)?;
        let second = self.bits.get(place / 8 + 1).copied().unwrap_or(0);
        let [byte, _] = (u16::from_be_bytes([first, second]) << (place % 8)).to_be_bytes();
        Some(byte & u8::MAX << (8 - self.part))
    }
}
