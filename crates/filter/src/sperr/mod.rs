//! The SPERR filter (number 32028): wavelet transforms and SPECK coding. Only the decoder is
//! implemented.
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------------------------------------------------------------------
//! 0            | bits 0 to 3: 2 for planes, 3 for volumes; bit 4: values of 4 bytes instead of 8;
//!              | bits 6 to 9: encoding of missing values; bits 10 to 15: version, 0 or 1
//! 1            | bits 0 to 30: used only by the encoder; bit 31: the dimensions are reversed
//! 2, 3, 4      | values in each dimension, without dimensions of 1; volumes have three
//!
//! bytes of a chunk | meaning
//! -----------------+------------------------------------------------------------------------------
//! 1                | only in version 1: 0 no missing values, 1 missing values are NaN, 2 they have
//!                  | the value
//! 4 or 8           | that follows
//! n                | the mask of missing values, see `missing`
//! n                | the plane or volume
//! ```
//! The first dimension in the client data is the fastest-varying one, unless bit 31 says that the
//! dimensions are reversed.

mod bits;
mod missing;
mod speck;
mod volume;
mod wavelet;

use crate::codec::reserve;
use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

use missing::MissingValues;

/// The SPERR filter, which compresses floating-point numbers by wavelets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sperr;

const ID: FilterId = FilterId::SPERR;

/// The parsed client data of the SPERR filter.
#[derive(Debug, Clone, Copy)]
struct SperrParameters {
    is_plane: bool,
    /// Bytes of a value.
    size: usize,
    /// True if chunks begin with a description of missing values.
    has_missing: bool,
    /// The number of values in each dimension, the fastest-varying dimension first.
    dims: [usize; 3],
}

impl SperrParameters {
    fn parse(client_data: &[u32]) -> Result<Self> {
        let corrupt = || FilterError::corrupt(ID, "the client data are missing or invalid");
        let [kind, mode, dims @ ..] = client_data else { return Err(corrupt()) };
        let dims: Vec<usize> = dims
            .iter()
            .map(|size| usize::try_from(*size))
            .collect::<Result<_, _>>()
            .map_err(|_| corrupt())?;
        let (is_plane, [a, b, c]) = match (kind & 15, &dims[..]) {
            (2, [a, b]) => (true, [*a, *b, 1]),
            (3, [a, b, c]) => (false, [*a, *b, *c]),
            _ => return Err(corrupt()),
        };
        let version = kind >> 10 & 63;
        if version > 1 {
            let subject = format!("version {version} of the chunk format");
            return Err(FilterError::Unsupported { id: ID, subject });
        }
        if a == 0 || b == 0 || c == 0 {
            return Err(corrupt());
        }
        let dims = match (mode >> 31 != 0, is_plane) {
            (false, _) => [a, b, c],
            (true, true) => [b, a, 1],
            (true, false) => [c, b, a],
        };
        let size = if kind >> 4 & 1 != 0 { 4 } else { 8 };
        Ok(Self { is_plane, size, has_missing: version == 1, dims })
    }
}

