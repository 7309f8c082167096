//! The scaleoffset filter (number 6): integers as their distance from the smallest one, in as few bits as will
//! do; floating-point numbers scaled by a power of ten and rounded to such integers.
//!
//! ```text
//! client data  | meaning
//! -------------+------------------------------------------------------------------------------------
//! 0            | scale: 0 decimal, 1 binary (never implemented by libhdf5), 2 integers
//! 1            | decimal: digits behind the point that stay (signed); integers: bits, 0 for what it takes
//! 2            | elements of a chunk
//! 3            | class: 0 integer, 1 floating-point
//! 4            | bytes of an element: 1, 2, 4, 8
//! 5            | 0 unsigned, 1 two's complement
//! 6            | byte order: 0 little-endian, 1 big-endian
//! 7            | 0 no fill value, 1 fill value in what follows
//! 8…19         | fill value, low word first
//!
//! bytes of a chunk | meaning
//! -----------------+---------------------------------------------------------------------------------
//! 4                | bits of an element, little-endian
//! 1                | bytes of the smallest value: 8
//! 8                | smallest value, little-endian: an integer, or the bits of a floating-point number
//! 8                | nothing
//! n                | the elements, the most significant bit first; if they take all their bits, little-endian
//! 1                | bits that are left, or nothing; not there if elements take all their bits
//! ```
//! Where there is a fill value, the number that has all bits set stands for it.

mod parameters;
mod real;

use crate::bits::{BitReader, BitWriter};
use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

pub use parameters::{Number, Parameters, Scale};
use real::Real;

/// The scaleoffset filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScaleOffset;

/// Bytes before the elements.
const HEADER: usize = 21;

/// The distances of the elements of a chunk from the smallest one.
#[derive(Debug)]
struct Packing {
    /// Bits of a distance.
    bits: u32,
    /// The smallest value, or its bits.
    minimum: u64,
}

impl Packing {
    /// The distance that stands for the fill value.
    fn all_set(&self) -> u64 {
        1_u64.checked_shl(self.bits).map_or(u64::MAX, |bit| bit - 1)
    }

    fn parse(input: &[u8]) -> Option<(Self, &[u8])> {
        let (header, elements) = input.split_first_chunk::<HEADER>()?;
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
        let corrupt = |what: &str| FilterError::corrupt(self.id(), what);
        let limit = FilterError::Limit { id: self.id(), limit: context.max_output };
        let parameters = Parameters::parse(context.client_data).map_err(corrupt)?;
        if parameters.is_as_is() {
            return if input.len() > context.max_output {
                Err(limit)
            } else {
                Ok(Produced::unchanged(input))
            };
        }
        let length = parameters.chunk_length().filter(|length| *length <= context.max_output).ok_or(limit)?;
        let (packing, input) = Packing::parse(input).ok_or_else(|| corrupt("no room for its header"))?;
        if packing.bits > parameters.bits() {
            return Err(corrupt("distances have more bits than elements"));
        }
        let short = || corrupt("too few bytes for its elements");
        if packing.bits == parameters.bits() {
            let elements = input.get(..length).ok_or_else(short)?;
            if !parameters.big_endian {
                return Ok(Produced::Input(HEADER..HEADER + elements.len()));
            }
            output.clear();
            output.extend_from_slice(elements);
            output.chunks_exact_mut(parameters.stride()).for_each(<[u8]>::reverse);
            return Ok(Produced::Output);
        }
        let needed = u64::from(parameters.elements) * u64::from(packing.bits);
        if u64::try_from(input.len()).is_ok_and(|has| has < needed.div_ceil(8)) {
            return Err(short());
        }
        output.clear();
        output.resize(length, 0);
        let minimum = packing.minimum;
        let restored = match parameters.scale {
            Scale::Integer { .. } => {
                unpack(&parameters, &packing, input, output, |distance| minimum.wrapping_add(distance))
            }
            Scale::Decimal { digits } if parameters.size == 4 => {
                unpack(&parameters, &packing, input, output, real::restore::<f32>(digits, minimum))
            }
            Scale::Decimal { digits } => {
                unpack(&parameters, &packing, input, output, real::restore::<f64>(digits, minimum))
            }
        };
        restored.ok_or_else(short)?;
        Ok(Produced::Output)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let failed = |reason: &str| FilterError::failed(self.id(), reason);
        let parameters = Parameters::parse(context.client_data).map_err(failed)?;
        if parameters.is_as_is() {
            return Ok(Produced::unchanged(input));
        }
        if parameters.chunk_length() != Some(input.len()) {
            return Err(failed("the chunk has not the bytes of its elements"));
        }
        output.clear();
        match parameters.scale {
            Scale::Integer { bits } => {
                let packing = integers(&parameters, bits, input);
                pack(&parameters, &packing, input, output, |value| value.wrapping_sub(packing.minimum));
            }
            Scale::Decimal { digits } if parameters.size == 4 => {
                encode_real::<f32>(&parameters, digits, input, output);
            }
            Scale::Decimal { digits } => encode_real::<f64>(&parameters, digits, input, output),
        }
        Ok(Produced::Output)
    }

