//! The LZF filter (number 32000), from h5py: LZ77 with short distances, designed for speed.
//!
//! ```text
//! client data  | meaning
//! -------------+-------------------------------------------
//! 0            | revision of the filter: 4
//! 1            | version of the LZF library: 0x105
//! 2            | bytes of a decoded chunk
//!
//! bytes of a chunk      | meaning
//! ----------------------+-------------------------------------------------------------------------
//! 000nnnnn, n + 1 bytes | n + 1 literal bytes
//! llldddd d, [l], d     | a match: copy l + 2 bytes from a distance of d + 1 bytes (d has 13 bits,
//!                       | high bits first); if l = 7, the next byte is added to l
//! ```

use crate::codec::lz77::{self, Finder, Sequence};
use crate::codec::resize;
use crate::codec::times;
use crate::filter::{copy_start, decode_and_copy};
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace};

/// The LZF filter of h5py, which compresses chunks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lzf;

const FINDER: Finder = Finder { max_distance: 1 << 13, max_length: 264, tail: 0 };

/// The revision of the LZF filter. The filter stores this number as client data value 0.
const FILTER_REVISION: u32 = 4;
/// The version of the LZF library. The filter stores this number as client data value 1.
const LIBRARY_VERSION: u32 = 0x105;

/// The maximum number of literal bytes after one control byte of LZF.
const MAX_LITERAL_BYTES: usize = 32;

/// The maximum ratio of decoded to encoded bytes of LZF: a match of 264 bytes takes 3 bytes.
const MAX_EXPANSION_RATIO: usize = 264 / 3 + 1;

impl Filter for Lzf {
    fn id(&self) -> FilterId {
        FilterId::LZF
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let limit = context.max_output;
        let guess = context.expected_output.unwrap_or(times(input.len(), 2));
        resize(self.id(), output, guess.max(64).min(times(input.len(), MAX_EXPANSION_RATIO)).min(limit))?;
        let mut decoder = Decoder { rest: input, at: 0 };
        while !decoder.run(output)? {
            if output.len() >= limit {
                return Err(FilterError::Limit { id: self.id(), limit });
            }
            let larger = times(output.len(), 2).max(64).min(limit);
            resize(self.id(), output, larger)?;
        }
        output.truncate(decoder.at);
        Ok(Produced::Output)
    }

    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        let mut decoder = Decoder { rest: input, at: 0 };
        if output.len() <= context.max_output && decoder.run(output)? {
            return Ok(decoder.at);
        }
        decode_and_copy(self, context, input, output, workspace)
    }

    fn encode(&self, _context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        output.clear();
        output.reserve(input.len() + input.len() / MAX_LITERAL_BYTES + 1);
        FINDER.run(input, |Sequence { literals, length, distance }| {
            literals.chunks(MAX_LITERAL_BYTES).for_each(|run| push_run(run, output));
            if length == 0 {
                return;
            }
            let [low, high, ..] = (distance - 1).to_le_bytes();
            match length - 2 {
                short @ ..7 => output.push(short.to_le_bytes()[0] << 5 | high),
                long => output.extend([7 << 5 | high, (long - 7).to_le_bytes()[0]]),
            }
            output.push(low);
        });
        if output.len() == input.len() {
            // h5py stores such a chunk unencoded, with its bit set in the filter mask. When libhdf5
            // replaces a chunk by one of the same length, it keeps the filter mask. Therefore an
            // encoded chunk must not have the length of the unencoded chunk.
            output.clear();
            input.chunks(MAX_LITERAL_BYTES).for_each(|run| push_run(run, output));
        }
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }

    fn prepare(&self, requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        let given =
            |at: usize, default| requested.get(at).copied().filter(|value| *value > 0).unwrap_or(default);
        Ok(vec![given(0, FILTER_REVISION), given(1, LIBRARY_VERSION), dataset.chunk_bytes_for(self.id())?])
    }
}

/// Appends a run of at most [`MAX_LITERAL_BYTES`] literal bytes to the LZF output.
fn push_run(run: &[u8], output: &mut Vec<u8>) {
    output.push((run.len() - 1).to_le_bytes()[0]);
    output.extend_from_slice(run);
}

/// The state of an LZF decoder: the remaining input, and the number of decoded bytes.
struct Decoder<'a> {
    rest: &'a [u8],
    at: usize,
}