impl Filter for Sperr {
    fn id(&self) -> FilterId {
        ID
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let corrupt = |subject: &str| FilterError::corrupt(ID, subject);
        let parameters = SperrParameters::parse(context.client_data)?;
        let length =
            parameters.dims.iter().try_fold(parameters.size, |length, size| length.checked_mul(*size));
        let limit = FilterError::Limit { id: ID, limit: context.max_output };
        let length = length.filter(|length| *length <= context.max_output).ok_or(limit)?;
        let count = length / parameters.size;
        let (missing, stream) = if parameters.has_missing {
            MissingValues::parse(input, parameters.size, count)
                .ok_or_else(|| corrupt("the description of missing values is invalid"))?
        } else {
            (None, input)
        };
        let values = if parameters.is_plane {
            volume::decode_plane(stream, parameters.dims)
        } else {
            volume::decode_volume(stream, parameters.dims)
        };
        let values = values.map_err(corrupt)?;
        output.clear();
        reserve(ID, output, length)?;
        if parameters.size == 4 {
            output.extend(values.iter().flat_map(|value| single(*value).to_le_bytes()));
        } else {
            output.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        if let Some(missing) = missing {
            missing.restore(parameters.size, output);
        }
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

#[expect(clippy::cast_possible_truncation, reason = "the value is rounded to the nearest 32-bit number")]
fn single(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    fn unhex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    /// The chunk with `100 sin(x / 3) cos(y / 4)`, in 10 rows of 12 values of 4 bytes, with errors
    /// of at most 0.5.
    const WAVES: &str = concat!(
        "00809a9999b848f42c40000000000000e83f083b03000000000000b5c8b55fb6c45c460238b853cb5edaae39ca3d9014682047d5",
        "e5dc9e0f0c99534acc8d0dc02058fbf47000870b008165b4365c025c8010ec6d16191766372481727435b9a53cdd1e3174ed74b2",
        "9179518a14fd1c94ff2e16a2df7373681a9de3521ad95b51ed5c020132000000000000007de461e50a6700",
    );

    /// The client data of `WAVES`.
    const PLANE: [u32; 4] = [1042, 0x3801_0000, 10, 12];

    #[test]
    fn chunks_that_the_plug_in_wrote() {
        let chunk = unhex(WAVES);
        let decoded = conformance::decode(&Sperr, &PLANE, &chunk, None, 480).unwrap();
        let values = decoded.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value));
        let coordinates = (0..10_u8).flat_map(|y| (0..12_u8).map(move |x| (f32::from(x), f32::from(y))));
        assert_eq!(decoded.len(), 480);
        for (value, (x, y)) in values.zip(coordinates) {
            assert!((value - 100.0 * (x / 3.0).sin() * (y / 4.0).cos()).abs() <= 0.5001);
        }
        // All values equal, without and with the byte about missing values.
        let same = unhex("8178000000000000000000000000000840");
        let three = [3.0_f32.to_le_bytes(); 120].concat();
        assert_eq!(conformance::decode(&Sperr, &[18, 0, 10, 12], &same, None, 480).unwrap(), three);
        let reported = [&[0], &same[..]].concat();
        assert_eq!(conformance::decode(&Sperr, &PLANE, &reported, None, 480).unwrap(), three);
        let limit = conformance::decode(&Sperr, &PLANE, &chunk, None, 479).unwrap_err();
        assert_eq!(limit, FilterError::Limit { id: ID, limit: 479 });
    }

    #[test]
    fn missing_values_are_put_back() {
        // 120 values of 3; missing are the last of the first 32 values, and all of the third 32
        // values.
        let same = unhex("8178000000000000000000000000000840");
        let mut bits: u128 = 0;
        let mut at = 0;
        for (value, count) in [(72_u128, 32), (0, 1), (0b11, 2), (1 << 31, 32), (0, 1), (0b01, 2), (0, 1)] {
            bits |= value << at;
            at += count;
        }
        assert_eq!(at, 71);
        let mask = &bits.to_le_bytes()[..9];
        let chunk = [&[2], &8.5_f32.to_le_bytes()[..], mask, &same].concat();
        let decoded = conformance::decode(&Sperr, &PLANE, &chunk, None, 480).unwrap();
        for (at, value) in decoded.as_chunks().0.iter().enumerate() {
            let expected = if at == 31 || (64..96).contains(&at) { 8.5 } else { 3.0 };
            assert_eq!(f32::from_le_bytes(*value).to_bits(), f32::to_bits(expected), "{at}");
        }
    }

    #[test]
    fn a_cut_stream_is_a_coarser_one() {
        // The corrections are missing, too.
        let chunk = unhex(WAVES);
        let whole = conformance::decode(&Sperr, &PLANE, &chunk, None, 480).unwrap();
        let truncated = conformance::decode(&Sperr, &PLANE, &chunk[..100], None, 480).unwrap();
        assert_ne!(whole, truncated);
        for (a, b) in whole.as_chunks().0.iter().zip(truncated.as_chunks().0) {
            assert!((f32::from_le_bytes(*a) - f32::from_le_bytes(*b)).abs() < 10.0);
        }
        for length in [0, 1, 17, 20, 26] {
            let error = conformance::decode(&Sperr, &PLANE, &chunk[..length], None, 480);
            assert!(matches!(error, Err(FilterError::Corrupt { .. })), "{length}");
        }
    }

    #[test]
    fn unsupported_input_is_reported() {
        let decode = |data: &[u32]| conformance::decode(&Sperr, data, &unhex(WAVES), None, 100_000);
        for data in
            [&[][..], &[1042], &[1042, 0, 10], &[1043, 0, 10, 12], &[1042, 0, 0, 12], &[1044, 0, 10, 12]]
        {
            assert!(matches!(decode(data), Err(FilterError::Corrupt { .. })), "{data:?}");
        }
        assert!(matches!(decode(&[2066, 0, 10, 12]), Err(FilterError::Unsupported { .. })));
        // A plane is not a volume.
        assert!(matches!(decode(&[1043, 0, 10, 12, 9]), Err(FilterError::Corrupt { .. })));
        assert!(matches!(conformance::encode(&Sperr, &PLANE, &[0; 480]), Err(FilterError::Failed { .. })));
    }

    proptest! {
        #[test]
        fn damaged_chunks_do_not_panic(
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
            dims in prop_oneof![Just(vec![10_u32, 12]), proptest::collection::vec(1..40_u32, 2..3)],
        ) {
            let mut chunk = unhex(WAVES);
            for (at, byte) in flips {
                *at.get_mut(&mut chunk) = byte;
            }
            let client_data = [&[1042, 0], &dims[..]].concat();
            if let Ok(decoded) = conformance::decode(&Sperr, &client_data, &chunk, None, 10_000) {
                prop_assert_eq!(decoded.len(), usize::try_from(dims.iter().product::<u32>() * 4).unwrap());
            }
        }

        #[test]
        fn arbitrary_volumes_do_not_panic(
            dims in proptest::collection::vec(1..20_u32, 3..4),
            blocks in proptest::option::of(proptest::collection::vec(0..20_u16, 3..4)),
            planes in 0..70_u8,
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut chunk = vec![0, if blocks.is_some() { 0x50 } else { 0x40 }];
            chunk.extend(dims.iter().flat_map(|size| size.to_le_bytes()));
            chunk.extend(blocks.iter().flatten().flat_map(|size| size.to_le_bytes()));
            chunk.extend(u32::try_from(26 + bytes.len()).unwrap().to_le_bytes());
            chunk.extend([0; 9]);
            chunk.extend(1.5_f64.to_le_bytes());
            chunk.push(planes);
            chunk.extend(u64::try_from(8 * bytes.len()).unwrap().to_le_bytes());
            chunk.extend(bytes);
            let client_data = [&[3, 0], &dims[..]].concat();
            if let Ok(decoded) = conformance::decode(&Sperr, &client_data, &chunk, None, 100_000) {
                prop_assert_eq!(decoded.len(), usize::try_from(dims.iter().product::<u32>() * 8).unwrap());
            }
        }
    }
}
