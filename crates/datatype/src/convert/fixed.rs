//! Fixed-point elements as sign and magnitude.

use super::ExceptionKind;
use super::bits::{self, Frame, Limbs};
use super::number::Integer;
use crate::{Datatype, FixedPoint};

/// The position of an integer's bits in an element of its datatype.
#[derive(Debug, Clone)]
pub(super) struct FixedFrame {
    frame: Frame,
    offset: u32,
    precision: u32,
    signed: bool,
}

impl FixedFrame {
    /// Creates the description of the bits of an integer in elements of a datatype. Returns `None`
    /// if the integer does not fit in the element.
    pub(super) fn new(datatype: &Datatype, fixed: &FixedPoint) -> Option<Self> {
        let size = super::size_of(datatype)?;
        let (offset, precision) = (u32::from(fixed.bit_offset), u32::from(fixed.precision));
        let end = offset + precision;
        if precision == 0 || u64::from(end) > u64::from(datatype.size) * 8 {
            return None;
        }
        let pads = [(0, offset, fixed.low_pad), (end, datatype.size.checked_mul(8)?, fixed.high_pad)];
        let frame = Frame::new(fixed.order.into(), size, end, &pads)?;
        Some(Self { frame, offset, precision, signed: fixed.signed })
    }

    /// Reads the bytes of an element as an integer into `value`.
    pub(super) fn read(&self, element: &[u8], value: &mut Integer, scratch: &mut Limbs) {
        self.frame.load(element, scratch);
        let magnitude = &mut value.magnitude;
        bits::zero(magnitude, self.precision);
        bits::copy(scratch, self.offset, magnitude, 0, self.precision);
        value.negative = self.signed && bits::get(magnitude, self.precision - 1, 1) == 1;
        if value.negative {
            bits::negate(magnitude);
            self.cut(magnitude);
        }
    }

    /// Clears the bits above the datatype's precision in the highest limb of an integer.
    fn cut(&self, limbs: &mut Limbs) {
        if let Some(last) = limbs.last_mut() {
            *last &= bits::mask((self.precision - 1) % 64 + 1);
        }
    }

    /// Writes an integer to an element. If the datatype cannot represent `value`, writes the
    /// nearest integer. Overwrites the magnitude of `value`.
    pub(super) fn write(&self, value: &mut Integer, element: &mut [u8], scratch: &mut Limbs) {
        self.clamp(value);
        self.frame.start(element, scratch);
        bits::copy(&value.magnitude, 0, scratch, self.offset, self.precision);
        self.frame.store(scratch, element);
    }

    /// Clamps an integer to the range of the datatype. Replaces the magnitude by the two's
    /// complement of the result.
    fn clamp(&self, value: &mut Integer) {
        let length = bits::bit_length(&value.magnitude);
        let magnitude = &mut value.magnitude;
        let value_bits = if self.signed { self.precision - 1 } else { self.precision };
        if !value.negative {
            resize(magnitude, self.precision);
            if length > value_bits {
                bits::zero(magnitude, self.precision);
                bits::fill(magnitude, 0, value_bits);
            }
        } else if !self.signed {
            bits::zero(magnitude, self.precision);
        } else {
            resize(magnitude, self.precision);
            if length > value_bits {
                // The result is the lowest value. If the magnitude has exactly this value, it does
                // not change.
                bits::zero(magnitude, self.precision);
                bits::set(magnitude, value_bits, 1, 1);
            }
            bits::negate(magnitude);
        }
    }

    /// Returns the kind of conversion exception for an integer out of the datatype's range. Returns
    /// `None` if the integer is in the range.
    pub(super) fn range_exception(&self, value: &Integer) -> Option<ExceptionKind> {
        let length = bits::bit_length(&value.magnitude);
        let value_bits = if self.signed { self.precision - 1 } else { self.precision };
        if !value.negative {
            return (length > value_bits).then_some(ExceptionKind::RangeHigh);
        }
        let lowest = length == self.precision && bits::trailing_zeros(&value.magnitude) == value_bits;
        let fits = if self.signed { length <= value_bits || lowest } else { length == 0 };
        (!fits).then_some(ExceptionKind::RangeLow)
    }

    /// Returns whether an integer is the largest or the smallest one that the datatype represents.
    /// The integer must be in the datatype's range.
    pub(super) fn is_limit(&self, value: &Integer) -> bool {
        let length = bits::bit_length(&value.magnitude);
        match (value.negative, self.signed) {
            (true, true) => length == self.precision,
            (true, false) => true,
            (false, signed) => {
                let value_bits = if signed { self.precision - 1 } else { self.precision };
                length == value_bits
                    && (0..value_bits).step_by(64).all(|at| {
                        let count = (value_bits - at).min(64);
                        bits::get(&value.magnitude, at, count) == bits::mask(count)
                    })
            }
        }
    }

    /// Writes to an element either the largest or the smallest integer that the datatype
    /// represents.
    pub(super) fn write_limit(&self, negative: bool, element: &mut [u8], scratch: &mut Limbs) {
        let mut value = Integer { negative, magnitude: Limbs::new() };
        bits::zero(&mut value.magnitude, self.precision + 1);
        bits::set(&mut value.magnitude, self.precision, 1, 1);
        self.write(&mut value, element, scratch);
    }

    /// Returns the precision of the integer datatype: the number of bits of the largest absolute
    /// value that it represents.
    pub(super) fn precision(&self) -> u32 {
        self.precision
    }
}

/// Resizes the 64-bit limbs of an integer to hold `bits` bits. Drops all higher bits.
fn resize(limbs: &mut Limbs, bits: u32) {
    limbs.resize(bits.div_ceil(64) as usize, 0);
}

/// Returns the unsigned integer type with the same bit positions as a bit field.
pub(super) fn as_unsigned(bits: crate::Bitfield) -> FixedPoint {
    FixedPoint {
        order: bits.order,
        signed: false,
        bit_offset: bits.bit_offset,
        precision: bits.precision,
        low_pad: bits.low_pad,
        high_pad: bits.high_pad,
    }
}

impl FixedFrame {
    /// Copies the bits of a bit field from a source element to a destination element. The bits may
    /// have other positions in the destination. Bit fields need no clamping.
    pub(super) fn copy_bits(
        &self,
        from: &Self,
        source: &[u8],
        destination: &mut [u8],
        scratch: &mut [Limbs; 2],
    ) {
        let [from_limbs, to_limbs] = scratch;
        from.frame.load(source, from_limbs);
        self.frame.start(destination, to_limbs);
        let count = self.precision.min(from.precision);
        bits::copy(from_limbs, from.offset, to_limbs, self.offset, count);
        for position in (count..self.precision).step_by(64) {
            bits::set(to_limbs, self.offset + position, (self.precision - position).min(64), 0);
        }
        self.frame.store(to_limbs, destination);
    }
}
