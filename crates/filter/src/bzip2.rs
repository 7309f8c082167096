//! The bzip2 filter (number 307): one bzip2 stream.
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------------------------------------
//! 0            | block size in 100 kB, 1 to 9, 9 if missing; only to encode
//! ```

use ::bzip2::{Action, Compress, Compression, Decompress, Status};

use crate::codec::behind;
use crate::codec::reserve;
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result};

/// The bzip2 filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bzip2;

/// Bytes by which the output grows first.
const FIRST: usize = 4 << 10;

impl Filter for Bzip2 {
    fn id(&self) -> FilterId {
        FilterId::BZIP2
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let corrupt = |what: &str| FilterError::corrupt(self.id(), format!("its bzip2 stream {what}"));
        let limit = context.max_output;
        // One byte over the limit is room enough to see that a stream passes it.
        // Saturates: no output passes the largest limit.
        let most = limit.saturating_add(1);
        let mut stream = Decompress::new(false);
        output.clear();
        loop {
            if output.len() == output.capacity() {
                let more = output.len().max(FIRST).min(most.max(output.len()) - output.len()).max(1);
                reserve(self.id(), output, more)?;
            }
            let before = output.len();
            let consumed = stream.total_in();
            let rest = behind(self.id(), input, consumed)?;
            let status = stream.decompress_vec(rest, output).map_err(|error| corrupt(&error.to_string()))?;
            if output.len() > limit {
                return Err(FilterError::Limit { id: self.id(), limit });
            }
            if status == Status::StreamEnd {
                return Ok(Produced::Output);
            }
            let is_stuck = stream.total_in() == consumed && output.len() == before;
            if is_stuck && output.len() < output.capacity() {
                return Err(corrupt("is cut off"));
            }
        }
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let level = context.client_data.first().copied().unwrap_or(9);
        if !(1..=9).contains(&level) {
            return Err(FilterError::failed(self.id(), format!("block size {level} is not 1 to 9")));
        }
        let mut stream = Compress::new(Compression::new(level), 0);
        output.clear();
        output.reserve(input.len() / 2 + FIRST);
        loop {
            let rest = behind(self.id(), input, stream.total_in())?;
            let status = stream
                .compress_vec(rest, output, Action::Finish)
                .map_err(|error| FilterError::failed(self.id(), error.to_string()))?;
            if status == Status::StreamEnd {
                return Ok(Produced::Output);
            }
            output.reserve(output.len().max(FIRST));
        }
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }

    fn prepare(&self, asked: &[u32], _dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        match asked {
            [] | [1..=9, ..] => Ok(asked.to_vec()),
            [size, ..] => Err(FilterError::refused(self.id(), format!("block size {size} is not 1 to 9"))),
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
