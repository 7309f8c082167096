//! What has not been read yet of a chunk of SZ3.

use super::corrupt;
use crate::Result;

/// Bytes that are taken from the front. Numbers are little-endian but where it is said.
#[derive(Debug, Clone)]
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| corrupt("it ends where more is needed"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next `count` items of `size` bytes.
    pub(super) fn items(&mut self, count: usize, size: usize) -> Result<&'a [u8]> {
        let length = count.checked_mul(size).ok_or_else(|| corrupt("a length is too large"))?;
        self.take(length)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) =
            self.rest.split_first_chunk().ok_or_else(|| corrupt("it ends where more is needed"))?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn int(&mut self) -> Result<i32> {
        self.array().map(i32::from_le_bytes)
    }

    /// A number of 4 bytes that cannot be negative.
    pub(super) fn small_size(&mut self) -> Result<usize> {
        size(u64::from(u32::from_le_bytes(self.array()?)))
    }

    /// The same in big-endian.
    pub(super) fn small_size_big_endian(&mut self) -> Result<usize> {
        size(u64::from(u32::from_be_bytes(self.array()?)))
    }

    /// A number of 8 bytes that cannot be negative.
    pub(super) fn size(&mut self) -> Result<usize> {
        size(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn real(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }
}

fn size(number: u64) -> Result<usize> {
    usize::try_from(number).map_err(|_| corrupt("a length is too large"))
}
