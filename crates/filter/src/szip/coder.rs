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

use crate::bits::{BitReader, BitWriter};

use super::Parameters;

/// Blocks after which a run of zeros ends.
const SEGMENT: usize = 64;

/// The length of a run that stands for "up to the end".
const TO_THE_END: u32 = 4;

/// Pairs of the second extension are no larger.
const LARGEST_PAIR: u32 = 90;

/// Codes and decodes with given parameters.
#[derive(Debug)]
pub(super) struct Coder {
    bits: u32,
    /// The largest sample.
    largest: u32,
    id_bits: u32,
    block: usize,
    /// Samples of a line, and blocks it is coded as.
    line: usize,
    blocks: usize,
    differences: bool,
    sample_bytes: usize,
    big_endian: bool,
}

type Decoded<T> = Result<T, &'static str>;

const CUT: &str = "the scan lines are cut off";

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
    fn last_option(&self) -> u32 {
        (1 << self.id_bits) - 1
    }

    /// Appends `length` bytes of samples.
    pub(super) fn decode(&self, coded: &[u8], length: usize, output: &mut Vec<u8>) -> Decoded<()> {
        // The shortest code is that of a segment of zeros.
        let most = coded.len().saturating_mul(8 * SEGMENT * self.block * self.sample_bytes);
        output.reserve(length.min(most));
        let mut reader = BitReader::new(coded);
        let mut samples = vec![0; self.blocks * self.block];
        let mut rest = length / self.sample_bytes;
        while rest > 0 {
            let count = rest.min(self.line);
            self.decode_line(&mut reader, &mut samples, count.div_ceil(self.block))?;
            let line = samples.get_mut(..count).unwrap_or_default();
            if self.differences {
                self.restore(line)?;
            }
            self.append(line, output);
            rest -= count;
        }
        Ok(())
    }

    /// Takes the first `needed` blocks of a line.
    fn decode_line(&self, reader: &mut BitReader<'_>, samples: &mut [u32], needed: usize) -> Decoded<()> {
        let mut blocks = samples.chunks_exact_mut(self.block).take(needed);
        let mut at = 0;
        while let Some(block) = blocks.next() {
            let mut option = reader.get(self.id_bits).ok_or(CUT)?;
            let is_low = option == 0;
            let mut coded = block;
            if is_low {
                option = reader.get(1).ok_or(CUT)?;
            }
            if self.differences && at == 0 && (is_low || option != self.last_option()) {
                let (first, others) = coded.split_first_mut().ok_or(CUT)?;
                *first = reader.get(self.bits).ok_or(CUT)?;
                coded = others;
            }
            let mut count = 1;
            match (is_low, option) {
                (true, 0) => {
                    coded.fill(0);
                    count = self.run(reader, at)?;
                    blocks.by_ref().take(count - 1).for_each(|block| block.fill(0));
                }
                (true, _) => pairs(reader, coded)?,
                (false, option) if option == self.last_option() => {
                    for sample in coded {
                        *sample = reader.get(self.bits).ok_or(CUT)?;
                    }
                }
                (false, option) => splits(reader, coded, option - 1)?,
            }
            at += count;
        }
        Ok(())
    }

    /// The blocks of a run of zeros that begins at block `at`; not 0.
    fn run(&self, reader: &mut BitReader<'_>, at: usize) -> Decoded<usize> {
        let rest = (self.blocks - at.min(self.blocks)).min(SEGMENT - at % SEGMENT);
        let count = match reader.get_unary().ok_or(CUT)? {
            TO_THE_END => rest,
            count @ ..TO_THE_END => usize::try_from(count + 1).unwrap_or(1),
            count => usize::try_from(count).unwrap_or(usize::MAX),
        };
        if count > rest || count == 0 {
            return Err("a run of zeros passes the end of its line or segment");
        }
        Ok(count)
    }

    /// Samples from differences.
    fn restore(&self, line: &mut [u32]) -> Decoded<()> {
        let mut samples = line.iter_mut();
        let Some(mut last) = samples.next().map(|first| *first) else { return Ok(()) };
        for sample in samples {
            let mapped = *sample;
            if mapped > self.largest {
                return Err("a difference between samples is too large");
            }
            let room = last.min(self.largest - last);
            last = if mapped / 2 + mapped % 2 <= room {
                if mapped % 2 == 0 { last + mapped / 2 } else { last - mapped / 2 - 1 }
            } else if room == last {
                mapped
            } else {
                self.largest - mapped
            };
            *sample = last;
        }
        Ok(())
    }

    /// Differences from samples.
    fn subtract(&self, line: &mut [u32]) {
        let mut samples = line.iter_mut();
        let Some(mut last) = samples.next().map(|first| *first) else { return };
        for sample in samples {
            let room = last.min(self.largest - last);
            let distance = sample.abs_diff(last);
            let mapped = match (*sample >= last, distance <= room) {
                (true, true) => 2 * distance,
                (false, true) => 2 * distance - 1,
                (_, false) => room + distance,
            };
            last = std::mem::replace(sample, mapped);
        }
    }

    fn append(&self, samples: &[u32], output: &mut Vec<u8>) {
        let low = |sample: &u32| sample.to_le_bytes();
        match (self.sample_bytes, self.big_endian) {
            (1, _) => output.extend(samples.iter().map(|sample| low(sample)[0])),
            (2, false) => output.extend(samples.iter().map(low).flat_map(|[a, b, ..]| [a, b])),
            (2, true) => output.extend(samples.iter().map(low).flat_map(|[a, b, ..]| [b, a])),
            (_, false) => output.extend(samples.iter().flat_map(low)),
            (_, true) => output.extend(samples.iter().flat_map(|sample| sample.to_be_bytes())),
        }
    }

    fn take(&self, bytes: &[u8]) -> u32 {
        let join = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
        let value =
            if self.big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) };
        value & self.largest
    }

    /// Appends the code of samples.
    pub(super) fn encode(&self, samples: &[u8], output: &mut Vec<u8>) {
        let mut writer = BitWriter::new(output);
        let mut line = Vec::new();
        for bytes in samples.chunks(self.line * self.sample_bytes) {
            line.clear();
            line.extend(bytes.chunks_exact(self.sample_bytes).map(|sample| self.take(sample)));
            let blocks = line.len().div_ceil(self.block);
            let filler = line.last().copied().unwrap_or(0);
            line.resize(blocks * self.block, filler);
            if self.differences {
                self.subtract(&mut line);
            }
            self.encode_line(&mut writer, &line);
        }
        writer.finish();
    }

    fn encode_line(&self, writer: &mut BitWriter<'_>, line: &[u32]) {
        let mut first = self.differences.then(|| line.first().copied()).flatten();
        let blocks = line.len() / self.block;
        // Blocks of zeros that are not written yet.
        let mut run = 0;
        for (at, block) in line.chunks_exact(self.block).enumerate() {
            let coded = if self.differences && at == 0 { block.get(1..).unwrap_or_default() } else { block };
            let is_zero = coded.iter().all(|sample| *sample == 0);
            run += u32::from(is_zero);
            let is_end = at + 1 == blocks || (at + 1) % SEGMENT == 0;
            if run > 0 && (is_end || !is_zero) {
                writer.put(0, self.id_bits + 1);
                self.put_first(writer, first.take());
                writer.put_unary(match run {
                    run @ ..=TO_THE_END => run - 1,
                    _ if is_zero => TO_THE_END,
                    run => run,
                });
                run = 0;
            }
            if !is_zero {
                self.encode_block(writer, first.take(), coded);
            }
        }
    }

    fn put_first(&self, writer: &mut BitWriter<'_>, first: Option<u32>) {
        if let Some(first) = first {
            writer.put(first, self.bits);
        }
    }

    fn encode_block(&self, writer: &mut BitWriter<'_>, first: Option<u32>, coded: &[u32]) {
        let count = u64::try_from(coded.len()).unwrap_or(0);
        let plain = count * u64::from(self.bits);
        let split = |low: u32| {
            coded.iter().map(|sample| u64::from(sample >> low)).sum::<u64>() + count * u64::from(low + 1)
        };
        let lows = 0..(self.last_option() - 1).min(self.bits);
        let (split, low) = lows.map(|low| (split(low), low)).min().unwrap_or((plain, 0));
        let paired = pair_lengths(coded).map_or(u64::MAX, |length| length + 1);
        if split < plain && split <= paired {
            writer.put(low + 1, self.id_bits);
            self.put_first(writer, first);
            coded.iter().for_each(|sample| writer.put_unary(sample >> low));
            coded.iter().for_each(|sample| writer.put(*sample, low));
        } else if paired < plain {
            writer.put(1, self.id_bits + 1);
            self.put_first(writer, first);
            for (a, b) in pairs_of(coded) {
                writer.put_unary((a + b) * (a + b + 1) / 2 + b);
            }
        } else {
            writer.put(self.last_option(), self.id_bits);
            self.put_first(writer, first);
            coded.iter().for_each(|sample| writer.put(*sample, self.bits));
        }
    }
}

