//! A reader of the bytes of an SZ stream.

use crate::Result;

use super::corrupt;
use super::real::Real;

/// A reader of the remaining bytes of an SZ stream.
#[derive(Debug, Clone)]
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
    /// True if lengths take 8 bytes instead of 4.
    has_long_lengths: bool,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(rest: &'a [u8], has_long_lengths: bool) -> Self {
        Self { rest, has_long_lengths }
    }

    /// Returns the remaining bytes of the SZ stream.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| corrupt("the stream is truncated"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        taken.first_chunk().copied().ok_or_else(|| corrupt("the stream is truncated"))
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Reads 4 bytes of the SZ stream as a big-endian number.
    pub(super) fn word(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// Reads 4 bytes of the SZ stream as a big-endian count.
    pub(super) fn count(&mut self) -> Result<usize> {
        usize::try_from(self.word()?).map_err(|_| corrupt("a count in the stream is too large"))
    }

    /// Reads a big-endian length of 4 or 8 bytes from the SZ stream.
    pub(super) fn length(&mut self) -> Result<usize> {
        if !self.has_long_lengths {
            return self.count();
        }
        usize::try_from(self.long()?).map_err(|_| corrupt("a length in the stream is too large"))
    }

    /// Reads a big-endian length of 4 or 8 bytes from the start of an 8-byte field of the SZ
    /// stream.
    pub(super) fn length_in_8_bytes(&mut self) -> Result<usize> {
        let field = self.take(8)?;
        Self { rest: field, has_long_lengths: self.has_long_lengths }.length()
    }

    /// Reads 8 bytes of the SZ stream as a big-endian number.
    pub(super) fn long(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// Reads 8 bytes of the SZ stream as a length in the byte order of the encoder's host, which is
    /// little-endian.
    pub(super) fn host_length(&mut self) -> Result<usize> {
        usize::try_from(u64::from_le_bytes(self.array()?))
            .map_err(|_| corrupt("a length in the stream is too large"))
    }

    /// Reads a big-endian floating-point number from the SZ stream.
    pub(super) fn real<T: Real>(&mut self) -> Result<T> {
        T::from_be(self.take(T::SIZE)?).ok_or_else(|| corrupt("the stream is truncated"))
    }

    /// Reads a floating-point number from the SZ stream in the byte order of the encoder's host,
    /// which is little-endian.
    pub(super) fn host_real<T: Real>(&mut self) -> Result<T> {
        T::from_le(self.take(T::SIZE)?).ok_or_else(|| corrupt("the stream is truncated"))
    }
}
