//! The mask of missing values in a SPERR chunk.
//!
//! ```text
//! bits         | meaning (the lowest of a byte first)
//! -------------+----------------------------------------------------------------------------------
//! 32           | number of bits, including these
//! 1            | frequent frequent word; 0: all zeros, 1: all ones
//! 1, 2 or 34   | for 32 values each: 0 the frequent frequent word, 10 its complement, 11 followed
//!              | by the word; in a word, 1 stands for a missing value
//! ```
//! The mask ends at a byte boundary.

use super::bits::Bits;

/// The bits of the NaN for a missing 32-bit value of a SPERR chunk. The HDF5 plug-in decodes the
/// same NaN.
const NAN_32_BITS: u32 = 0x7fc0_0001;
/// The bits of the NaN for a missing 64-bit value of a SPERR chunk. The HDF5 plug-in decodes the
/// same NaN.
const NAN_64_BITS: u64 = 0x7ff8_0000_0000_0001;

/// The missing values of a SPERR chunk and the number that stands for missing values.
#[derive(Debug)]
pub(super) struct MissingValues<'a> {
    /// The bytes of the value for missing data.
    value: Vec<u8>,
    bits: Bits<'a>,
    frequent: u32,
}

impl<'a> MissingValues<'a> {
    /// Parses the mask of missing values in a SPERR chunk of `count` values. A value has `size`
    /// bytes. Returns the mask and the bytes after the mask.
    pub(super) fn parse(bytes: &'a [u8], size: usize, count: usize) -> Option<(Option<Self>, &'a [u8])> {
        let (kind, rest) = bytes.split_first()?;
        let (value, rest) = match (kind, size) {
            (0, _) => return Some((None, rest)),
            (1, 4) => (NAN_32_BITS.to_le_bytes().to_vec(), rest),
            (1, _) => (NAN_64_BITS.to_le_bytes().to_vec(), rest),
            (2, _) => {
                let (value, rest) = rest.split_at_checked(size)?;
                (value.to_vec(), rest)
            }
            _ => return None,
        };
        let length = usize::try_from(u32::from_le_bytes(*rest.first_chunk()?)).ok()?;
        let (mask, rest) = rest.split_at_checked(length.div_ceil(8))?;
        let mut bits = Bits::new(mask, length);
        bits.word();
        let frequent = if bits.get() { u32::MAX } else { 0 };
        // Each word takes at least one bit.
        (count.div_ceil(32) <= length).then_some((Some(Self { value, bits, frequent }), rest))
    }

    /// Overwrites each missing value of a SPERR chunk in `values` with the number for missing
    /// values.
    pub(super) fn restore(mut self, size: usize, values: &mut [u8]) {
        for values in values.chunks_mut(32 * size) {
            let word = match (self.bits.get(), self.bits.clone().get()) {
                (false, _) => self.frequent,
                (true, is_other) => {
                    self.bits.get();
                    if is_other { self.bits.word() } else { !self.frequent }
                }
            };
            for (index, to) in values.chunks_exact_mut(size).enumerate() {
                if word >> index & 1 != 0 {
                    to.copy_from_slice(&self.value);
                }
            }
        }
    }
}
