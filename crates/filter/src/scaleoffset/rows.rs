//! Packing and unpacking of a chunk's elements in tiles, so that the compiler can use vector
//! instructions.

use crate::bits::bulk::{self, TILE_WORDS, Word};

use super::real::Real;
use super::{HEADER_BYTES, Packing, ScaleOffsetNumber, ScaleOffsetParameters};

/// The maximum number of bits of a scaleoffset distance in an `i32`. The sign takes one bit of the
/// `i32`.
const MAX_SMALL_BITS: u32 = 31;

/// Decodes the integers of a scaleoffset chunk by adding the minimum to each distance.
pub(super) fn decode_integers<T: Word<Row = T>>(
    parameters: &ScaleOffsetParameters,
    packing: &Packing,
    distances: &[u8],
    elements: &mut [u8],
) -> Option<()> {
    let minimum = packing.minimum;
    unpack::<T, T>(parameters, packing, distances, elements, |distance| {
        T::low(distance.wide().wrapping_add(minimum))
    })
}

/// Decodes the floating-point numbers of a scaleoffset chunk, which were scaled by `10 ** digits`.
pub(super) fn decode_reals<R: Real>(
    parameters: &ScaleOffsetParameters,
    packing: &Packing,
    digits: i32,
    distances: &[u8],
    elements: &mut [u8],
) -> Option<()> {
    let (scale, minimum) = (R::power_of_ten(digits), R::from_bits(R::Bits::low(packing.minimum)));
    if packing.bits <= MAX_SMALL_BITS {
        unpack::<R::Bits, u32>(parameters, packing, distances, elements, |distance| {
            R::restored(minimum, R::from_small(distance), scale).to_bits()
        })
    } else {
        unpack::<R::Bits, u64>(parameters, packing, distances, elements, |distance| {
            R::restored(minimum, R::from_wide(distance), scale).to_bits()
        })
    }
}

/// Unpacks the distances of a scaleoffset chunk, computes the elements with `restore`, and writes
/// them to `elements`.
#[inline]
fn unpack<T: Word<Row = T>, D: Word>(
    parameters: &ScaleOffsetParameters,
    packing: &Packing,
    distances: &[u8],
    elements: &mut [u8],
    restore: impl Fn(D) -> T,
) -> Option<()> {
    let fill = parameters.fill.map(|fill| (D::low(packing.fill_distance()), T::low(fill)));
    let (mut row, mut words) = ([D::default(); TILE_WORDS], [T::default(); TILE_WORDS]);
    let step = usize::try_from(packing.bits).ok()? * (TILE_WORDS / 8);
    for (number, elements) in elements.chunks_mut(TILE_WORDS * parameters.stride()).enumerate() {
        let count = elements.len() / parameters.stride();
        let (row, words) = (row.get_mut(..count)?, words.get_mut(..count)?);
        bulk::unpack(packing.bits, distances.get(number * step..)?, row);
        let pairs = words.iter_mut().zip(row.iter());
        if let Some((fill_distance, fill)) = fill {
            pairs.for_each(|(word, distance)| {
                let value = restore(*distance);
                *word = if *distance == fill_distance { fill } else { value };
            });
        } else {
            pairs.for_each(|(word, distance)| *word = restore(*distance));
        }
        T::write(words, parameters.big_endian, elements);
    }
    Some(())
}

/// Encodes integers with scaleoffset as distances from the minimum. Each distance has `given` bits.
/// If `given` is 0, the distances have as few bits as needed.
pub(super) fn encode_integers<T: Word<Row = T>>(
    parameters: &ScaleOffsetParameters,
    given: u32,
    input: &[u8],
    output: &mut Vec<u8>,
) {
    let packing = integers::<T>(parameters, given, input);
    let minimum = packing.minimum;
    let distance = |value: T| T::low(value.wide().wrapping_sub(minimum));
    match parameters.fill.map(T::low) {
        Some(fill) => {
            let fill_distance = T::low(packing.fill_distance());
            pack::<T, T>(parameters, &packing, input, output, |value| {
                let distance = distance(value);
                if value == fill { fill_distance } else { distance }
            });
        }
        None => pack::<T, T>(parameters, &packing, input, output, distance),
    }
}

