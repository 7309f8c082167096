//! The floating-point values of an SZ stream without blocks, each predicted from its neighbours.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 4      | maximum number of intervals
//! 1      | only for relative error bounds: unused
//! 4 or 8 | only for relative error bounds: unused
//! 4      | only for relative error bounds: bytes of the signs
//! 4      | number of intervals
//! s      | a middle value, with as many bytes as a value
//! 1      | bits of an exact value
//! 2      | only for relative error bounds by multiplication: narrowness of intervals; longest code
//! 8      | the precision
//! 4 or 8 | bytes of the tree and the codes
//! 4 or 8 | number of exact values
//! 4 or 8 | number of whole bytes of exact values
//! s      | only for relative error bounds: smaller values are 0
//! n      | tree and codes: 0 for an exact value, other codes for an interval
//! n      | signs, a byte for each value, as a Zstandard frame or a zlib stream
//! n      | two bits for each exact value: number of bytes shared with the preceding exact value
//! n      | whole bytes of exact values
//! n      | additional bits of exact values
//! ```

use crate::Result;
use crate::codec::{zlib, zstd};

use super::exact::Exact;
use super::header::Header;
use super::huffman::Tree;
use super::lorenzo::{Neighbours, scan};
use super::real::Real;
use super::{ID, corrupt};

/// The maximum number of quantisation intervals in an SZ stream with relative errors by
/// multiplication.
const MAX_FACTORS: usize = 1 << 16;

/// The parsed parts of an SZ stream without regression. The decoder computes values from them.
struct PlainDecoder<'a, T> {
    symbols: Vec<u32>,
    exact: Exact<'a, T>,
    intervals: u32,
    middle: T,
    /// The narrowness of intervals.
    narrowness: u8,
    precision: f64,
    /// The smallest magnitude of a value other than 0.
    least: T,
    signs: Option<Vec<u8>>,
}

impl<'a, T: Real> PlainDecoder<'a, T> {
    fn parse(header: &Header<'a>, count: usize) -> Result<Self> {
        let mut rest = header.rest.clone();
        rest.word()?;
        let is_relative = header.is_relative();
        let mut sign_bytes = 0;
        if is_relative {
            rest.byte()?;
            rest.length()?;
            sign_bytes = rest.count()?;
        }
        let intervals = rest.word()?;
        let middle = rest.real()?;
        let bits = rest.byte()?;
        let mut narrowness = 0;
        if is_relative && header.multiplies() {
            narrowness = rest.byte()?;
            rest.byte()?;
        }
        let precision = f64::from_bits(rest.long()?);
        let (code_bytes, exact_count, exact_bytes) = (rest.length()?, rest.length()?, rest.length()?);
        let least = if is_relative { rest.real()? } else { T::default() };
        let mut codes = super::bytes::Bytes::new(rest.take(code_bytes)?, false);
        let tree = Tree::parse_with_count(&mut codes)?;
        let signs = if sign_bytes == 0 { None } else { Some(signs(rest.take(sign_bytes)?, count)?) };
        let shared = rest.take(exact_count.div_ceil(4))?;
        let exact_bytes = rest.take(exact_bytes)?;
        let exact = Exact::new(bits, exact_count, shared, exact_bytes, rest.rest())?;
        let symbols = tree.decode(codes.rest(), count)?;
        Ok(Self { symbols, exact, intervals, middle, narrowness, precision, least, signs })
    }

    /// Computes values of an SZ stream as sums: the prediction and a multiple of the precision.
    fn decode_by_distance(&mut self, dims: [usize; 3]) -> Result<Vec<T>> {
        let mut values = Vec::with_capacity(self.symbols.len());
        let (exact, symbols, middle) = (&mut self.exact, &self.symbols, self.middle);
        let (radius, precision) = (i64::from(self.intervals / 2), T::narrow(self.precision));
        scan(dims, &mut values, |at, near| {
            let predicted = match near {
                Neighbours::Start => return Ok(exact.next()? + middle),
                Neighbours::One(a) => a,
                Neighbours::Line(a, b) => T::of(2) * a - b,
                Neighbours::Plane(a, b, c) => a + b - c,
                Neighbours::Volume([a, b, c, ab, bc, ac, abc]) => a + b + c - ab - bc - ac + abc,
            };
            match symbols.get(at).copied().unwrap_or(0) {
                0 => Ok(exact.next()? + middle),
                symbol => Ok(predicted + T::of(2 * (i64::from(symbol) - radius)) * precision),
            }
        })?;
        Ok(values)
    }

