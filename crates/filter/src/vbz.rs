//! The VBZ filter (number 32020) for signals of nanopore sequencers: integers of varying length,
//! then Zstandard.
//!
//! ```text
//! client data  | meaning
//! -------------+--------------------------------------------------------------------------------
//! 0            | version: 0 or 1
//! 1            | bytes of an integer: 1, 2 or 4; 0: bytes stay unchanged
//! 2            | not 0: differences, with the sign in the lowest bit
//! 3            | level of Zstandard, default 1; 0: no Zstandard
//!
//! bytes of a chunk | meaning
//! -----------------+--------------------------------------------------------------------------
//! 4                | bytes of the decoded chunk, little-endian
//! n                | a Zstandard frame of the integers, or the integers themselves at level 0
//!
//! bytes        | meaning of the integers (Stream VByte)
//! -------------+--------------------------------------------------------------------------------
//! 1 per 4      | 2 bits for each integer, the lowest first: its number of bytes minus 1; for
//!              | integers of 1 byte in version 1: 0, 1, 2 or 4 nibbles
//! n            | the integers, their lowest bytes (nibbles) first
//! ```

use crate::codec::resize;
use crate::codec::{grow, zstd};
use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

/// The VBZ filter, which stores integers in a varying number of bytes and compresses them with
/// Zstandard.
#[derive(Debug, Clone, Copy, Default)]
pub struct Vbz;

const ID: FilterId = FilterId::VBZ;

const DEFAULT_LEVEL: u32 = 1;

/// The parsed client data of the VBZ filter.
#[derive(Debug, Clone, Copy)]
struct VbzParameters {
    /// Bytes of an integer, not 0; [`None`] if bytes stay unchanged.
    size: Option<usize>,
    differences: bool,
    /// True if integers consist of nibbles instead of bytes.
    nibbles: bool,
    level: u32,
}

impl VbzParameters {
    fn parse(client_data: &[u32]) -> Result<Self, &'static str> {
        let [version @ 0..=1, size @ (0 | 1 | 2 | 4), differences, rest @ ..] = client_data else {
            return Err("the client data are missing, or have an unknown version or integer size");
        };
        Ok(Self {
            size: usize::try_from(*size).ok().filter(|size| *size > 0),
            differences: *differences != 0,
            nibbles: *version == 1 && *size == 1,
            level: rest.first().copied().unwrap_or(DEFAULT_LEVEL),
        })
    }

    /// Returns the maximum encoded size in bytes of `count` integers in the VBZ filter.
    fn max_encoded_length(self, count: usize) -> usize {
        count.div_ceil(4) + count * 4
    }
}

impl Filter for Vbz {
    fn id(&self) -> FilterId {
        ID
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let corrupt = |problem: &str| FilterError::corrupt(ID, problem);
        let parameters = VbzParameters::parse(context.client_data).map_err(corrupt)?;
        let (length, input) =
            input.split_first_chunk().ok_or_else(|| corrupt("the decoded length is truncated"))?;
        let limit = FilterError::Limit { id: ID, limit: context.max_output };
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| limit.clone())?;
        if length > context.max_output {
            return Err(limit);
        }
        let count = length / parameters.size.unwrap_or(1);
        let mut decoded = Vec::new();
        let stream = if parameters.level == 0 {
            input
        } else {
            let maximum =
                if parameters.size.is_some() { parameters.max_encoded_length(count) } else { length };
            let mut state = zstd::State::default();
            grow(ID, length.min(maximum), maximum, &mut decoded, |output| {
                zstd::decode(ID, &mut state, input, output)
            })
            .map_err(|error| match error {
                FilterError::Limit { .. } => corrupt("the Zstandard frame is too long"),
                error => error,
            })?;
            &decoded
        };
        let Some(size) = parameters.size else {
            if stream.len() != length {
                return Err(corrupt("the decoded length differs from the header"));
            }
            output.clear();
            output.extend_from_slice(stream);
            return Ok(Produced::Output);
        };
        let (keys, values) = stream
            .split_at_checked(count.div_ceil(4))
            .filter(|_| length.is_multiple_of(size))
            .ok_or_else(|| {
                corrupt("the integers are truncated, or the decoded length is not a multiple of their size")
            })?;
        output.clear();
        resize(self.id(), output, length)?;
        let read = match size {
            1 => integers::<1>(parameters, keys, values, output),
            2 => integers::<2>(parameters, keys, values, output),
            _ => integers::<4>(parameters, keys, values, output),
        };
        read.ok_or_else(|| corrupt("the integers are truncated, or more than the header states"))?;
        Ok(Produced::Output)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let failed = |reason: &str| FilterError::failed(ID, reason);
        let parameters = VbzParameters::parse(context.client_data).map_err(failed)?;
        let length = u32::try_from(input.len()).map_err(|_| failed("the chunk has more than 4 GiB"))?;
        if !input.len().is_multiple_of(parameters.size.unwrap_or(1)) {
            return Err(failed("the chunk length is not a multiple of the integer size"));
        }
        output.clear();
        output.extend_from_slice(&length.to_le_bytes());
        let mut encoded = Vec::new();
        let stream = match parameters.size {
            None => input,
            Some(size) => {
                match size {
                    1 => write::<1>(parameters, input, &mut encoded),
                    2 => write::<2>(parameters, input, &mut encoded),
                    _ => write::<4>(parameters, input, &mut encoded),
                }
                &encoded
            }
        };
        if parameters.level == 0 {
            output.extend_from_slice(stream);
        } else {
            let mut frame = Vec::new();
            zstd::encode(ID, parameters.level, stream, &mut frame)?;
            output.extend_from_slice(&frame);
        }
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }
}