/// The pairs of a block, the first of which may lack a sample.
fn pairs_of(coded: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let (lone, even) = coded.split_at_checked(coded.len() % 2).unwrap_or((&[], coded));
    lone.iter().map(|b| (0, *b)).chain(even.as_chunks::<2>().0.iter().map(|[a, b]| (*a, *b)))
}

/// Bits of all pairs in the second extension, if none is too large.
fn pair_lengths(coded: &[u32]) -> Option<u64> {
    pairs_of(coded).try_fold(0, |length, (a, b)| {
        let sum = a.checked_add(b).filter(|sum| *sum < LARGEST_PAIR)?;
        let code = sum * (sum + 1) / 2 + b;
        (code < LARGEST_PAIR).then(|| length + u64::from(code) + 1)
    })
}

/// A block of the second extension.
fn pairs(reader: &mut BitReader<'_>, coded: &mut [u32]) -> Decoded<()> {
    let mut pair = || {
        let code = reader.get_unary().ok_or(CUT)?;
        let sum = (0..LARGEST_PAIR).take_while(|sum| sum * (sum + 1) / 2 <= code).last().unwrap_or(0);
        if code > LARGEST_PAIR {
            return Err("a pair of samples is too large for its code");
        }
        let second = code - sum * (sum + 1) / 2;
        Ok((sum - second, second))
    };
    let lone = coded.len() % 2;
    let (lone, even) = coded.split_at_mut_checked(lone).unwrap_or_default();
    for sample in lone {
        *sample = pair()?.1;
    }
    for samples in even.as_chunks_mut::<2>().0 {
        *samples = pair()?.into();
    }
    Ok(())
}

/// A block of samples of which the `low` low bits stand apart.
fn splits(reader: &mut BitReader<'_>, coded: &mut [u32], low: u32) -> Decoded<()> {
    for sample in coded.iter_mut() {
        let high = reader.get_unary().ok_or(CUT)?;
        *sample = high.checked_mul(1 << low).ok_or("a sample is too large")?;
    }
    if low > 0 {
        for sample in coded {
            *sample |= reader.get(low).ok_or(CUT)?;
        }
    }
    Ok(())
}
