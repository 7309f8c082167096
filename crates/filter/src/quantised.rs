//! The filters BitGroom (number 32022) and Granular BitRound (32023). Both round floating-point
//! numbers to fewer significant digits, so that a compressor after them needs fewer bytes. Only the
//! decoders are implemented.
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------------------------------------------------------------------
//! 0            | significant decimal digits
//! 1            | bytes of a number: 4 or 8
//! 2            | not 0: there is a value for missing data
//! 3, 4         | the value for missing data, low word first
//! ```
//! The decoders return the rounded numbers unchanged.

use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

/// The BitGroom filter, which rounds floating-point numbers to fewer significant digits.
#[derive(Debug, Clone, Copy, Default)]
pub struct BitGroom;

/// The Granular BitRound filter, which rounds floating-point numbers to fewer significant digits.
#[derive(Debug, Clone, Copy, Default)]
pub struct GranularBitRound;

macro_rules! quantised {
    ($($filter:ident = $id:expr;)*) => {$(
        impl Filter for $filter {
            fn id(&self) -> FilterId {
                $id
            }

            fn decode(&self, context: &FilterContext<'_>, input: &[u8], _output: &mut Vec<u8>) -> Result<Produced> {
                pass_through($id, context, input)
            }

            fn encode(&self, _context: &FilterContext<'_>, _input: &[u8], _output: &mut Vec<u8>) -> Result<Produced> {
                Err(FilterError::failed($id, "only decoding is supported"))
            }

            fn encoded_length(&self, _context: &FilterContext<'_>, input: usize) -> Option<usize> {
                Some(input)
            }

            fn compresses(&self) -> bool {
                false
            }

            fn can_encode(&self) -> bool {
                false
            }
        }
    )*};
}

quantised! {
    BitGroom = FilterId::BITGROOM;
    GranularBitRound = FilterId::GRANULAR_BITROUND;
}

fn pass_through(id: FilterId, context: &FilterContext<'_>, input: &[u8]) -> Result<Produced> {
    if input.len() > context.max_output {
        return Err(FilterError::Limit { id, limit: context.max_output });
    }
    Ok(Produced::unchanged(input))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    #[test]
    fn numbers_stay_as_they_were_written() {
        for filter in [&BitGroom as &dyn Filter, &GranularBitRound] {
            let numbers = [1.25_f32.to_le_bytes(), 3.5_f32.to_le_bytes()].concat();
            let data = [3, 4, 0, 0, 0];
            assert_eq!(conformance::decode(filter, &data, &numbers, Some(8), 8).unwrap(), numbers);
            let limit = conformance::decode(filter, &data, &numbers, Some(8), 7).unwrap_err();
            assert_eq!(limit, FilterError::Limit { id: filter.id(), limit: 7 });
            assert!(conformance::encode(filter, &data, &numbers).is_err());
        }
    }
}
