//! Whole numbers, each predicted from its neighbours.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 4      | greatest number of intervals
//! 4      | intervals
//! 8      | the least value
//! 8      | the precision
//! 4 or 8 | bytes of the tree and the codes
//! 4 or 8 | exact values
//! 4 or 8 | their bytes
//! n      | tree and codes: 0 for an exact value, others for an interval
//! n      | exact values, less the least, their most significant bytes first
//! ```

use crate::Result;

use super::bytes::Bytes;
use super::corrupt;
use super::head::Head;
use super::huffman::Tree;
use super::lorenzo::{Near, scan};

/// A type of whole numbers. Values are held in 64 bits, those of unsigned types of 8 bytes as if they were signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Whole {
    /// 1, 2, 4 or 8.
    pub(super) size: usize,
    pub(super) is_signed: bool,
}

impl Whole {
    /// The value that the low bits are.
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

    /// What is predicted, as a real number. Predictions wrap around, but those of short types, which are computed with
    /// more bits.
    #[inline]
    fn real(self, predicted: i64) -> f64 {
        match (self.size, self.is_signed) {
            (1 | 2, _) => predicted as f64,
            (8, false) => predicted.cast_unsigned() as f64,
            _ => self.fit(predicted) as f64,
        }
    }

    /// A real number without its fraction; out of range, what x86 processors make of it.
    #[inline]
    fn cut(self, real: f64) -> i64 {
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

#[expect(clippy::cast_possible_truncation, reason = "the range is looked at, the fraction is to be cut")]
#[inline]
fn truncated(real: f64) -> i64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if (-HALF..HALF).contains(&real) { real as i64 } else { i64::MIN }
}

/// Values that could not be predicted.
struct Exact<'a> {
    rest: Bytes<'a>,
    size: usize,
    least: i64,
    kind: Whole,
}

impl Exact<'_> {
    fn next(&mut self) -> Result<i64> {
        let bytes = self.rest.take(self.size)?;
        let bits = bytes.iter().fold(0, |bits: i64, byte| bits << 8 | i64::from(*byte));
        Ok(self.kind.fit(bits.wrapping_add(self.least)))
    }
}

/// Decodes `count` values: so many boxes of these dimensions.
pub(super) fn decode(
    head: &Head<'_>,
    kind: Whole,
    boxes: usize,
    dims: [usize; 3],
    count: usize,
) -> Result<Vec<i64>> {
    let mut rest = head.rest.clone();
    rest.word()?;
    let radius = i64::from(rest.word()? / 2);
    let least = rest.long()?.cast_signed();
    let precision = f64::from_bits(rest.long()?);
    let (code_bytes, _, exact_bytes) = (rest.length()?, rest.length()?, rest.length()?);
    let mut codes = Bytes::new(rest.take(code_bytes)?, false);
    let tree = Tree::parse_with_count(&mut codes)?;
    let exact = Bytes::new(rest.take(exact_bytes)?, false);
    let symbols = tree.decode(codes.rest(), count)?;
    let size = head.exact_size;
    if !(1..=kind.size).contains(&size) {
        return Err(corrupt("the bytes of an exact value"));
    }
    let mut exact = Exact { rest: exact, size, least, kind };
    let mut values = Vec::with_capacity(count);
    for _ in 0..boxes {
        scan(dims, &mut values, |at, near| {
            let predicted = match near {
                Near::Start => return exact.next(),
                Near::One(a) => a,
                Near::Line(a, b) => a.wrapping_mul(2).wrapping_sub(b),
                Near::Plane(a, b, c) => a.wrapping_add(b).wrapping_sub(c),
                Near::Volume([a, b, c, ab, bc, ac, abc]) => {
                    let outer = ab.wrapping_add(bc).wrapping_add(ac).wrapping_sub(abc);
                    a.wrapping_add(b).wrapping_add(c).wrapping_sub(outer)
                }
            };
            match symbols.get(at).copied().unwrap_or(0) {
                0 => exact.next(),
                symbol => {
                    let distance = (2 * (i64::from(symbol) - radius)) as f64 * precision;
                    Ok(kind.cut(kind.real(predicted) + distance))
                }
            }
        })?;
    }
    Ok(values)
}

/// The value that all are.
pub(super) fn same(head: &Head<'_>, kind: Whole) -> Result<i64> {
    Exact { rest: head.rest.clone(), size: kind.size, least: 0, kind }.next()
}
