//! The deflate filter (number 1): a zlib stream (RFC 1950).
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------------------------------------
//! 0            | level, 0 (stored) to 9 (smallest); used only by the encoder
//! ```
//! The decoder ignores bytes after the end of the stream, as libhdf5 does.

#[cfg(not(feature = "libdeflate"))]
#[path = "zlib.rs"]
mod codec;

#[cfg(feature = "libdeflate")]
#[path = "libdeflate.rs"]
mod codec;

use crate::codec::grow;
use crate::codec::times;
use crate::filter::decode_and_copy;
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace};

/// The deflate filter (gzip), which compresses chunks as zlib streams.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deflate;

/// The maximum ratio of decoded to encoded bytes of deflate.
const MAX_EXPANSION_RATIO: usize = 1032;

/// The parameters of the encoder of the deflate filter.
#[derive(Debug, Clone, Copy)]
struct DeflateSettings {
    level: u32,
    /// The number of input bytes after which a deflate block ends; 0 if blocks may end anywhere.
    /// The byte planes of shuffled elements differ statistically, so each plane gets its own
    /// Huffman codes.
    plane: usize,
    /// True if the encoder searches only for repetitions of one byte, not for other repeated
    /// sequences.
    runs_only: bool,
}

impl DeflateSettings {
    fn parts<'i>(&self, input: &'i [u8]) -> impl Iterator<Item = &'i [u8]> + use<'i> {
        let split = self.plane > 0 && self.plane < input.len();
        let first = input.chunks(if split { self.plane } else { input.len().max(1) });
        // An empty chunk is encoded as an empty stream.
        first.chain(input.is_empty().then_some(input))
    }
}

/// The default compression level of deflate.
const DEFAULT_LEVEL: u32 = 6;

impl Filter for Deflate {
    fn id(&self) -> FilterId {
        FilterId::DEFLATE
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        self.decode_with(context, input, output, &mut Workspace::default())
    }

