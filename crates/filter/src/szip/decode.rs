//! The szip decoder of scan lines.

use std::hint::select_unpredictable;

use crate::bits::BitWindow;

use super::coder::{Coder, MAX_PAIR_CODE, RUN_TO_END, SEGMENT_BLOCKS};

type Decoded<T> = Result<T, &'static str>;

const TRUNCATED: &str = "the scan lines are truncated";

/// The number of sample differences in one zero test of szip. The test finds whether all of them
/// are zero.
const ZERO_TEST_SAMPLES: usize = 32;

/// The table of sample pairs of szip, by code number. Sample pairs belong to the second extension
/// option.
const PAIRS: [(u32, u32); MAX_PAIR_CODE as usize + 1] = pairs_of_codes();

impl Coder {
    /// Decodes the szip bytes `coded` into `output`. `samples` is scratch memory.
    pub(super) fn decode(&self, coded: &[u8], output: &mut [u8], samples: &mut Vec<u32>) -> Decoded<()> {
        let mut window = BitWindow::new(coded);
        samples.resize(self.blocks * self.block, 0);
        for bytes in output.chunks_mut(self.line * self.sample_bytes) {
            let count = bytes.len() / self.sample_bytes;
            self.decode_line(&mut window, samples, count.div_ceil(self.block))?;
            let line = samples.split_at_mut(count).0;
            if self.differences {
                self.restore(line)?;
            }
            self.write(line, bytes);
        }
        Ok(())
    }

    /// Returns the maximum decoded size in bytes of `coded` szip bytes. The shortest code is one
    /// bit for a whole segment of zero blocks.
    pub(super) fn max_decoded_length(&self, coded: usize) -> usize {
        coded.saturating_mul(8 * SEGMENT_BLOCKS * self.block * self.sample_bytes)
    }

    /// Decodes the first `needed` szip blocks of a scan line into `samples`.
    fn decode_line(&self, window: &mut BitWindow<'_>, samples: &mut [u32], needed: usize) -> Decoded<()> {
        let mut blocks = samples.chunks_exact_mut(self.block).take(needed);
        let mut at = 0;
        while let Some(block) = blocks.next() {
            let mut option = window.get(self.id_bits).ok_or(TRUNCATED)?;
            let is_low = option == 0;
            let mut coded = block;
            if is_low {
                option = window.get(1).ok_or(TRUNCATED)?;
            }
            if self.differences && at == 0 && (is_low || option != self.last_option()) {
                let (first, others) = coded.split_first_mut().ok_or(TRUNCATED)?;
                *first = window.get(self.bits).ok_or(TRUNCATED)?;
                coded = others;
            }
            let mut count = 1;
            match (is_low, option) {
                (true, 0) => {
                    coded.fill(0);
                    count = self.run(window, at)?;
                    blocks.by_ref().take(count - 1).for_each(|block| block.fill(0));
                }
                (true, _) => pairs(window, coded)?,
                (false, option) if option == self.last_option() => {
                    window.get_each(self.bits, coded, |sample, bits| *sample = bits).ok_or(TRUNCATED)?;
                }
                (false, option) => splits(window, coded, option - 1)?,
            }
            at += count;
        }
        Ok(())
    }

    /// Decodes the length of a run of zero blocks in szip. `at` is the number of the first block of
    /// the run. The length is not 0.
    fn run(&self, window: &mut BitWindow<'_>, at: usize) -> Decoded<usize> {
        let rest = (self.blocks - at.min(self.blocks)).min(SEGMENT_BLOCKS - at % SEGMENT_BLOCKS);
        let count = match window.get_unary().ok_or(TRUNCATED)? {
            RUN_TO_END => rest,
            count @ ..RUN_TO_END => (count + 1) as usize,
            count => count as usize,
        };
        if count > rest || count == 0 {
            return Err("a run of zero blocks exceeds its line or segment");
        }
        Ok(count)
    }

