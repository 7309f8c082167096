//! The SZ3 filter (number 32024): prediction and quantisation of values with bounded errors. Only
//! the decoder is implemented.
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------------------------------------------------------------------
//! 0            | number of dimensions n, without dimensions of 1
//! 1            | type of the values: `f32`, `f64`, then unsigned and signed integers of 1, 2, 4
//!              | and 8 bytes
//! 2, 3         | only for one dimension: number of values, high half first
//! 2 to n + 1   | only for more dimensions: values in each dimension, the fastest-varying dimension
//!              | first
//! 9            | error bound and its kind; used only by the encoder, may be missing
//!
//! bytes of a chunk | meaning
//! -----------------+------------------------------------------------------------------------------
//! 8                | bytes of the decoded Zstandard frame
//! n                | a Zstandard frame with the values themselves, or a payload, see
//!                  | `interpolation` and `lorenzo`
//! n                | the configuration, see `config`
//! ```
//! Chunks of fewer than 20 values are stored unencoded. Decoded values equal those of version 3.1
//! of the HDF5 plug-in bit for bit: predictions are computed in the type of the values, with terms
//! in the order of the tables in this crate, and quantisation uses `f64`.

mod bytes;
mod config;
mod huffman;
mod interpolation;
mod lorenzo;
mod quantiser;
mod value;

use crate::codec::times;
use crate::codec::{filled, reserve};
use crate::codec::{grow, zstd};
use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

use bytes::Bytes;
use config::{Config, Method};
use value::Value;

/// The SZ3 filter, which compresses numbers with bounded errors by prediction.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sz3;

const ID: FilterId = FilterId::SZ3;

/// The smallest number of values in a chunk that SZ3 encodes. Smaller chunks are stored unencoded.
const MIN_ENCODED_VALUES: usize = 20;

/// A ratio of decoded to encoded bytes that few Zstandard frames in SZ3 chunks exceed. The first
/// output buffer has at most this number of bytes for each encoded byte.
const LIKELY_EXPANSION_RATIO: usize = 1 << 10;

fn corrupt(problem: &str) -> FilterError {
    FilterError::corrupt(ID, problem)
}

fn unsupported(subject: &str) -> FilterError {
    FilterError::Unsupported { id: ID, subject: subject.to_owned() }
}

/// The parsed client data of the SZ3 filter.
#[derive(Debug, Clone, Copy)]
struct Sz3Parameters {
    dimensions: usize,
    kind: u32,
    /// The number of values of a chunk.
    count: usize,
}

