//! What the LZ77 family has in common: repetitions found, repetitions copied.

/// Shortest repetition that is looked for.
const SHORTEST: usize = 4;

/// Appends `length` bytes that stand `distance` bytes before the end; [`None`] if there are not so many.
#[inline]
pub(crate) fn copy(output: &mut Vec<u8>, distance: usize, length: usize) -> Option<()> {
    let start = output.len().checked_sub(distance).filter(|_| distance > 0)?;
    let mut rest = length;
    while rest > 0 {
        // What has been copied may be copied again: it repeats with the same distance.
        let count = rest.min(output.len() - start);
        output.extend_from_within(start..start + count);
        rest -= count;
    }
    Some(())
}

/// Bytes that are copied at once, so that most copies are one. Up to so many bytes behind a copy are overwritten.
const STEP: usize = 8;

/// Copies `length` bytes that stand `distance` bytes before `at` to there; [`None`] if there are not so many, or no
/// room. Bytes behind the copy may change.
#[inline]
pub(crate) fn copy_in(output: &mut [u8], at: usize, distance: usize, length: usize) -> Option<()> {
    let start = at.checked_sub(distance).filter(|_| distance > 0)?;
    let end = at.checked_add(length).filter(|end| *end <= output.len())?;
    if distance >= STEP && output.len() - end >= STEP {
        for passed in (0..length).step_by(STEP) {
            let step: [u8; STEP] = *output.get(start + passed..)?.first_chunk()?;
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
        // What has been copied may be copied again: it repeats with the same distance.
        let count = (end - to).min(to - start);
        output.copy_within(start..start + count, to);
        to += count;
    }
    Some(())
}

/// A part of what is to be encoded: bytes as they are, then a repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sequence<'a> {
    pub(crate) literals: &'a [u8],
    /// 0 at the end of the input.
    pub(crate) length: usize,
    pub(crate) distance: usize,
}

/// Finds repetitions of `longest` bytes at most, from `farthest` bytes before at most; the last `tail` bytes are
/// not part of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finder {
    pub(crate) farthest: usize,
    pub(crate) longest: usize,
    pub(crate) tail: usize,
}

impl Finder {
    /// Calls `each` with the sequences that make up `input`, the last of which is no repetition.
    pub(crate) fn run<'a>(self, input: &'a [u8], mut each: impl FnMut(Sequence<'a>)) {
        let bits = usize::BITS - input.len().leading_zeros();
        let bits = bits.clamp(8, 14);
        // Where four bytes of this hash were last seen.
        let mut seen = vec![0_u32; 1 << bits];
        // The last bytes are literals; all are if there are fewer.
        let end = input.len().max(self.tail) - self.tail;
        let (mut at, mut begin, mut misses) = (0, 0, 0);
        while let Some(next) = input.get(at..end).and_then(|rest| rest.first_chunk::<SHORTEST>()) {
            let hash = u32::from_le_bytes(*next).wrapping_mul(0x9e37_79b1) >> (32 - bits);
            let Some(place) = usize::try_from(hash).ok().and_then(|hash| seen.get_mut(hash)) else { break };
            let candidate = *place as usize;
            // Saturates: a place past 32 bits is not found again.
            *place = u32::try_from(at).unwrap_or(u32::MAX);
            let length = if candidate < at && at - candidate <= self.farthest {
                self.length(input.split_at(candidate).1, input.split_at(end).0.split_at(at).1)
            } else {
                0
            };
            if length < SHORTEST {
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

    /// How many bytes are the same.
    #[inline]
    fn length(self, earlier: &[u8], later: &[u8]) -> usize {
        let later = later.get(..self.longest).unwrap_or(later);
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
            room in 0..100_usize,
        ) {
            let (at, mut slice) = (start.len(), start.clone());
            slice.resize(at + room, 0);
            let copied = copy_in(&mut slice, at, distance, length);
            let mut expected = start;
            let is_there = copy(&mut expected, distance, length).is_some();
            prop_assert_eq!(copied.is_some(), is_there && length <= room);
            if copied.is_some() {
                prop_assert_eq!(&slice[..at + length], &expected[..]);
            }
        }

        #[test]
        fn sequences_make_up_the_input(
            input in proptest::collection::vec(0..3_u8, 0..2000),
            farthest in 1..3000_usize,
            longest in 4..300_usize,
            tail in 0..20_usize,
        ) {
            let mut output = Vec::new();
            let mut last = Sequence { literals: &[], length: 1, distance: 0 };
            Finder { farthest, longest, tail }.run(&input, |sequence| {
                output.extend_from_slice(sequence.literals);
                if sequence.length > 0 {
                    assert!(sequence.length <= longest && sequence.distance <= farthest);
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
