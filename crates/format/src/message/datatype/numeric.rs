//! Datatype classes 0, 1, 2 and 4: fixed-point and floating-point numbers, time, bit fields.
//!
//! ```text
//! class bit field                                     properties
//! 0 fixed-point     bit 0 big-endian, 1 low pad,      0 2 bit offset, 2 2 bit precision
//!                   2 high pad, 3 signed
//! 1 floating-point  bit 0 big-endian (0 and 6: VAX),  0 2 bit offset, 2 2 bit precision,
//!                   1 low pad, 2 high pad,            4 1 exponent location, 5 1 exponent size,
//!                   3 internal pad, 4-5 normalization 6 1 mantissa location, 7 1 mantissa size,
//!                   (0 none, 1 MSB set, 2 implied),   8 4 exponent bias
//!                   8-15 sign location
//! 2 time            bit 0 big-endian                  0 2 bit precision
//! 4 bit field       bit 0 big-endian, 1 low pad,      0 2 bit offset, 2 2 bit precision
//!                   2 high pad
//! ```
//!
//! Bit 6 is valid from version 3 on; earlier versions reserve it. Locations count from bit 0 of the
//! element, not from the bit offset.

use hyperslab_datatype::{
    Bitfield, ByteOrder, DatatypeClass, FixedPoint, FloatOrder, FloatingPoint, Normalization, Padding, Time,
};

use super::{PACKED_VERSION, Prefix, Start};
use crate::codec::{Reader, Result, Writer};

fn byte_order(prefix: &Prefix) -> ByteOrder {
    if prefix.bit(0) { ByteOrder::BigEndian } else { ByteOrder::LittleEndian }
}

fn padding(prefix: &Prefix, bit: u32) -> Padding {
    if prefix.bit(bit) { Padding::One } else { Padding::Zero }
}

/// Returns the number of bits of an element of a numeric datatype in a datatype message.
fn element_bits(prefix: &Prefix) -> u64 {
    u64::from(prefix.size) * 8
}

pub(super) fn decode_fixed_point(r: &mut Reader<'_>, prefix: &Prefix) -> Result<DatatypeClass> {
    let (bit_offset, precision) = (r.u16("bit offset")?, r.u16("bit precision")?);
    let bits = element_bits(prefix);
    if precision == 0 {
        return Err(r.corrupt("bit precision", "at least 1", 0));
    }
    let end = u64::from(bit_offset) + u64::from(precision);
    if end > bits {
        return Err(r.corrupt("bit offset and precision", format!("at most {bits} bits"), end));
    }
    Ok(DatatypeClass::FixedPoint(FixedPoint {
        order: byte_order(prefix),
        signed: prefix.bit(3),
        bit_offset,
        precision,
        low_pad: padding(prefix, 1),
        high_pad: padding(prefix, 2),
    }))
}

pub(super) fn decode_floating_point(r: &mut Reader<'_>, prefix: &Prefix) -> Result<DatatypeClass> {
    let order = match (prefix.bit(6) && prefix.version >= PACKED_VERSION, prefix.bit(0)) {
        (false, false) => FloatOrder::LittleEndian,
        (false, true) => FloatOrder::BigEndian,
        (true, true) => FloatOrder::Vax,
        (true, false) => {
            return Err(r.corrupt("byte order", "bits 6 and 0 with the values 0 0, 0 1 or 1 1", "1 0"));
        }
    };
    let normalization = match prefix.flags >> 4 & 3 {
        0 => Normalization::None,
        1 => Normalization::MsbSet,
        2 => Normalization::Implied,
        other => return Err(r.corrupt("mantissa normalization", "0 to 2", other)),
    };
    let [_, sign_location, _, _] = prefix.flags.to_le_bytes();
    let float = FloatingPoint {
        order,
        bit_offset: r.u16("bit offset")?,
        precision: r.u16("bit precision")?,
        sign_location,
        exponent_location: r.u8("exponent location")?,
        exponent_size: r.u8("exponent size")?,
        mantissa_location: r.u8("mantissa location")?,
        mantissa_size: r.u8("mantissa size")?,
        exponent_bias: r.u32("exponent bias")?,
        normalization,
        low_pad: padding(prefix, 1),
        high_pad: padding(prefix, 2),
        internal_pad: padding(prefix, 3),
    };
    check_fields(r, prefix, &float)?;
    Ok(DatatypeClass::FloatingPoint(float))
}

