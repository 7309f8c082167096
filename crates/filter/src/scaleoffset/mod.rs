//! The scaleoffset filter (number 6). Integers are stored as distances from the minimum, in as few
//! bits as needed. Floating-point numbers are first scaled by a power of ten and rounded to
//! integers.
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------------------------------------------------------------------
//! 0            | scale type: 0 decimal, 1 binary (never implemented by libhdf5), 2 integer
//! 1            | decimal: digits to keep after the decimal point (signed); integer: bits, 0 for as
//!              | many as needed
//! 2            | elements of a chunk
//! 3            | class: 0 integer, 1 floating-point
//! 4            | bytes of an element: 1, 2, 4, 8
//! 5            | 0 unsigned, 1 two's complement
//! 6            | byte order: 0 little-endian, 1 big-endian
//! 7            | 0 no fill value, 1 a fill value follows
//! 8…19         | fill value, low word first
//!
//! bytes of a chunk | meaning
//! -----------------+------------------------------------------------------------------------------
//! 4                | bits of a stored element, little-endian
//! 1                | bytes of the minimum: 8
//! 8                | minimum, little-endian: an integer, or the bits of a floating-point number
//! 8                | unused
//! n                | the elements, the most significant bit first; at full width, little-endian
//! 1                | remaining bits, if any; missing if elements are stored at full width
//! ```
//! If there is a fill value, the distance with all bits set stands for it.

#[cfg(test)]
mod model;
mod parameters;
mod real;
mod rows;

use crate::filter::{INPUT_RANGE_INVARIANT, copy_start, decode_and_copy};
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace};

pub use parameters::{Scale, ScaleOffsetNumber, ScaleOffsetParameters};

/// The scaleoffset filter, which stores numbers as distances from the minimum.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScaleOffset;

/// The size of the scaleoffset filter's header before the packed elements, in bytes.
const HEADER_BYTES: usize = 21;

/// The parameters with which the scaleoffset filter packed a chunk: the minimum of the elements,
/// and the number of bits of each distance from the minimum.
#[derive(Debug)]
struct Packing {
    /// Number of bits of a distance.
    bits: u32,
    /// The minimum as an integer, or the bits of the minimum as a floating-point number.
    minimum: u64,
}

impl Packing {
    /// Returns the distance that stands for the fill value in a scaleoffset chunk: all bits set.
    fn fill_distance(&self) -> u64 {
        1_u64.checked_shl(self.bits).map_or(u64::MAX, |bit| bit - 1)
    }

    fn parse(input: &[u8]) -> Option<(Self, &[u8])> {
        let (header, elements) = input.split_first_chunk::<HEADER_BYTES>()?;
        let [b0, b1, b2, b3, size, minimum @ ..] = header;
        let mut value = [0; 8];
        let size = usize::from(*size).min(8);
        value.iter_mut().zip(minimum).take(size).for_each(|(to, from)| *to = *from);
        let bits = u32::from_le_bytes([*b0, *b1, *b2, *b3]);
        Some((Self { bits, minimum: u64::from_le_bytes(value) }, elements))
    }

    fn write(&self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.bits.to_le_bytes());
        output.push(8);
        output.extend_from_slice(&self.minimum.to_le_bytes());
        output.extend_from_slice(&[0; 8]);
    }
}

