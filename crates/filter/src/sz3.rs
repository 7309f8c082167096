//! The SZ3 filter (number 32024): values within an error, predicted and quantised. It is only read.
//!
//! ```text
//! client data  | meaning
//! -------------+------------------------------------------------------------------------------------
//! 0            | dimensions n, those of one value left out
//! 1            | type of the values: float of 4 or 8 bytes, then unsigned and signed integers of 1, 2, 4 and 8 bytes
//! 2, 3         | if there is one dimension: its values, the higher half first
//! 2 to n + 1   | if there are more: the values in each, the one that varies fastest first
//! 9            | largest error, and how it is given; only to encode, and may be missing
//!
//! bytes of a chunk | meaning
//! -----------------+--------------------------------------------------------------------------------
//! 8                | bytes of what follows once it is decoded
//! n                | a Zstandard frame: the values themselves, or see `interpolation` and `lorenzo`
//! n                | how it was made, see `config`
//! ```
//! Chunks of fewer than 20 values are not changed. Values are bit for bit those of the plug-in in version 3.1, which is
//! compiled so that sums of reals may be taken in another order than the one its source tells; they are computed here
//! in the order of what is shipped for `x86_64`.

mod bytes;
mod config;
mod huffman;
mod interpolation;
mod lorenzo;
mod quantiser;
mod value;

use crate::codec::{grow, zstd};
use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

use bytes::Bytes;
use config::{Config, Method};
use value::Value;

/// The SZ3 filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sz3;

const ID: FilterId = FilterId::SZ3;

/// Chunks of fewer values are not changed.
const FEWEST: usize = 20;

/// Hardly any frame has more bytes than so many of one.
const LIKELY: usize = 1 << 10;

fn corrupt(what: &str) -> FilterError {
    FilterError::corrupt(ID, what)
}

fn unsupported(what: &str) -> FilterError {
    FilterError::Unsupported { id: ID, what: what.to_owned() }
}

/// What client data say.
#[derive(Debug, Clone, Copy)]
struct Parameters {
    dimensions: usize,
    kind: u32,
    /// Values of a chunk.
    count: usize,
}

impl Parameters {
    fn parse(client_data: &[u32]) -> Result<Self> {
        let wrong = || corrupt("its client data are missing or cannot be");
        let [dimensions, kind, sizes @ ..] = client_data else { return Err(wrong()) };
        let dimensions = usize::try_from(*dimensions).unwrap_or(usize::MAX);
        let count = match (dimensions, sizes) {
            (1, [high, low, ..]) => usize::try_from(u64::from(*high) << 32 | u64::from(*low)).ok(),
            (2..=5, _) if sizes.len() >= dimensions => {
                sizes.iter().take(dimensions).try_fold(1, |count, size| {
                    usize::try_from(*size).ok().and_then(|size| size.checked_mul(count))
                })
            }
            _ => None,
        };
        Ok(Self { dimensions, kind: *kind, count: count.ok_or_else(wrong)? })
    }

    /// Bytes of a value.
    fn size(&self) -> Result<usize> {
        match self.kind {
            2 | 3 => Ok(1),
            4 | 5 => Ok(2),
            0 | 6 | 7 => Ok(4),
            1 | 8 | 9 => Ok(8),
            _ => Err(corrupt("an unknown type of values")),
        }
    }
}

impl Filter for Sz3 {
    fn id(&self) -> FilterId {
        ID
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let limit = FilterError::Limit { id: ID, limit: context.max_output };
        // So it is for elements that are no numbers.
        let parameters = match context.client_data {
            [] => None,
            client_data => Some(Parameters::parse(client_data)?),
        };
        let Some(parameters) = parameters.filter(|parameters| parameters.count >= FEWEST) else {
            return if input.len() <= context.max_output {
                Ok(Produced::unchanged(input))
            } else {
                Err(limit)
            };
        };
        if parameters.dimensions > 4 {
            return Err(unsupported("a chunk of five dimensions"));
        }
        let length = parameters.count.checked_mul(parameters.size()?);
        if length.is_none_or(|length| length > context.max_output) {
            return Err(limit);
        }
        let decode = match parameters.kind {
            0 => decode_values::<f32>,
            1 => decode_values::<f64>,
            2 => decode_values::<u8>,
            3 => decode_values::<i8>,
            4 => decode_values::<u16>,
            5 => decode_values::<i16>,
            6 => decode_values::<u32>,
            7 => decode_values::<i32>,
            8 => decode_values::<u64>,
            _ => decode_values::<i64>,
        };
        decode(input, parameters.count, output)?;
        Ok(Produced::Output)
    }

    fn encode(&self, _context: &FilterContext<'_>, _input: &[u8], _output: &mut Vec<u8>) -> Result<Produced> {
        Err(FilterError::failed(ID, "SZ3 is only read"))
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }
}

/// Decodes a chunk of `count` values.
fn decode_values<V: Value>(chunk: &[u8], count: usize, output: &mut Vec<u8>) -> Result<()> {
    let (config, payload) = Config::parse(chunk)?;
    if config.sizes.iter().product::<usize>() != count {
        return Err(corrupt("it has another number of values than its client data tell"));
    }
    if config.method == Method::Lossless {
        return unpack(payload, count.saturating_mul(V::SIZE), output);
    }
    // No tree has more than two nodes for a value, and no code is longer than a tree is high.
    let most = count.saturating_mul(V::SIZE.saturating_add(64)).saturating_add(1 << 16);
    let mut unpacked = Vec::new();
    unpack(payload, most, &mut unpacked)?;
    let mut values = vec![V::default(); count];
    match config.method {
        Method::Lorenzo { one, two } => lorenzo::decode(&unpacked, &config.sizes, (one, two), &mut values)?,
        _ => interpolation::decode(&unpacked, &config.sizes, &mut values)?,
    }
    output.clear();
    output.reserve(count.saturating_mul(V::SIZE));
    values.iter().for_each(|value| value.append(output));
    Ok(())
}

/// Undoes Zstandard, which may give `most` bytes.
fn unpack(payload: &[u8], most: usize, output: &mut Vec<u8>) -> Result<()> {
    let mut bytes = Bytes::new(payload);
    let length = bytes.size()?;
    if length > most {
        return Err(corrupt("it has more bytes than its values need"));
    }
    let frame = payload.get(8..).unwrap_or_default();
    let guess = length.min(frame.len().saturating_mul(LIKELY));
    let mut state = zstd::State::default();
    grow(ID, guess, length, output, |output| zstd::decode(ID, &mut state, frame, output))?;
    if output.len() == length { Ok(()) } else { Err(corrupt("its frame has fewer bytes than it tells")) }
}
