//! The szip encoder of scan lines.

use crate::bits::BitWriter;

use super::coder::{Coder, MAX_PAIR_CODE, RUN_TO_END, SEGMENT_BLOCKS};

impl Coder {
    /// Encodes samples with szip, and appends the coded bytes to `output`. `line` and `spare` are
    /// scratch memory.
    pub(super) fn encode(
        &self,
        samples: &[u8],
        output: &mut Vec<u8>,
        line: &mut Vec<u32>,
        spare: &mut Vec<u32>,
    ) {
        let mut writer = BitWriter::new(output);
        let mut hint = 0;
        for bytes in samples.chunks(self.line * self.sample_bytes) {
            self.read(bytes, line);
            let blocks = line.len().div_ceil(self.block);
            let padding = line.last().copied().unwrap_or(0);
            line.resize(blocks * self.block, padding);
            if self.differences {
                self.subtract(line, spare);
                self.encode_line(&mut writer, spare, &mut hint);
            } else {
                self.encode_line(&mut writer, line, &mut hint);
            }
        }
        writer.finish();
    }

    /// Reads the szip samples in `bytes` into `line`. Each sample becomes one number.
    fn read(&self, bytes: &[u8], line: &mut Vec<u32>) {
        line.clear();
        let largest = self.largest;
        match (self.sample_bytes, self.big_endian) {
            (1, _) => line.extend(bytes.iter().map(|byte| u32::from(*byte))),
            (2, false) => {
                line.extend(bytes.as_chunks().0.iter().map(|bytes| u32::from(u16::from_le_bytes(*bytes))));
            }
            (2, true) => {
                line.extend(bytes.as_chunks().0.iter().map(|bytes| u32::from(u16::from_be_bytes(*bytes))));
            }
            (_, false) => line.extend(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes))),
            (_, true) => line.extend(bytes.as_chunks().0.iter().map(|bytes| u32::from_be_bytes(*bytes))),
        }
        line.iter_mut().for_each(|sample| *sample &= largest);
    }

    /// Computes the mapped differences between the samples of an szip scan line, and writes them to
    /// `differences`. The first sample is kept.
    fn subtract(&self, line: &[u32], differences: &mut Vec<u32>) {
        differences.clear();
        differences.extend(line.first());
        let largest = self.largest;
        differences.extend(line.iter().zip(line.iter().skip(1)).map(|(last, sample)| {
            let available = (*last).min(largest - last);
            let distance = sample.abs_diff(*last);
            // The mapped difference is twice its magnitude, minus 1 if it is negative.
            let both_ways = (2 * distance).wrapping_sub(u32::from(sample < last));
            if distance <= available { both_ways } else { available + distance }
        }));
    }

    fn encode_line(&self, writer: &mut BitWriter<'_>, line: &[u32], hint: &mut u32) {
        let mut first = self.differences.then(|| line.first().copied()).flatten();
        let blocks = line.len() / self.block;
        // The number of zero blocks that are not written yet.
        let mut run = 0;
        for (at, block) in line.chunks_exact(self.block).enumerate() {
            let coded = if self.differences && at == 0 { block.split_at(1).1 } else { block };
            let is_zero = coded.iter().fold(0, |bits, sample| bits | sample) == 0;
            run += u32::from(is_zero);
            let is_end = at + 1 == blocks || (at + 1) % SEGMENT_BLOCKS == 0;
            if run > 0 && (is_end || !is_zero) {
                writer.put(0, self.id_bits + 1);
                self.put_first(writer, first.take());
                writer.put_unary(match run {
                    run @ ..=RUN_TO_END => run - 1,
                    _ if is_zero => RUN_TO_END,
                    run => run,
                });
                run = 0;
            }
            if !is_zero {
                self.encode_block(writer, first.take(), coded, hint);
            }
        }
    }

    fn put_first(&self, writer: &mut BitWriter<'_>, first: Option<u32>) {
        if let Some(first) = first {
            writer.put(first, self.bits);
        }
    }

    fn encode_block(&self, writer: &mut BitWriter<'_>, first: Option<u32>, coded: &[u32], hint: &mut u32) {
        let plain = length(coded) * self.bits;
        let (split, low) = best_split(coded, (self.last_option() - 2).min(self.bits - 1), *hint);
        *hint = low;
        let paired = pair_lengths(coded).map_or(u32::MAX, |length| length + 1);
        if split < plain && split <= paired {
            writer.put(low + 1, self.id_bits);
            self.put_first(writer, first);
            put_unaries(writer, coded, low);
            if low > 0 {
                put_all(writer, coded, low);
            }
        } else if paired < plain {
            writer.put(1, self.id_bits + 1);
            self.put_first(writer, first);
            for (a, b) in pairs_of(coded) {
                writer.put_unary((a + b) * (a + b + 1) / 2 + b);
            }
        } else {
            writer.put(self.last_option(), self.id_bits);
            self.put_first(writer, first);
            put_all(writer, coded, self.bits);
        }
    }
}