/// A reader of the nibbles (four bits) of VBZ bytes. The lower nibble of each byte comes first.
struct Nibbles<'a> {
    rest: &'a [u8],
    high: Option<u8>,
}

impl Nibbles<'_> {
    fn next(&mut self) -> Option<u32> {
        if let Some(high) = self.high.take() {
            return Some(u32::from(high));
        }
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        self.high = Some(byte >> 4);
        Some(u32::from(byte & 15))
    }
}

/// Decodes VBZ integers of `N` bytes into `output`. Returns [`None`] if the number of integers
/// differs from the expected number.
fn integers<const N: usize>(
    parameters: VbzParameters,
    keys: &[u8],
    values: &[u8],
    output: &mut [u8],
) -> Option<()> {
    let mut rest = values;
    let mut nibbles = Nibbles { rest: values, high: None };
    let mut sum = 0_u32;
    for (four, key) in output.chunks_mut(4 * N).zip(keys) {
        let keys = [key & 3, key >> 2 & 3, key >> 4 & 3, key >> 6];
        for (to, key) in four.as_chunks_mut::<N>().0.iter_mut().zip(keys) {
            let mut value = 0;
            if parameters.nibbles {
                for at in 0..(1_u32 << key) >> 1 {
                    value |= nibbles.next()? << (4 * at);
                }
            } else {
                let (bytes, after) = rest.split_at_checked(usize::from(key) + 1)?;
                value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                rest = after;
            }
            if parameters.differences {
                sum = sum.wrapping_add((value >> 1) ^ (value & 1).wrapping_neg());
                value = sum;
            }
            to.iter_mut().zip(value.to_le_bytes()).for_each(|(to, byte)| *to = byte);
        }
    }
    let rest = if parameters.nibbles { nibbles.rest } else { rest };
    rest.is_empty().then_some(())
}

