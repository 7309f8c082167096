//! Datatype functions for atomic datatypes (`H5T*`): bits, byte order, padding, sign and strings.

use std::ffi::c_int;

use hyperslab::datatype::{ByteOrder, FixedString, FloatOrder, Padding, StringPadding, VariableLengthKind};
use hyperslab::{CharacterSet, Datatype, DatatypeClass};

use crate::ctypes::{herr_t, hid_t};
use crate::datatype::{self, class, unsupported};
use crate::error::{Failure, Outcome, codes};
use crate::export;
use crate::pointer::Out;

/// The number of the little-endian byte order of a datatype (`H5T_ORDER_LE`).
const LITTLE: c_int = 0;
/// The number of the big-endian byte order of a datatype (`H5T_ORDER_BE`).
const BIG: c_int = 1;
/// The number of the VAX byte order of a datatype (`H5T_ORDER_VAX`).
const VAX: c_int = 2;
/// The number for compound datatypes whose members have different byte orders (`H5T_ORDER_MIXED`).
const MIXED: c_int = 3;
/// The number for datatypes without a byte order (`H5T_ORDER_NONE`).
const NONE: c_int = 4;

/// The significant bits of an element of a numeric datatype: their position and number.
#[derive(Debug, Clone, Copy)]
struct Bits {
    /// The number of bits below the significant bits.
    offset: u32,
    /// The number of significant bits of an element.
    precision: u32,
}

/// Returns the significant bits of a datatype's elements. Returns `None` if the datatype's class
/// has none.
fn bits(datatype: &Datatype) -> Option<Bits> {
    let of =
        |offset: u16, precision: u16| Bits { offset: u32::from(offset), precision: u32::from(precision) };
    match &datatype.class {
        DatatypeClass::FixedPoint(fixed) => Some(of(fixed.bit_offset, fixed.precision)),
        DatatypeClass::FloatingPoint(float) => Some(of(float.bit_offset, float.precision)),
        DatatypeClass::Time(time) => Some(of(0, time.precision)),
        DatatypeClass::Bitfield(bits) => Some(of(bits.bit_offset, bits.precision)),
        DatatypeClass::String(_) | DatatypeClass::Reference(_) => {
            // Saturates, because no element has this size.
            Some(Bits { offset: 0, precision: datatype.size.saturating_mul(8) })
        }
        _ => None,
    }
}

/// Sets the size and the significant bits of the elements of a numeric datatype.
fn set_bits(datatype: &mut Datatype, size: u32, bits: Bits) -> Outcome<()> {
    let narrow =
        |value: u32| u16::try_from(value).map_err(|_| Failure::bad_value("the precision is too large"));
    let (offset, precision) = (narrow(bits.offset)?, narrow(bits.precision)?);
    match &mut datatype.class {
        DatatypeClass::FixedPoint(fixed) => (fixed.bit_offset, fixed.precision) = (offset, precision),
        DatatypeClass::Bitfield(bits) => (bits.bit_offset, bits.precision) = (offset, precision),
        DatatypeClass::Time(time) => time.precision = precision,
        DatatypeClass::FloatingPoint(float) => {
            let end = bits.offset + bits.precision;
            let field = |position: u8, size: u8| u32::from(position) + u32::from(size) > end;
            if u32::from(float.sign_location) >= end
                || field(float.exponent_location, float.exponent_size)
                || field(float.mantissa_location, float.mantissa_size)
            {
                return Err(Failure::bad_value(
                    "the fields of the floating-point number do not fit in the precision",
                ));
            }
            (float.bit_offset, float.precision) = (offset, precision);
        }
        _ => return Err(Failure::arguments(codes::UNSUPPORTED, "the class has no significant bits")),
    }
    datatype.size = size;
    Ok(())
}

