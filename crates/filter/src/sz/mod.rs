//! The SZ filter (number 32017): prediction of values with bounded errors. Only the decoder is
//! implemented, for streams from version 2.1.8 on.
//!
//! ```text
//! client data | meaning
//! ------------+-----------------------------------------------------------------------------------
//! 0           | number of dimensions, 1 to 5
//! 1           | 0 `f32`, 1 `f64`, 2 `u8`, 3 `i8`, and so on up to 8 `u64`, 9 `i64`
//! 2, 3, ...   | values in each dimension, the fastest-varying dimension first; for one dimension,
//!             | the high 32 bits and the low ones
//! rest        | parameters of the encoder
//!
//! bytes of a chunk   | meaning
//! -------------------+----------------------------------------------------------------------------
//! n                  | below 20 values: the unencoded chunk
//! n                  | otherwise: a stream, or a stream within a Zstandard frame or a zlib stream
//! ```
//! See [`header`] for the start of a stream. Dimensions of 1 are ignored. For four dimensions of
//! floating-point values, the first two dimensions are merged.

mod bytes;
mod exact;
mod header;
mod huffman;
mod hybrid;
mod integer;
mod lorenzo;
mod plain;
mod real;

use crate::codec::reserve;
use crate::codec::times;
use crate::codec::{grow, inflate, zstd};
use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

use header::Header;
use integer::Integer;
use real::Real;

/// The SZ filter, which compresses numbers with bounded errors by prediction.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sz;

const ID: FilterId = FilterId::SZ;

/// The smallest number of values in a chunk that SZ encodes. Smaller chunks are stored unencoded.
const MIN_ENCODED_VALUES: usize = 20;

/// The smallest value of the limit for the size of an unpacked SZ stream, in bytes. It applies to
/// small chunks.
const MIN_STREAM_LIMIT_BYTES: usize = 1_000_000;

/// The additional limit in bytes for the header and the tables of an SZ stream.
const HEADER_LIMIT_BYTES: usize = 64;

const ZSTANDARD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

fn corrupt(problem: &str) -> FilterError {
    FilterError::corrupt(ID, problem)
}

fn unsupported(subject: &str) -> FilterError {
    FilterError::Unsupported { id: ID, subject: subject.to_owned() }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Single,
    Double,
    Integer(Integer),
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
        Some(Self::Integer(Integer { size, is_signed: number % 2 == 1 }))
    }

    fn size(self) -> usize {
        match self {
            Self::Single => 4,
            Self::Double => 8,
            Self::Integer(whole) => whole.size,
        }
    }
}

/// The parsed client data of the SZ filter.
#[derive(Debug)]
struct SzParameters {
    kind: Kind,
    /// The number of values in each dimension, the fastest-varying dimension last; without
    /// dimensions of 1.
    dims: Vec<usize>,
    /// The number of values of a chunk.
    count: usize,
}

impl SzParameters {
    fn parse(client_data: &[u32]) -> Result<Self> {
        let wrong = || corrupt("the client data are missing or invalid");
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
        // The HDF5 plug-in treats a chunk as empty if its fastest-varying dimension is 0. By
        // mistake, the plug-in also describes chunks of four dimensions without an error bound in
        // this way.
        let is_empty = dims.last() == Some(&0);
        let count = count.filter(|length| *length > 0 || is_empty).ok_or_else(wrong)? / kind.size();
        let dims = dims.into_iter().filter(|size| *size != 1).collect();
        Ok(Self { kind, dims, count })
    }

    /// Returns the size in bytes of a chunk that the SZ filter decodes.
    fn length(&self) -> usize {
        self.count * self.kind.size()
    }