/// Computes the minimum of integers and the number of bits of their distances from it, for the
/// scaleoffset filter. The number of bits is `given` unless `given` is 0.
fn integers<T: Word<Row = T>>(parameters: &ScaleOffsetParameters, given: u32, input: &[u8]) -> Packing {
    // With the sign bit flipped, two's complement sorts like unsigned numbers.
    let sign_bit =
        if parameters.number == ScaleOffsetNumber::Signed { 1 << (parameters.bits() - 1) } else { 0 };
    let widen = |value: u64| parameters.extend(value ^ sign_bit);
    let largest = T::low(u64::MAX);
    // `low` starts at the largest number and `high` at the smallest. They are in order as soon as
    // one element was compared.
    let (mut low, mut high) = (largest, T::default());
    let sign = T::low(sign_bit);
    let fill = parameters.fill.map(T::low);
    each_tile::<T>(parameters, input, |tile| {
        if let Some(fill) = fill {
            for value in tile {
                let flipped = value.exclusive_or(sign);
                low = low.min(if *value == fill { largest } else { flipped });
                high = high.max(if *value == fill { T::default() } else { flipped });
            }
        } else {
            for value in tile {
                let flipped = value.exclusive_or(sign);
                low = low.min(flipped);
                high = high.max(flipped);
            }
        }
    });
    let (low, high) = if low <= high { (low.wide(), high.wide()) } else { (sign_bit, sign_bit) };
    if given != 0 {
        return Packing { bits: given, minimum: widen(low) };
    }
    let distance = high - low;
    if distance > largest.wide() - 2 {
        return Packing { bits: parameters.bits(), minimum: 0 };
    }
    let numbers = distance + 1 + u64::from(parameters.fill.is_some());
    Packing { bits: bits_for(numbers), minimum: widen(low) }
}

/// Returns the number of bits that the scaleoffset filter needs to distinguish `numbers` values.
fn bits_for(numbers: u64) -> u32 {
    numbers.checked_sub(1).map_or(0, |last| 64 - last.leading_zeros())
}

/// Encodes floating-point numbers with scaleoffset. Multiplies them by `10 ** digits` and rounds
/// the results.
pub(super) fn encode_reals<R: Real>(
    parameters: &ScaleOffsetParameters,
    digits: i32,
    input: &[u8],
    output: &mut Vec<u8>,
) {
    match parameters.fill {
        Some(fill) => {
            // Values that round to the fill value become the fill value.
            let (fill, near) = (R::from_bits(R::Bits::low(fill)), R::power_of_ten(digits.saturating_neg()));
            encode_reals_except(parameters, digits, input, output, |value: R| value.distance(fill) < near);
        }
        None => encode_reals_except(parameters, digits, input, output, |_: R| false),
    }
}

fn encode_reals_except<R: Real>(
    parameters: &ScaleOffsetParameters,
    digits: i32,
    input: &[u8],
    output: &mut Vec<u8>,
    is_fill: impl Fn(R) -> bool,
) {
    let ten = R::power_of_ten(digits);
    let zero = R::from_bits(R::Bits::default());
    let (low, high) = bounds(parameters, input, &is_fill).unwrap_or((zero, zero));
    let range = R::scaled(high, low, ten);
    let packing = match range.rounded() {
        // NaN and negative ranges also need the full width.
        Some(range) if range <= 1 << (parameters.bits() - 1) => {
            let numbers = range + 1 + u64::from(parameters.fill.is_some());
            Packing { bits: bits_for(numbers), minimum: low.to_bits().wide() }
        }
        _ => Packing { bits: parameters.bits(), minimum: 0 },
    };
    let fill_distance = packing.fill_distance();
    if packing.bits <= MAX_SMALL_BITS {
        let fill_distance = u32::low(fill_distance);
        pack::<R::Bits, u32>(parameters, &packing, input, output, |value| {
            let value = R::from_bits(value);
            let distance = R::scaled(value, low, ten).nearest_small().min(fill_distance);
            if is_fill(value) { fill_distance } else { distance }
        });
    } else {
        pack::<R::Bits, u64>(parameters, &packing, input, output, |value| {
            let value = R::from_bits(value);
            if is_fill(value) {
                return fill_distance;
            }
            R::scaled(value, low, ten).rounded().unwrap_or(0).min(fill_distance)
        });
    }
}