impl Sz3Parameters {
    fn parse(client_data: &[u32]) -> Result<Self> {
        let wrong = || corrupt("the client data are missing or invalid");
        let [dimensions, kind, sizes @ ..] = client_data else { return Err(wrong()) };
        let dimensions = *dimensions as usize;
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

    /// Returns the size in bytes of a value that the SZ3 filter decodes.
    fn size(&self) -> Result<usize> {
        match self.kind {
            2 | 3 => Ok(1),
            4 | 5 => Ok(2),
            0 | 6 | 7 => Ok(4),
            1 | 8 | 9 => Ok(8),
            _ => Err(corrupt("the value type in the client data is unknown")),
        }
    }
}

impl Filter for Sz3 {
    fn id(&self) -> FilterId {
        ID
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let limit = FilterError::Limit { id: ID, limit: context.max_output };
        // Datasets whose elements are not numbers have no client data.
        let parameters = match context.client_data {
            [] => None,
            client_data => Some(Sz3Parameters::parse(client_data)?),
        };
        let Some(parameters) = parameters.filter(|parameters| parameters.count >= MIN_ENCODED_VALUES) else {
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

/// Decodes `count` values of an SZ3 chunk. Replaces the content of `output` by the bytes of the
/// values.
fn decode_values<V: Value>(chunk: &[u8], count: usize, output: &mut Vec<u8>) -> Result<()> {
    let (config, payload) = Config::parse(chunk)?;
    if config.sizes.iter().product::<usize>() != count {
        return Err(corrupt("the number of values differs from the client data"));
    }
    if config.method == Method::Lossless {
        let length = times(count, V::SIZE);
        unpack(payload, length, output)?;
        return if output.len() == length { Ok(()) } else { Err(corrupt("the chunk has too few values")) };
    }
    // A Huffman tree has at most two nodes per value, and no code is longer than the height of the
    // tree.
    let maximum = times(count, V::SIZE + 64).saturating_add(1 << 16);
    let mut unpacked = Vec::new();
    unpack(payload, maximum, &mut unpacked)?;
    let mut values = filled(ID, V::default(), count)?;
    match config.method {
        Method::Lorenzo { one, two } => lorenzo::decode(&unpacked, &config.sizes, (one, two), &mut values)?,
        _ => interpolation::decode(&unpacked, &config.sizes, &mut values)?,
    }
    output.clear();
    reserve(ID, output, times(count, V::SIZE))?;
    values.iter().for_each(|value| value.append(output));
    Ok(())
}

/// Decodes the Zstandard frame of an SZ3 chunk's encoded values to at most `maximum` bytes.
fn unpack(payload: &[u8], maximum: usize, output: &mut Vec<u8>) -> Result<()> {
    let mut bytes = Bytes::new(payload);
    let length = bytes.size()?;
    if length > maximum {
        return Err(corrupt("the decoded payload is larger than its values need"));
    }
    let frame = payload.split_at(8).1;
    let guess = length.min(times(frame.len(), LIKELY_EXPANSION_RATIO));
    let mut state = zstd::State::default();
    grow(ID, guess, length, output, |output| zstd::decode(ID, &mut state, frame, output))?;
    if output.len() == length { Ok(()) } else { Err(corrupt("the Zstandard frame is shorter than stated")) }
}

#[cfg(test)]
#[cfg(any(feature = "zstd-rs", feature = "zstd"))]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    /// A test example of an SZ3 chunk in three dimensions: integers of 4 bytes, predicted from
    /// neighbours. The function `volume` computes the values.
    const VOLUME: &str = concat!(
        "da0100000000000028b52ffd60da00250900228f35384073b3068f0b62f785cf8cc7085540288b31c46de7febebee07b15ee",
        "dc21d4ecbda552cb0970dbc907b27feddd3f473408c56386c42d650a2894f2c6c58255932a59cad66afb8029e1705ca7cf7b",
        "b4aa1610d2e6f48d96663123e026d149090c5522c2508a6ae56289a4ea9634ba2bad1c9ab141d68e39922f2433147386a35f",
        "5461c11f26fddea11fd47981c1f339e02e40f881ac7b0ce0dbb30a0906db04da0b04d4a7f3cfdf10f27bfc1c7fe777f8b95f",
        "e2f7fcdd6f5ffb41e2eb27a68bafa7887a93c997ee95b980a0d13034ee9dfe9c3ff6d7222080823936e60124e04c80716604",
        "0dd071a0110739c8b72b262adf7141cb287b66cdb2ccd8ad0daa0412cb10c156a11257ccb2cfd977db4d8af3a4e070303780",
        "3cf0900d4c03a4198a1203040000000000000006000000000000000900000000000000d80000000000000000000000000000",
        "00e03f0000000000000000010100000100200000000101400000000500000006000000030000000050000000",
    );

    /// A test example of an SZ3 chunk with the values `x y z + 9 w`: integers of 2 bytes, predicted
    /// from neighbours.
    const FOUR: &str = concat!(
        "cc0000000000000028b52ffd20cc6d0300d403030004000500060001010200010002e03f0080800500010003040901000101",
        "3500000154aa552a80aa552a9540552a954aac60000aa552a800000000001600c0206e0460849cf420840801720bc0ae52ab",
        "49280cd2024bc0c0150a1060975ddcd1cc00c0c0606030f000b0040300000000000000040000000000000005000000000000",
        "00060000000000000068010000000000000000000000000000e03f0000000000000000010100000100200000000101000001",
        "000500000006000000040000000058000000",
    );

    /// A test example of an SZ3 chunk with the values `100 sin(x / 9)`: `f32` numbers, predicted
    /// from neighbours.
    const LINE: &str = concat!(
        "ba0000000000000028b52ffd20ba85030074043c000500000001010c00010001000002e03f008000fe7f0b00000007000102",
        "030400060a090805000704000d000000030001000111008f6b144aa25515afccc8484084093039f0110060301e688c050563",
        "cb65bb1c0f4a55a17949a5112c06449e398c4d39151680c060f0016001013c000000000000003c0000000000000000000000",
        "00000000e03f0000000000000000010100000100200000000101000001000500000080000000010000000040000000",
    );

    /// A test example of an SZ3 chunk with the values `100 sin(x / 3) cos(y / 4)`: `f32` numbers,
    /// predicted by interpolation.
    const PLANE: &str = concat!(
        "800100000000000028b52ffd6080004d0700324c293140758635c3c004a339cad7c93cb32d3480c13b118d066c6ce226fb60",
        "605067123cad0ea321c2a2a2cab25aa76adbde32054026678c4e3728243b452c310d76b4c7c43392e21052d128094a61896c",
        "fcb854271fad1c90901977efee8619731799fbdc85739a95eb0c7d288fd86bdef2cb17b354132b8a1b66409db0c181c20708",
        "36078bd9ad2b5e2202e2e1d40ba71136950a2e100040d25e9b637cbdc27610cdeeaba55b1d00b8412e033303a82400365646",
        "18cb00ecfaa6b116f17052649fe5dc0e3d8b8e99755046413268ad4ef940bf60c84a90a25418101cae60cd2b765983810780",
        "05020a000000000000000c0000000000000078000000000000000200000000000000e03f0000000000000000010001000101",
        "200000000101000001001000000010000000020000000048000000",
    );

    /// A test example of an SZ3 chunk with 24 equal values 3: `f32` numbers, stored losslessly.
    const SAME: &str = concat!(
        "600000000000000028b52ffd206055000020000040400100f9e4880118000000000000001800000000000000010000000000",
        "000000009a9999999999b93f010001000100200000000101000001008000000080000000010000000040000000",
    );

    /// A test example of an SZ3 chunk: client data, chunk, expected values and maximum error.
    type Example = (Vec<u32>, Vec<u8>, Vec<f64>, f64);

    fn all() -> Vec<Example> {
        let volume = positions([4, 6, 9].into())
            .map(|at| at[0] * at[1] * at[2] + (at[2] * 7919 + at[1] * 104_729 + at[0] * 1_299_709) % 11);
        let four = positions([3, 4, 5, 6].into()).map(|at| at[3] * at[2] * at[1] + 9 * at[0]);
        let line = (0..60).map(|x| 100.0 * (f64::from(x) / 9.0).sin());
        let plane = positions([10, 12].into())
            .map(|at| 100.0 * (f64::from(at[1]) / 3.0).sin() * (f64::from(at[0]) / 4.0).cos());
        vec![
            (vec![3, 7, 9, 6, 4], unhex(VOLUME), volume.map(f64::from).collect(), 0.0),
            (vec![4, 5, 6, 5, 4, 3], unhex(FOUR), four.map(f64::from).collect(), 0.0),
            (vec![1, 0, 0, 60], unhex(LINE), line.collect(), 0.5),
            (vec![2, 0, 12, 10], unhex(PLANE), plane.collect(), 0.5),
            (vec![1, 0, 0, 24], unhex(SAME), vec![3.0; 24], 0.0),
        ]
    }

    fn unhex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    /// Returns the coordinates of all values of an SZ3 test chunk, the last dimension fastest.
    fn positions(sizes: Vec<u32>) -> impl Iterator<Item = Vec<u32>> {
        (0..sizes.iter().product()).map(move |mut at| {
            let mut position: Vec<u32> = sizes.iter().rev().map(|size| (at % size, at /= size).0).collect();
            position.reverse();
            position
        })
    }

    fn values(kind: u32, bytes: &[u8]) -> Vec<f64> {
        match kind {
            5 => bytes.as_chunks().0.iter().map(|value| i16::from_le_bytes(*value).into()).collect(),
            7 => bytes.as_chunks().0.iter().map(|value| i32::from_le_bytes(*value).into()).collect(),
            _ => bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value).into()).collect(),
        }
    }