    fn encoded_length(&self, context: &FilterContext<'_>, input: usize) -> Option<usize> {
        let parameters = Parameters::parse(context.client_data).ok()?;
        parameters.is_as_is().then_some(input)
    }

    fn compresses(&self) -> bool {
        true
    }
}

/// Takes the distances and restores the elements.
#[inline]
fn unpack(
    parameters: &Parameters,
    packing: &Packing,
    input: &[u8],
    output: &mut [u8],
    restore: impl Fn(u64) -> u64,
) -> Option<()> {
    let mut reader = BitReader::new(input);
    let fill = parameters.fill.map(|fill| (packing.all_set(), fill));
    for element in output.chunks_exact_mut(parameters.stride()) {
        let distance = reader.get_wide(packing.bits)?;
        let value = match fill {
            Some((all_set, fill)) if distance == all_set => fill,
            _ => restore(distance),
        };
        parameters.write(value, element);
    }
    Some(())
}

/// Appends header and distances.
#[inline]
fn pack(
    parameters: &Parameters,
    packing: &Packing,
    input: &[u8],
    output: &mut Vec<u8>,
    distance: impl Fn(u64) -> u64,
) {
    packing.write(output);
    if packing.bits == parameters.bits() {
        let start = output.len();
        output.extend_from_slice(input);
        if parameters.big_endian {
            let elements = output.get_mut(start..).unwrap_or_default();
            elements.chunks_exact_mut(parameters.stride()).for_each(<[u8]>::reverse);
        }
        return;
    }
    let bits = u64::from(parameters.elements) * u64::from(packing.bits);
    let length = usize::try_from(bits / 8).unwrap_or(input.len()) + HEADER + 1;
    output.reserve(length.saturating_sub(output.len()));
    let mut writer = BitWriter::new(output);
    for element in input.chunks_exact(parameters.stride()) {
        let value = parameters.read(element);
        let distance = if parameters.is_fill(value) { packing.all_set() } else { distance(value) };
        writer.put_wide(distance, packing.bits);
    }
    writer.finish();
    output.resize(length, 0);
}

