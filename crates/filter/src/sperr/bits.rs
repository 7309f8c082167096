//! Bit streams of SPERR, with the lowest bit of each byte first.

/// A reader of the bits of a SPERR stream. After the end of the stream, the reader returns zeros.
#[derive(Debug, Clone)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// The number of bits that have been read.
    at: usize,
    /// The total number of bits.
    count: usize,
}

impl<'a> Bits<'a> {
    /// Creates a reader of the first `count` bits of a SPERR stream. If the stream is shorter,
    /// reads all its bits.
    pub(super) fn new(bytes: &'a [u8], count: usize) -> Self {
        Self { bytes, at: 0, count: count.min(bytes.len().saturating_mul(8)) }
    }

    /// Returns true if the reader has returned all bits of the SPERR stream.
    #[inline]
    pub(super) fn is_exhausted(&self) -> bool {
        self.at >= self.count
    }

    #[inline]
    pub(super) fn get(&mut self) -> bool {
        let byte = if self.is_exhausted() { None } else { self.bytes.get(self.at / 8) };
        let bit = byte.is_some_and(|byte| byte >> (self.at % 8) & 1 != 0);
        self.at += 1;
        bit
    }

    /// Reads the next 32 bits of the SPERR stream.
    pub(super) fn word(&mut self) -> u32 {
        (0..32).fold(0, |word, index| word | u32::from(self.get()) << index)
    }
}

/// A set of numbers for the SPERR decoder, as a bit mask. All numbers are below a fixed limit.
#[derive(Debug)]
pub(super) struct Mask {
    words: Vec<u64>,
}

impl Mask {
    /// Creates an empty bit mask of the SPERR decoder for numbers below `length`.
    pub(super) fn empty(length: usize) -> Self {
        Self { words: vec![0; length.div_ceil(64)] }
    }

    pub(super) fn set(&mut self, at: usize, is_in: bool) {
        if let Some(word) = self.words.get_mut(at / 64) {
            let bit = 1 << (at % 64);
            *word = if is_in { *word | bit } else { *word & !bit };
        }
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// Returns the first number in the SPERR decoder's bit mask that is not less than `from`.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let mut at = from / 64;
        let mut word = self.words.get(at)? & u64::MAX << (from % 64);
        while word == 0 {
            at += 1;
            word = *self.words.get(at)?;
        }
        Some(64 * at + word.trailing_zeros() as usize)
    }
}