    /// Computes values of an SZ stream as products: the prediction times a factor.
    fn decode_by_factor(&mut self, dims: [usize; 3]) -> Result<Vec<T>> {
        let mut values = Vec::with_capacity(self.symbols.len());
        let mut factors = Factors::new(self.intervals, self.narrowness, self.precision)?;
        let (exact, symbols) = (&mut self.exact, &self.symbols);
        // The prediction is computed in single precision for planes, but not for volumes.
        let is_flat = dims.first() == Some(&1);
        let share = |a: T, b: T, c: T| match is_flat {
            true => a * b / c,
            false => T::narrow(a.wide() * b.wide() / c.wide()),
        };
        scan(dims, &mut values, |at, near| {
            let predicted = match near {
                Neighbours::Start => return exact.next(),
                Neighbours::One(a) => a,
                Neighbours::Line(a, b) => share(a, a, b),
                Neighbours::Plane(a, b, c) => share(a, b, c),
                Neighbours::Volume(near) => {
                    let [a, b, c, ab, bc, ac, abc] = near.map(T::wide);
                    T::narrow(a * b * c * abc / (ab * bc * ac))
                }
            };
            match symbols.get(at).copied().unwrap_or(0) {
                0 => exact.next(),
                symbol => Ok(T::narrow(predicted.abs().wide() * factors.get(symbol)?)),
            }
        })?;
        Ok(values)
    }

    /// Converts decoded magnitudes of SZ values, or their logarithms, to the values. Restores zeros
    /// and signs.
    fn restore_signs(&self, multiplies: bool, values: &mut [T]) {
        for (at, value) in values.iter_mut().enumerate() {
            let is_negative =
                self.signs.as_ref().and_then(|signs| signs.get(at)).is_some_and(|sign| *sign != 0);
            if multiplies {
                let is_zero = *value < self.least && (self.signs.is_none() || *value >= T::default());
                if is_zero {
                    *value = T::default();
                } else if is_negative {
                    *value = -value.abs();
                }
            } else {
                let is_zero = *value < self.least;
                *value = if is_zero { T::default() } else { T::narrow(value.wide().exp2()) };
                if is_negative {
                    *value = -*value;
                }
            }
        }
    }
}

fn signs(bytes: &[u8], count: usize) -> Result<Vec<u8>> {
    let mut signs = vec![0; count];
    // The HDF5 plug-in writes the signs in the same format as the whole stream, but reads only
    // Zstandard.
    if super::is_zlib(bytes) {
        zlib::decode(ID, bytes, &mut signs)?;
    } else {
        zstd::decode_exactly(ID, bytes, &mut signs)?;
    }
    Ok(signs)
}

/// The factors by which SZ predictions are multiplied, indexed by symbol.
struct Factors {
    /// The factors that have been computed.
    known: Vec<Option<f64>>,
    base: f64,
    step: f64,
    radius: i64,
}

impl Factors {
    fn new(intervals: u32, narrowness: u8, precision: f64) -> Result<Self> {
        let count = usize::try_from(intervals).ok().filter(|count| *count <= MAX_FACTORS);
        let count = count.ok_or_else(|| corrupt("the number of intervals is too large"))?;
        let step = 2.0 - (-f64::from(narrowness)).exp2();
        Ok(Self { known: vec![None; count], base: 1.0 + precision, step, radius: i64::from(intervals / 2) })
    }

    #[inline]
    fn get(&mut self, symbol: u32) -> Result<f64> {
        let known = usize::try_from(symbol).ok().and_then(|at| self.known.get_mut(at));
        let known = known.ok_or_else(|| corrupt("an interval number is too large"))?;
        let distance = i64::from(symbol) - self.radius;
        Ok(*known.get_or_insert_with(|| self.base.powf(self.step * distance as f64)))
    }
}

/// Decodes `count` floating-point values of an SZ stream without regression.
pub(super) fn decode<T: Real>(header: &Header<'_>, dims: [usize; 3], count: usize) -> Result<Vec<T>> {
    let mut plain = PlainDecoder::<T>::parse(header, count)?;
    if !header.is_relative() {
        return plain.decode_by_distance(dims);
    }
    let mut values =
        if header.multiplies() { plain.decode_by_factor(dims) } else { plain.decode_by_distance(dims) }?;
    plain.restore_signs(header.multiplies(), &mut values);
    Ok(values)
}
