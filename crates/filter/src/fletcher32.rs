//! The Fletcher32 filter (number 3): a checksum after the chunk.
//!
//! ```text
//! bytes    | meaning
//! ---------+-----------------------------------------------------------------
//! n        | the chunk
//! 4        | checksum, little-endian: low half the first sum, high half the second
//! ```
//! The filter has no client data. The sums run over 16-bit words, high byte first; an odd last byte
//! is the high byte of a word. Some old writers stored the checksum with the two bytes of each half
//! exchanged. The decoder accepts this order, too, as libhdf5 does.

use hyperslab_exact::to_u64;

use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

/// Size of the Fletcher32 checksum in bytes.
const CHECKSUM_BYTES: usize = 4;

/// The number of words that the Fletcher32 checksum sums in parallel.
const LANES: usize = 16;

/// The maximum number of rows of `LANES` words that can be added without a reduction of the
/// Fletcher32 sums. For this number `n`, the product of `n (n + 1) / 2` and 0xffff fits in 32 bits.
const MAX_ROWS: usize = 360;

/// The Fletcher32 filter, which appends a checksum to chunks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fletcher32;

impl Filter for Fletcher32 {
    fn id(&self) -> FilterId {
        FilterId::FLETCHER32
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], _output: &mut Vec<u8>) -> Result<Produced> {
        let (chunk, stored) = input
            .split_last_chunk::<CHECKSUM_BYTES>()
            .ok_or_else(|| FilterError::corrupt(self.id(), "the chunk is too short for a checksum"))?;
        if chunk.len() > context.max_output {
            return Err(FilterError::Limit { id: self.id(), limit: context.max_output });
        }
        if context.verify {
            let expected = fletcher32(chunk);
            let stored = u32::from_le_bytes(*stored);
            if stored != expected && exchange(stored) != expected {
                let detail =
                    format!("the stored checksum is {stored:#010x}, the computed one {expected:#010x}");
                return Err(FilterError::corrupt(self.id(), detail));
            }
        }
        Ok(Produced::Input(0..chunk.len()))
    }

    fn encode(&self, _context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        output.clear();
        output.reserve(input.len() + CHECKSUM_BYTES);
        output.extend_from_slice(input);
        output.extend_from_slice(&fletcher32(input).to_le_bytes());
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, input: usize) -> Option<usize> {
        input.checked_add(CHECKSUM_BYTES)
    }

    fn compresses(&self) -> bool {
        false
    }
}

/// Exchanges the two bytes in each 16-bit half of a Fletcher32 checksum.
fn exchange(checksum: u32) -> u32 {
    (checksum & 0x00ff_00ff) << 8 | (checksum >> 8) & 0x00ff_00ff
}

/// Computes Fletcher's checksum as HDF5 defines it: the second sum in the high half, the first sum
/// in the low half.
///
/// Both sums are taken modulo 65535. A sum that is a multiple of 65535 is stored as 65535, unless
/// all bytes are 0.
pub fn fletcher32(bytes: &[u8]) -> u32 {
    let (words, odd) = bytes.as_chunks::<2>();
    let mut sums = Sums::default();
    let (rows, last) = words.as_chunks::<LANES>();
    for rows in rows.chunks(MAX_ROWS) {
        sums.add_rows(rows);
    }
    for word in last {
        sums.add(u16::from_be_bytes(*word));
    }
    if let [high] = odd {
        sums.add(u16::from_be_bytes([*high, 0]));
    }
    let half = |sum: u64| match (sum % 0xffff) as u32 {
        0 if sums.any => 0xffff,
        rest => rest,
    };
    half(sums.second) << 16 | half(sums.first)
}

/// The two sums of the Fletcher32 checksum, modulo 65535. `any` is true if any word was not 0.
#[derive(Default)]
struct Sums {
    first: u64,
    second: u64,
    any: bool,
}

impl Sums {
    fn add(&mut self, word: u16) {
        self.any |= word != 0;
        self.first = (self.first + u64::from(word)) % 0xffff;
        self.second = (self.second + self.first) % 0xffff;
    }

