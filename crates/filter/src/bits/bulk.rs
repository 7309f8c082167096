//! Packing and unpacking of many numbers with the same width in bits.
//!
//! Eight numbers of `n` bits take exactly `n` bytes. The width is a const parameter, so the
//! compiler knows the position of each number in its group and reduces the work per number to a
//! load, two shifts and a store.

/// The number of integers (words) that filters pack or unpack as one group. For each width in bits,
/// the packed group fills whole bytes.
pub(crate) const GROUP_WORDS: usize = 8;

/// The number of integers (words) that filters should pack or unpack in one call. They fit in the
/// processor's first-level cache.
pub(crate) const TILE_WORDS: usize = 256;

/// The number of input bytes that a filter must have to unpack one group of integers: up to 64
/// bytes of the group, and the bytes after it that a wide read also loads.
const GROUP_INPUT_BYTES: usize = 72;

/// An unsigned integer of 1, 2, 4 or 8 bytes. Filters pack such integers to fewer bits.
pub(crate) trait Word: Copy + Default + Ord + std::fmt::Debug {
    /// The integer type in which filters process words in bulk. The type may be wider than the
    /// word.
    type Row: Word;
    /// The number of bits of the word type that filters pack.
    const BITS: usize;
    /// Returns the low bits of a 64-bit number as a word, for filters that pack words.
    fn low(value: u64) -> Self;
    /// Converts a word to a 64-bit number, for filters that pack words.
    fn wide(self) -> u64;
    /// Shifts a word to the left, for filters that pack words. The shift is by fewer bits than the
    /// word has.
    fn left(self, bits: u32) -> Self;
    /// Shifts a word to the right, for filters that pack words. The shift is by fewer bits than the
    /// word has.
    fn right(self, bits: u32) -> Self;
    /// Returns the bitwise exclusive or of two words that filters pack.
    fn exclusive_or(self, other: Self) -> Self;
    /// Reads words from `bytes` into `words` in the given byte order, for filters that pack words.
    /// Stops at the end of the shorter slice.
    fn read(bytes: &[u8], big_endian: bool, words: &mut [Self::Row]);
    /// Writes words from `words` to `bytes` in the given byte order, for filters that pack words.
    /// Stops at the end of the shorter slice.
    fn write(words: &[Self::Row], big_endian: bool, bytes: &mut [u8]);
    /// Reads one word from `bytes` in the given byte order, for filters that pack words. `at` is
    /// the offset of the word.
    fn get(bytes: &[u8], at: usize, big_endian: bool) -> Option<Self>;
    /// Writes one word to `bytes` in the given byte order, for filters that pack words. `at` is the
    /// offset of the word.
    fn put(self, bytes: &mut [u8], at: usize, big_endian: bool) -> Option<()>;
}

macro_rules! word {
    ($word:ty, $size:literal) => {
        impl Word for $word {
            type Row = Self;
            const BITS: usize = 8 * $size;

            #[inline]
            fn low(value: u64) -> Self {
                value.to_le_bytes().first_chunk().map_or(0, |bytes| Self::from_le_bytes(*bytes))
            }

            #[inline]
            fn wide(self) -> u64 {
                u64::from(self)
            }

            #[inline]
            fn left(self, bits: u32) -> Self {
                self.wrapping_shl(bits)
            }

            #[inline]
            fn right(self, bits: u32) -> Self {
                self.wrapping_shr(bits)
            }

            #[inline]
            fn exclusive_or(self, other: Self) -> Self {
                self ^ other
            }

            #[inline]
            fn read(bytes: &[u8], big_endian: bool, words: &mut [Self::Row]) {
                let pairs = bytes.as_chunks::<$size>().0.iter().zip(words);
                if big_endian {
                    pairs.for_each(|(bytes, word)| *word = Self::from_be_bytes(*bytes));
                } else {
                    pairs.for_each(|(bytes, word)| *word = Self::from_le_bytes(*bytes));
                }
            }

            #[inline]
            fn write(words: &[Self::Row], big_endian: bool, bytes: &mut [u8]) {
                let pairs = bytes.as_chunks_mut::<$size>().0.iter_mut().zip(words);
                if big_endian {
                    pairs.for_each(|(bytes, word)| *bytes = word.to_be_bytes());
                } else {
                    pairs.for_each(|(bytes, word)| *bytes = word.to_le_bytes());
                }
            }

            #[inline]
            fn get(bytes: &[u8], at: usize, big_endian: bool) -> Option<Self> {
                let word = Self::from_le_bytes(*bytes.get(at..)?.first_chunk::<$size>()?);
                Some(if big_endian { word.swap_bytes() } else { word })
            }

            #[inline]
            fn put(self, bytes: &mut [u8], at: usize, big_endian: bool) -> Option<()> {
                let word = if big_endian { self.swap_bytes() } else { self };
                *bytes.get_mut(at..)?.first_chunk_mut::<$size>()? = word.to_le_bytes();
                Some(())
            }
        }
    };
}

