//! The reference implementation for tests: element by element and bit by bit.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "this is for tests: the filter's conversions truncate in the same way"
)]

use super::*;
use crate::bits::{BitReader, BitWriter};

fn read(parameters: &ScaleOffsetParameters, element: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..element.len()].copy_from_slice(element);
    if parameters.big_endian {
        bytes[..element.len()].reverse();
    }
    u64::from_le_bytes(bytes)
}

fn write(parameters: &ScaleOffsetParameters, value: u64, element: &mut [u8]) {
    element.copy_from_slice(&value.to_le_bytes()[..element.len()]);
    if parameters.big_endian {
        element.reverse();
    }
}

/// Decodes a scaleoffset chunk with packed distances, slowly. Tests compare the filter with this
/// simple decoder.
pub(super) fn decode(parameters: &ScaleOffsetParameters, stored: &[u8]) -> Vec<u8> {
    let (packing, distances) = Packing::parse(stored).unwrap();
    let mut reader = BitReader::new(distances);
    let mut chunk = vec![0; parameters.chunk_length().unwrap()];
    for element in chunk.chunks_exact_mut(parameters.stride()) {
        let distance = reader.get_wide(packing.bits).unwrap();
        let minimum = packing.minimum;
        let value = match (parameters.fill, parameters.scale) {
            (Some(fill), _) if distance == packing.fill_distance() => fill,
            (_, Scale::Integer { .. }) => minimum.wrapping_add(distance),
            (_, Scale::Decimal { digits }) if parameters.size == 4 => {
                let minimum = f32::from_bits(u32::try_from(minimum).unwrap());
                u64::from((distance as f32 / 10_f32.powf(digits as f32) + minimum).to_bits())
            }
            (_, Scale::Decimal { digits }) => {
                (distance as f64 / 10_f64.powf(f64::from(digits)) + f64::from_bits(minimum)).to_bits()
            }
        };
        write(parameters, value, element);
    }
    chunk
}

/// Encodes a chunk with scaleoffset, slowly. Tests compare the filter with this simple encoder.
pub(super) fn encode(parameters: &ScaleOffsetParameters, chunk: &[u8]) -> Vec<u8> {
    let values: Vec<u64> =
        chunk.chunks_exact(parameters.stride()).map(|element| read(parameters, element)).collect();
    let (packing, distances) = match (parameters.scale, parameters.size) {
        (Scale::Integer { bits }, _) => integers(parameters, bits, &values),
        (Scale::Decimal { digits }, 4) => singles(parameters, digits, &values),
        (Scale::Decimal { digits }, _) => doubles(parameters, digits, &values),
    };
    let mut stored = Vec::new();
    packing.write(&mut stored);
    if packing.bits == parameters.bits() {
        for value in values {
            stored.extend_from_slice(&value.to_le_bytes()[..parameters.stride()]);
        }
        return stored;
    }
    let mut writer = BitWriter::new(&mut stored);
    distances.iter().for_each(|distance| writer.put_wide(*distance, packing.bits));
    writer.finish();
    let bits = distances.len() * usize::try_from(packing.bits).unwrap();
    stored.resize(HEADER_BYTES + bits / 8 + 1, 0);
    stored
}

fn bits_for(numbers: u128) -> u32 {
    (0..).find(|bits| 1_u128 << bits >= numbers).unwrap()
}

fn integers(parameters: &ScaleOffsetParameters, given: u32, values: &[u64]) -> (Packing, Vec<u64>) {
    let is_fill = |value: u64| parameters.fill == Some(value);
    let signed = |value: u64| match parameters.number {
        ScaleOffsetNumber::Signed => i128::from(parameters.extend(value).cast_signed()),
        _ => i128::from(value),
    };
    let all: Vec<i128> =
        values.iter().filter(|value| !is_fill(**value)).map(|value| signed(*value)).collect();
    let (low, high) = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
    let minimum = low.to_le_bytes()[..8].try_into().map(u64::from_le_bytes).unwrap();
    let numbers = (high - low + 1).cast_unsigned() + u128::from(parameters.fill.is_some());
    let packing = if given != 0 {
        Packing { bits: given, minimum }
    } else if high - low > (1 << parameters.bits()) - 3 {
        Packing { bits: parameters.bits(), minimum: 0 }
    } else {
        Packing { bits: bits_for(numbers), minimum }
    };
    let distance =
        |value: u64| if is_fill(value) { packing.fill_distance() } else { value.wrapping_sub(minimum) };
    let distances = values.iter().map(|value| distance(*value)).collect();
    (packing, distances)
}

macro_rules! reals {
    ($name:ident, $real:ty, $bits:ty) => {
        fn $name(parameters: &ScaleOffsetParameters, digits: i32, values: &[u64]) -> (Packing, Vec<u64>) {
            let real = |bits: u64| <$real>::from_bits(<$bits>::try_from(bits).unwrap());
            let ten = <$real>::powf(10.0, digits as $real);
            let near = <$real>::powf(10.0, -digits as $real);
            let fill = parameters.fill.map(real);
            let is_fill = |value: $real| fill.is_some_and(|fill| (value - fill).abs() < near);
            let mut bounds = None;
            for value in values.iter().map(|value| real(*value)).filter(|value| !is_fill(*value)) {
                let (low, high) = bounds.unwrap_or((value, value));
                bounds =
                    Some((if value < low { value } else { low }, if value > high { value } else { high }));
            }
            let (low, high) = bounds.unwrap_or((0.0, 0.0));
            let range = (high * ten - low * ten).round();
            let packing = if range <= <$real>::powi(2.0, 8 * parameters.size as i32 - 1) {
                let numbers = range as u128 + 1 + u128::from(fill.is_some());
                Packing { bits: bits_for(numbers), minimum: u64::from(low.to_bits()) }
            } else {
                Packing { bits: parameters.bits(), minimum: 0 }
            };
            let distance = |value: $real| {
                if is_fill(value) {
                    return packing.fill_distance();
                }
                let distance = (value * ten - low * ten).round();
                (distance as u64).min(packing.fill_distance())
            };
            let distances = values.iter().map(|value| distance(real(*value))).collect();
            (packing, distances)
        }
    };
}

reals!(singles, f32, u32);
reals!(doubles, f64, u64);
