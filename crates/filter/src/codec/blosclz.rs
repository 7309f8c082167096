//! BloscLZ, a codec related to LZF and FastLZ.
//!
//! ```text
//! bytes                    | meaning
//! -------------------------+----------------------------------------------------------------------
//! 000nnnnn, n + 1 bytes    | n + 1 literal bytes
//! lllddddd, [l…], d        | a match: copy l + 2 bytes from a distance of d + 1 bytes (d has 13
//!                          | bits, high bits first); if l = 7, more bytes are added to l, up to
//!                          | the first that is not 255
//! lll11111, [l…], 255, d d | a far match: copy from a distance of d + 8192 bytes (d has 16 bits,
//!                          | big-endian)
//! ```
//! The first control byte always stands for literals; its three high bits have no meaning.

use crate::codec::lz77::{self, Finder, Sequence};

/// The largest distance of a BloscLZ match without two additional bytes.
const FAR_DISTANCE: usize = 8191;

/// The maximum number of literal bytes after one control byte of BloscLZ.
const MAX_LITERAL_BYTES: usize = 32;

const FINDER: Finder = Finder { max_distance: FAR_DISTANCE + (1 << 16), max_length: usize::MAX, tail: 12 };

/// Decodes the BloscLZ bytes `input` and appends exactly `length` bytes to `output`. Returns
/// [`None`] if `input` is not valid or has another length.
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
            if distance == FAR_DISTANCE {
                distance += usize::from(u16::from_be_bytes([*bytes.next()?, *bytes.next()?]));
            }
            take = take.checked_add(count).filter(|take| *take <= end)?;
            // A match cannot refer to bytes before the block.
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

/// Encodes `input` with BloscLZ, and appends the encoded bytes to `output`. `input` must not be
/// empty.
pub(crate) fn encode(input: &[u8], output: &mut Vec<u8>) {
    FINDER.run(input, |Sequence { literals, length, distance }| {
        for run in literals.chunks(MAX_LITERAL_BYTES) {
            output.push((run.len() - 1).to_le_bytes()[0]);
            output.extend_from_slice(run);
        }
        if length > 0 {
            encode_match(length - 2, distance - 1, output);
        }
    });
}

fn encode_match(length: usize, distance: usize, output: &mut Vec<u8>) {
    let near = distance.min(FAR_DISTANCE);
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
    if near == FAR_DISTANCE {
        let [low, high, ..] = (distance - FAR_DISTANCE).to_le_bytes();
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
        assert_eq!(decode(&[0, 9, 0x20, 1], 4), None, "a distance to before the block");
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
