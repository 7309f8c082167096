//! The SZ filter (number 32017): values predicted, and told within an error. It is only read, streams from version
//! 2.1.8 on.
//!
//! ```text
//! client data | meaning
//! ------------+------------------------------------------------------------------------------------
//! 0           | dimensions, 1 to 5
//! 1           | 0 `f32`, 1 `f64`, 2 `u8`, 3 `i8`, and so on up to 8 `u64`, 9 `i64`
//! 2, 3, ...   | values in each dimension, the one that varies fastest first; of one dimension, the high 32 bits and
//!             | the low ones
//! behind them | how it was encoded
//!
//! bytes of a chunk   | meaning
//! -------------------+--------------------------------------------------------------------------------
//! n                  | below 20 values: the chunk as it is
//! n                  | else: a stream, or one within a Zstandard frame or a zlib stream
//! ```
//! See [`head`] for how a stream begins. Dimensions of one value do not count; of four dimensions, the first two are one
//! where the values are real numbers.

mod bytes;
mod exact;
mod head;
mod huffman;
mod hybrid;
mod lorenzo;
mod plain;
mod real;
mod whole;

use crate::codec::reserve;
use crate::codec::times;
use crate::codec::{grow, inflate, zstd};
use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

use head::Head;
use real::Real;
use whole::Whole;

/// The SZ filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sz;

const ID: FilterId = FilterId::SZ;

/// Chunks of fewer values are stored as they are.
const FEWEST: usize = 20;

/// Bytes that a stream may have before it is decoded, however small the chunk.
const LEAST_ROOM: usize = 1_000_000;

/// Bytes of a stream's head and tables, beside its values.
const HEAD_ROOM: usize = 64;

const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

fn corrupt(what: &str) -> FilterError {
    FilterError::corrupt(ID, what)
}

fn unsupported(what: &str) -> FilterError {
    FilterError::Unsupported { id: ID, what: what.to_owned() }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Single,
    Double,
    Whole(Whole),
}

impl Kind {
    fn parse(number: u32) -> Option<Self> {
        let size = match number {
            0 => return Some(Self::Single),
            1 => return Some(Self::Double),
            2 | 3 => 1,
            4 | 5 => 2,
            6 | 7 => 4,
            8 | 9 => 8,
            _ => return None,
        };
        Some(Self::Whole(Whole { size, is_signed: number % 2 == 1 }))
    }

    fn size(self) -> usize {
        match self {
            Self::Single => 4,
            Self::Double => 8,
            Self::Whole(whole) => whole.size,
        }
    }
}

/// What client data say.
#[derive(Debug)]
struct Parameters {
    kind: Kind,
    /// Values in each dimension, the one that varies fastest last; none of one value.
    dims: Vec<usize>,
    /// Values of a chunk.
    count: usize,
}

impl Parameters {
    fn parse(client_data: &[u32]) -> Result<Self> {
        let wrong = || corrupt("its client data are missing or cannot be");
        let [rank, kind, rest @ ..] = client_data else { return Err(wrong()) };
        let kind = Kind::parse(*kind).ok_or_else(wrong)?;
        let rank = usize::try_from(*rank).ok().filter(|rank| (1..=5).contains(rank)).ok_or_else(wrong)?;
        let dims = match (rank, rest) {
            (1, [high, low, ..]) => vec![u64::from(*high) << 32 | u64::from(*low)],
            (1, _) => return Err(wrong()),
            _ => rest.get(..rank).ok_or_else(wrong)?.iter().rev().map(|size| u64::from(*size)).collect(),
        };
        let dims: Vec<usize> =
            dims.into_iter().map(usize::try_from).collect::<Result<_, _>>().map_err(|_| wrong())?;
        let count = dims.iter().try_fold(kind.size(), |length, size| length.checked_mul(*size));
        // The plug-in takes a chunk for empty where the dimension that varies fastest is, as it does by mistake of four
        // dimensions without a bound for the error.
        let is_empty = dims.last() == Some(&0);
        let count = count.filter(|length| *length > 0 || is_empty).ok_or_else(wrong)? / kind.size();
        let dims = dims.into_iter().filter(|size| *size != 1).collect();
        Ok(Self { kind, dims, count })
    }

    /// Bytes of a chunk.
    fn length(&self) -> usize {
        self.count * self.kind.size()
    }

    /// Boxes of three dimensions: how many, and what they are.
    fn boxes(&self) -> Result<(usize, [usize; 3])> {
        match self.dims[..] {
            [z] => Ok((1, [1, 1, z])),
            [y, z] => Ok((1, [1, y, z])),
            [x, y, z] => Ok((1, [x, y, z])),
            [w, x, y, z] => Ok((w, [x, y, z])),
            _ => Err(unsupported("a chunk of five dimensions")),
        }
    }

