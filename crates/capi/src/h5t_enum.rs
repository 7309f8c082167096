//! Datatype functions for enumerations (`H5Tenum_*`, `H5Tget_member_value`).

use std::ffi::c_uint;

use hyperslab::datatype::{Enumeration, EnumerationMember};
use hyperslab::{Datatype, DatatypeClass};

use crate::ctypes::{herr_t, hid_t};
use crate::datatype;
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::pointer::{Buffer, Data, Text, TextBuffer};

/// Returns the enumeration properties of a datatype. Returns an error if the datatype is not an
/// enumeration.
fn enumeration(datatype: &Datatype) -> Outcome<&Enumeration> {
    match &datatype.class {
        DatatypeClass::Enumeration(enumeration) => Ok(enumeration),
        _ => Err(Failure::bad_type("not an enumeration")),
    }
}

/// Returns the number of bytes of a value of an enumeration datatype.
fn value_size(datatype: &Datatype) -> Outcome<usize> {
    usize::try_from(datatype.size).map_err(|_| Failure::bad_value("the size is too large"))
}

export! {
    /// Creates an enumeration datatype with the integer base type `base` and returns the
    /// enumeration's identifier.
    fn H5Tenum_create(base: hid_t) -> hid_t {
        let base = match datatype::copy_of(base) {
            Ok(base) if matches!(base.class, DatatypeClass::FixedPoint(_)) => base,
            _ => return Err(Failure::bad_type("not an integer datatype")),
        };
        Ok(datatype::register(Datatype::enumeration(base, Vec::new())))
    }

    /// Adds a member with a name and a value to an enumeration datatype.
    fn H5Tenum_insert(id: hid_t, name: Text, value: Data) -> herr_t {
        datatype::with(id, |datatype| enumeration(datatype).map(|_| ()))?;
        datatype::change(id, |datatype| {
            let size = value_size(datatype)?;
            let DatatypeClass::Enumeration(enumeration) = &mut datatype.class else {
                return Err(Failure::bad_type("not an enumeration"));
            };
            let name = name.name("member name")?.to_vec();
            let value = value.bytes(size, "value")?.to_vec();
            for member in &enumeration.members {
                if member.name == name {
                    return Err(Failure::new(codes::DATATYPE, codes::CANTINIT, "a member with this name exists"));
                }
                if member.value == value {
                    return Err(Failure::new(codes::DATATYPE, codes::CANTINIT, "a member with this value exists"));
                }
            }
            enumeration.members.push(EnumerationMember { name, value });
            Ok(0)
        })
    }

    /// Stores in `name` the name of the member of an enumeration datatype that has the given value.
    fn H5Tenum_nameof(id: hid_t, value: Data, name: TextBuffer, size: usize) -> herr_t {
        datatype::with(id, |datatype| {
            let members = &enumeration(datatype)?.members;
            let value = value.bytes(value_size(datatype)?, "value")?;
            if name.is_null() {
                return Err(Failure::bad_value("no buffer for the name"));
            }
            if size == 0 {
                return Ok(0);
            }
            let text = "the name of the value was not found";
            let found = members.iter().find(|member| member.value == value).because(
                codes::DATATYPE,
                codes::NOTFOUND,
                "no member has this value",
            );
            let found = found.because(codes::DATATYPE, codes::CANTINIT, text)?;
            name.put(&found.name, size);
            if found.name.len() >= size {
                let failure = Failure::new(codes::DATATYPE, codes::NOSPACE, "the buffer is too short for the name");
                return Err(failure.then(codes::DATATYPE, codes::CANTINIT, text));
            }
            Ok(0)
        })
    }

    /// Stores in `value` the value of the member of an enumeration datatype that has the given
    /// name.
    fn H5Tenum_valueof(id: hid_t, name: Text, value: Buffer) -> herr_t {
        datatype::with(id, |datatype| {
            let members = &enumeration(datatype)?.members;
            let name = name.name("member name")?;
            if value.is_null() {
                return Err(Failure::bad_value("no buffer for the value"));
            }
            let found = members.iter().find(|member| member.name == name).because(
                codes::DATATYPE,
                codes::NOTFOUND,
                "no member has this name",
            );
            let found = found.because(codes::DATATYPE, codes::CANTINIT, "the value was not found")?;
            value.put(&found.value, found.value.len());
            Ok(0)
        })
    }

    /// Stores the value of the member with the index `number` of an enumeration datatype in
    /// `value`.
    fn H5Tget_member_value(id: hid_t, number: c_uint, value: Buffer) -> herr_t {
        datatype::with(id, |datatype| {
            let members = &enumeration(datatype)?.members;
            let found = usize::try_from(number).ok().and_then(|number| members.get(number));
            let found = found.ok_or_else(|| Failure::bad_value("no member has this number"))?;
            if value.is_null() {
                return Err(Failure::bad_value("no buffer for the value"));
            }
            value.put(&found.value, found.value.len());
            Ok(0)
        })
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use crate::error::stack;
    use crate::symbols::datatypes::{H5T_NATIVE_DOUBLE_g, H5T_NATIVE_SHORT_g};

    #[test]
    fn names_and_values() {
        let name = |text: &'static std::ffi::CStr| Text::of(text.as_ptr());
        let (one, two) = (1_i16, 2_i16);
        let data = |value: &i16| Data::of(std::ptr::from_ref(value).cast());
        let mut value = 0_i16;
        let mut text = [0_u8; 8];
        // SAFETY: values have two bytes, the name buffer has eight.
        unsafe {
            let id = H5Tenum_create(H5T_NATIVE_SHORT_g);
            assert_eq!(H5Tenum_create(H5T_NATIVE_DOUBLE_g), -1);
            assert_eq!(H5Tenum_insert(id, name(c"ONE"), data(&one)), 0);
            assert_eq!(H5Tenum_insert(id, name(c"ONE"), data(&two)), -1);
            assert_eq!(H5Tenum_insert(id, name(c"EINS"), data(&one)), -1);
            let buffer = Buffer::of((&raw mut value).cast());
            assert_eq!((H5Tenum_valueof(id, name(c"ONE"), buffer), value), (0, 1));
            assert_eq!(H5Tenum_valueof(id, name(c"TWO"), buffer), -1);
            assert_eq!(stack::copy().first().map(|record| record.minor), Some(codes::NOTFOUND));
            let target = |pointer: *mut u8| TextBuffer::of(pointer.cast());
            assert_eq!(H5Tenum_nameof(id, data(&one), target(text.as_mut_ptr()), 8), 0);
            assert_eq!(&text, b"ONE\0\0\0\0\0");
            assert_eq!(H5Tenum_nameof(id, data(&one), target(text.as_mut_ptr()), 3), -1);
            assert_eq!(H5Tenum_nameof(id, data(&two), target(text.as_mut_ptr()), 8), -1);
            assert_eq!((H5Tget_member_value(id, 0, buffer), H5Tget_member_value(id, 1, buffer)), (0, -1));
        }
    }
}