/// The smallest of integers, and the bits it takes (or that are `given`, if not 0) to tell them from it.
fn integers(parameters: &Parameters, given: u32, input: &[u8]) -> Packing {
    let values = input
        .chunks_exact(parameters.stride())
        .map(|element| parameters.read(element))
        .filter(|value| !parameters.is_fill(*value));
    // With the sign turned round, two's complement sorts as unsigned numbers do.
    let turn = if parameters.number == Number::Signed { 1 << (parameters.bits() - 1) } else { 0 };
    let widen = |value: u64| parameters.extend(value ^ turn);
    let bounds = values.fold(None, |bounds: Option<(u64, u64)>, value| {
        let value = value ^ turn;
        Some(bounds.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    let (low, high) = bounds.unwrap_or((turn, turn));
    if given != 0 {
        return Packing { bits: given, minimum: widen(low) };
    }
    let largest = u64::MAX >> (64 - parameters.bits());
    let distance = high - low;
    if distance > largest - 2 {
        return Packing { bits: parameters.bits(), minimum: 0 };
    }
    let numbers = distance + 1 + u64::from(parameters.fill.is_some());
    Packing { bits: bits_for(numbers), minimum: widen(low) }
}

/// Bits that tell so many numbers apart.
fn bits_for(numbers: u64) -> u32 {
    numbers.checked_sub(1).map_or(0, |last| 64 - last.leading_zeros())
}

fn encode_real<T: Real>(parameters: &Parameters, digits: i32, input: &[u8], output: &mut Vec<u8>) {
    let ten = T::power_of_ten(digits);
    let fill = parameters.fill.map(T::from_bits);
    // What rounds to the fill value becomes the fill value.
    let near = T::power_of_ten(digits.saturating_neg());
    let is_fill = |value: T| fill.is_some_and(|fill| value.distance(fill) < near);
    let values =
        input.chunks_exact(parameters.stride()).map(|element| T::from_bits(parameters.read(element)));
    let bounds = values.filter(|value| !is_fill(*value)).fold(None, |bounds: Option<(T, T)>, value| {
        let (low, high) = bounds.unwrap_or((value, value));
        Some((if value < low { value } else { low }, if value > high { value } else { high }))
    });
    let (low, high) = bounds.unwrap_or((T::from_bits(0), T::from_bits(0)));
    let range = T::scaled(high, low, ten);
    let packing = match range.rounded() {
        // Not so for what is no number, too.
        Some(range) if range <= 1 << (parameters.bits() - 1) => {
            Packing { bits: bits_for(range + 1 + u64::from(fill.is_some())), minimum: low.to_bits() }
        }
        _ => Packing { bits: parameters.bits(), minimum: 0 },
    };
    pack(parameters, &packing, input, output, |value| {
        let value = T::from_bits(value);
        if is_fill(value) {
            return packing.all_set();
        }
        T::scaled(value, low, ten).rounded().unwrap_or(0).min(packing.all_set())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    fn parameters(scale: Scale, number: Number, size: u32, big_endian: bool) -> Parameters {
        Parameters { scale, elements: 0, number, size, big_endian, fill: None }
    }

    #[test]
    fn keeps_the_contract() {
        for (number, size, big_endian) in [
            (Number::Unsigned, 1, false),
            (Number::Signed, 2, true),
            (Number::Unsigned, 4, true),
            (Number::Signed, 8, false),
        ] {
            for elements in [0, 1, 2, 63, 1000] {
                for fill in [None, Some(7)] {
                    let scale = Scale::Integer { bits: 0 };
                    let parameters =
                        Parameters { elements, fill, ..parameters(scale, number, size, big_endian) };
                    let length = usize::try_from(elements * size).unwrap();
                    conformance::run_with(&ScaleOffset, &parameters.client_data(), length);
                }
            }
        }
        let whole = parameters(Scale::Integer { bits: 16 }, Number::Signed, 2, false);
        conformance::run(&ScaleOffset, &whole.client_data());
    }

    #[test]
    fn a_chunk_that_libhdf5_wrote() {
        let integers = parameters(Scale::Integer { bits: 0 }, Number::Signed, 2, false);
        let integers = Parameters { elements: 20, fill: Some(65533), ..integers };
        let client_data = integers.client_data();
        assert_eq!(client_data, [2, 0, 20, 0, 2, 1, 0, 1, 65533, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let raw: Vec<u8> = (1..=40).collect();
        let stored = conformance::encode(&ScaleOffset, &client_data, &raw).unwrap();
        assert_eq!(stored[..14], [14, 0, 0, 0, 8, 1, 2, 0, 0, 0, 0, 0, 0, 0]);
        // Distances 0, 0x202, 0x404 in 14 bits each.
        assert_eq!(stored[21..27], [0, 0, 0x20, 0x21, 0x01, 0x06]);
        assert_eq!(conformance::decode(&ScaleOffset, &client_data, &stored, None, 40).unwrap(), raw);
    }

    #[test]
    fn fill_values_and_given_bits() {
        let integers = parameters(Scale::Integer { bits: 3 }, Number::Signed, 1, false);
        let integers = Parameters { elements: 4, fill: Some(0x80), ..integers };
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
        let decimal = parameters(Scale::Decimal { digits: 2 }, Number::Float, 8, true);
        let decimal = Parameters { elements: 4, ..decimal };
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

    proptest! {
        #[test]
        fn integers_come_back(
            values in proptest::collection::vec(prop_oneof![0..50_u64, any::<u64>()], 1..50),
            size in prop_oneof![Just(1_u32), Just(2), Just(4), Just(8)],
            signed in any::<bool>(),
            fill in proptest::option::of(0..50_u64),
        ) {
            let number = if signed { Number::Signed } else { Number::Unsigned };
            let elements = u32::try_from(values.len()).unwrap();
            let base = parameters(Scale::Integer { bits: 0 }, number, size, false);
            let parameters = Parameters { elements, fill, ..base };
            let client_data = parameters.client_data();
            prop_assert_eq!(Parameters::parse(&client_data), Ok(parameters));
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
