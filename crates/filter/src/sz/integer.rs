//! The integers of an SZ stream, each predicted from its neighbours.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 4      | maximum number of intervals
//! 4      | number of intervals
//! 8      | the minimum
//! 8      | the precision
//! 4 or 8 | bytes of the tree and the codes
//! 4 or 8 | number of exact values
//! 4 or 8 | bytes of exact values
//! n      | tree and codes: 0 for an exact value, other codes for an interval
//! n      | exact values minus the minimum, big-endian
//! ```

use crate::Result;

use super::bytes::Bytes;
use super::corrupt;
use super::header::Header;
use super::huffman::Tree;
use super::lorenzo::{Neighbours, scan};

/// The integer type of the values of an SZ stream. The decoder holds values as `i64`, and
/// reinterprets unsigned 8-byte values as signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Integer {
    /// Size of a value in bytes: 1, 2, 4 or 8.
    pub(super) size: usize,
    pub(super) is_signed: bool,
}

impl Integer {
    /// Converts a number to the integer type of an SZ stream. Keeps the low bits that the type has.
    #[inline]
    fn fit(self, bits: i64) -> i64 {
        match (self.size, self.is_signed) {
            (1, true) => bits << 56 >> 56,
            (2, true) => bits << 48 >> 48,
            (4, true) => bits << 32 >> 32,
            (1, false) => bits & 0xff,
            (2, false) => bits & 0xffff,
            (4, false) => bits & 0xffff_ffff,
            _ => bits,
        }
    }

    /// Converts the prediction of an SZ integer to a floating-point number. The prediction wraps
    /// around, except for types of 1 or 2 bytes, for which SZ computes with more bits.
    #[inline]
    fn real(self, predicted: i64) -> f64 {
        match (self.size, self.is_signed) {
            (1 | 2, _) => predicted as f64,
            (8, false) => predicted.cast_unsigned() as f64,
            _ => self.fit(predicted) as f64,
        }
    }

    /// Truncates a number to the integer type of an SZ stream. If the number is out of range, the
    /// result is that of x86 processors.
    #[inline]
    fn truncate(self, real: f64) -> i64 {
        const HALF: f64 = 9_223_372_036_854_775_808.0;
        match (self.size, self.is_signed) {
            (1, true) => truncated(real).clamp(-0x80, 0x7f),
            (1, false) => truncated(real).clamp(0, 0xff),
            (2, true) => truncated(real).clamp(-0x8000, 0x7fff),
            (2, false) => truncated(real).clamp(0, 0xffff),
            (4, true) if real > -2_147_483_649.0 && real < 2_147_483_648.0 => truncated(real),
            (4, true) => i64::from(i32::MIN),
            (8, false) if real >= HALF => truncated(real - HALF) ^ i64::MIN,
            _ => self.fit(truncated(real)),
        }
    }

    pub(super) fn put(self, value: i64, output: &mut Vec<u8>) {
        output.extend(value.to_le_bytes().iter().take(self.size));
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked, and the fraction is meant to be dropped"
)]
#[inline]
fn truncated(real: f64) -> i64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if (-HALF..HALF).contains(&real) { real as i64 } else { i64::MIN }
}

/// A reader of the exact integers of an SZ stream. The encoder could not predict these integers.
struct Exact<'a> {
    rest: Bytes<'a>,
    size: usize,
    minimum: i64,
    kind: Integer,
}

impl Exact<'_> {
    fn next(&mut self) -> Result<i64> {
        let bytes = self.rest.take(self.size)?;
        let bits = bytes.iter().fold(0, |bits: i64, byte| bits << 8 | i64::from(*byte));
        Ok(self.kind.fit(bits.wrapping_add(self.minimum)))
    }
}

/// Decodes `count` integers of an SZ stream. The integers form `boxes` boxes with the dimensions
/// `dims`.
pub(super) fn decode(
    header: &Header<'_>,
    kind: Integer,
    boxes: usize,
    dims: [usize; 3],
    count: usize,
) -> Result<Vec<i64>> {
    let mut rest = header.rest.clone();
    rest.word()?;
    let radius = i64::from(rest.word()? / 2);
    let minimum = rest.long()?.cast_signed();
    let precision = f64::from_bits(rest.long()?);
    let (code_bytes, _, exact_bytes) = (rest.length()?, rest.length()?, rest.length()?);
    let mut codes = Bytes::new(rest.take(code_bytes)?, false);
    let tree = Tree::parse_with_count(&mut codes)?;
    let exact = Bytes::new(rest.take(exact_bytes)?, false);
    let symbols = tree.decode(codes.rest(), count)?;
    let size = header.exact_size;
    if !(1..=kind.size).contains(&size) {
        return Err(corrupt("the size of an exact value is invalid"));
    }
    let mut exact = Exact { rest: exact, size, minimum, kind };
    let mut values = Vec::with_capacity(count);
    for _ in 0..boxes {
        scan(dims, &mut values, |at, near| {
            let predicted = match near {
                Neighbours::Start => return exact.next(),
                Neighbours::One(a) => a,
                Neighbours::Line(a, b) => a.wrapping_mul(2).wrapping_sub(b),
                Neighbours::Plane(a, b, c) => a.wrapping_add(b).wrapping_sub(c),
                Neighbours::Volume([a, b, c, ab, bc, ac, abc]) => {
                    let outer = ab.wrapping_add(bc).wrapping_add(ac).wrapping_sub(abc);
                    a.wrapping_add(b).wrapping_add(c).wrapping_sub(outer)
                }
            };
            match symbols.get(at).copied().unwrap_or(0) {
                0 => exact.next(),
                symbol => {
                    let distance = (2 * (i64::from(symbol) - radius)) as f64 * precision;
                    Ok(kind.truncate(kind.real(predicted) + distance))
                }
            }
        })?;
    }
    Ok(values)
}

/// Reads the value of all integers of an SZ stream, if they are equal and stored once.
pub(super) fn constant(header: &Header<'_>, kind: Integer) -> Result<i64> {
    Exact { rest: header.rest.clone(), size: kind.size, minimum: 0, kind }.next()
}