    fn decode(client_data: &[u32], chunk: &[u8]) -> Result<Vec<u8>> {
        conformance::decode(&Sz3, client_data, chunk, None, 100_000)
    }

    #[test]
    fn chunks_that_the_plug_in_wrote() {
        for (client_data, chunk, expected, bound) in all() {
            let decoded = decode(&client_data, &chunk).unwrap();
            let got = values(client_data[1], &decoded);
            assert_eq!(got.len(), expected.len());
            for (got, expected) in got.iter().zip(expected) {
                assert!((got - expected).abs() <= bound * 1.00001, "{client_data:?}: {got}, not {expected}");
            }
            let limit = decoded.len() - 1;
            let error = conformance::decode(&Sz3, &client_data, &chunk, None, limit).unwrap_err();
            assert_eq!(error, FilterError::Limit { id: ID, limit });
        }
    }

    #[test]
    fn few_values_are_not_changed() {
        for client_data in [&[][..], &[1, 0, 0, 19], &[2, 0, 3, 6, 1, 2, 3], &[5, 0, 1, 2, 3, 1, 3]] {
            assert_eq!(decode(client_data, &[1, 2, 3]).unwrap(), [1, 2, 3]);
            let limit = conformance::decode(&Sz3, client_data, &[1, 2, 3], None, 2).unwrap_err();
            assert_eq!(limit, FilterError::Limit { id: ID, limit: 2 });
        }
    }

