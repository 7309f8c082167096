//! The Zstandard filter (number 32015): one frame (RFC 8878) for each chunk.
//!
//! ```text
//! client data  | meaning
//! -------------+-----------------------------------------------
//! 0            | level, 1 to 22, default 3; used only by the encoder
//! ```

use crate::codec::times;
use crate::codec::{grow, zstd};
use crate::filter::decode_and_copy;
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace};

/// The Zstandard filter, which compresses chunks as Zstandard frames.
#[derive(Debug, Clone, Copy, Default)]
pub struct Zstd;

const DEFAULT_LEVEL: u32 = 3;

const MAX_LEVEL: u32 = 22;

/// A ratio of decoded to encoded bytes that few Zstandard frames exceed. The first output buffer
/// has at most this number of bytes for each encoded byte.
const LIKELY_EXPANSION_RATIO: usize = 1 << 10;

impl Filter for Zstd {
    fn id(&self) -> FilterId {
        FilterId::ZSTD
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
        // The first buffer depends on the size of the frame, not only on the hint.
        let guess = context.expected_output.unwrap_or(times(input.len(), 4));
        let guess = guess.min(times(input.len(), LIKELY_EXPANSION_RATIO));
        let mut state: Box<zstd::State> = workspace.take();
        grow(self.id(), guess, context.max_output, output, |output| {
            zstd::decode(self.id(), &mut state, input, output)
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
            let mut state: Box<zstd::State> = workspace.take();
            let decoded = zstd::decode(self.id(), &mut state, input, output)?;
            workspace.keep(state);
            if let Some(length) = decoded {
                return Ok(length);
            }
        }
        decode_and_copy(self, context, input, output, workspace)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        output.clear();
        let level = context.client_data.first().copied().unwrap_or(DEFAULT_LEVEL);
        zstd::encode(self.id(), level, input, output)?;
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
            [level, ..] if *level > MAX_LEVEL => {
                let reason = format!("level {level} is more than {MAX_LEVEL}");
                Err(FilterError::refused(self.id(), reason))
            }
            _ => Ok(requested.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    #[test]
    fn keeps_the_contract() {
        for client_data in [&[][..], &[1], &[9]] {
            conformance::run(&Zstd, client_data);
        }
    }

    #[test]
    fn bombs_stop_at_the_limit() {
        let bomb = conformance::encode(&Zstd, &[9], &vec![0; 10 << 20]).unwrap();
        assert!(bomb.len() < 20_000);
        let error = conformance::decode(&Zstd, &[], &bomb, None, 1_000_000).unwrap_err();
        assert_eq!(error, FilterError::Limit { id: FilterId::ZSTD, limit: 1_000_000 });
        assert_eq!(conformance::decode(&Zstd, &[], &bomb, None, 10 << 20).unwrap().len(), 10 << 20);
    }

    proptest! {
        #[test]
        fn damaged_frames_do_not_panic(
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..5),
        ) {
            let raw: Vec<u8> = (0..5000_u32).flat_map(|at| (at * at / 100).to_le_bytes()).collect();
            let mut frame = conformance::encode(&Zstd, &[], &raw).unwrap();
            for (at, byte) in flips {
                *at.get_mut(&mut frame) = byte;
            }
            if let Ok(decoded) = conformance::decode(&Zstd, &[], &frame, None, 30_000) {
                prop_assert!(decoded.len() <= 30_000);
            }
        }
    }
}
