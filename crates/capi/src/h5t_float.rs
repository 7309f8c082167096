//! Datatype functions for floating-point numbers (`H5T*`).

use std::ffi::c_int;

use hyperslab::datatype::{FloatingPoint, Normalization};
use hyperslab::{Datatype, DatatypeClass};

use crate::ctypes::{herr_t, hid_t};
use crate::datatype::{self, class, unsupported};
use crate::error::{Failure, Outcome};
use crate::export;
use crate::h5t_atomic::{change_root, padding, padding_number};
use crate::pointer::Out;

/// Returns the floating-point properties of a datatype's innermost base type, or of the datatype
/// itself if it has no base type.
fn float(datatype: &Datatype) -> Outcome<&FloatingPoint> {
    match &class::root(datatype).class {
        DatatypeClass::FloatingPoint(float) => Ok(float),
        _ => Err(unsupported()),
    }
}

/// Changes the floating-point properties of a datatype's innermost base type, or of the datatype
/// itself if it has no base type.
fn change_float(id: hid_t, function: &mut dyn FnMut(&mut FloatingPoint) -> Outcome<()>) -> Outcome<herr_t> {
    datatype::change(id, |datatype| {
        change_root(datatype, &mut |datatype| match &mut datatype.class {
            DatatypeClass::FloatingPoint(float) => function(float),
            _ => Err(unsupported()),
        })
    })?;
    Ok(0)
}

/// Converts a bit position or a bit count of a floating-point datatype's field to the byte that
/// stores it.
fn field(value: usize) -> Outcome<u8> {
    u8::try_from(value)
        .map_err(|_| Failure::bad_value("a field value of the floating-point number exceeds 255"))
}

/// Sets the bit positions and sizes of a floating-point datatype's sign, exponent and mantissa.
/// Checks that they do not overlap.
fn set_fields(
    float: &mut FloatingPoint,
    [sign, exponent, exponent_size, mantissa, mantissa_size]: [u8; 5],
) -> Outcome<()> {
    let end = |at: u8, size: u8| u32::from(at) + u32::from(size);
    let precision = u32::from(float.precision);
    let fits = end(exponent, exponent_size) <= precision && end(mantissa, mantissa_size) <= precision;
    if !fits || u32::from(sign) >= precision {
        return Err(Failure::bad_value("a field of the floating-point number exceeds the precision"));
    }
    let inside = |at: u8, size: u8| sign >= at && u32::from(sign) < end(at, size);
    if inside(exponent, exponent_size) || inside(mantissa, mantissa_size) {
        return Err(Failure::bad_value("the sign bit overlaps with the exponent or the mantissa"));
    }
    let apart = end(exponent, exponent_size) <= u32::from(mantissa)
        || end(mantissa, mantissa_size) <= u32::from(exponent);
    if !apart {
        return Err(Failure::bad_value("the exponent and the mantissa overlap"));
    }
    float.sign_location = sign;
    (float.exponent_location, float.exponent_size) = (exponent, exponent_size);
    (float.mantissa_location, float.mantissa_size) = (mantissa, mantissa_size);
    Ok(())
}

export! {
    /// Stores the bit positions and sizes of a floating-point datatype's sign, exponent and
    /// mantissa.
    fn H5Tget_fields(
        id: hid_t,
        sign: Out<usize>,
        exponent: Out<usize>,
        exponent_size: Out<usize>,
        mantissa: Out<usize>,
        mantissa_size: Out<usize>,
    ) -> herr_t {
        datatype::with(id, |datatype| {
            let float = float(datatype)?;
            sign.put(float.sign_location.into());
            exponent.put(float.exponent_location.into());
            exponent_size.put(float.exponent_size.into());
            mantissa.put(float.mantissa_location.into());
            mantissa_size.put(float.mantissa_size.into());
            Ok(0)
        })
    }

    /// Sets the bit positions and sizes of a floating-point datatype's sign, exponent and mantissa.
    fn H5Tset_fields(
        id: hid_t,
        sign: usize,
        exponent: usize,
        exponent_size: usize,
        mantissa: usize,
        mantissa_size: usize,
    ) -> herr_t {
        change_float(id, &mut |float| {
            let fields = [
                field(sign)?,
                field(exponent)?,
                field(exponent_size)?,
                field(mantissa)?,
                field(mantissa_size)?,
            ];
            set_fields(float, fields)
        })
    }

    /// Returns the exponent bias of a floating-point datatype.
    fn H5Tget_ebias(id: hid_t) -> usize {
        datatype::with(id, |datatype| {
            usize::try_from(float(datatype)?.exponent_bias).map_err(|_| Failure::bad_value("the bias"))
        })
    }

    /// Sets the exponent bias of a floating-point datatype.
    fn H5Tset_ebias(id: hid_t, bias: usize) -> herr_t {
        change_float(id, &mut |float| {
            float.exponent_bias = crate::h5t::size_of(bias)?;
            Ok(())
        })
    }

    /// Returns the rule for the leading bit of a floating-point datatype's mantissa (`H5T_norm_t`).
    fn H5Tget_norm(id: hid_t) -> c_int {
        datatype::with(id, |datatype| {
            Ok(match float(datatype)?.normalization {
                Normalization::Implied => 0,
                Normalization::MsbSet => 1,
                Normalization::None => 2,
            })
        })
    }

    /// Sets the rule for the leading bit of a floating-point datatype's mantissa (`H5T_norm_t`).
    fn H5Tset_norm(id: hid_t, normalization: c_int) -> herr_t {
        change_float(id, &mut |float| {
            float.normalization = match normalization {
                0 => Normalization::Implied,
                1 => Normalization::MsbSet,
                2 => Normalization::None,
                _ => return Err(Failure::bad_value("illegal normalization")),
            };
            Ok(())
        })
    }

    /// Returns the kind of padding bits between the fields of a floating-point datatype.
    fn H5Tget_inpad(id: hid_t) -> c_int {
        datatype::with(id, |datatype| Ok(padding_number(float(datatype)?.internal_pad)))
    }

    /// Sets the kind of padding bits between the fields of a floating-point datatype.
    fn H5Tset_inpad(id: hid_t, pad: c_int) -> herr_t {
        change_float(id, &mut |float| {
            float.internal_pad = padding(pad)?;
            Ok(())
        })
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use crate::h5t::{H5Tcopy, H5Tget_size, H5Tset_size};
    use crate::h5t_atomic::H5Tset_precision;
    use crate::symbols::datatypes::H5T_IEEE_F32LE_g;

    #[test]
    fn fields_are_checked() {
        // SAFETY: no pointers are passed.
        unsafe {
            let id = H5Tcopy(H5T_IEEE_F32LE_g);
            assert_eq!(H5Tset_fields(id, 31, 20, 11, 0, 23), -1);
            assert_eq!(H5Tset_precision(id, 16), -1);
            assert_eq!(H5Tset_fields(id, 15, 10, 5, 0, 10), 0);
            assert_eq!((H5Tset_precision(id, 16), H5Tset_size(id, 2), H5Tget_size(id)), (0, 0, 2));
            assert_eq!((H5Tset_ebias(id, 15), H5Tget_ebias(id)), (0, 15));
            assert_eq!((H5Tset_norm(id, 3), H5Tget_norm(id), H5Tget_inpad(id)), (-1, 0, 0));
        }
    }
}