word!(u8, 1);
word!(u16, 2);
word!(u32, 4);
word!(u64, 8);

/// An unsigned integer of fewer than eight bytes, for sizes without a primitive type. Filters pack
/// such integers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Short<const SIZE: usize>(u64);

impl<const SIZE: usize> Word for Short<SIZE> {
    type Row = u64;
    const BITS: usize = 8 * SIZE;

    #[inline]
    fn low(value: u64) -> Self {
        Self(value & (u64::MAX >> (64 - Self::BITS)))
    }

    #[inline]
    fn wide(self) -> u64 {
        self.0
    }

    #[inline]
    fn left(self, bits: u32) -> Self {
        Self::low(self.0 << bits)
    }

    #[inline]
    fn right(self, bits: u32) -> Self {
        Self(self.0 >> bits)
    }

    #[inline]
    fn exclusive_or(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline]
    fn read(bytes: &[u8], big_endian: bool, words: &mut [u64]) {
        for (bytes, word) in bytes.as_chunks::<SIZE>().0.iter().zip(words) {
            *word = Self::get(bytes, 0, big_endian).map_or(0, Self::wide);
        }
    }

    #[inline]
    fn write(words: &[u64], big_endian: bool, bytes: &mut [u8]) {
        for (bytes, word) in bytes.as_chunks_mut::<SIZE>().0.iter_mut().zip(words) {
            Self(*word).put(bytes, 0, big_endian);
        }
    }

    #[inline]
    fn get(bytes: &[u8], at: usize, big_endian: bool) -> Option<Self> {
        let bytes = bytes.get(at..)?.first_chunk::<SIZE>()?;
        let mut word = [0; 8];
        word.first_chunk_mut::<SIZE>().map(|low| *low = *bytes)?;
        let word = u64::from_le_bytes(word);
        Some(Self(if big_endian { word.swap_bytes() >> (64 - Self::BITS) } else { word }))
    }

    #[inline]
    fn put(self, bytes: &mut [u8], at: usize, big_endian: bool) -> Option<()> {
        let word = if big_endian { self.0.swap_bytes() >> (64 - Self::BITS) } else { self.0 };
        *bytes.get_mut(at..)?.first_chunk_mut::<SIZE>()? = *word.to_le_bytes().first_chunk::<SIZE>()?;
        Some(())
    }
}

/// Calls `$run::<$word, W>($from, $to)` with the const parameter W equal to `$bits` (1 to 64). Does
/// nothing for other values.
macro_rules! with_width {
    ($bits:expr, $run:ident::<$word:ty>($from:expr, $to:expr)) => {
        with_width!(
            $bits, $run, $word, $from, $to,
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
        )
    };
    ($bits:expr, $run:ident, $word:ty, $from:expr, $to:expr, $($width:literal)*) => {
        match $bits {
            $($width => $run::<$word, $width>($from, $to),)*
            _ => {}
        }
    };
}