impl Filter for ScaleOffset {
    fn id(&self) -> FilterId {
        FilterId::SCALEOFFSET
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let encoded = Encoded::parse(context, input)?;
        if let Some(part) = encoded.plain() {
            return Ok(Produced::Input(part));
        }
        output.resize(encoded.length, 0);
        encoded.decode(output)?;
        Ok(Produced::Output)
    }

    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        let encoded = Encoded::parse(context, input)?;
        if let Some(part) = encoded.plain() {
            let part = input
                .get(part)
                .ok_or(FilterError::Internal { id: self.id(), invariant: INPUT_RANGE_INVARIANT })?;
            copy_start(part, output);
            return Ok(encoded.length);
        }
        let Some(elements) = output.get_mut(..encoded.length) else {
            return decode_and_copy(self, context, input, output, workspace);
        };
        encoded.decode(elements)?;
        Ok(encoded.length)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let failed = |reason: &str| FilterError::failed(self.id(), reason);
        let parameters = ScaleOffsetParameters::parse(context.client_data).map_err(failed)?;
        if parameters.is_unchanged() {
            return Ok(Produced::unchanged(input));
        }
        if parameters.chunk_length() != Some(input.len()) {
            return Err(failed("the chunk length differs from the size of its elements"));
        }
        output.clear();
        match (parameters.scale, parameters.size) {
            (Scale::Integer { bits }, 1) => rows::encode_integers::<u8>(&parameters, bits, input, output),
            (Scale::Integer { bits }, 2) => rows::encode_integers::<u16>(&parameters, bits, input, output),
            (Scale::Integer { bits }, 4) => rows::encode_integers::<u32>(&parameters, bits, input, output),
            (Scale::Integer { bits }, _) => rows::encode_integers::<u64>(&parameters, bits, input, output),
            (Scale::Decimal { digits }, 4) => rows::encode_reals::<f32>(&parameters, digits, input, output),
            (Scale::Decimal { digits }, _) => rows::encode_reals::<f64>(&parameters, digits, input, output),
        }
        Ok(Produced::Output)
    }

    fn encoded_length(&self, context: &FilterContext<'_>, input: usize) -> Option<usize> {
        let parameters = ScaleOffsetParameters::parse(context.client_data).ok()?;
        parameters.is_unchanged().then_some(input)
    }

    fn compresses(&self) -> bool {
        true
    }

    fn prepare(&self, requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        let elements = dataset.elements_for(self.id())?;
        let parameters = parameters::of_dataset(requested, elements, dataset.datatype, dataset.fill);
        Ok(parameters.map_err(|reason| FilterError::refused(self.id(), reason))?.client_data())
    }
}

/// An encoded chunk of the scaleoffset filter with its parsed header.
struct Encoded<'a> {
    parameters: ScaleOffsetParameters,
    /// The packing; [`None`] if chunks are stored unchanged.
    packing: Option<Packing>,
    /// The bytes after the header.
    distances: &'a [u8],
    /// Bytes of the decoded chunk.
    length: usize,
}

impl<'a> Encoded<'a> {
    fn parse(context: &FilterContext<'_>, input: &'a [u8]) -> Result<Self> {
        let corrupt = |problem: &str| FilterError::corrupt(FilterId::SCALEOFFSET, problem);
        let limit = || FilterError::Limit { id: FilterId::SCALEOFFSET, limit: context.max_output };
        let parameters = ScaleOffsetParameters::parse(context.client_data).map_err(corrupt)?;
        let length = if parameters.is_unchanged() { Some(input.len()) } else { parameters.chunk_length() };
        let length = length.filter(|length| *length <= context.max_output).ok_or_else(limit)?;
        if parameters.is_unchanged() {
            return Ok(Self { parameters, packing: None, distances: input, length });
        }
        let (packing, distances) = Packing::parse(input).ok_or_else(|| corrupt("the header is truncated"))?;
        if packing.bits > parameters.bits() {
            return Err(corrupt("the header has more bits per distance than an element has"));
        }
        let needed = u64::from(parameters.elements) * u64::from(packing.bits);
        if u64::try_from(distances.len()).is_ok_and(|has| has < needed.div_ceil(8)) {
            return Err(corrupt("the chunk has too few bytes for its elements"));
        }
        Ok(Self { parameters, packing: Some(packing), distances, length })
    }

    /// Returns the position of the elements in a scaleoffset chunk if they are stored plainly, not
    /// packed. Returns [`None`] if the elements must be unpacked.
    fn plain(&self) -> Option<std::ops::Range<usize>> {
        let start = match &self.packing {
            None => 0,
            Some(packing) if packing.bits == self.parameters.bits() && !self.parameters.big_endian => {
                HEADER_BYTES
            }
            Some(_) => return None,
        };
        Some(start..start.checked_add(self.length)?)
    }

