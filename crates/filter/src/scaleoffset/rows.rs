//! The elements of a chunk, a tile at a time, so that compilers can use vectors.

use crate::bits::bulk::{self, TILE, Word};

use super::real::Real;
use super::{HEADER, Number, Packing, Parameters};

/// Bits of distances that are treated as numbers of 32 bits, without a sign in the way.
const SMALL: u32 = 31;

/// Integers: distances and the smallest value.
pub(super) fn decode_integers<T: Word<Row = T>>(
    parameters: &Parameters,
    packing: &Packing,
    distances: &[u8],
    elements: &mut [u8],
) -> Option<()> {
    let minimum = packing.minimum;
    unpack::<T, T>(parameters, packing, distances, elements, |distance| {
        T::low(distance.wide().wrapping_add(minimum))
    })
}

/// Numbers that were scaled by `10 ** digits`.
pub(super) fn decode_reals<R: Real>(
    parameters: &Parameters,
    packing: &Packing,
    digits: i32,
    distances: &[u8],
    elements: &mut [u8],
) -> Option<()> {
    let (scale, minimum) = (R::power_of_ten(digits), R::from_bits(R::Bits::low(packing.minimum)));
    if packing.bits <= SMALL {
        unpack::<R::Bits, u32>(parameters, packing, distances, elements, |distance| {
            R::restored(minimum, R::from_small(distance), scale).to_bits()
        })
    } else {
        unpack::<R::Bits, u64>(parameters, packing, distances, elements, |distance| {
            R::restored(minimum, R::from_wide(distance), scale).to_bits()
        })
    }
}

/// Takes the distances and restores the elements.
#[inline]
fn unpack<T: Word<Row = T>, D: Word>(
    parameters: &Parameters,
    packing: &Packing,
    distances: &[u8],
    elements: &mut [u8],
    restore: impl Fn(D) -> T,
) -> Option<()> {
    let fill = parameters.fill.map(|fill| (D::low(packing.all_set()), T::low(fill)));
    let (mut row, mut words) = ([D::default(); TILE], [T::default(); TILE]);
    let step = usize::try_from(packing.bits).ok()? * (TILE / 8);
    for (number, elements) in elements.chunks_mut(TILE * parameters.stride()).enumerate() {
        let count = elements.len() / parameters.stride();
        let (row, words) = (row.get_mut(..count)?, words.get_mut(..count)?);
        bulk::unpack(packing.bits, distances.get(number * step..)?, row);
        let pairs = words.iter_mut().zip(row.iter());
        if let Some((all_set, fill)) = fill {
            pairs.for_each(|(word, distance)| {
                let value = restore(*distance);
                *word = if *distance == all_set { fill } else { value };
            });
        } else {
            pairs.for_each(|(word, distance)| *word = restore(*distance));
        }
        T::write(words, parameters.big_endian, elements);
    }
    Some(())
}

/// Integers as distances from the smallest one, in the bits it takes (or that are `given`, if not 0).
pub(super) fn encode_integers<T: Word<Row = T>>(
    parameters: &Parameters,
    given: u32,
    input: &[u8],
    output: &mut Vec<u8>,
) {
    let packing = integers::<T>(parameters, given, input);
    let minimum = packing.minimum;
    let distance = |value: T| T::low(value.wide().wrapping_sub(minimum));
    match parameters.fill.map(T::low) {
        Some(fill) => {
            let all_set = T::low(packing.all_set());
            pack::<T, T>(parameters, &packing, input, output, |value| {
                let distance = distance(value);
                if value == fill { all_set } else { distance }
            });
        }
        None => pack::<T, T>(parameters, &packing, input, output, distance),
    }
}