/// Unpacks numbers of `bits` bits from the start of `input` into `words`, for filters. The most
/// significant bit comes first. If `input` is too short, the remaining words become 0. If `input`
/// is too long, its end is ignored.
pub(crate) fn unpack<T: Word>(bits: u32, input: &[u8], words: &mut [T]) {
    if bits == 0 {
        words.fill(T::default());
    }
    with_width!(bits, unpack_width::<T>(input, words));
}

/// Appends the low `bits` bits of each word to `output`, for filters. Pads the last byte with zero
/// bits. `bits` is at most the number of bits of a word.
pub(crate) fn pack<T: Word>(bits: u32, words: &[T], output: &mut Vec<u8>) {
    with_width!(bits, pack_width::<T>(words, output));
}

fn unpack_width<T: Word, const W: usize>(input: &[u8], words: &mut [T]) {
    if W > T::BITS {
        return;
    }
    let (groups, last) = words.as_chunks_mut::<GROUP_WORDS>();
    let mut groups = groups.iter_mut();
    let rest = unpack_groups::<T, W>(input, &mut groups);
    // The remaining groups lie near the end of the input. They are unpacked from a padded copy.
    let mut end = [0; 2 * GROUP_INPUT_BYTES];
    end.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let mut rest = unpack_groups::<T, W>(&end, &mut groups);
    for group in groups {
        *group = [T::default(); GROUP_WORDS];
        rest = &[];
    }
    if !last.is_empty() {
        let mut group = [T::default(); GROUP_WORDS];
        let mut end = [0; GROUP_INPUT_BYTES];
        end.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        unpack_group::<T, W>(&end, &mut group);
        last.iter_mut().zip(group).for_each(|(to, from)| *to = from);
    }
}

/// Unpacks numbers of `W` bits from `input` into `groups`, for filters. Stops when fewer than
/// `GROUP_INPUT_BYTES` bytes remain, and returns the remaining input.
#[inline]
fn unpack_groups<'a, T: Word, const W: usize>(
    input: &'a [u8],
    groups: &mut std::slice::IterMut<'_, [T; GROUP_WORDS]>,
) -> &'a [u8] {
    let mut rest = input;
    while let Some(window) = rest.first_chunk::<GROUP_INPUT_BYTES>() {
        let Some(group) = groups.next() else { break };
        unpack_group::<T, W>(window, group);
        rest = rest.split_at(W).1;
    }
    rest
}

#[inline]
fn unpack_group<T: Word, const W: usize>(bytes: &[u8; GROUP_INPUT_BYTES], group: &mut [T; GROUP_WORDS]) {
    for (number, word) in group.iter_mut().enumerate() {
        let (at, passed) = (number * W / 8, number * W % 8);
        let Some((window, after)) = bytes.get(at..).and_then(|bytes| bytes.split_first_chunk()) else {
            return;
        };
        let mut window = u64::from_be_bytes(*window) << passed;
        if passed + W > 64 {
            window |= u64::from(after.first().copied().unwrap_or(0)) >> (8 - passed);
        }
        *word = T::low(window >> (64 - W));
    }
}

fn pack_width<T: Word, const W: usize>(words: &[T], output: &mut Vec<u8>) {
    if W > T::BITS {
        return;
    }
    let (groups, last) = words.as_chunks::<GROUP_WORDS>();
    output.reserve((groups.len() + 1) * W);
    for group in groups {
        let bytes = pack_group::<T, W>(group);
        output.extend_from_slice(bytes.split_at(W).0);
    }
    if !last.is_empty() {
        let mut group = [T::default(); GROUP_WORDS];
        group.iter_mut().zip(last).for_each(|(to, from)| *to = *from);
        let bytes = pack_group::<T, W>(&group);
        output.extend_from_slice(bytes.split_at((last.len() * W).div_ceil(8)).0);
    }
}