    /// Decodes a scaleoffset chunk into `elements`. The length of `elements` is the length of the
    /// decoded chunk.
    fn decode(&self, elements: &mut [u8]) -> Result<()> {
        let Some(packing) = &self.packing else {
            copy_start(self.distances, elements);
            return Ok(());
        };
        let (parameters, distances) = (&self.parameters, self.distances);
        match (parameters.scale, parameters.size) {
            _ if packing.bits == parameters.bits() => {
                copy_start(distances, elements);
                if parameters.big_endian {
                    elements.chunks_exact_mut(parameters.stride()).for_each(<[u8]>::reverse);
                }
                Some(())
            }
            (Scale::Integer { .. }, 1) => {
                rows::decode_integers::<u8>(parameters, packing, distances, elements)
            }
            (Scale::Integer { .. }, 2) => {
                rows::decode_integers::<u16>(parameters, packing, distances, elements)
            }
            (Scale::Integer { .. }, 4) => {
                rows::decode_integers::<u32>(parameters, packing, distances, elements)
            }
            (Scale::Integer { .. }, _) => {
                rows::decode_integers::<u64>(parameters, packing, distances, elements)
            }
            (Scale::Decimal { digits }, 4) => {
                rows::decode_reals::<f32>(parameters, packing, digits, distances, elements)
            }
            (Scale::Decimal { digits }, _) => {
                rows::decode_reals::<f64>(parameters, packing, digits, distances, elements)
            }
        }
        .ok_or_else(|| {
            FilterError::corrupt(FilterId::SCALEOFFSET, "the chunk has too few bytes for its elements")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    fn parameters(
        scale: Scale,
        number: ScaleOffsetNumber,
        size: u32,
        big_endian: bool,
    ) -> ScaleOffsetParameters {
        ScaleOffsetParameters { scale, elements: 0, number, size, big_endian, fill: None }
    }

    #[test]
    fn keeps_the_contract() {
        for (number, size, big_endian) in [
            (ScaleOffsetNumber::Unsigned, 1, false),
            (ScaleOffsetNumber::Signed, 2, true),
            (ScaleOffsetNumber::Unsigned, 4, true),
            (ScaleOffsetNumber::Signed, 8, false),
        ] {
            for elements in [0, 1, 2, 63, 1000] {
                for fill in [None, Some(7)] {
                    let scale = Scale::Integer { bits: 0 };
                    let parameters = ScaleOffsetParameters {
                        elements,
                        fill,
                        ..parameters(scale, number, size, big_endian)
                    };
                    let length = usize::try_from(elements * size).unwrap();
                    conformance::run_with(&ScaleOffset, &parameters.client_data(), length);
                }
            }
        }
        let whole = parameters(Scale::Integer { bits: 16 }, ScaleOffsetNumber::Signed, 2, false);
        conformance::run(&ScaleOffset, &whole.client_data());
    }

    #[test]
    fn a_chunk_that_libhdf5_wrote() {
        let integers = parameters(Scale::Integer { bits: 0 }, ScaleOffsetNumber::Signed, 2, false);
        let integers = ScaleOffsetParameters { elements: 20, fill: Some(65533), ..integers };
        let client_data = integers.client_data();
        assert_eq!(client_data, [2, 0, 20, 0, 2, 1, 0, 1, 65533, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let raw: Vec<u8> = (1..=40).collect();
        let stored = conformance::encode(&ScaleOffset, &client_data, &raw).unwrap();
        assert_eq!(stored[..14], [14, 0, 0, 0, 8, 1, 2, 0, 0, 0, 0, 0, 0, 0]);
        // Distances 0, 0x202, 0x404 with 14 bits each.
        assert_eq!(stored[21..27], [0, 0, 0x20, 0x21, 0x01, 0x06]);
        assert_eq!(conformance::decode(&ScaleOffset, &client_data, &stored, None, 40).unwrap(), raw);
    }

    #[test]
    fn fill_values_and_given_bits() {
        let integers = parameters(Scale::Integer { bits: 3 }, ScaleOffsetNumber::Signed, 1, false);
        let integers = ScaleOffsetParameters { elements: 4, fill: Some(0x80), ..integers };
        let raw = [0xfe, 0x80, 0, 2];
        let stored = conformance::encode(&ScaleOffset, &integers.client_data(), &raw).unwrap();
        assert_eq!(stored[..5], [3, 0, 0, 0, 8]);
        assert_eq!(stored[5..13], [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(stored[21..], [0b0001_1101, 0b0100_0000]);
        let decoded = conformance::decode(&ScaleOffset, &integers.client_data(), &stored, None, 4).unwrap();
        assert_eq!(decoded, raw);
    }

    #[test]
    fn decimals_stay_and_the_rest_goes() {
        let decimal = parameters(Scale::Decimal { digits: 2 }, ScaleOffsetNumber::Float, 8, true);
        let decimal = ScaleOffsetParameters { elements: 4, ..decimal };
        let raw: Vec<u8> = [1.0, 2.5, 3.456, -4.0_f64].iter().flat_map(|value| value.to_be_bytes()).collect();
        let stored = conformance::encode(&ScaleOffset, &decimal.client_data(), &raw).unwrap();
        assert_eq!(stored.len(), 27);
        let decoded = conformance::decode(&ScaleOffset, &decimal.client_data(), &stored, None, 32).unwrap();
        let values: Vec<f64> =
            decoded.as_chunks::<8>().0.iter().map(|bytes| f64::from_be_bytes(*bytes)).collect();
        assert!(values.iter().zip([1.0, 2.5, 3.46, -4.0]).all(|(got, want)| (got - want).abs() < 1e-12));
    }

    #[test]
    fn broken_parameters_and_chunks_are_found() {
        let decode = |client_data: &[u32], bytes: &[u8]| {
            matches!(
                conformance::decode(&ScaleOffset, client_data, bytes, None, 1000),
                Err(FilterError::Corrupt { .. })
            )
        };
        let mut chunk = [0; 22];
        chunk[0] = 8;
        assert!(!decode(&[2, 0, 1, 0, 1, 0, 0, 0], &chunk));
        assert!(decode(&[2, 0, 1, 0, 1, 0, 0], &chunk), "no word about the fill value");
        assert!(decode(&[2, 0, 1, 0, 1, 0, 0, 1], &chunk), "no fill value");
        assert!(decode(&[2, 0, 1, 0, 3, 0, 0, 0], &chunk), "size");
        assert!(decode(&[2, 9, 1, 0, 1, 0, 0, 0], &chunk), "bits");
        assert!(decode(&[2, 0, 1, 2, 1, 0, 0, 0], &chunk), "class");
        assert!(decode(&[0, 0, 1, 1, 2, 0, 0, 0], &chunk), "size of a float");
        assert!(decode(&[2, 0, 2, 0, 1, 0, 0, 0], &chunk), "too short");
        chunk[0] = 9;
        assert!(decode(&[2, 0, 1, 0, 1, 0, 0, 0], &chunk), "bits in the chunk");
        assert!(decode(&[2, 0, 1, 0, 1, 0, 0, 0], &chunk[..20]), "header");
    }

    #[expect(clippy::cast_possible_truncation, reason = "numbers may be rounded")]
    fn bits_of(value: f64, size: u32) -> u64 {
        if size == 4 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
    }

    /// Checks that encoding and decoding give the same result as the reference implementation.
    fn check(parameters: &ScaleOffsetParameters, values: &[u64]) {
        let elements = u32::try_from(values.len()).unwrap();
        let parameters = ScaleOffsetParameters { elements, ..*parameters };
        let client_data = parameters.client_data();
        let parameters = ScaleOffsetParameters::parse(&client_data).unwrap();
        let mut raw = Vec::new();
        for value in values {
            let start = raw.len();
            raw.extend_from_slice(&value.to_le_bytes()[..parameters.stride()]);
            if parameters.big_endian {
                raw[start..].reverse();
            }
        }
        if parameters.is_unchanged() {
            return;
        }
        let stored = conformance::encode(&ScaleOffset, &client_data, &raw).unwrap();
        assert_eq!(stored, model::encode(&parameters, &raw), "{parameters:?} {values:x?}");
        let decoded = conformance::decode(&ScaleOffset, &client_data, &stored, None, raw.len()).unwrap();
        if stored[0] == parameters.bits().to_le_bytes()[0] {
            assert_eq!(decoded, raw, "{parameters:?} {values:x?}");
        } else {
            assert_eq!(decoded, model::decode(&parameters, &stored), "{parameters:?} {values:x?}");
        }
        let mut into = vec![0xee; raw.len() + 3];
        let context = FilterContext::new(&client_data, raw.len());
        let count = ScaleOffset.decode_into(&context, &stored, &mut into, &mut Workspace::default()).unwrap();
        assert_eq!(&into[..count], &decoded[..], "{parameters:?} {values:x?}");
    }

    #[test]
    fn every_width_equals_element_by_element() {
        for (size, bits) in
            [1_u32, 2, 4, 8].iter().flat_map(|size| (0..8 * size).map(move |bits| (*size, bits)))
        {
            let spread = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) & ((1_u64 << bits) - 1);
            for count in [1, 8, 300] {
                for (number, big_endian) in [
                    (ScaleOffsetNumber::Signed, true),
                    (ScaleOffsetNumber::Signed, false),
                    (ScaleOffsetNumber::Unsigned, false),
                ] {
                    let values: Vec<u64> = (0..count).map(|at| spread(at).wrapping_sub(5)).collect();
                    for fill in [None, Some(values[0]), Some(77)] {
                        let scale = Scale::Integer { bits: 0 };
                        let free = parameters(scale, number, size, big_endian);
                        check(&ScaleOffsetParameters { fill, ..free }, &values);
                        let given = Scale::Integer { bits: bits.max(1) };
                        check(&ScaleOffsetParameters { fill, scale: given, ..free }, &values);
                    }
                }
                if size < 4 {
                    continue;
                }
                let bits = |value: f64| bits_of(value, size);
                let values: Vec<u64> = (0..count).map(|at| bits(spread(at) as f64 / 10.0 - 7.03)).collect();
                for (digits, fill) in [(1, None), (0, Some(values[0])), (1, Some(bits(1.5)))] {
                    let real =
                        parameters(Scale::Decimal { digits }, ScaleOffsetNumber::Float, size, count == 8);
                    check(&ScaleOffsetParameters { fill, ..real }, &values);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_integers_equal_element_by_element(
            values in proptest::collection::vec(prop_oneof![0..50_u64, any::<u64>()], 1..600),
            size in prop_oneof![Just(1_u32), Just(2), Just(4), Just(8)],
            above in 0..64_u32,
            (signed, big_endian) in any::<(bool, bool)>(),
            fill in proptest::option::of(0..50_u64),
            bits in 0..64_u32,
        ) {
            let number = if signed { ScaleOffsetNumber::Signed } else { ScaleOffsetNumber::Unsigned };
            let bits = if bits <= 8 * size { bits } else { 0 };
            let base = parameters(Scale::Integer { bits }, number, size, big_endian);
            let values: Vec<u64> = values.into_iter().map(|value| value >> above).collect();
            check(&ScaleOffsetParameters { fill, ..base }, &values);
        }

        #[test]
        fn any_reals_equal_element_by_element(
            values in proptest::collection::vec(
                prop_oneof![
                    8 => -1e4..1e4_f64,
                    1 => prop_oneof![Just(0.0), Just(-0.0), Just(2.5), Just(f64::NAN)],
                    1 => any::<f64>(),
                ],
                1..300,
            ),
            tame in any::<bool>(),
            (single, big_endian) in any::<(bool, bool)>(),
            digits in -3..12_i32,
            fill in proptest::option::of(prop_oneof![Just(0.0), Just(2.5), -1e4..1e4_f64]),
        ) {
            let bits = |value: f64| bits_of(value, if single { 4 } else { 8 });
            let is_tame = |value: &f64| !tame || value.abs() < 1e5;
            let values: Vec<u64> = values.into_iter().filter(is_tame).map(bits).collect();
            let size = if single { 4 } else { 8 };
            let base = parameters(Scale::Decimal { digits }, ScaleOffsetNumber::Float, size, big_endian);
            check(&ScaleOffsetParameters { fill: fill.map(bits), ..base }, &values);
        }

        #[test]
        fn integers_come_back(
            values in proptest::collection::vec(prop_oneof![0..50_u64, any::<u64>()], 1..50),
            size in prop_oneof![Just(1_u32), Just(2), Just(4), Just(8)],
            signed in any::<bool>(),
            fill in proptest::option::of(0..50_u64),
        ) {
            let number = if signed { ScaleOffsetNumber::Signed } else { ScaleOffsetNumber::Unsigned };
            let elements = u32::try_from(values.len()).unwrap();
            let base = parameters(Scale::Integer { bits: 0 }, number, size, false);
            let parameters = ScaleOffsetParameters { elements, fill, ..base };
            let client_data = parameters.client_data();
            prop_assert_eq!(ScaleOffsetParameters::parse(&client_data), Ok(parameters));
            let size = usize::try_from(size).unwrap();
            let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()[..size].to_vec()).collect();
            let stored = conformance::encode(&ScaleOffset, &client_data, &raw).unwrap();
            let decoded = conformance::decode(&ScaleOffset, &client_data, &stored, None, raw.len()).unwrap();
            prop_assert_eq!(decoded, raw);
        }

        #[test]
        fn arbitrary_parameters_do_not_panic(
            client_data in proptest::collection::vec(prop_oneof![0..9_u32, any::<u32>()], 0..22),
            values in proptest::collection::vec(any::<f64>(), 0..20),
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            if let Ok(decoded) = conformance::decode(&ScaleOffset, &client_data, &bytes, None, 1000) {
                prop_assert!(decoded.len() <= 1000);
            }
            drop(conformance::encode(&ScaleOffset, &client_data, &bytes));
            let mut client_data = client_data;
            client_data.resize(20, 0);
            client_data[0] = 0;
            client_data[2] = u32::try_from(values.len()).unwrap();
            client_data[3..5].copy_from_slice(&[1, 8]);
            let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            if let Ok(stored) = conformance::encode(&ScaleOffset, &client_data, &raw) {
                conformance::decode(&ScaleOffset, &client_data, &stored, None, raw.len()).unwrap();
            }
        }
    }
}