/// Checks that the sign, exponent and mantissa of a floating-point datatype lie within the element
/// and do not overlap.
fn check_fields(r: &Reader<'_>, prefix: &Prefix, float: &FloatingPoint) -> Result<()> {
    let bits = element_bits(prefix);
    let sign = u64::from(float.sign_location);
    let exponent_start = u64::from(float.exponent_location);
    let exponent = exponent_start..exponent_start + u64::from(float.exponent_size);
    let mantissa_start = u64::from(float.mantissa_location);
    let mantissa = mantissa_start..mantissa_start + u64::from(float.mantissa_size);
    let inside = || format!("bits within the {bits} bits of the element");
    if sign >= bits {
        return Err(r.corrupt("sign location", inside(), sign));
    }
    if exponent.is_empty() {
        return Err(r.corrupt("exponent size", "at least 1", 0));
    }
    if mantissa.is_empty() {
        return Err(r.corrupt("mantissa size", "at least 1", 0));
    }
    if exponent.end > bits {
        return Err(r.corrupt("exponent location and size", inside(), format_args!("{exponent:?}")));
    }
    if mantissa.end > bits {
        return Err(r.corrupt("mantissa location and size", inside(), format_args!("{mantissa:?}")));
    }
    if exponent.contains(&sign) || mantissa.contains(&sign) {
        return Err(r.corrupt("sign location", "a bit outside of exponent and mantissa", sign));
    }
    if exponent.start < mantissa.end && mantissa.start < exponent.end {
        return Err(r.corrupt(
            "exponent location",
            "bits outside of the mantissa",
            format_args!("{exponent:?}"),
        ));
    }
    Ok(())
}

pub(super) fn decode_time(r: &mut Reader<'_>, prefix: &Prefix) -> Result<DatatypeClass> {
    Ok(DatatypeClass::Time(Time { order: byte_order(prefix), precision: r.u16("bit precision")? }))
}

pub(super) fn decode_bitfield(r: &mut Reader<'_>, prefix: &Prefix) -> Result<DatatypeClass> {
    Ok(DatatypeClass::Bitfield(Bitfield {
        order: byte_order(prefix),
        bit_offset: r.u16("bit offset")?,
        precision: r.u16("bit precision")?,
        low_pad: padding(prefix, 1),
        high_pad: padding(prefix, 2),
    }))
}

fn order_bit(order: ByteOrder) -> u32 {
    match order {
        ByteOrder::LittleEndian => 0,
        ByteOrder::BigEndian => 1,
    }
}

fn padding_bit(padding: Padding, bit: u32, field: &'static str, w: &mut Writer) -> u32 {
    match padding {
        Padding::Zero => 0,
        Padding::One => 1 << bit,
        Padding::Background => {
            w.fail(field, "the padding \"background\"");
            0
        }
    }
}

pub(super) fn encode_fixed_point(fixed: &FixedPoint, start: Start, w: &mut Writer) {
    let flags = order_bit(fixed.order)
        | padding_bit(fixed.low_pad, 1, "low pad", w)
        | padding_bit(fixed.high_pad, 2, "high pad", w)
        | u32::from(fixed.signed) << 3;
    start.write(flags, w);
    w.u16(fixed.bit_offset);
    w.u16(fixed.precision);
}

pub(super) fn encode_floating_point(float: &FloatingPoint, start: Start, w: &mut Writer) {
    let order = match float.order {
        FloatOrder::LittleEndian => 0,
        FloatOrder::BigEndian => 1,
        FloatOrder::Vax => 0x41,
    };
    let normalization: u32 = match float.normalization {
        Normalization::None => 0,
        Normalization::MsbSet => 1,
        Normalization::Implied => 2,
    };
    let flags = order
        | padding_bit(float.low_pad, 1, "low pad", w)
        | padding_bit(float.high_pad, 2, "high pad", w)
        | padding_bit(float.internal_pad, 3, "internal pad", w)
        | normalization << 4
        | u32::from(float.sign_location) << 8;
    start.write(flags, w);
    w.u16(float.bit_offset);
    w.u16(float.precision);
    w.u8(float.exponent_location);
    w.u8(float.exponent_size);
    w.u8(float.mantissa_location);
    w.u8(float.mantissa_size);
    w.u32(float.exponent_bias);
}

pub(super) fn encode_time(time: &Time, start: Start, w: &mut Writer) {
    start.write(order_bit(time.order), w);
    w.u16(time.precision);
}

pub(super) fn encode_bitfield(bits: &Bitfield, start: Start, w: &mut Writer) {
    let flags = order_bit(bits.order)
        | padding_bit(bits.low_pad, 1, "low pad", w)
        | padding_bit(bits.high_pad, 2, "high pad", w);
    start.write(flags, w);
    w.u16(bits.bit_offset);
    w.u16(bits.precision);
}