    fn decode(&self, stream: &[u8], output: &mut Vec<u8>) -> Result<()> {
        match self.kind {
            // Of so few values, there is no stream either.
            Kind::Single | Kind::Double if self.count == FEWEST && stream.len() == self.length() => {
                output.extend_from_slice(stream);
                Ok(())
            }
            Kind::Single => self.decode_real::<f32>(&Head::parse(stream, 28, false)?, output),
            Kind::Double => self.decode_real::<f64>(&Head::parse(stream, 36, false)?, output),
            Kind::Whole(kind) => self.decode_whole(kind, stream, output),
        }
    }

    fn decode_real<T: Real>(&self, head: &Head<'_>, output: &mut Vec<u8>) -> Result<()> {
        let (boxes, [planes, rows, columns]) = self.boxes()?;
        // The boxes of four dimensions are one.
        let dims = [boxes * planes, rows, columns];
        let mut rest = head.rest.clone();
        let mut values = if head.is_stored() {
            (0..self.count).map(|_| rest.real()).collect::<Result<_>>()?
        } else if head.is_same() {
            vec![rest.real()?; self.count]
        } else if !head.is_in_order() {
            return Err(unsupported("a stream of transposed values"));
        } else if !head.has_regression() && boxes > 1 && !head.is_proportional() {
            return Err(unsupported("a stream of four dimensions without regression"));
        } else if !head.has_regression() {
            plain::decode::<T>(head, dims, self.count)?
        } else if self.dims.len() == 1 {
            return Err(corrupt("there is no regression in one dimension"));
        } else {
            hybrid::decode::<T>(head, dims, self.count)?
        };
        if head.is_clamped() {
            let mut range = head.range();
            let (least, greatest) = (range.real::<T>()?, range.real::<T>()?);
            for value in &mut values {
                if *value < least {
                    *value = least;
                } else if *value > greatest {
                    *value = greatest;
                }
            }
        }
        values.into_iter().for_each(|value| value.put(output));
        Ok(())
    }

    fn decode_whole(&self, kind: Whole, stream: &[u8], output: &mut Vec<u8>) -> Result<()> {
        let head = Head::parse(stream, 28, true)?;
        let (boxes, dims) = self.boxes()?;
        if head.is_stored() {
            let mut rest = head.rest;
            let values = rest.take(self.length())?.chunks_exact(kind.size);
            output.extend(values.flat_map(|value| value.iter().rev()));
        } else if head.is_same() {
            let value = whole::same(&head, kind)?;
            (0..self.count).for_each(|_| kind.put(value, output));
        } else {
            let values = whole::decode(&head, kind, boxes, dims, self.count)?;
            values.into_iter().for_each(|value| kind.put(value, output));
        }
        Ok(())
    }
}

/// Whether these begin a zlib stream, as the plug-in has it.
fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [0x68, 0x05 | 0x81 | 0xde, ..] | [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..])
}

/// The stream within a frame, if there is one; a stream is no longer than `limit`.
fn unpack(input: &[u8], limit: usize, stream: &mut Vec<u8>) -> Result<bool> {
    let guess = times(input.len(), 2);
    if input.starts_with(&ZSTANDARD) {
        let mut state = zstd::State::default();
        grow(ID, guess, limit, stream, |output| zstd::decode(ID, &mut state, input, output))?;
    } else if is_zlib(input) {
        let decode = |output: &mut [u8]| {
            inflate::inflate(input, output).map_err(|detail| corrupt(&format!("its zlib stream: {detail}")))
        };
        grow(ID, guess, limit, stream, decode)?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

impl Filter for Sz {
    fn id(&self) -> FilterId {
        ID
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let limit = FilterError::Limit { id: ID, limit: context.max_output };
        if context.client_data.is_empty() {
            return if input.len() > context.max_output {
                Err(limit)
            } else {
                Ok(Produced::unchanged(input))
            };
        }
        let parameters = Parameters::parse(context.client_data)?;
        if parameters.count < FEWEST {
            return if input.len() > context.max_output {
                Err(limit)
            } else {
                Ok(Produced::unchanged(input))
            };
        }
        let length = parameters.length();
        if length > context.max_output {
            return Err(limit);
        }
        let mut stream = Vec::new();
        let room = length.max(LEAST_ROOM) + HEAD_ROOM;
        let is_packed = unpack(input, room, &mut stream)?;
        output.clear();
        reserve(ID, output, length)?;
        parameters.decode(if is_packed { &stream } else { input }, output)?;
        Ok(Produced::Output)
    }

    fn encode(&self, _context: &FilterContext<'_>, _input: &[u8], _output: &mut Vec<u8>) -> Result<Produced> {
        Err(FilterError::failed(ID, "SZ is only read"))
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }

    fn encodes(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
