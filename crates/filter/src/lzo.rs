//! The LZO filter (number 305), from PyTables: one LZO1X stream without a header.
//!
//! ```text
//! client data  | meaning
//! -------------+--------------------------------------------------
//! 0            | level; without effect
//! 1, 2         | version and class of the PyTables object; without effect
//! ```

use lzokay::Error;

use crate::codec::resize;
use crate::codec::times;
use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

/// The LZO filter of PyTables, which compresses chunks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lzo;

const ID: FilterId = FilterId::LZO;

/// The maximum ratio of decoded to encoded bytes of LZO.
const MAX_EXPANSION_RATIO: usize = 256;

/// The minimum size in bytes of the LZO output buffer, if the decoded length is unknown.
const MIN_OUTPUT_BYTES: usize = 64;

/// The LZO stream that encodes no bytes: only an end marker.
const EMPTY_STREAM: [u8; 3] = [0x11, 0, 0];

impl Filter for Lzo {
    fn id(&self) -> FilterId {
        ID
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let maximum = times(input.len(), MAX_EXPANSION_RATIO).min(context.max_output);
        let mut size = context
            .expected_output
            .unwrap_or(0)
            .max(times(input.len(), 2))
            .max(MIN_OUTPUT_BYTES)
            .min(maximum);
        loop {
            output.clear();
            resize(ID, output, size)?;
            match lzokay::decompress::decompress(input, output) {
                Ok(length) => {
                    output.truncate(length);
                    return Ok(Produced::Output);
                }
                Err(Error::OutputOverrun) if size < maximum => size = times(size, 2).min(maximum),
                Err(Error::OutputOverrun) if size == context.max_output => {
                    return Err(FilterError::Limit { id: ID, limit: context.max_output });
                }
                Err(error) => return Err(FilterError::corrupt(ID, error.to_string())),
            }
        }
    }

    fn encode(&self, _context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        // For empty input, `lzokay` writes the end marker twice.
        if input.is_empty() {
            output.clear();
            output.extend(EMPTY_STREAM);
            return Ok(Produced::Output);
        }
        let encoded = lzokay::compress::compress(input);
        *output = encoded.map_err(|error| FilterError::failed(ID, error.to_string()))?;
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    #[test]
    fn keeps_the_contract() {
        conformance::run(&Lzo, &[1, 23, 0]);
    }

    #[test]
    fn a_stream_that_liblzo2_wrote() {
        let raw = b"to be or not to be ".repeat(16);
        let stream = [
            0x0a, 0x74, 0x6f, 0x20, 0x62, 0x65, 0x20, 0x6f, 0x72, 0x20, 0x6e, 0x6f, 0x74, 0x20, 0xb0, 0x01,
            0xb4, 0x00, 0x20, 0xe3, 0x48, 0x00, 0x0c, 0x74, 0x6f, 0x20, 0x62, 0x65, 0x20, 0x6f, 0x72, 0x20,
            0x6e, 0x6f, 0x74, 0x20, 0x74, 0x6f, 0x11, 0x00, 0x00,
        ];
        assert_eq!(conformance::decode(&Lzo, &[], &stream, None, 300).unwrap(), raw[..300]);
    }

    #[test]
    fn long_runs_end_at_the_limit() {
        let bomb = conformance::encode(&Lzo, &[], &vec![7; 1 << 20]).unwrap();
        assert!(bomb.len() < 10_000);
        assert_eq!(conformance::decode(&Lzo, &[], &bomb, None, usize::MAX).unwrap(), vec![7; 1 << 20]);
        let error = conformance::decode(&Lzo, &[], &bomb, None, 100_000).unwrap_err();
        assert_eq!(error, FilterError::Limit { id: ID, limit: 100_000 });
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(decoded) = conformance::decode(&Lzo, &[], &bytes, None, 1000) {
                prop_assert!(decoded.len() <= 1000);
            }
        }

        #[test]
        fn damaged_streams_do_not_panic(
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..5),
        ) {
            let raw: Vec<u8> = (0..3000_u32).flat_map(|at| (at * at / 100).to_le_bytes()).collect();
            let mut stream = conformance::encode(&Lzo, &[], &raw).unwrap();
            for (at, byte) in flips {
                *at.get_mut(&mut stream) = byte;
            }
            if let Ok(decoded) = conformance::decode(&Lzo, &[], &stream, None, 30_000) {
                prop_assert!(decoded.len() <= 30_000);
            }
        }
    }
}
