//! How a chunk of SZ3 was made, as its end tells.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 1      | dimensions n, 1 to 4
//! 8 n    | values in each dimension, the one that varies fastest last
//! 8      | values
//! 1      | how values are predicted: 0 from neighbours (Lorenzo) or by regression, 2 by interpolation
//! 1      | how the largest error was given (it is told in what follows)
//! 8      | largest error; 0 if values are not changed
//! 8      | largest error relative to the range of the values; only to encode
//! 4      | whether these predict: neighbours in one layer, in two, planes, quadrics
//! 6      | how to interpolate, told again where it is needed
//! 2      | last stage and coder of codes; not heeded
//! 4      | number of codes; only to encode
//! 4      | values of a block in each dimension, told again where it is needed
//! 4      | not used
//! 4      | dimensions that predict, told again where it is needed
//! 1      | whether slabs were encoded in parallel
//! 4      | bytes before, these left out
//! ```

use super::bytes::Bytes;
use super::{corrupt, unsupported};
use crate::Result;

/// Bytes of a configuration, but for the values in each dimension.
const FIXED: usize = 56;

/// How values are found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// They are as they were.
    Lossless,
    Interpolation,
    /// From neighbours in one layer, or in two, or sometimes in one and sometimes in two.
    Lorenzo {
        one: bool,
        two: bool,
    },
}

/// What the end of a chunk tells.
#[derive(Debug, Clone)]
pub(super) struct Config {
    /// Values in each dimension, the one that varies fastest last.
    pub(super) sizes: Vec<usize>,
    pub(super) method: Method,
}

impl Config {
    /// The configuration of a chunk, and the bytes in front of it.
    pub(super) fn parse(chunk: &[u8]) -> Result<(Self, &[u8])> {
        let (rest, length) =
            chunk.split_last_chunk().ok_or_else(|| corrupt("its configuration is missing"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let at = rest.len().checked_sub(length).ok_or_else(|| corrupt("its configuration is missing"))?;
        let (payload, config) = rest.split_at(at);
        let mut bytes = Bytes::new(config);
        let dimensions = usize::from(bytes.byte()?);
        if !(1..=4).contains(&dimensions) || config.len() != FIXED + 8 * dimensions {
            return Err(corrupt("its configuration cannot be"));
        }
        let sizes = (0..dimensions).map(|_| bytes.size()).collect::<Result<Vec<_>>>()?;
        let count = bytes.size()?;
        if sizes.iter().try_fold(1, |product: usize, size| product.checked_mul(*size)) != Some(count) {
            return Err(corrupt("its dimensions do not match the number of its values"));
        }
        let method = Self::parse_method(&mut bytes)?;
        Ok((Self { sizes, method }, payload))
    }

    fn parse_method(bytes: &mut Bytes<'_>) -> Result<Method> {
        let algorithm = bytes.byte()?;
        bytes.byte()?;
        let bound = bytes.real()?;
        bytes.real()?;
        let predictors = bytes.take(4)?.iter().map(|byte| *byte != 0).collect::<Vec<_>>();
        bytes.take(6 + 2 + 4 + 4 + 4 + 4)?;
        if bytes.byte()? != 0 {
            return Err(unsupported("a chunk of slabs"));
        }
        match (algorithm, &predictors[..]) {
            _ if bound == 0.0 => Ok(Method::Lossless),
            (2, _) => Ok(Method::Interpolation),
            (0, [one, two, false, false]) if *one || *two => Ok(Method::Lorenzo { one: *one, two: *two }),
            (0, [_, _, planes, quadrics]) if *planes || *quadrics => {
                Err(unsupported("prediction by regression"))
            }
            _ => Err(corrupt("no way to predict its values")),
        }
    }
}
