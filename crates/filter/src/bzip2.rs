//! The bzip2 filter (number 307): one bzip2 stream.
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------------------------------------
//! 0            | block size in units of 100 kB, 1 to 9, default 9; used only by the encoder
//! ```

use ::bzip2::{Action, Compress, Compression, Decompress, Status};

use crate::codec::remaining_input;
use crate::codec::reserve;
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result};

/// The bzip2 filter, which compresses chunks as bzip2 streams.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bzip2;

/// The number of bytes by which the output buffer of the bzip2 filter grows in its first step.
const INITIAL_OUTPUT_BYTES: usize = 4 << 10;

impl Filter for Bzip2 {
    fn id(&self) -> FilterId {
        FilterId::BZIP2
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let corrupt = |problem: &str| FilterError::corrupt(self.id(), format!("the bzip2 stream {problem}"));
        let limit = context.max_output;
        // One byte more than the limit is enough to detect that the stream exceeds the limit. The
        // addition saturates: no output is larger than `usize::MAX`.
        let maximum = limit.saturating_add(1);
        let mut stream = Decompress::new(false);
        output.clear();
        loop {
            if output.len() == output.capacity() {
                let more = output
                    .len()
                    .max(INITIAL_OUTPUT_BYTES)
                    .min(maximum.max(output.len()) - output.len())
                    .max(1);
                reserve(self.id(), output, more)?;
            }
            let before = output.len();
            let consumed = stream.total_in();
            let rest = remaining_input(self.id(), input, consumed)?;
            let status = stream.decompress_vec(rest, output).map_err(|error| corrupt(&error.to_string()))?;
            if output.len() > limit {
                return Err(FilterError::Limit { id: self.id(), limit });
            }
            if status == Status::StreamEnd {
                return Ok(Produced::Output);
            }
            let is_stuck = stream.total_in() == consumed && output.len() == before;
            if is_stuck && output.len() < output.capacity() {
                return Err(corrupt("is truncated"));
            }
        }
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let level = context.client_data.first().copied().unwrap_or(9);
        if !(1..=9).contains(&level) {
            return Err(FilterError::failed(
                self.id(),
                format!("the block size must be from 1 to 9, not {level}"),
            ));
        }
        let mut stream = Compress::new(Compression::new(level), 0);
        output.clear();
        output.reserve(input.len() / 2 + INITIAL_OUTPUT_BYTES);
        loop {
            let rest = remaining_input(self.id(), input, stream.total_in())?;
            let status = stream
                .compress_vec(rest, output, Action::Finish)
                .map_err(|error| FilterError::failed(self.id(), error.to_string()))?;
            if status == Status::StreamEnd {
                return Ok(Produced::Output);
            }
            output.reserve(output.len().max(INITIAL_OUTPUT_BYTES));
        }
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }

    fn prepare(&self, requested: &[u32], _dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        match requested {
            [] | [1..=9, ..] => Ok(requested.to_vec()),
            [size, ..] => Err(FilterError::refused(
                self.id(),
                format!("the block size must be from 1 to 9, not {size}"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    #[test]
    fn keeps_the_contract() {
        for length in [0, 1, 17, 1000, 70_001] {
            conformance::run_with(&Bzip2, &[9], length);
        }
        conformance::run_with(&Bzip2, &[], 300);
        conformance::run_with(&Bzip2, &[1], 250_001);
    }

    #[test]
    fn parameters_and_bombs() {
        for level in [0, 10] {
            let error = conformance::encode(&Bzip2, &[level], b"x").unwrap_err();
            assert!(matches!(error, FilterError::Failed { .. }));
        }
        let bomb = conformance::encode(&Bzip2, &[9], &vec![0; 10 << 20]).unwrap();
        assert!(bomb.len() < 1000);
        let error = conformance::decode(&Bzip2, &[], &bomb, None, 1_000_000).unwrap_err();
        assert_eq!(error, FilterError::Limit { id: FilterId::BZIP2, limit: 1_000_000 });
    }
}