/// Encodes integers of `N` bytes with VBZ and appends the encoded bytes to `output`.
fn write<const N: usize>(parameters: VbzParameters, input: &[u8], output: &mut Vec<u8>) {
    // 8 bits for each byte that `N` has less than a word of 32 bits.
    let unused = (N..4).fold(0_u32, |bits, _| bits + 8);
    let elements = input.as_chunks::<N>().0;
    let mut keys: Vec<u8> = Vec::with_capacity(elements.len().div_ceil(4));
    let mut values: Vec<u8> = Vec::with_capacity(input.len());
    let mut half = false;
    let mut before = 0_u32;
    for four in elements.chunks(4) {
        let mut key = 0;
        for (at, bytes) in (0_u32..).step_by(2).zip(four) {
            let element = bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            let mut value = element;
            if parameters.differences {
                // The difference is reduced to the width of an integer, so that it never takes more
                // bytes.
                let difference = (element.wrapping_sub(before) << unused).cast_signed() >> unused;
                value = ((difference << 1) ^ (difference >> 31)).cast_unsigned();
                before = element;
            }
            let needed = 32 - value.leading_zeros();
            let code = if parameters.nibbles {
                let code = match needed {
                    0 => 0,
                    1..=4 => 1,
                    5..=8 => 2,
                    _ => 3,
                };
                for index in 0..(1_u32 << code) >> 1 {
                    let [low, ..] = (value >> (4 * index) & 15).to_le_bytes();
                    match values.last_mut().filter(|_| half) {
                        Some(last) => *last |= low << 4,
                        None => values.push(low),
                    }
                    half = !half;
                }
                code
            } else {
                let count = needed.div_ceil(8).max(1);
                values.extend(value.to_le_bytes().iter().take(count as usize));
                count - 1
            };
            key |= code << at;
        }
        let [low, ..] = u32::to_le_bytes(key);
        keys.push(low);
    }
    output.extend(keys);
    output.extend(values);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    #[test]
    fn keeps_the_contract() {
        for (version, size, differences) in
            [(0, 1, 0), (0, 2, 1), (1, 1, 1), (1, 2, 1), (1, 4, 0), (0, 4, 1), (1, 0, 0), (1, 1, 0)]
        {
            for count in [0, 1, 2, 3, 4, 5, 100, 4001] {
                conformance::run_with(&Vbz, &[version, size, differences, 0], count * 4);
                if cfg!(any(feature = "zstd-rs", feature = "zstd")) {
                    conformance::run_with(&Vbz, &[version, size, differences], count * 4);
                }
            }
        }
    }

    #[test]
    fn integers_are_stored_as_documented() {
        // 5, 6, 300, -1 and 0, as differences 5, 1, 294, -301 and 1.
        let raw: Vec<u8> = [5_i16, 6, 300, -1, 0].into_iter().flat_map(i16::to_le_bytes).collect();
        let stored = [10, 0, 0, 0, 0b0101_0000, 0, 10, 2, 0x4c, 0x02, 0x59, 0x02, 2];
        assert_eq!(conformance::encode(&Vbz, &[1, 2, 1, 0], &raw).unwrap(), stored);
        assert_eq!(conformance::decode(&Vbz, &[1, 2, 1, 0], &stored, None, 10).unwrap(), raw);
        // 0, 7, 0x2a and 0xff in nibbles.
        let stored = [4, 0, 0, 0, 0b1010_0100, 0xa7, 0xf2, 0x0f];
        assert_eq!(conformance::encode(&Vbz, &[1, 1, 0, 0], &[0, 7, 0x2a, 0xff]).unwrap(), stored);
        assert_eq!(conformance::decode(&Vbz, &[1, 1, 0, 0], &stored, None, 4).unwrap(), [0, 7, 0x2a, 0xff]);
    }

    #[test]
    fn unsupported_input_is_reported() {
        let decode = |data: &[u32], bytes: &[u8]| conformance::decode(&Vbz, data, bytes, None, 100);
        for data in [&[][..], &[2, 2, 1, 0], &[1, 3, 1, 0], &[1, 8, 1, 0], &[1, 2]] {
            assert!(matches!(decode(data, &[0; 9]), Err(FilterError::Corrupt { .. })), "{data:?}");
        }
        for bytes in
            [&[2, 0, 0][..], &[2, 0, 0, 0], &[2, 0, 0, 0, 1, 5], &[2, 0, 0, 0, 0, 5, 5], &[1, 0, 0, 0, 0, 5]]
        {
            assert!(matches!(decode(&[1, 2, 1, 0], bytes), Err(FilterError::Corrupt { .. })), "{bytes:?}");
        }
        assert!(conformance::encode(&Vbz, &[1, 2, 1, 0], &[1; 3]).is_err());
    }

    proptest! {
        #[test]
        fn integers_come_back(
            values in proptest::collection::vec(prop_oneof![Just(0_u32), 0..300_u32, any::<u32>()], 0..200),
            version in 0..2_u32,
            size in prop_oneof![Just(1_usize), Just(2), Just(4)],
            differences in 0..2_u32,
        ) {
            let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)).collect();
            let client_data = [version, u32::try_from(size).unwrap(), differences, 0];
            let stored = conformance::encode(&Vbz, &client_data, &raw).unwrap();
            let decoded = conformance::decode(&Vbz, &client_data, &stored, None, raw.len()).unwrap();
            prop_assert_eq!(decoded, raw);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            version in 0..2_u32,
            size in prop_oneof![Just(0_u32), Just(1), Just(2), Just(4)],
        ) {
            let bytes = [&[64, 0, 0, 0], &bytes[..]].concat();
            if let Ok(decoded) = conformance::decode(&Vbz, &[version, size, 1, 0], &bytes, None, 100) {
                prop_assert_eq!(decoded.len(), 64);
            }
        }
    }
}