    #[test]
    fn unsupported_input_is_reported() {
        let chunk = unhex(SAME);
        for client_data in [
            &[1][..],
            &[1, 0, 24],
            &[0, 0, 24, 1],
            &[6, 0, 2, 2, 2, 2, 2, 2],
            &[1, 10, 0, 24],
            &[1, 0, 0, 25],
        ] {
            let error = decode(client_data, &chunk);
            assert!(matches!(error, Err(FilterError::Corrupt { .. })), "{client_data:?}: {error:?}");
        }
        let five = decode(&[5, 0, 2, 3, 4, 5, 6], &chunk);
        assert!(matches!(five, Err(FilterError::Unsupported { .. })));
        // Prediction by regression; slabs that were encoded in parallel.
        for (position, value) in [(25, 0), (71, 1)] {
            let mut chunk = unhex(PLANE);
            let at = chunk.len() - 76 + position;
            chunk[at] = value;
            assert!(matches!(decode(&[2, 0, 12, 10], &chunk), Err(FilterError::Unsupported { .. })));
        }
        assert!(matches!(conformance::encode(&Sz3, &[], &[0; 99]), Err(FilterError::Failed { .. })));
    }

    /// Returns an SZ3 chunk for tests. The decoded content of an example was changed and encoded
    /// again.
    fn repacked(chunk: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let (_, payload) = Config::parse(chunk).unwrap();
        let mut unpacked = Vec::new();
        unpack(payload, 100_000, &mut unpacked).unwrap();
        change(&mut unpacked);
        let mut frame = Vec::new();
        zstd::encode(ID, 1, &unpacked, &mut frame).unwrap();
        [&unpacked.len().to_le_bytes()[..], &frame, &chunk[payload.len()..]].concat()
    }

    #[test]
    fn every_byte_may_be_damaged() {
        for (client_data, chunk, expected, _) in all() {
            let check = |bytes: &[u8]| {
                if let Ok(decoded) = decode(&client_data, bytes) {
                    assert_eq!(values(client_data[1], &decoded).len(), expected.len());
                }
            };
            assert_eq!(decode(&client_data, &repacked(&chunk, |_| ())), decode(&client_data, &chunk));
            let mut length = 0;
            drop(repacked(&chunk, |bytes| length = bytes.len()));
            for at in 0..chunk.len() {
                check(&chunk[..at]);
                for flip in [1, 0x80, 0xff] {
                    let mut damaged = chunk.clone();
                    damaged[at] ^= flip;
                    check(&damaged);
                }
            }
            for at in 0..length {
                check(&repacked(&chunk, |bytes| bytes.truncate(at)));
                for flip in [1, 0x40, 0xff] {
                    check(&repacked(&chunk, |bytes| bytes[at] ^= flip));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn damaged_chunks_do_not_panic(
            which in 0..5_usize,
            damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let (client_data, chunk, expected, _) = all().swap_remove(which);
            let damaged = repacked(&chunk, |bytes| {
                for (at, byte) in damage {
                    *at.get_mut(bytes) = byte;
                }
            });
            if let Ok(decoded) = decode(&client_data, &damaged) {
                prop_assert_eq!(values(client_data[1], &decoded).len(), expected.len());
            }
        }
    }
}
