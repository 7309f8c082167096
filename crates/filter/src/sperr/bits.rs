//! Bits of SPERR, the lowest of a byte first.

/// Takes bits; behind the end there are zeros.
#[derive(Debug, Clone)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// How many have been taken.
    at: usize,
    /// How many there are.
    count: usize,
}

impl<'a> Bits<'a> {
    /// The first `count` bits, or as many as there are.
    pub(super) fn new(bytes: &'a [u8], count: usize) -> Self {
        Self { bytes, at: 0, count: count.min(bytes.len().saturating_mul(8)) }
    }

    /// Whether all have been taken.
    #[inline]
    pub(super) fn is_spent(&self) -> bool {
        self.at >= self.count
    }

    #[inline]
    pub(super) fn get(&mut self) -> bool {
        let byte = if self.is_spent() { None } else { self.bytes.get(self.at / 8) };
        let bit = byte.is_some_and(|byte| byte >> (self.at % 8) & 1 != 0);
        self.at += 1;
        bit
    }

    /// The next 32 bits.
    pub(super) fn word(&mut self) -> u32 {
        (0..32).fold(0, |word, place| word | u32::from(self.get()) << place)
    }
}

/// A set of numbers up to a length.
#[derive(Debug)]
pub(super) struct Mask {
    words: Vec<u64>,
}

impl Mask {
    /// No number below `length`.
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

    /// The first number that is in, from `from` on.
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
