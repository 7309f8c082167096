//! Floating-point elements of any layout as sign, exponent and significand.

use super::ExceptionKind;
use super::bits::{self, Frame, Limbs};
use super::number::{Magnitude, Number};
use crate::{Datatype, FloatingPoint, Normalization};

/// The number of bits of a floating-point number's significand in memory during a conversion.
/// Longer mantissas are rounded to this number of bits.
const SIGNIFICAND_BITS: u32 = 120;
/// The limit of the exponent size, in bits. Conversions do not support floating-point datatypes
/// with longer exponents.
const MAX_EXPONENT_BITS: u8 = 32;

/// The positions of a floating-point number's sign, exponent and mantissa in an element of its
/// datatype.
#[derive(Debug, Clone)]
pub(super) struct FloatFrame {
    frame: Frame,
    sign_location: u32,
    exponent_location: u32,
    exponent_size: u32,
    mantissa_location: u32,
    mantissa_size: u32,
    bias: i64,
    /// True if the leading bit is not stored.
    implied: bool,
}

impl FloatFrame {
    /// Creates the description of sign, exponent and mantissa in elements of a floating-point
    /// datatype. Returns `None` if they do not fit in the element, or if the exponent has more than
    /// 32 bits.
    pub(super) fn new(datatype: &Datatype, float: &FloatingPoint) -> Option<Self> {
        let size = super::size_of(datatype)?;
        let all = datatype.size.checked_mul(8)?;
        let sign_location = u32::from(float.sign_location);
        let exponent_end = u32::from(float.exponent_location) + u32::from(float.exponent_size);
        let mantissa_end = u32::from(float.mantissa_location) + u32::from(float.mantissa_size);
        let start = u32::from(float.bit_offset);
        let end = (start + u32::from(float.precision)).min(all);
        let fields_end = (sign_location + 1).max(exponent_end).max(mantissa_end);
        if fields_end > all
            || !(1..=MAX_EXPONENT_BITS).contains(&float.exponent_size)
            || float.mantissa_size == 0
        {
            return None;
        }
        let mut pads = vec![(0, start.min(all), float.low_pad)];
        pads.extend(gaps(float, start, end).into_iter().map(|(from, to)| (from, to, float.internal_pad)));
        pads.push((end, all, float.high_pad));
        Some(Self {
            frame: Frame::new(float.order, size, fields_end.max(end), &pads)?,
            sign_location,
            exponent_location: u32::from(float.exponent_location),
            exponent_size: u32::from(float.exponent_size),
            mantissa_location: u32::from(float.mantissa_location),
            mantissa_size: u32::from(float.mantissa_size),
            bias: i64::from(float.exponent_bias),
            implied: float.normalization == Normalization::Implied,
        })
    }

    /// Returns the exponent field in which all bits are ones. In a floating-point datatype, this
    /// field marks infinity and NaN.
    fn exponent_ones(&self) -> u64 {
        bits::mask(self.exponent_size)
    }

    /// Returns the number of mantissa bits after the binary point in a floating-point datatype.
    fn fraction_bits(&self) -> u32 {
        if self.implied { self.mantissa_size } else { self.mantissa_size - 1 }
    }

    /// Returns the number of mantissa bits after the binary point that a conversion keeps in
    /// memory. Longer mantissas of floating-point datatypes are rounded.
    fn kept_fraction_bits(&self) -> u32 {
        self.mantissa_size.min(SIGNIFICAND_BITS) - u32::from(!self.implied)
    }