/// Changes the innermost base type of a datatype and updates the sizes of the enclosing datatypes.
///
/// # Errors
/// Fails if an enumeration with members encloses the base type. Returns the errors of `function`.
pub fn change_root(
    datatype: &mut Datatype,
    function: &mut dyn FnMut(&mut Datatype) -> Outcome<()>,
) -> Outcome<()> {
    if let DatatypeClass::Enumeration(enumeration) = &datatype.class
        && !enumeration.members.is_empty()
    {
        return Err(Failure::arguments(codes::CANTSET, "the enumeration has members"));
    }
    match class::base_mut(datatype) {
        Some(base) => change_root(base, function)?,
        None => return function(datatype),
    }
    class::update_size(datatype);
    Ok(())
}

/// Sets the size of a numeric datatype in bytes, and reduces the precision if necessary.
///
/// # Errors
/// Fails if the fields of a floating-point datatype do not fit in the size, and for other classes.
pub fn resize(datatype: &mut Datatype, size: u32) -> Outcome<()> {
    change_root(datatype, &mut |datatype| {
        let Some(mut bits) = bits(datatype) else { return Err(unsupported()) };
        let available = size.checked_mul(8).ok_or_else(|| Failure::bad_value("the size is too large"))?;
        if bits.precision > available {
            bits = Bits { offset: 0, precision: available };
        } else if bits.offset + bits.precision > available {
            bits.offset = available - bits.precision;
        }
        set_bits(datatype, size, bits)
    })
}

/// Sets the number of significant bits of a numeric datatype, and enlarges the datatype if
/// necessary.
fn set_precision(datatype: &mut Datatype, precision: u32) -> Outcome<()> {
    let Some(mut bits) = bits(datatype) else { return Err(unsupported()) };
    let (mut size, available) = (datatype.size, datatype.size.saturating_mul(8));
    if precision > available {
        bits.offset = 0;
        size = precision.div_ceil(8);
    } else if bits.offset + precision > available {
        bits.offset = available - precision;
    }
    set_bits(datatype, size, Bits { precision, ..bits })
}

/// Sets the number of bits below the significant bits of a numeric datatype, and enlarges the
/// datatype if necessary.
fn set_offset(datatype: &mut Datatype, offset: u32) -> Outcome<()> {
    if matches!(datatype.class, DatatypeClass::String(_)) {
        return if offset == 0 { Ok(()) } else { Err(Failure::bad_value("the offset of a string is zero")) };
    }
    let Some(bits) = bits(datatype) else { return Err(unsupported()) };
    let end =
        offset.checked_add(bits.precision).ok_or_else(|| Failure::bad_value("the offset is too large"))?;
    set_bits(datatype, datatype.size.max(end.div_ceil(8)), Bits { offset, ..bits })
}

/// Returns the number of a datatype's byte order (`H5T_order_t`).
fn order(datatype: &Datatype) -> c_int {
    let of = |order: ByteOrder| if order == ByteOrder::LittleEndian { LITTLE } else { BIG };
    match &class::root(datatype).class {
        DatatypeClass::FixedPoint(fixed) => of(fixed.order),
        DatatypeClass::Time(time) => of(time.order),
        DatatypeClass::Bitfield(bits) => of(bits.order),
        DatatypeClass::FloatingPoint(float) => match float.order {
            FloatOrder::LittleEndian => LITTLE,
            FloatOrder::BigEndian => BIG,
            FloatOrder::Vax => VAX,
        },
        DatatypeClass::Compound(compound) => {
            let orders = compound.members.iter().map(|member| order(&member.datatype));
            let known: Vec<c_int> = orders.filter(|order| *order != NONE).collect();
            match known.first() {
                None => NONE,
                Some(first) if known.iter().all(|order| order == first) => *first,
                Some(_) => MIXED,
            }
        }
        _ => NONE,
    }
}

