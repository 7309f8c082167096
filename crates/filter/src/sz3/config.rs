//! The configuration at the end of an SZ3 chunk.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 1      | number of dimensions n, 1 to 4
//! 8 n    | values in each dimension, the fastest-varying dimension last
//! 8      | number of values
//! 1      | prediction: 0 from neighbours (Lorenzo) or by regression, 2 by interpolation
//! 1      | kind of the user's error bound (the following bound is absolute)
//! 8      | maximum error; 0: lossless
//! 8      | maximum error relative to the range of the values; used only by the encoder
//! 4      | true for each predictor in use: neighbours in one layer, in two layers, planes,
//!        | quadrics
//! 6      | parameters of the interpolation, repeated in the payload
//! 2      | lossless stage and coder; ignored
//! 4      | number of codes; used only by the encoder
//! 4      | values of a block in each dimension, repeated in the payload
//! 4      | unused
//! 4      | number of dimensions used by the prediction, repeated in the payload
//! 1      | true if slabs were encoded in parallel
//! 4      | number of configuration bytes before this field
//! ```

use super::bytes::Bytes;
use super::{corrupt, unsupported};
use crate::Result;

/// Size of an SZ3 configuration in bytes, without the lengths of the dimensions.
const FIXED_BYTES: usize = 56;

/// The method by which SZ3 predicts values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// No prediction: the values are stored losslessly.
    Lossless,
    Interpolation,
    /// Prediction from neighbours in one layer, in two layers, or in either, chosen for each block.
    Lorenzo {
        one: bool,
        two: bool,
    },
}

/// The parsed configuration of an SZ3 chunk.
#[derive(Debug, Clone)]
pub(super) struct Config {
    /// The number of values in each dimension, the fastest-varying dimension last.
    pub(super) sizes: Vec<usize>,
    pub(super) method: Method,
}

impl Config {
    /// Parses the configuration of an SZ3 chunk. Returns the configuration and the encoded values
    /// before the configuration.
    pub(super) fn parse(chunk: &[u8]) -> Result<(Self, &[u8])> {
        let (rest, length) =
            chunk.split_last_chunk().ok_or_else(|| corrupt("the configuration is truncated"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let at = rest.len().checked_sub(length).ok_or_else(|| corrupt("the configuration is truncated"))?;
        let (payload, config) = rest.split_at(at);
        let mut bytes = Bytes::new(config);
        let dimensions = usize::from(bytes.byte()?);
        if !(1..=4).contains(&dimensions) || config.len() != FIXED_BYTES + 8 * dimensions {
            return Err(corrupt("the number of dimensions or the length of the configuration is invalid"));
        }
        let sizes = (0..dimensions).map(|_| bytes.size()).collect::<Result<Vec<_>>>()?;
        let count = bytes.size()?;
        if sizes.iter().try_fold(1, |product: usize, size| product.checked_mul(*size)) != Some(count) {
            return Err(corrupt("the dimensions do not match the number of values"));
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
            return Err(unsupported("a chunk that SZ3 encoded in parallel"));
        }
        match (algorithm, &predictors[..]) {
            _ if bound == 0.0 => Ok(Method::Lossless),
            (2, _) => Ok(Method::Interpolation),
            (0, [one, two, false, false]) if *one || *two => Ok(Method::Lorenzo { one: *one, two: *two }),
            (0, [_, _, planes, quadrics]) if *planes || *quadrics => {
                Err(unsupported("prediction by regression"))
            }
            _ => Err(corrupt("the configuration has no valid prediction method")),
        }
    }
}