/// The number of values that the scaleoffset filter compares in parallel in the search for minimum
/// and maximum.
const LANES: usize = 8;

/// Returns the smallest and the largest number in the input of the scaleoffset filter. Ignores fill
/// values, and NaN unless it is the first number. If several numbers are equal, returns the first.
fn bounds<R: Real>(
    parameters: &ScaleOffsetParameters,
    input: &[u8],
    is_fill: &impl Fn(R) -> bool,
) -> Option<(R, R)> {
    let first = find_first(parameters, input, |value| !is_fill(value))?;
    let (mut lows, mut highs) = ([first; LANES], [first; LANES]);
    each_tile::<R::Bits>(parameters, input, |tile| {
        let (rows, rest) = tile.as_chunks::<LANES>();
        let compare = |bits: &R::Bits, low: &mut R, high: &mut R| {
            let value = R::from_bits(*bits);
            let value = if is_fill(value) { first } else { value };
            *low = if value < *low { value } else { *low };
            *high = if value > *high { value } else { *high };
        };
        for row in rows {
            for ((bits, low), high) in row.iter().zip(&mut lows).zip(&mut highs) {
                compare(bits, low, high);
            }
        }
        for ((bits, low), high) in rest.iter().zip(&mut lows).zip(&mut highs) {
            compare(bits, low, high);
        }
    });
    let low = lows.into_iter().fold(first, |low, value| if value < low { value } else { low });
    let high = highs.into_iter().fold(first, |high, value| if value > high { value } else { high });
    // The two zeros compare equal but have different bits: find the first one.
    let zero = R::from_bits(R::Bits::default());
    let low = if low == zero {
        find_first(parameters, input, |value| value == low && !is_fill(value))?
    } else {
        low
    };
    Some((low, high))
}

/// Returns the first number of the scaleoffset filter's input for which `is_wanted` returns true.
fn find_first<R: Real>(
    parameters: &ScaleOffsetParameters,
    input: &[u8],
    is_wanted: impl Fn(R) -> bool,
) -> Option<R> {
    let elements = input.chunks_exact(parameters.stride());
    let bits = elements.filter_map(|element| R::Bits::get(element, 0, parameters.big_endian));
    bits.map(R::from_bits).find(|value| is_wanted(*value))
}

fn each_tile<T: Word<Row = T>>(parameters: &ScaleOffsetParameters, input: &[u8], mut each: impl FnMut(&[T])) {
    let mut words = [T::default(); TILE_WORDS];
    for elements in input.chunks(TILE_WORDS * parameters.stride()) {
        let words = words.split_at_mut(elements.len() / parameters.stride()).0;
        T::read(elements, parameters.big_endian, words);
        each(words);
    }
}

/// Appends the header of a scaleoffset chunk and the packed distances to `output`.
#[inline]
fn pack<T: Word<Row = T>, D: Word>(
    parameters: &ScaleOffsetParameters,
    packing: &Packing,
    input: &[u8],
    output: &mut Vec<u8>,
    distance: impl Fn(T) -> D,
) {
    packing.write(output);
    if packing.bits == parameters.bits() {
        let start = output.len();
        output.extend_from_slice(input);
        if parameters.big_endian {
            let elements = output.split_at_mut(start).1;
            elements.chunks_exact_mut(parameters.stride()).for_each(<[u8]>::reverse);
        }
        return;
    }
    // The packed elements have fewer bytes than `input`; the product of the bits could overflow.
    let (elements, bits) = (parameters.elements as usize, packing.bits as usize);
    let length = elements / 8 * bits + elements % 8 * bits / 8 + HEADER_BYTES + 1;
    output.reserve(length.max(output.len()) - output.len());
    let mut row = [D::default(); TILE_WORDS];
    each_tile::<T>(parameters, input, |tile| {
        let row = row.split_at_mut(tile.len()).0;
        row.iter_mut().zip(tile).for_each(|(to, value)| *to = distance(*value));
        bulk::pack(packing.bits, row, output);
    });
    output.resize(length, 0);
}
