//! A reader of the bytes of an SZ3 chunk.

use super::corrupt;
use crate::Result;

/// A reader of the remaining bytes of an SZ3 chunk. Numbers are little-endian unless the method
/// says otherwise.
#[derive(Debug, Clone)]
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// Takes the next `count` bytes of the SZ3 chunk.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| corrupt("the chunk is truncated"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes the bytes of the next `count` items of `size` bytes of the SZ3 chunk.
    pub(super) fn items(&mut self, count: usize, size: usize) -> Result<&'a [u8]> {
        let length = count.checked_mul(size).ok_or_else(|| corrupt("a length in the chunk is too large"))?;
        self.take(length)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(|| corrupt("the chunk is truncated"))?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn int(&mut self) -> Result<i32> {
        self.array().map(i32::from_le_bytes)
    }

    /// Reads an unsigned number of 4 bytes of the SZ3 chunk.
    pub(super) fn size_32(&mut self) -> Result<usize> {
        size(u64::from(u32::from_le_bytes(self.array()?)))
    }

    /// Reads an unsigned big-endian number of 4 bytes of the SZ3 chunk.
    pub(super) fn size_32_big_endian(&mut self) -> Result<usize> {
        size(u64::from(u32::from_be_bytes(self.array()?)))
    }

    /// Reads an unsigned number of 8 bytes of the SZ3 chunk.
    pub(super) fn size(&mut self) -> Result<usize> {
        size(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn real(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }
}

fn size(number: u64) -> Result<usize> {
    usize::try_from(number).map_err(|_| corrupt("a length in the chunk is too large"))
}
