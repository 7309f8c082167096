//! BloscLZ, a relative of LZF and FastLZ.
//!
//! ```text
//! bytes                    | meaning
//! -------------------------+-----------------------------------------------------------------------------
//! 000nnnnn, n + 1 bytes    | bytes as they are
//! lllddddd, [l…], d        | l + 2 bytes again, from d + 1 bytes before (d of 13 bits, high ones first); with
//!                          | l = 7, bytes follow that are added to it, up to the first that is not 255
//! lll11111, [l…], 255, d d | the same, from d + 8192 bytes before (d of 16 bits, high byte first)
//! ```
//! The first byte is always one of bytes as they are, and its three high bits mean nothing.

use crate::codec::lz77::{self, Finder, Sequence};

/// Distances from here on take two bytes more.
const FAR: usize = 8191;

/// Most bytes of a run as they are.
const LONGEST_RUN: usize = 32;

const FINDER: Finder = Finder { farthest: FAR + (1 << 16), longest: usize::MAX, tail: 12 };

/// Appends exactly `length` bytes; [`None`] for what is not encoded so.
pub(crate) fn decode(input: &[u8], output: &mut Vec<u8>, length: usize) -> Option<()> {
    let mut bytes = input.iter();
    let mut take = output.len();
    let end = take.checked_add(length)?;
    let start = take;
    let mut control = bytes.next()? & 31;
    loop {
        if control < 32 {
            let (run, rest) = bytes.as_slice().split_at_checked(usize::from(control) + 1)?;
            take += run.len();
            if take > end {
                return None;
            }
            output.extend_from_slice(run);
            bytes = rest.iter();
        } else {
            let mut count = usize::from(control >> 5) + 2;
            if count == 9 {
                loop {
                    let more = *bytes.next()?;
                    count = count.checked_add(usize::from(more))?;
                    if more != 255 {
                        break;
                    }
                }
            }
            let (high, low) = (usize::from(control & 31) << 8, usize::from(*bytes.next()?));
            let mut distance = high + low;
            if distance == FAR {
                distance += usize::from(u16::from_be_bytes([*bytes.next()?, *bytes.next()?]));
            }
            take = take.checked_add(count).filter(|take| *take <= end)?;
            // What stands before the block is none of its business.
            lz77::copy(
                output,
                Some(distance + 1).filter(|distance| *distance <= output.len() - start)?,
                count,
            )?;
        }
        match bytes.next() {
            Some(next) => control = *next,
            None => return (take == end).then_some(()),
        }
    }
}

/// Appends `input`, not empty, encoded.
pub(crate) fn encode(input: &[u8], output: &mut Vec<u8>) {
    FINDER.run(input, |Sequence { literals, length, distance }| {
        for run in literals.chunks(LONGEST_RUN) {
            output.push((run.len() - 1).to_le_bytes()[0]);
            output.extend_from_slice(run);
        }
        if length > 0 {
            repetition(length - 2, distance - 1, output);
        }
    });
}

fn repetition(length: usize, distance: usize, output: &mut Vec<u8>) {
    let near = distance.min(FAR);
    let [low, high, ..] = near.to_le_bytes();
    if length < 7 {
        output.push(length.to_le_bytes()[0] << 5 | high);
    } else {
        output.push(7 << 5 | high);
        let mut rest = length - 7;
        while rest >= 255 {
            output.push(255);
            rest -= 255;
        }
        output.push(rest.to_le_bytes()[0]);
    }
    output.push(low);
    if near == FAR {
        let [low, high, ..] = (distance - FAR).to_le_bytes();
        output.extend([high, low]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn controls_are_read() {
        let decode = |bytes: &[u8], length| {
            let mut output = vec![7];
            decode(bytes, &mut output, length).map(|()| output.split_off(1))
        };
        assert_eq!(decode(&[0xe2, 1, 2, 3, 0x20, 2], 6).unwrap(), [1, 2, 3, 1, 2, 3]);
        assert_eq!(decode(&[0, 9, 0xe0, 255, 3, 0], 268).unwrap(), [9; 268]);
        assert_eq!(decode(&[0, 9, 0x20, 1], 4), None, "what is before the block");
        assert_eq!(decode(&[1, 9], 2), None);
        assert_eq!(decode(&[0, 9], 2), None);
        assert_eq!(decode(&[1, 9, 9], 1), None);
        assert_eq!(decode(&[], 0), None);
    }

    #[test]
    fn far_repetitions() {
        let noise: Vec<u8> =
            (0..40_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
        for length in [8000, 8190, 8191, 8192, 8193, 30_000] {
            let input = [&noise[..length], &noise[..1000]].concat();
            let mut encoded = Vec::new();
            encode(&input, &mut encoded);
            assert!(encoded.len() < length + length / 32 + 60);
            let mut output = Vec::new();
            decode(&encoded, &mut output, input.len()).unwrap();
            assert!(output == input);
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(input in proptest::collection::vec(0..3_u8, 1..3000)) {
            let (mut encoded, mut output) = (Vec::new(), Vec::new());
            encode(&input, &mut encoded);
            decode(&encoded, &mut output, input.len()).unwrap();
            prop_assert_eq!(output, input);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), length in 0..500_usize) {
            let mut output = Vec::new();
            if decode(&bytes, &mut output, length).is_some() {
                prop_assert_eq!(output.len(), length);
            }
        }
    }
}