    /// Reads the bytes of an element as a floating-point number.
    pub(super) fn read(&self, element: &[u8], scratch: &mut Limbs) -> Number {
        self.frame.load(element, scratch);
        let negative = bits::get(scratch, self.sign_location, 1) == 1;
        let field = bits::get(scratch, self.exponent_location, self.exponent_size);
        let dropped = self.mantissa_size.max(SIGNIFICAND_BITS) - SIGNIFICAND_BITS;
        let kept = self.mantissa_size - dropped;
        let mut significand = wide(scratch, self.mantissa_location + dropped, kept);
        let sticky = any_set(scratch, self.mantissa_location, dropped);
        if field == self.exponent_ones() {
            // In infinities and NaNs the stored leading bit has no meaning.
            let payload = if self.implied { significand } else { significand & !(1 << (kept - 1)) };
            let magnitude = if payload == 0 && !sticky {
                Magnitude::Infinite
            } else {
                let unused = 128 - self.kept_fraction_bits();
                Magnitude::NotANumber { payload: payload.checked_shl(unused).unwrap_or(0) }
            };
            return Number { negative, magnitude };
        }
        let mut exponent = field.max(1).cast_signed() - self.bias;
        if self.implied && field > 0 {
            significand |= 1 << kept;
        }
        exponent -= i64::from(self.fraction_bits()) - i64::from(dropped);
        let magnitude = match (significand, sticky) {
            (0, false) => Magnitude::Zero,
            _ => Magnitude::Finite { significand, exponent, sticky },
        };
        Number { negative, magnitude }
    }

    /// Writes a floating-point number to an element. If the datatype cannot represent `number`,
    /// writes the nearest number, ties to even.
    pub(super) fn write(&self, number: &Number, element: &mut [u8], scratch: &mut Limbs) {
        self.frame.start(element, scratch);
        let (field, fraction) = match number.magnitude {
            Magnitude::Zero => (0, 0),
            Magnitude::Infinite => self.infinity(),
            Magnitude::NotANumber { payload } => self.not_a_number(payload),
            Magnitude::Finite { significand, exponent, sticky } => self.round(significand, exponent, sticky),
        };
        bits::set(scratch, self.sign_location, 1, u64::from(number.negative));
        bits::set(scratch, self.exponent_location, self.exponent_size, field);
        let kept = self.mantissa_size.min(SIGNIFICAND_BITS);
        let dropped = self.mantissa_size - kept;
        for position in (0..dropped).step_by(64) {
            bits::set(scratch, self.mantissa_location + position, (dropped - position).min(64), 0);
        }
        let limbs = split(fraction);
        bits::copy(&limbs, 0, scratch, self.mantissa_location + dropped, kept);
        self.frame.store(scratch, element);
    }

    /// Returns the kind of conversion exception for a finite number that is too large for the
    /// floating-point datatype. Returns `None` for other numbers.
    pub(super) fn range_exception(&self, number: &Number) -> Option<ExceptionKind> {
        let Magnitude::Finite { significand, exponent, sticky } = number.magnitude else { return None };
        let kind = if number.negative { ExceptionKind::RangeLow } else { ExceptionKind::RangeHigh };
        (self.round(significand, exponent, sticky) == self.infinity()).then_some(kind)
    }

    /// Returns the number of binary digits of a normal significand of the floating-point datatype.
    /// An implied leading bit counts as a digit.
    pub(super) fn digits(&self) -> u32 {
        if self.implied { self.mantissa_size + 1 } else { self.mantissa_size }
    }

    /// Returns the bit of weight 1 at its position in the mantissa of a floating-point datatype.
    /// Returns zero if the mantissa does not store this bit.
    fn leading_bit(&self) -> u128 {
        if self.implied { 0 } else { 1 << (self.mantissa_size.min(SIGNIFICAND_BITS) - 1) }
    }

    /// Returns the exponent field and the mantissa of infinity in the floating-point datatype.
    fn infinity(&self) -> (u64, u128) {
        (self.exponent_ones(), self.leading_bit())
    }

    /// Returns the exponent field and the mantissa of a quiet NaN in the floating-point datatype.
    /// `payload` is aligned to the top of 128 bits. Its low bits are cut if the mantissa is
    /// shorter.
    fn not_a_number(&self, payload: u128) -> (u64, u128) {
        let unused = 128 - self.kept_fraction_bits();
        let payload = payload | 1 << 127;
        (self.exponent_ones(), self.leading_bit() | payload.checked_shr(unused).unwrap_or(0))
    }