    fn decode_with(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut Vec<u8>,
        workspace: &mut Workspace,
    ) -> Result<Produced> {
        // The maximum expansion bounds the buffer, even if the hint and the limit are larger.
        let maximum = times(input.len(), MAX_EXPANSION_RATIO);
        let guess = context.expected_output.unwrap_or(times(input.len(), 4));
        let mut state: Box<codec::State> = workspace.take();
        grow(self.id(), guess.min(maximum), context.max_output, output, |output| {
            codec::decode(&mut state, input, output)
        })?;
        workspace.keep(state);
        Ok(Produced::Output)
    }

    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        if output.len() <= context.max_output {
            let mut state: Box<codec::State> = workspace.take();
            let decoded = codec::decode(&mut state, input, output)?;
            workspace.keep(state);
            if let Some(length) = decoded {
                return Ok(length);
            }
        }
        decode_and_copy(self, context, input, output, workspace)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        self.encode_with(context, input, output, &mut Workspace::default())
    }

    fn encode_with(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut Vec<u8>,
        workspace: &mut Workspace,
    ) -> Result<Produced> {
        let level = context.client_data.first().copied().unwrap_or(DEFAULT_LEVEL);
        if level > 9 {
            return Err(FilterError::failed(
                self.id(),
                format!("the compression level must be at most 9, not {level}"),
            ));
        }
        let mut state: Box<codec::State> = workspace.take();
        let settings = if context.fast {
            DeflateSettings { level: level.min(1), plane: 0, runs_only: false }
        } else {
            DeflateSettings { level, plane: context.plane, runs_only: context.runs_only }
        };
        codec::encode(&mut state, &settings, input, output)?;
        workspace.keep(state);
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }

    fn prepare(&self, requested: &[u32], _dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        match requested {
            [level, ..] if *level > 9 => Err(FilterError::refused(
                self.id(),
                format!("the compression level must be at most 9, not {level}"),
            )),
            _ => Ok(requested.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    #[test]
    fn keeps_the_contract() {
        for level in [0, 1, 6, 9] {
            conformance::run(&Deflate, &[level]);
        }
        conformance::run(&Deflate, &[]);
    }

    /// `b"hello hello hello"` as encoded by zlib.
    const HELLO: [u8; 19] = [
        0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x90, 0x00, 0x3a, 0x2e, 0x06, 0x7d, 0, 0,
        0,
    ];

    fn decode(input: &[u8], expected_output: Option<usize>, max_output: usize) -> Result<Vec<u8>> {
        let context = FilterContext { expected_output, ..FilterContext::new(&[6], max_output) };
        let mut output = vec![9; 3];
        assert_eq!(Deflate.decode(&context, input, &mut output)?, Produced::Output);
        Ok(output)
    }

    #[test]
    fn streams_of_zlib_are_read_whatever_is_expected() {
        for expected in [None, Some(0), Some(1), Some(17), Some(500), Some(usize::MAX)] {
            assert_eq!(decode(&HELLO[..16], expected, 17).unwrap(), b"hello hello hello", "{expected:?}");
            assert_eq!(decode(&HELLO, expected, usize::MAX).unwrap(), b"hello hello hello");
        }
    }

    #[test]
    fn broken_streams_are_corrupt() {
        let corrupt = |bytes: &[u8]| matches!(decode(bytes, None, 1000), Err(FilterError::Corrupt { .. }));
        assert!(corrupt(&[]));
        assert!((0..16).all(|end| corrupt(&HELLO[..end])));
        assert!(corrupt(&HELLO[2..]));
        let mut checksum = HELLO;
        checksum[15] ^= 1;
        assert!(corrupt(&checksum));
    }

    #[test]
    fn bombs_stop_at_the_limit() {
        let bomb = conformance::encode(&Deflate, &[9], &vec![0; 10 << 20]).unwrap();
        assert!(bomb.len() < 20_000);
        for expected in [None, Some(1000)] {
            let error = decode(&bomb, expected, 1_000_000).unwrap_err();
            assert_eq!(error, FilterError::Limit { id: FilterId::DEFLATE, limit: 1_000_000 });
        }
        assert_eq!(decode(&bomb, None, 10 << 20).unwrap().len(), 10 << 20);
        assert!(decode(&bomb, None, (10 << 20) - 1).is_err());
    }

    #[test]
    fn planes_have_codes_of_their_own() {
        use crate::{ChunkTarget, Pipeline, Registry, Stage};
        // Small counts as floats: one plane of zeros, one with few values, two with many.
        let mut state = 1_u64;
        let mut count = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % 15 * (state >> 32) % 15 + 1) as f32
        };
        let values: Vec<u8> = (0..20_000).flat_map(|_| count().to_le_bytes()).collect();
        let registry = Registry::default();
        let stages = vec![Stage::new(FilterId::SHUFFLE, &[4]), Stage::new(FilterId::DEFLATE, &[4])];
        let split = Pipeline::new(stages);
        let (shuffled, _) = Pipeline::new(split.stages[..1].to_vec())
            .encode_chunk(&registry, values.as_slice(), &ChunkTarget::default())
            .unwrap();
        let joined = conformance::encode(&Deflate, &[4], &shuffled).unwrap();
        for length in [values.len(), 4003, 512, 511, 3, 0] {
            for (runs_only, fast) in [(false, false), (true, false), (true, true)] {
                let target = ChunkTarget { runs_only, fast, min_plane_bytes: 128, ..ChunkTarget::default() };
                let (stored, mask) = split.encode_chunk(&registry, &values[..length], &target).unwrap();
                assert_eq!(split.decode_chunk(&registry, mask, &stored, &target).unwrap(), &values[..length]);
                // libdeflate chooses the ends of its blocks itself.
                if length == values.len() && !fast && cfg!(not(feature = "libdeflate")) {
                    assert!(stored.len() * 100 < joined.len() * 98, "{} of {}", stored.len(), joined.len());
                }
            }
        }
    }

    #[test]
    fn levels_above_nine_are_refused() {
        assert!(matches!(conformance::encode(&Deflate, &[10], b"x"), Err(FilterError::Failed { .. })));
    }
}
