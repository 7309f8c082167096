//! Common parts of the LZ77 codecs: search for matches, copying of matches.

/// The minimum length in bytes of a match of an LZ77 encoder. A match is a sequence of bytes that
/// occurred before.
const MIN_MATCH_BYTES: usize = 4;

/// Appends a match to the output of an LZ77 decoder: `length` bytes that begin `distance` bytes
/// before the end of the output. Returns [`None`] if the output has fewer bytes than the distance.
#[inline]
pub(crate) fn copy(output: &mut Vec<u8>, distance: usize, length: usize) -> Option<()> {
    let start = output.len().checked_sub(distance).filter(|_| distance > 0)?;
    let mut rest = length;
    while rest > 0 {
        // A match may overlap its own copy: the copied bytes repeat with the same distance.
        let count = rest.min(output.len() - start);
        output.extend_from_within(start..start + count);
        rest -= count;
    }
    Some(())
}

/// The number of bytes that an LZ77 decoder copies in one step of a match. Up to this many bytes
/// after the match are overwritten.
const COPY_STEP_BYTES: usize = 8;

/// Copies a match within the output of an LZ77 decoder, to the offset `at`: `length` bytes that
/// begin `distance` bytes before `at`. Returns [`None`] if the match begins before the output or
/// ends after it. The bytes after the copy may change.
#[inline]
pub(crate) fn copy_in(output: &mut [u8], at: usize, distance: usize, length: usize) -> Option<()> {
    let start = at.checked_sub(distance).filter(|_| distance > 0)?;
    let end = at.checked_add(length).filter(|end| *end <= output.len())?;
    if distance >= COPY_STEP_BYTES && output.len() - end >= COPY_STEP_BYTES {
        for passed in (0..length).step_by(COPY_STEP_BYTES) {
            let step: [u8; COPY_STEP_BYTES] = *output.get(start + passed..)?.first_chunk()?;
            *output.get_mut(at + passed..)?.first_chunk_mut()? = step;
        }
        return Some(());
    }
    if distance == 1 {
        let byte = *output.get(start)?;
        output.get_mut(at..end)?.fill(byte);
        return Some(());
    }
    let mut to = at;
    while to < end {
        // A match may overlap its own copy: the copied bytes repeat with the same distance.
        let count = (end - to).min(to - start);
        output.copy_within(start..start + count, to);
        to += count;
    }
    Some(())
}

/// A part of the input of an LZ77 encoder: literal bytes, and then a match. A match is a sequence
/// of bytes that occurred before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sequence<'a> {
    pub(crate) literals: &'a [u8],
    /// The length of the match; 0 at the end of the input.
    pub(crate) length: usize,
    pub(crate) distance: usize,
}

/// The parameters with which an LZ77 encoder searches for matches (sequences of bytes that occurred
/// before). The last `tail` bytes of the input are never part of a match.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finder {
    pub(crate) max_distance: usize,
    pub(crate) max_length: usize,
    pub(crate) tail: usize,
}

impl Finder {
    /// Runs the search of an LZ77 encoder for matches in `input`, and calls `each` with one
    /// sequence after another. A sequence consists of literal bytes and a match. The last sequence
    /// has no match.
    pub(crate) fn run<'a>(self, input: &'a [u8], mut each: impl FnMut(Sequence<'a>)) {
        let bits = usize::BITS - input.len().leading_zeros();
        let bits = bits.clamp(8, 14);
        // The last position of each hash of four bytes.
        let mut seen = vec![0_u32; 1 << bits];
        // The last `tail` bytes are literals, as are all bytes of a shorter input.
        let end = input.len().max(self.tail) - self.tail;
        let (mut at, mut begin, mut misses) = (0, 0, 0);
        while let Some(next) = input.get(at..end).and_then(|rest| rest.first_chunk::<MIN_MATCH_BYTES>()) {
            let hash = u32::from_le_bytes(*next).wrapping_mul(0x9e37_79b1) >> (32 - bits);
            let Some(position) = usize::try_from(hash).ok().and_then(|hash| seen.get_mut(hash)) else {
                break;
            };
            let candidate = *position as usize;
            // The low 32 bits are a hint: the comparison of the bytes decides.
            *position = (hyperslab_exact::to_u64(at) & 0xffff_ffff) as u32;
            let length = if candidate < at && at - candidate <= self.max_distance {
                self.length(input.split_at(candidate).1, input.split_at(end).0.split_at(at).1)
            } else {
                0
            };
            if length < MIN_MATCH_BYTES {
                misses += 1;
                at += 1 + misses / 64;
                continue;
            }
            let literals = input.split_at(at).0.split_at(begin).1;
            each(Sequence { literals, length, distance: at - candidate });
            at += length;
            begin = at;
            misses = 0;
        }
        each(Sequence { literals: input.split_at(begin).1, length: 0, distance: 0 });
    }

    /// Returns the number of equal bytes at the start of two byte slices, for an LZ77 encoder's
    /// search for matches.
    #[inline]
    fn length(self, earlier: &[u8], later: &[u8]) -> usize {
        let later = later.get(..self.max_length).unwrap_or(later);
        let (earlier_words, later_words) = (earlier.as_chunks::<8>().0, later.as_chunks::<8>().0);
        let words = earlier_words.iter().zip(later_words).take_while(|(a, b)| a == b).count();
        let bytes = earlier.iter().zip(later).skip(8 * words).take_while(|(a, b)| a == b).count();
        8 * words + bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn copies_may_overlap() {
        let mut output = b"abc".to_vec();
        copy(&mut output, 2, 7).unwrap();
        assert_eq!(output, b"abcbcbcbcb");
        assert!(copy(&mut output, 0, 1).is_none());
        assert!(copy(&mut output, 11, 1).is_none());
    }

    proptest! {
        #[test]
        fn copies_within_a_slice_are_the_same(
            start in proptest::collection::vec(any::<u8>(), 0..40),
            distance in 0..45_usize,
            length in 0..80_usize,
            capacity in 0..100_usize,
        ) {
            let (at, mut slice) = (start.len(), start.clone());
            slice.resize(at + capacity, 0);
            let copied = copy_in(&mut slice, at, distance, length);
            let mut expected = start;
            let is_there = copy(&mut expected, distance, length).is_some();
            prop_assert_eq!(copied.is_some(), is_there && length <= capacity);
            if copied.is_some() {
                prop_assert_eq!(&slice[..at + length], &expected[..]);
            }
        }

        #[test]
        fn sequences_make_up_the_input(
            input in proptest::collection::vec(0..3_u8, 0..2000),
            max_distance in 1..3000_usize,
            max_length in 4..300_usize,
            tail in 0..20_usize,
        ) {
            let mut output = Vec::new();
            let mut last = Sequence { literals: &[], length: 1, distance: 0 };
            Finder { max_distance, max_length, tail }.run(&input, |sequence| {
                output.extend_from_slice(sequence.literals);
                if sequence.length > 0 {
                    assert!(sequence.length <= max_length && sequence.distance <= max_distance);
                    copy(&mut output, sequence.distance, sequence.length).unwrap();
                }
                last = sequence;
            });
            prop_assert_eq!(last.length, 0);
            prop_assert!(last.literals.len() >= tail.min(input.len()));
            prop_assert_eq!(output, input);
        }
    }
}