impl Decoder<'_> {
    /// Runs the LZF decoder on the remaining input, and writes the bytes to `output`. Returns true
    /// at the end of the input. Returns false if `output` is too short for the next literal bytes
    /// or match.
    fn run(&mut self, output: &mut [u8]) -> Result<bool> {
        let (mut rest, mut at) = (self.rest, self.at);
        while let Some((control, after)) = rest.split_first() {
            let available = output.len() - at;
            let (next, length) = if *control < 32 {
                let count = usize::from(*control) + 1;
                let (run, after_run) = after.split_at_checked(count).ok_or_else(truncated)?;
                if count <= available {
                    literals(run, after, output.split_at_mut(at).1);
                }
                (after_run, count)
            } else {
                let mut length = usize::from(control >> 5) + 2;
                let mut after = after;
                if length == 9 {
                    let (more, next) = after.split_first().ok_or_else(truncated)?;
                    (length, after) = (length + usize::from(*more), next);
                }
                let (low, after) = after.split_first().ok_or_else(truncated)?;
                let distance = (usize::from(control & 31) << 8 | usize::from(*low)) + 1;
                if length <= available {
                    lz77::copy_in(output, at, distance, length).ok_or_else(invalid_distance)?;
                }
                (after, length)
            };
            if length > available {
                // The next call continues here with a longer output.
                (self.rest, self.at) = (rest, at);
                return Ok(false);
            }
            rest = next;
            at += length;
        }
        (self.rest, self.at) = (rest, at);
        Ok(true)
    }
}

/// Copies the literal bytes `run` of an LZF chunk to `output`. `after` is the input, which begins
/// with these bytes. May copy more bytes than the run has, which is faster.
#[inline]
fn literals(run: &[u8], after: &[u8], output: &mut [u8]) {
    match (after.first_chunk::<MAX_LITERAL_BYTES>(), output.first_chunk_mut::<MAX_LITERAL_BYTES>()) {
        (Some(from), Some(to)) => *to = *from,
        _ => copy_start(run, output),
    }
}

fn invalid_distance() -> FilterError {
    FilterError::corrupt(FilterId::LZF, "a match begins before the start of the chunk")
}

fn truncated() -> FilterError {
    FilterError::corrupt(FilterId::LZF, "the chunk is truncated")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    #[test]
    fn keeps_the_contract() {
        conformance::run(&Lzf, &[4, 0x105, 1000]);
        conformance::run(&Lzf, &[]);
    }

    #[test]
    fn controls_are_read() {
        let decode = |bytes: &[u8]| conformance::decode(&Lzf, &[], bytes, None, 300);
        assert_eq!(decode(&[2, 1, 2, 3, 0x20, 2, 0x40, 0]).unwrap(), [1, 2, 3, 1, 2, 3, 3, 3, 3, 3]);
        assert_eq!(decode(&[0, 9, 0xe0, 255, 0]).unwrap(), [9; 265]);
        assert!(matches!(decode(&[0, 9, 0x20, 1]), Err(FilterError::Corrupt { .. })));
        assert!(matches!(decode(&[1, 9]), Err(FilterError::Corrupt { .. })));
        let error = decode(&[0, 9, 0xe0, 255, 0, 0xe0, 255, 0]).unwrap_err();
        assert_eq!(error, FilterError::Limit { id: FilterId::LZF, limit: 300 });
    }

    proptest! {
        #[test]
        fn chunks_come_back(raw in proptest::collection::vec(0..4_u8, 0..3000), spread in any::<bool>()) {
            let raw: Vec<u8> = if spread { raw.chunks(9).flat_map(|bytes| [bytes[0]; 9]).collect() } else { raw };
            let stored = conformance::encode(&Lzf, &[], &raw).unwrap();
            let decoded = conformance::decode(&Lzf, &[], &stored, None, raw.len()).unwrap();
            prop_assert_eq!(&decoded, &raw);
            let mut into = vec![0; raw.len()];
            let context = FilterContext::new(&[], raw.len());
            let count = Lzf.decode_into(&context, &stored, &mut into, &mut Workspace::default());
            prop_assert_eq!((count, into), (Ok(raw.len()), raw));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(decoded) = conformance::decode(&Lzf, &[], &bytes, None, 1000) {
                prop_assert!(decoded.len() <= 1000);
            }
        }
    }
}