/// The smallest of integers, and the bits it takes (or that are `given`, if not 0) to tell them from it.
fn integers<T: Word<Row = T>>(parameters: &Parameters, given: u32, input: &[u8]) -> Packing {
    // With the sign turned round, two's complement sorts as unsigned numbers do.
    let turn = if parameters.number == Number::Signed { 1 << (parameters.bits() - 1) } else { 0 };
    let widen = |value: u64| parameters.extend(value ^ turn);
    let largest = T::low(u64::MAX);
    // No number is below `high`'s start or above `low`'s, so that they are in order if there is any number.
    let (mut low, mut high) = (largest, T::default());
    let sign = T::low(turn);
    let fill = parameters.fill.map(T::low);
    each_tile::<T>(parameters, input, |tile| {
        if let Some(fill) = fill {
            for value in tile {
                let turned = value.exclusive_or(sign);
                low = low.min(if *value == fill { largest } else { turned });
                high = high.max(if *value == fill { T::default() } else { turned });
            }
        } else {
            for value in tile {
                let turned = value.exclusive_or(sign);
                low = low.min(turned);
                high = high.max(turned);
            }
        }
    });
    let (low, high) = if low <= high { (low.wide(), high.wide()) } else { (turn, turn) };
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

/// Bits that tell so many numbers apart.
fn bits_for(numbers: u64) -> u32 {
    numbers.checked_sub(1).map_or(0, |last| 64 - last.leading_zeros())
}

/// Numbers scaled by `10 ** digits`, and rounded.
pub(super) fn encode_reals<R: Real>(
    parameters: &Parameters,
    digits: i32,
    input: &[u8],
    output: &mut Vec<u8>,
) {
    match parameters.fill {
        Some(fill) => {
            // What rounds to the fill value becomes the fill value.
            let (fill, near) = (R::from_bits(R::Bits::low(fill)), R::power_of_ten(digits.saturating_neg()));
            encode_reals_but(parameters, digits, input, output, |value: R| value.distance(fill) < near);
        }
        None => encode_reals_but(parameters, digits, input, output, |_: R| false),
    }
}

fn encode_reals_but<R: Real>(
    parameters: &Parameters,
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
        // Not so for what is no number, too.
        Some(range) if range <= 1 << (parameters.bits() - 1) => {
            let numbers = range + 1 + u64::from(parameters.fill.is_some());
            Packing { bits: bits_for(numbers), minimum: low.to_bits().wide() }
        }
        _ => Packing { bits: parameters.bits(), minimum: 0 },
    };
    let all_set = packing.all_set();
    if packing.bits <= SMALL {
        let all_set = u32::low(all_set);
        pack::<R::Bits, u32>(parameters, &packing, input, output, |value| {
            let value = R::from_bits(value);
            let distance = R::scaled(value, low, ten).nearest_small().min(all_set);
            if is_fill(value) { all_set } else { distance }
        });
    } else {
        pack::<R::Bits, u64>(parameters, &packing, input, output, |value| {
            let value = R::from_bits(value);
            if is_fill(value) {
                return all_set;
            }
            R::scaled(value, low, ten).rounded().unwrap_or(0).min(all_set)
        });
    }
}

/// Numbers that are compared side by side.
const LANES: usize = 8;

/// The smallest and the largest number; of equal ones the first. What is not a number is neither, unless it is the
/// first.
fn bounds<R: Real>(parameters: &Parameters, input: &[u8], is_fill: &impl Fn(R) -> bool) -> Option<(R, R)> {
    let first = find(parameters, input, |value| !is_fill(value))?;
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
    // There are two zeros, which are equal, and not the same.
    let zero = R::from_bits(R::Bits::default());
    let low =
        if low == zero { find(parameters, input, |value| value == low && !is_fill(value))? } else { low };
    Some((low, high))
}

/// The first number that is wanted.
fn find<R: Real>(parameters: &Parameters, input: &[u8], is_wanted: impl Fn(R) -> bool) -> Option<R> {
    let elements = input.chunks_exact(parameters.stride());
    let bits = elements.filter_map(|element| R::Bits::get(element, 0, parameters.big_endian));
    bits.map(R::from_bits).find(|value| is_wanted(*value))
}

fn each_tile<T: Word<Row = T>>(parameters: &Parameters, input: &[u8], mut each: impl FnMut(&[T])) {
    let mut words = [T::default(); TILE];
    for elements in input.chunks(TILE * parameters.stride()) {
        let words = words.split_at_mut(elements.len() / parameters.stride()).0;
        T::read(elements, parameters.big_endian, words);
        each(words);
    }
}

/// Appends header and distances.
#[inline]
fn pack<T: Word<Row = T>, D: Word>(
    parameters: &Parameters,
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
    let bits = u64::from(parameters.elements) * u64::from(packing.bits);
    let length = usize::try_from(bits / 8).unwrap_or(input.len()) + HEADER + 1;
    output.reserve(length.max(output.len()) - output.len());
    let mut row = [D::default(); TILE];
    each_tile::<T>(parameters, input, |tile| {
        let row = row.split_at_mut(tile.len()).0;
        row.iter_mut().zip(tile).for_each(|(to, value)| *to = distance(*value));
        bulk::pack(packing.bits, row, output);
    });
    output.resize(length, 0);
}
