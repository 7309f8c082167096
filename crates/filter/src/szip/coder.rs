//! The parameters that the szip encoder and decoder of scan lines share (CCSDS 121.0-B).
//!
//! ```text
//! bits     | a block
//! ---------+--------------------------------------------------------------------------------------
//! 3, 4, 5  | code option, for samples of up to 8 bits, up to 16 bits, more bits
//! 1        | only with option 0: 0 a run of zero blocks, 1 second extension
//! s        | only in the first block of a line with nearest neighbour, and not with the last
//!          | option: the uncoded first sample; it is not among the coded samples
//! …        | run of zero blocks: its length in unary: 0 to 3 for 1 to 4 blocks, 4 for all blocks
//!          | up to the end of the line or of the segment of 64 blocks, n for n blocks second
//!          | extension: pairs (a, b) as (a + b) (a + b + 1) / 2 + b in unary; without a first
//!          | sample, a is 0 1 to last - 1, split by k = option - 1 bits: the high bits of each
//!          | sample in unary, then the k low bits of each last option: the uncoded samples, s bits
//!          | each
//! ```
//! A number in unary is that many zero bits and a one bit. With nearest neighbour, the coded value
//! is the difference from the preceding sample, mapped to a non-negative number; each line starts
//! anew. The last block is padded, and so is each line that does not consist of whole blocks.

use super::SzipParameters;

/// The number of blocks in an szip segment. Runs of zero blocks do not extend past the end of a
/// segment.
pub(super) const SEGMENT_BLOCKS: usize = 64;

/// A special run length of zero blocks in szip. It stands for all blocks up to the end of the scan
/// line or segment.
pub(super) const RUN_TO_END: u32 = 4;

/// The maximum code of a sample pair in szip. Sample pairs belong to the second extension option.
pub(super) const MAX_PAIR_CODE: u32 = 90;

/// A decoder and encoder of szip blocks with given parameters.
#[derive(Debug)]
pub(super) struct Coder {
    pub(super) bits: u32,
    /// The maximum sample.
    pub(super) largest: u32,
    pub(super) id_bits: u32,
    pub(super) block: usize,
    /// The number of samples of a line.
    pub(super) line: usize,
    /// The number of blocks that code a line.
    pub(super) blocks: usize,
    pub(super) differences: bool,
    pub(super) sample_bytes: usize,
    pub(super) big_endian: bool,
}

impl Coder {
    pub(super) fn new(parameters: &SzipParameters) -> Self {
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

    /// Returns the number of the szip code option for samples without coding. It is the largest
    /// option number.
    pub(super) fn last_option(&self) -> u32 {
        (1 << self.id_bits) - 1
    }
}