    /// Returns the number of three-dimensional boxes into which the SZ filter divides a chunk, and
    /// the dimensions of each box.
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
            // Some chunks with this number of values are also stored unencoded.
            Kind::Single | Kind::Double
                if self.count == MIN_ENCODED_VALUES && stream.len() == self.length() =>
            {
                output.extend_from_slice(stream);
                Ok(())
            }
            Kind::Single => self.decode_real::<f32>(&Header::parse(stream, 28, false)?, output),
            Kind::Double => self.decode_real::<f64>(&Header::parse(stream, 36, false)?, output),
            Kind::Integer(kind) => self.decode_integers(kind, stream, output),
        }
    }

    fn decode_real<T: Real>(&self, header: &Header<'_>, output: &mut Vec<u8>) -> Result<()> {
        let (boxes, [planes, rows, columns]) = self.boxes()?;
        // The boxes of four dimensions are merged into one.
        let dims = [boxes * planes, rows, columns];
        let mut rest = header.rest.clone();
        let mut values = if header.is_stored() {
            (0..self.count).map(|_| rest.real()).collect::<Result<_>>()?
        } else if header.is_constant() {
            vec![rest.real()?; self.count]
        } else if !header.is_row_major() {
            return Err(unsupported("a stream with transposed values"));
        } else if !header.has_regression() && boxes > 1 && !header.is_relative() {
            return Err(unsupported("a four-dimensional stream without regression"));
        } else if !header.has_regression() {
            plain::decode::<T>(header, dims, self.count)?
        } else if self.dims.len() == 1 {
            return Err(corrupt("a one-dimensional stream uses regression"));
        } else {
            hybrid::decode::<T>(header, dims, self.count)?
        };
        if header.is_clamped() {
            let mut range = header.range();
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

    fn decode_integers(&self, kind: Integer, stream: &[u8], output: &mut Vec<u8>) -> Result<()> {
        let header = Header::parse(stream, 28, true)?;
        let (boxes, dims) = self.boxes()?;
        if header.is_stored() {
            let mut rest = header.rest;
            let values = rest.take(self.length())?.chunks_exact(kind.size);
            output.extend(values.flat_map(|value| value.iter().rev()));
        } else if header.is_constant() {
            let value = integer::constant(&header, kind)?;
            (0..self.count).for_each(|_| kind.put(value, output));
        } else {
            let values = integer::decode(&header, kind, boxes, dims, self.count)?;
            values.into_iter().for_each(|value| kind.put(value, output));
        }
        Ok(())
    }
}

/// Returns true if the bytes of an SZ chunk begin like a zlib stream, by the rule of the HDF5
/// plug-in.
fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [0x68, 0x05 | 0x81 | 0xde, ..] | [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..])
}

/// Unpacks an SZ stream from a Zstandard frame or zlib stream. `limit` is the maximum size of the
/// unpacked stream in bytes. Returns false if the chunk is not packed.
fn unpack(input: &[u8], limit: usize, stream: &mut Vec<u8>) -> Result<bool> {
    let guess = times(input.len(), 2);
    if input.starts_with(&ZSTANDARD_MAGIC) {
        let mut state = zstd::State::default();
        grow(ID, guess, limit, stream, |output| zstd::decode(ID, &mut state, input, output))?;
    } else if is_zlib(input) {
        let decode = |output: &mut [u8]| {
            inflate::inflate(input, output)
                .map_err(|detail| corrupt(&format!("a zlib stream is invalid: {detail}")))
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
        let parameters = SzParameters::parse(context.client_data)?;
        if parameters.count < MIN_ENCODED_VALUES {
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
        let stream_limit = length.max(MIN_STREAM_LIMIT_BYTES) + HEADER_LIMIT_BYTES;
        let is_packed = unpack(input, stream_limit, &mut stream)?;
        output.clear();
        reserve(ID, output, length)?;
        parameters.decode(if is_packed { &stream } else { input }, output)?;
        Ok(Produced::Output)
    }

    fn encode(&self, _context: &FilterContext<'_>, _input: &[u8], _output: &mut Vec<u8>) -> Result<Produced> {
        Err(FilterError::failed(ID, "only decoding is supported"))
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }

    fn can_encode(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