    /// Returns the exponent field and the mantissa bits of a finite number other than zero, rounded
    /// to the floating-point datatype.
    fn round(&self, significand: u128, exponent: i64, sticky: bool) -> (u64, u128) {
        let kept = self.mantissa_size.min(SIGNIFICAND_BITS);
        // `digits` is the number of bits of a normal significand, including the leading bit.
        let digits = if self.implied { kept + 1 } else { kept };
        let length = i64::from(128 - significand.leading_zeros());
        let lowest = 1 - self.bias;
        let leading = (exponent + (length - 1)).max(lowest);
        let shift = leading - (i64::from(digits) - 1) - exponent;
        let mut rounded = shift_and_round(significand, shift, sticky);
        let mut leading = leading;
        if rounded >> digits != 0 {
            rounded >>= 1;
            leading += 1;
        }
        if rounded >> (digits - 1) == 0 {
            return (0, rounded);
        }
        match u64::try_from(leading + self.bias) {
            Ok(field) if field < self.exponent_ones() => {
                let fraction = if self.implied { rounded & !(1 << (digits - 1)) } else { rounded };
                (field, fraction)
            }
            _ => self.infinity(),
        }
    }
}

/// Divides the significand of a floating-point number by two to the power `shift`, and rounds to
/// the nearest integer, ties to even. If `shift` is negative, multiplies. If `sticky` is set, the
/// exact value is slightly larger than the significand.
pub(super) fn shift_and_round(significand: u128, shift: i64, sticky: bool) -> u128 {
    // Shifting by 128 or more clears all bits, and by 129 or more also the rounding bit.
    let distance = shift.unsigned_abs().min(1 << 8) as u32;
    if shift < 0 {
        return significand.checked_shl(distance).unwrap_or(0);
    }
    let right = distance;
    if right == 0 {
        return significand;
    }
    let whole = significand.checked_shr(right).unwrap_or(0);
    let half = 1_u128.checked_shl(right - 1).unwrap_or(0);
    if half == 0 {
        return 0;
    }
    let rest = significand & (half | (half - 1));
    let up = rest > half || rest == half && (sticky || whole & 1 == 1);
    whole + u128::from(up)
}

/// Returns `count` (at most 128) bits of a number in 64-bit limbs. The first bit is at `position`.
fn wide(limbs: &[u64], position: u32, count: u32) -> u128 {
    let low = bits::get(limbs, position, count.min(64));
    let high = if count > 64 { bits::get(limbs, position + 64, count - 64) } else { 0 };
    u128::from(high) << 64 | u128::from(low)
}

/// Splits a number of 128 bits into two 64-bit limbs, the low one first.
pub(super) fn split(value: u128) -> [u64; 2] {
    let low = value & u128::from(u64::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "each half has 64 bits")]
    let halves = [low as u64, (value >> 64) as u64];
    halves
}

/// Returns whether any of `count` bits of a number in 64-bit limbs is set. The first bit is at
/// `position`.
fn any_set(limbs: &[u64], position: u32, count: u32) -> bool {
    (0..count).step_by(64).any(|done| bits::get(limbs, position + done, (count - done).min(64)) != 0)
}

/// Returns the ranges of unused bits in a floating-point datatype. These bits lie within the
/// precision, and belong neither to the sign, the exponent nor the mantissa.
fn gaps(float: &FloatingPoint, start: u32, end: u32) -> Vec<(u32, u32)> {
    let field = |location: u8, size: u8| (u32::from(location), u32::from(location) + u32::from(size));
    let mut fields = [
        field(float.sign_location, 1),
        field(float.exponent_location, float.exponent_size),
        field(float.mantissa_location, float.mantissa_size),
    ];
    fields.sort_unstable();
    let mut from = start;
    let mut gaps = Vec::new();
    for (field_start, field_end) in fields {
        if from < field_start.min(end) {
            gaps.push((from, field_start.min(end)));
        }
        from = from.max(field_end);
    }
    if from < end {
        gaps.push((from, end));
    }
    gaps
}