    /// Adds at most `MAX_ROWS` rows of words to the Fletcher32 sums. Each column has its own sums,
    /// which the compiler adds as vectors. In the second sum, the word in row `r` of `n` and column
    /// `c` has the weight `LANES * (n - r) - c`.
    fn add_rows(&mut self, rows: &[[[u8; 2]; LANES]]) {
        let mut firsts = [0_u32; LANES];
        let mut seconds = [0_u32; LANES];
        for row in rows {
            for ((first, second), word) in firsts.iter_mut().zip(&mut seconds).zip(row) {
                *first += u32::from(u16::from_be_bytes(*word));
                *second += *first;
            }
        }
        let words = to_u64(rows.len() * LANES);
        let first: u64 = firsts.iter().map(|sum| u64::from(*sum)).sum();
        let lanes: u64 = seconds.iter().map(|sum| u64::from(*sum)).sum::<u64>() * 16;
        let over: u64 = firsts.iter().zip(0_u64..).map(|(sum, column)| u64::from(*sum) * column).sum();
        self.any |= first != 0;
        self.second = (self.second + words * self.first + lanes - over) % 0xffff;
        self.first = (self.first + first) % 0xffff;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    #[test]
    fn keeps_the_contract() {
        conformance::run(&Fletcher32, &[]);
    }

    /// Returns the bytes `k² s + 7 k + s`.
    fn quadratic(count: u32, seed: u32) -> Vec<u8> {
        (0..count)
            .map(|k| (k.wrapping_mul(k).wrapping_mul(seed).wrapping_add(7 * k + seed)).to_le_bytes()[0])
            .collect()
    }

    #[test]
    fn checksums_that_libhdf5_wrote() {
        let stored = |bytes: &[u8]| fletcher32(bytes).to_le_bytes();
        assert_eq!(stored(&[0, 1, 2, 3, 4, 5, 6]), [0x09, 0x0c, 0x17, 0x14]);
        assert_eq!(stored(&[0, 1, 2, 3, 4, 5, 6, 7]), [0x10, 0x0c, 0x1e, 0x14]);
        assert_eq!(stored(&[255; 7]), [0, 0xff, 0, 0xff]);
        assert_eq!(stored(&[0; 8]), [0; 4]);
        assert_eq!(stored(&[255; 2000]), [255; 4]);
        assert_eq!(stored(&quadratic(1, 1)), [0, 1, 0, 1]);
        assert_eq!(stored(&quadratic(2, 2)), [0x0b, 0x02, 0x0b, 0x02]);
        assert_eq!(stored(&quadratic(721, 3)), [0x46, 0xd7, 0x56, 0xa3]);
        assert_eq!(stored(&quadratic(720, 4)), [0x33, 0x01, 0xa1, 0x5f]);
        assert_eq!(stored(&quadratic(50001, 5)), [0xf5, 0x5a, 0x43, 0xc9]);
    }

    #[test]
    fn old_byte_order_is_accepted_and_errors_are_found() {
        let decode = |sum: [u8; 4], verify| {
            let mut bytes: Vec<u8> = (0..8).collect();
            bytes.extend_from_slice(&sum);
            let context = FilterContext { verify, ..FilterContext::new(&[], 100) };
            Fletcher32.decode(&context, &bytes, &mut Vec::new())
        };
        assert_eq!(decode([0x10, 0x0c, 0x1e, 0x14], true), Ok(Produced::Input(0..8)));
        assert_eq!(decode([0x0c, 0x10, 0x14, 0x1e], true), Ok(Produced::Input(0..8)));
        let error = decode([0x14, 0x1e, 0x0c, 0x10], true).unwrap_err();
        assert!(error.to_string().contains("0x141e0c10"), "{error}");
        assert_eq!(decode([1, 2, 3, 4], false), Ok(Produced::Input(0..8)));
        let short = Fletcher32.decode(&FilterContext::new(&[], 9), &[1, 2, 3], &mut Vec::new());
        assert!(matches!(short, Err(FilterError::Corrupt { .. })));
    }

    proptest! {
        #[test]
        fn equals_the_definition(bytes in proptest::collection::vec(any::<u8>(), 0..30_000), high in any::<bool>()) {
            let bytes: Vec<u8> = bytes.into_iter().map(|byte| if high { byte | 0xf0 } else { byte }).collect();
            let mut sums = Sums::default();
            for pair in bytes.chunks(2) {
                sums.add(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
            }
            let half = |sum: u64| if sum == 0 && sums.any { 0xffff } else { u32::try_from(sum).unwrap() };
            prop_assert_eq!(fletcher32(&bytes), half(sums.second) << 16 | half(sums.first));
        }
    }
}