#[inline]
fn pack_group<T: Word, const W: usize>(group: &[T; GROUP_WORDS]) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut windows = bytes.as_chunks_mut::<8>().0.iter_mut();
    // The high `held` bits of the window are in use.
    let (mut window, mut held) = (0, 0);
    for word in group {
        let value = word.wide() << (64 - W);
        window |= value >> held;
        held += W;
        if held >= 64 {
            held -= 64;
            if let Some(bytes) = windows.next() {
                *bytes = window.to_be_bytes();
            }
            window = if held == 0 { 0 } else { value << (W - held) };
        }
    }
    if let Some(bytes) = windows.next() {
        *bytes = window.to_be_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{BitReader, BitWriter};
    use proptest::prelude::*;

    fn check<T: Word>(bits: u32, values: &[u64], more: &[u8]) {
        let mut expected = Vec::new();
        let mut writer = BitWriter::new(&mut expected);
        values.iter().for_each(|value| writer.put_wide(*value, bits));
        writer.finish();
        let words: Vec<T> = values.iter().map(|value| T::low(*value)).collect();
        let mut packed = vec![1, 2];
        pack(bits, &words, &mut packed);
        assert_eq!(packed[2..], expected, "{bits} bits of {}", T::BITS);
        expected.extend(more);
        let mut reader = BitReader::new(&expected);
        let numbers: Vec<u64> = values.iter().map(|_| reader.get_wide(bits).unwrap()).collect();
        let mut unpacked = vec![T::low(77); values.len()];
        unpack(bits, &expected, &mut unpacked);
        let unpacked: Vec<u64> = unpacked.into_iter().map(Word::wide).collect();
        assert_eq!(unpacked, numbers, "{bits} bits of {}", T::BITS);
    }

    fn check_all(bits: u32, values: &[u64], more: &[u8]) {
        if bits <= 8 {
            check::<u8>(bits, values, more);
        }
        if bits <= 16 {
            check::<u16>(bits, values, more);
        }
        if bits <= 32 {
            check::<u32>(bits, values, more);
        }
        check::<u64>(bits, values, more);
    }

    #[test]
    fn every_width_is_packed_bit_by_bit() {
        let values: Vec<u64> = (0..300_u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for bits in 0..=64 {
            for count in [0, 1, 7, 8, 9, 16, 63, 300] {
                for more in [0, 1, 71, 72, 200] {
                    check_all(bits, &values[..count], &vec![0xa5; more]);
                }
            }
        }
    }

    #[test]
    fn what_is_not_there_is_zero() {
        let mut words = [9_u16; 40];
        unpack(9, &[0xff, 0xff], &mut words);
        assert_eq!(words[..2], [0x1ff, 0x1fc]);
        assert!(words[2..].iter().all(|word| *word == 0));
    }

    proptest! {
        #[test]
        fn numbers_equal_those_read_one_by_one(
            bits in 0..=64_u32,
            values in proptest::collection::vec(any::<u64>(), 0..200),
            more in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            check_all(bits, &values, &more);
        }

        #[test]
        fn words_are_their_bytes(
            bytes in proptest::collection::vec(any::<u8>(), 40), big_endian in any::<bool>(), at in 0..40_usize,
        ) {
            let mut words = [0_u32; 10];
            u32::read(&bytes, big_endian, &mut words);
            prop_assert_eq!(Word::get(&bytes, 8, big_endian), Some(words[2]));
            let mut back = vec![0; 40];
            u32::write(&words, big_endian, &mut back);
            prop_assert_eq!(&back, &bytes);
            let put = words[3].put(&mut back, at, big_endian);
            prop_assert_eq!(put.is_some(), at + 4 <= 40);
            prop_assert_eq!(u32::get(&back, at, big_endian), put.map(|()| words[3]));
        }
    }
}