    /// Converts the decoded differences of an szip scan line to samples.
    fn restore(&self, line: &mut [u32]) -> Decoded<()> {
        let largest = self.largest;
        if line.iter().copied().max().is_some_and(|maximum| maximum > largest) {
            return Err("a difference between samples exceeds the maximum sample");
        }
        let Some((first, samples)) = line.split_first_mut() else { return Ok(()) };
        let mut last = *first;
        for samples in samples.chunks_mut(ZERO_TEST_SAMPLES) {
            if samples.iter().fold(0, |bits, sample| bits | *sample) == 0 {
                samples.fill(last);
                continue;
            }
            for sample in samples {
                // The loop-carried dependency on `last` is kept short: independent values are
                // computed first, and no branch must be predicted.
                let mapped = *sample;
                let half = mapped.div_ceil(2);
                let near = last.wrapping_add(mapped >> 1 ^ (mapped & 1).wrapping_neg());
                let far = select_unpredictable(last <= largest / 2, mapped, largest - mapped);
                // True if the difference fits on both sides of `last`: half <= last and last + half
                // <= largest.
                let is_near = last.wrapping_sub(half) < (largest + 1).saturating_sub(2 * half);
                last = select_unpredictable(is_near, near, far);
                *sample = last;
            }
        }
        Ok(())
    }

    fn write(&self, samples: &[u32], bytes: &mut [u8]) {
        let pairs = samples.iter().map(|sample| sample.to_le_bytes());
        match (self.sample_bytes, self.big_endian) {
            (1, _) => pairs.zip(bytes).for_each(|([low, ..], byte)| *byte = low),
            (2, false) => {
                pairs.zip(bytes.as_chunks_mut().0).for_each(|([a, b, ..], bytes)| *bytes = [a, b]);
            }
            (2, true) => {
                pairs.zip(bytes.as_chunks_mut().0).for_each(|([a, b, ..], bytes)| *bytes = [b, a]);
            }
            (_, false) => pairs.zip(bytes.as_chunks_mut().0).for_each(|(sample, bytes)| *bytes = sample),
            (_, true) => {
                pairs.zip(bytes.as_chunks_mut().0).for_each(|([a, b, c, d], bytes)| *bytes = [d, c, b, a]);
            }
        }
    }
}

const fn pairs_of_codes() -> [(u32, u32); MAX_PAIR_CODE as usize + 1] {
    let mut pairs = [(0, 0); MAX_PAIR_CODE as usize + 1];
    let (mut rest, mut sum, mut second) = (pairs.as_mut_slice(), 0, 0);
    while let Some((pair, others)) = rest.split_first_mut() {
        *pair = (sum - second, second);
        (sum, second) = if second == sum { (sum + 1, 0) } else { (sum, second + 1) };
        rest = others;
    }
    pairs
}

/// Decodes an szip block that is coded as sample pairs (second extension option).
fn pairs(window: &mut BitWindow<'_>, coded: &mut [u32]) -> Decoded<()> {
    // With an odd number of samples, the first one is the second of a pair.
    let (lone, even) = coded.split_at_mut(coded.len() % 2);
    let mut is_known = true;
    let mut pair_of = |code: u32| {
        let pair = usize::try_from(code).ok().and_then(|code| PAIRS.get(code));
        is_known &= pair.is_some();
        // An unknown pair makes the block an error below.
        pair.copied().unwrap_or_default()
    };
    window.get_unaries(lone, |sample, code| *sample = pair_of(code).1).ok_or(TRUNCATED)?;
    let pairs = even.as_chunks_mut::<2>().0;
    window.get_unaries(pairs, |samples, code| *samples = pair_of(code).into()).ok_or(TRUNCATED)?;
    if is_known { Ok(()) } else { Err("a pair code of the second extension is too large") }
}

/// Decodes an szip block with separate low bits. `low` is the number of low bits of each sample.
fn splits(window: &mut BitWindow<'_>, coded: &mut [u32], low: u32) -> Decoded<()> {
    let mut all = 0;
    window
        .get_unaries(coded, |sample, high| {
            all |= high;
            *sample = high << low;
        })
        .ok_or(TRUNCATED)?;
    if all > u32::MAX >> low {
        return Err("a sample has too many bits");
    }
    if low > 0 {
        window.get_each(low, coded, |sample, bits| *sample |= bits).ok_or(TRUNCATED)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_along_diagonals() {
        for (pair, code) in PAIRS.iter().zip(0..) {
            let (a, b) = *pair;
            assert_eq!((a + b) * (a + b + 1) / 2 + b, code);
        }
        assert_eq!(PAIRS.len(), 91);
    }
}