/// Appends the high part of each szip sample in unary: the bits above the `low` lowest bits. Two
/// short samples are appended at once.
fn put_unaries(writer: &mut BitWriter<'_>, coded: &[u32], low: u32) {
    let (pairs, rest) = coded.as_chunks::<2>();
    for [a, b] in pairs {
        let (a, b) = (a >> low, b >> low);
        if a < 15 && b < 15 {
            writer.put(1 << (b + 1) | 1, a + b + 2);
        } else {
            writer.put_unary(a);
            writer.put_unary(b);
        }
    }
    rest.iter().for_each(|sample| writer.put_unary(sample >> low));
}

/// Appends the `count` low bits of each szip sample to `writer`, up to four samples at once.
fn put_all(writer: &mut BitWriter<'_>, coded: &[u32], count: u32) {
    let (fours, rest) = coded.as_chunks::<4>();
    let mask = (1 << count) - 1;
    for [a, b, c, d] in fours {
        let (a, b, c, d) = (a & mask, b & mask, c & mask, d & mask);
        if count <= 8 {
            writer.put(((a << count | b) << count | c) << count | d, 4 * count);
        } else if count <= 16 {
            writer.put(a << count | b, 2 * count);
            writer.put(c << count | d, 2 * count);
        } else {
            [a, b, c, d].into_iter().for_each(|sample| writer.put(sample, count));
        }
    }
    rest.iter().for_each(|sample| writer.put(*sample, count));
}

/// Returns the number of samples in an szip block, which is at most 32.
fn length(coded: &[u32]) -> u32 {
    u32::try_from(coded.len()).unwrap_or(u32::MAX)
}

/// Finds the number of separate low bits (at most `maximum`) for which an szip block is shortest.
/// Returns the length of the block in bits, and the number of low bits. If several numbers are
/// equally good, returns the smallest. The search starts at `hint` and stops at the first local
/// minimum, because each further bit saves less than the one before.
fn best_split(coded: &[u32], maximum: u32, hint: u32) -> (u32, u32) {
    // The sum is below 32 times `2 ** 24` plus a few bits.
    let split = |low: u32| coded.iter().map(|sample| sample >> low).sum::<u32>() + length(coded) * (low + 1);
    let mut best = (split(hint), hint);
    for low in (0..hint).rev() {
        let next = split(low);
        if next > best.0 {
            break;
        }
        best = (next, low);
    }
    if best.1 < hint {
        return best;
    }
    for low in hint + 1..=maximum {
        let next = split(low);
        if next >= best.0 {
            break;
        }
        best = (next, low);
    }
    best
}

/// Returns the sample pairs of an szip block. With an odd number of samples, the first pair has
/// only its second sample.
fn pairs_of(coded: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let (lone, even) = coded.split_at_checked(coded.len() % 2).unwrap_or((&[], coded));
    lone.iter().map(|b| (0, *b)).chain(even.as_chunks::<2>().0.iter().map(|[a, b]| (*a, *b)))
}

/// Returns the size in bits of an szip block that is coded as sample pairs (second extension
/// option). Returns [`None`] if a pair is too large.
fn pair_lengths(coded: &[u32]) -> Option<u32> {
    pairs_of(coded).try_fold(0, |length, (a, b)| {
        let sum = a.checked_add(b).filter(|sum| *sum < MAX_PAIR_CODE)?;
        let code = sum * (sum + 1) / 2 + b;
        (code < MAX_PAIR_CODE).then(|| length + code + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_split_is_better(
            coded in proptest::collection::vec(0..1_u32 << 24, 1..33),
            above in 0..24_u32,
            maximum in 0..24_u32,
            hint in any::<proptest::sample::Index>(),
        ) {
            let coded: Vec<u32> = coded.into_iter().map(|sample| sample >> above).collect();
            let split = |low: u32| coded.iter().map(|sample| (sample >> low) + low + 1).sum::<u32>();
            let hint = u32::try_from(hint.index(usize::try_from(maximum).unwrap() + 1)).unwrap();
            let best = (0..=maximum).map(|low| (split(low), low)).min();
            prop_assert_eq!(Some(best_split(&coded, maximum, hint)), best);
        }
    }
}