/// Sets the byte order of a datatype from its number.
fn set_order(datatype: &mut Datatype, number: c_int) -> Outcome<()> {
    let illegal = || Failure::bad_value("illegal byte order for the class");
    let order = match number {
        LITTLE => Ok(ByteOrder::LittleEndian),
        BIG => Ok(ByteOrder::BigEndian),
        _ => Err(illegal()),
    };
    change_root(datatype, &mut |datatype| {
        match &mut datatype.class {
            DatatypeClass::FixedPoint(fixed) => fixed.order = order.clone()?,
            DatatypeClass::Time(time) => time.order = order.clone()?,
            DatatypeClass::Bitfield(bits) => bits.order = order.clone()?,
            DatatypeClass::FloatingPoint(float) if number == VAX => float.order = FloatOrder::Vax,
            DatatypeClass::FloatingPoint(float) => float.order = order.clone()?.into(),
            DatatypeClass::Compound(compound) => {
                if compound.members.is_empty() {
                    let text = "the compound has no members";
                    return Err(Failure::new(codes::DATATYPE, codes::UNINITIALIZED, text));
                }
                for member in &mut compound.members {
                    set_order(&mut member.datatype, number)?;
                }
            }
            _ => {}
        }
        Ok(())
    })
}

/// Returns the kinds of padding below and above the significant bits of a datatype.
fn pads(datatype: &Datatype) -> Outcome<(Padding, Padding)> {
    match &class::root(datatype).class {
        DatatypeClass::FixedPoint(fixed) => Ok((fixed.low_pad, fixed.high_pad)),
        DatatypeClass::FloatingPoint(float) => Ok((float.low_pad, float.high_pad)),
        DatatypeClass::Bitfield(bits) => Ok((bits.low_pad, bits.high_pad)),
        DatatypeClass::Time(_) | DatatypeClass::String(_) | DatatypeClass::Reference(_) => {
            Ok((Padding::Zero, Padding::Zero))
        }
        _ => Err(unsupported()),
    }
}

/// Sets the kinds of padding below and above the significant bits of a datatype.
fn set_pads(datatype: &mut Datatype, low: Padding, high: Padding) -> Outcome<()> {
    match &mut datatype.class {
        DatatypeClass::FixedPoint(fixed) => (fixed.low_pad, fixed.high_pad) = (low, high),
        DatatypeClass::FloatingPoint(float) => (float.low_pad, float.high_pad) = (low, high),
        DatatypeClass::Bitfield(bits) => (bits.low_pad, bits.high_pad) = (low, high),
        DatatypeClass::Time(_) | DatatypeClass::String(_) | DatatypeClass::Reference(_) => {}
        _ => return Err(unsupported()),
    }
    Ok(())
}

/// Returns the kind of padding bits with the given number (`H5T_pad_t`).
///
/// # Errors
/// Fails with a bad value if the number is unknown.
pub fn padding(number: c_int) -> Outcome<Padding> {
    match number {
        0 => Ok(Padding::Zero),
        1 => Ok(Padding::One),
        2 => Ok(Padding::Background),
        _ => Err(Failure::bad_value("not a kind of padding")),
    }
}

/// Returns the number of a kind of padding bits (`H5T_pad_t`).
pub fn padding_number(padding: Padding) -> c_int {
    match padding {
        Padding::Zero => 0,
        Padding::One => 1,
        Padding::Background => 2,
    }
}

/// Returns the padding and the character set of a string datatype. If the datatype has a string
/// base type, returns those of the base type.
fn text(datatype: &Datatype) -> Outcome<(StringPadding, CharacterSet)> {
    match &datatype.class {
        DatatypeClass::String(FixedString { padding, charset }) => Ok((*padding, *charset)),
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::String { padding, charset } => Ok((padding, charset)),
            VariableLengthKind::Sequence => text(&variable.base),
        },
        _ => class::base(datatype).map_or_else(|| Err(unsupported()), text),
    }
}

