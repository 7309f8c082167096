//! Which values of a chunk are missing.
//!
//! ```text
//! bits         | meaning (the lowest of a byte first)
//! -------------+------------------------------------------------------------------------------------
//! 32           | bits, these included
//! 1            | 0: words of zeros are the most frequent, 1: those of ones
//! 1, 2 or 34   | for 32 values each: 0 the most frequent word, 10 the other, 11 with the word behind; in a word, 1
//!              | for a value that is missing
//! ```
//! It ends with a byte.

use super::bits::Bits;

/// Not a number, as the plug-in puts it back.
const NAN_32: u32 = 0x7fc0_0001;
const NAN_64: u64 = 0x7ff8_0000_0000_0001;

/// What is put in the place of missing values.
#[derive(Debug)]
pub(super) struct Missing<'a> {
    /// The bytes of a value.
    value: Vec<u8>,
    bits: Bits<'a>,
    most: u32,
}

impl<'a> Missing<'a> {
    /// What is missing of `count` values of `size` bytes, and what follows.
    pub(super) fn parse(bytes: &'a [u8], size: usize, count: usize) -> Option<(Option<Self>, &'a [u8])> {
        let (kind, rest) = bytes.split_first()?;
        let (value, rest) = match (kind, size) {
            (0, _) => return Some((None, rest)),
            (1, 4) => (NAN_32.to_le_bytes().to_vec(), rest),
            (1, _) => (NAN_64.to_le_bytes().to_vec(), rest),
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
        let most = if bits.get() { u32::MAX } else { 0 };
        // Each word takes a bit at least.
        (count.div_ceil(32) <= length).then_some((Some(Self { value, bits, most }), rest))
    }

    /// Puts it into the bytes of all values.
    pub(super) fn put_back(mut self, size: usize, values: &mut [u8]) {
        for values in values.chunks_mut(32 * size) {
            let word = match (self.bits.get(), self.bits.clone().get()) {
                (false, _) => self.most,
                (true, is_other) => {
                    self.bits.get();
                    if is_other { self.bits.word() } else { !self.most }
                }
            };
            for (place, to) in values.chunks_exact_mut(size).enumerate() {
                if word >> place & 1 != 0 {
                    to.copy_from_slice(&self.value);
                }
            }
        }
    }
}
