//! Scan lines, block by block (CCSDS 121.0-B).
//!
//! ```text
//! bits     | a block
//! ---------+-------------------------------------------------------------------------------------------
//! 3, 4, 5  | code option, for samples of up to 8, up to 16, more bits
//! 1        | only with option 0: 0 a run of blocks of zeros, 1 second extension
//! s        | only in the first block of a line with nearest neighbour, and not with the last option: the
//!          | first sample as it is; it is not among the coded ones
//! …        | run of zeros: its length in unary: 0 to 3 for 1 to 4 blocks, 4 for all up to the end of the
//!          | line or of 64 blocks, n for n blocks
//!          | second extension: pairs (a, b) as (a + b) (a + b + 1) / 2 + b in unary; without a first
//!          | sample, a is 0
//!          | 1 to last - 1, split by k = option - 1 bits: the high bits of each sample in unary, then the
//!          | k low bits of each
//!          | last option: the samples, s bits each
//! ```
//! "Unary" is that many zeros and a one. With nearest neighbour, what is coded is the difference from the
//! sample before, mapped to a number that is not negative; each line begins anew. A last block and, where lines
//! are not of whole blocks, each line is filled up.

use super::Parameters;

/// Blocks after which a run of zeros ends.
pub(super) const SEGMENT: usize = 64;

/// The length of a run that stands for "up to the end".
pub(super) const TO_THE_END: u32 = 4;

/// Pairs of the second extension are no larger.
pub(super) const LARGEST_PAIR: u32 = 90;

/// Codes and decodes with given parameters.
#[derive(Debug)]
pub(super) struct Coder {
    pub(super) bits: u32,
    /// The largest sample.
    pub(super) largest: u32,
    pub(super) id_bits: u32,
    pub(super) block: usize,
    /// Samples of a line, and blocks it is coded as.
    pub(super) line: usize,
    pub(super) blocks: usize,
    pub(super) differences: bool,
    pub(super) sample_bytes: usize,
    pub(super) big_endian: bool,
}

impl Coder {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let bits = parameters.bits();
        Self {
            bits,
            largest: (1 << bits) - 1,
            id_bits: match bits {
                ..=8 => 3,
                9..=16 => 4,
                _ => 5,
            },
            block: parameters.block(),
            line: parameters.line(),
            blocks: parameters.line().div_ceil(parameters.block()),
            differences: parameters.is_nearest_neighbour(),
            sample_bytes: parameters.sample_bytes(),
            big_endian: parameters.is_big_endian(),
        }
    }

    /// The option of samples as they are.
    pub(super) fn last_option(&self) -> u32 {
        (1 << self.id_bits) - 1
    }
}