/// Sets the padding, the character set or both of a string datatype.
fn change_text(datatype: &mut Datatype, new: (Option<StringPadding>, Option<CharacterSet>)) -> Outcome<()> {
    let (padding, charset) = match &mut datatype.class {
        DatatypeClass::String(FixedString { padding, charset }) => (padding, charset),
        DatatypeClass::VariableLength(variable) => match &mut variable.kind {
            VariableLengthKind::String { padding, charset } => (padding, charset),
            VariableLengthKind::Sequence => return change_text(&mut variable.base, new),
        },
        _ => {
            return match class::base_mut(datatype) {
                Some(base) => change_text(base, new),
                None => Err(unsupported()),
            };
        }
    };
    *padding = new.0.unwrap_or(*padding);
    *charset = new.1.unwrap_or(*charset);
    Ok(())
}

export! {
    /// Returns the byte order of a datatype (`H5T_order_t`).
    fn H5Tget_order(id: hid_t) -> c_int {
        datatype::with(id, |datatype| Ok(order(datatype)))
    }

    /// Sets the byte order of a datatype.
    fn H5Tset_order(id: hid_t, order: c_int) -> herr_t {
        datatype::change(id, |datatype| {
            if !(LITTLE..=NONE).contains(&order) || order == MIXED {
                return Err(Failure::bad_value("illegal byte order"));
            }
            set_order(datatype, order)
        })?;
        Ok(0)
    }

    /// Returns the number of significant bits of a datatype.
    fn H5Tget_precision(id: hid_t) -> usize {
        datatype::with(id, |datatype| {
            let bits = bits(class::root(datatype)).ok_or_else(unsupported)?;
            usize::try_from(bits.precision).map_err(|_| Failure::bad_value("the precision is too large"))
        })
    }

    /// Sets the number of significant bits of a datatype.
    fn H5Tset_precision(id: hid_t, precision: usize) -> herr_t {
        datatype::change(id, |datatype| {
            if precision == 0 {
                return Err(Failure::bad_value("the precision must be positive"));
            }
            let precision = crate::h5t::size_of(precision)?;
            change_root(datatype, &mut |datatype| set_precision(datatype, precision))
        })?;
        Ok(0)
    }

    /// Returns the number of bits below the significant bits of a datatype.
    fn H5Tget_offset(id: hid_t) -> c_int {
        datatype::with(id, |datatype| {
            let bits = bits(class::root(datatype)).ok_or_else(unsupported)?;
            c_int::try_from(bits.offset).map_err(|_| Failure::bad_value("the offset is too large"))
        })
    }

    /// Sets the number of bits below the significant bits of a datatype.
    fn H5Tset_offset(id: hid_t, offset: usize) -> herr_t {
        datatype::change(id, |datatype| {
            let offset = crate::h5t::size_of(offset)?;
            change_root(datatype, &mut |datatype| set_offset(datatype, offset))
        })?;
        Ok(0)
    }

    /// Stores the kinds of padding below and above the significant bits of a datatype.
    fn H5Tget_pad(id: hid_t, low: Out<c_int>, high: Out<c_int>) -> herr_t {
        let pads = datatype::with(id, pads)?;
        low.put(padding_number(pads.0));
        high.put(padding_number(pads.1));
        Ok(0)
    }

    /// Sets the kinds of padding below and above the significant bits of a datatype.
    fn H5Tset_pad(id: hid_t, low: c_int, high: c_int) -> herr_t {
        datatype::change(id, |datatype| {
            let (low, high) = (padding(low)?, padding(high)?);
            change_root(datatype, &mut |datatype| set_pads(datatype, low, high))
        })?;
        Ok(0)
    }

    /// Returns 1 for a signed integer datatype and 0 for an unsigned integer datatype.
    fn H5Tget_sign(id: hid_t) -> c_int {
        datatype::with(id, |datatype| match &class::root(datatype).class {
            DatatypeClass::FixedPoint(fixed) => Ok(c_int::from(fixed.signed)),
            _ => Err(Failure::bad_type("not an integer")),
        })
    }

    /// Sets whether an integer datatype is signed.
    fn H5Tset_sign(id: hid_t, sign: c_int) -> herr_t {
        datatype::change(id, |datatype| {
            if !(0..=1).contains(&sign) {
                return Err(Failure::bad_value("illegal sign type"));
            }
            change_root(datatype, &mut |datatype| match &mut datatype.class {
                DatatypeClass::FixedPoint(fixed) => {
                    fixed.signed = sign == 1;
                    Ok(())
                }
                _ => Err(unsupported()),
            })
        })?;
        Ok(0)
    }

    /// Returns the character set of a string datatype.
    fn H5Tget_cset(id: hid_t) -> c_int {
        datatype::with(id, |datatype| Ok(c_int::from(text(datatype)?.1 == CharacterSet::Utf8)))
    }

    /// Sets the character set of a string datatype.
    fn H5Tset_cset(id: hid_t, charset: c_int) -> herr_t {
        datatype::change(id, |datatype| {
            let charset = match charset {
                0 => CharacterSet::Ascii,
                1 => CharacterSet::Utf8,
                _ => return Err(Failure::bad_value("illegal character set")),
            };
            change_text(datatype, (None, Some(charset)))
        })?;
        Ok(0)
    }

    /// Returns the padding of a string datatype.
    fn H5Tget_strpad(id: hid_t) -> c_int {
        datatype::with(id, |datatype| {
            Ok(match text(datatype)?.0 {
                StringPadding::NullTerminated => 0,
                StringPadding::NullPadded => 1,
                StringPadding::SpacePadded => 2,
            })
        })
    }

    /// Sets the padding of a string datatype.
    fn H5Tset_strpad(id: hid_t, padding: c_int) -> herr_t {
        datatype::change(id, |datatype| {
            let padding = match padding {
                0 => StringPadding::NullTerminated,
                1 => StringPadding::NullPadded,
                2 => StringPadding::SpacePadded,
                _ => return Err(Failure::bad_value("illegal string padding")),
            };
            change_text(datatype, (Some(padding), None))
        })?;
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use crate::h5t::{H5Tcopy, H5Tget_size, H5Tset_size};
    use crate::symbols::datatypes::{H5T_C_S1_g, H5T_STD_I32BE_g, H5T_STD_REF_OBJ_g};

    #[test]
    fn bits_move_with_sizes() {
        // SAFETY: no pointers are passed.
        unsafe {
            let id = H5Tcopy(H5T_STD_I32BE_g);
            assert_eq!((H5Tset_precision(id, 20), H5Tget_size(id)), (0, 4));
            assert_eq!((H5Tset_offset(id, 12), H5Tset_precision(id, 24), H5Tget_offset(id)), (0, 0, 8));
            assert_eq!((H5Tset_precision(id, 40), H5Tget_size(id), H5Tget_offset(id)), (0, 5, 0));
            assert_eq!((H5Tset_size(id, 2), H5Tget_precision(id)), (0, 16));
            assert_eq!((H5Tset_precision(id, 0), H5Tset_sign(id, 2)), (-1, -1));
            assert_eq!((H5Tget_order(id), H5Tset_order(id, 0), H5Tget_order(id)), (BIG, 0, LITTLE));
            assert_eq!((H5Tset_order(id, MIXED), H5Tset_order(id, NONE)), (-1, -1));
            assert_eq!(H5Tget_order(H5T_STD_REF_OBJ_g), NONE);
        }
    }

    #[test]
    fn properties_of_text() {
        // SAFETY: no pointers are passed.
        unsafe {
            assert_eq!((H5Tget_cset(H5T_STD_I32BE_g), H5Tget_strpad(H5T_STD_I32BE_g)), (-1, -1));
            let text = H5Tcopy(H5T_C_S1_g);
            assert_eq!((H5Tset_cset(text, 1), H5Tget_cset(text), H5Tset_cset(text, 2)), (0, 1, -1));
            assert_eq!((H5Tset_strpad(text, 2), H5Tget_strpad(text)), (0, 2));
            assert_eq!(H5Tget_sign(text), -1);
        }
    }
}
