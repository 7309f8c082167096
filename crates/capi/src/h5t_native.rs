//! Native datatypes: the C types of this machine that match other datatypes (`H5Tget_native_type`).

use std::ffi::c_int;

use hyperslab::datatype::{ByteOrder, EnumerationMember, FixedPoint, Member, ReferenceKind, VariableLength};
use hyperslab::{Datatype, DatatypeClass};

use crate::ctypes::hid_t;
use crate::datatype;
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;

/// A native datatype (the datatype of a C type of this machine) with the alignment of its values.
struct Native {
    /// The native datatype.
    datatype: Datatype,
    /// The alignment of a value in bytes.
    align: u32,
}

impl Native {
    /// Returns a native numeric datatype whose alignment equals its size.
    fn aligned(datatype: Datatype) -> Self {
        Self { align: datatype.size, datatype }
    }
}

/// Returns the size in bytes of the smallest C integer with at least `precision` bits.
fn integer_bytes(precision: u16) -> u16 {
    match precision {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

/// Returns the smallest native floating-point datatype of at least `size` bytes, with a minimum of
/// two bytes.
fn float(size: u32) -> Native {
    match size {
        0..=2 => Native::aligned(Datatype::f16(ByteOrder::NATIVE)),
        3..=4 => Native::aligned(Datatype::f32(ByteOrder::NATIVE)),
        5..=8 => Native::aligned(Datatype::f64(ByteOrder::NATIVE)),
        _ => Native::aligned(Datatype::x87(16)),
    }
}

/// Returns the native datatype (the matching C type of this machine) for a datatype in memory form.
fn native(datatype: &Datatype) -> Outcome<Native> {
    Ok(match &datatype.class {
        DatatypeClass::FixedPoint(fixed) => {
            let bytes = integer_bytes(fixed.precision);
            Native::aligned(Datatype::integer(bytes, fixed.signed, ByteOrder::NATIVE))
        }
        DatatypeClass::FloatingPoint(_) => float(datatype.size),
        DatatypeClass::Bitfield(bits) => {
            Native::aligned(Datatype::bitfield(integer_bytes(bits.precision), ByteOrder::NATIVE))
        }
        DatatypeClass::Time(_) => return Err(Failure::bad_value("time datatypes have no native datatype")),
        DatatypeClass::String(_) | DatatypeClass::Opaque(_) => {
            Native { datatype: datatype.clone(), align: 1 }
        }
        DatatypeClass::Reference(reference) => {
            let align = if reference.kind == ReferenceKind::DatasetRegion1 { 1 } else { 8 };
            Native { datatype: datatype.clone(), align }
        }
        DatatypeClass::VariableLength(_) if datatype.is_variable_string() => {
            Native { datatype: datatype.clone(), align: 8 }
        }
        DatatypeClass::VariableLength(variable) => {
            let base = Box::new(native(&variable.base)?.datatype);
            let class = DatatypeClass::VariableLength(VariableLength { kind: variable.kind, base });
            Native { datatype: Datatype { class, size: datatype.size }, align: 8 }
        }
        DatatypeClass::Array(array) => {
            let Native { datatype, align } = native(&array.base)?;
            Native { datatype: Datatype::array(array.dims.clone(), datatype), align }
        }
        DatatypeClass::Complex(complex) => {
            let Native { datatype, align } = native(&complex.base)?;
            Native { datatype: Datatype::complex(datatype), align }
        }
        DatatypeClass::Enumeration(enumeration) => {
            let base = native(&enumeration.base)?;
            let member = |member: &EnumerationMember| EnumerationMember {
                name: member.name.clone(),
                value: value(&member.value, &enumeration.base, base.datatype.size),
            };
            let members = enumeration.members.iter().map(member).collect();
            Native { datatype: Datatype::enumeration(base.datatype, members), align: base.align }
        }
        DatatypeClass::Compound(compound) => compound_of(&compound.members)?,
    })
}

/// Returns the C struct that matches a compound datatype on this machine, with C's padding between
/// members.
fn compound_of(members: &[Member]) -> Outcome<Native> {
    let large = || Failure::bad_value("the compound is too large");
    let (mut size, mut struct_align) = (0_u32, 1_u32);
    let mut placed = Vec::with_capacity(members.len());
    for member in members {
        let Native { datatype, align } = native(&member.datatype)?;
        let offset = size.checked_next_multiple_of(align.max(1)).ok_or_else(large)?;
        size = offset.checked_add(datatype.size).ok_or_else(large)?;
        struct_align = struct_align.max(align);
        placed.push(Member { name: member.name.clone(), offset, datatype });
    }
    let size = size.checked_next_multiple_of(struct_align).ok_or_else(large)?;
    Ok(Native { datatype: Datatype::compound(size, placed), align: struct_align })
}

/// Converts the integer value of an enumeration member to a native integer of `size` bytes.
fn value(bytes: &[u8], datatype: &Datatype, size: u32) -> Vec<u8> {
    let DatatypeClass::FixedPoint(fixed) = &datatype.class else { return bytes.to_vec() };
    let FixedPoint { order, signed, bit_offset, precision, .. } = *fixed;
    let bit = |index: u32| {
        let (byte, shift) = ((index / 8) as usize, index % 8);
        let byte = match order {
            ByteOrder::LittleEndian => bytes.get(byte),
            ByteOrder::BigEndian => bytes.iter().rev().nth(byte),
        };
        byte.is_some_and(|byte| byte >> shift & 1 == 1)
    };
    let (offset, precision) = (u32::from(bit_offset), u32::from(precision));
    let negative = signed && precision > 0 && bit(offset + precision - 1);
    let mut result = Vec::new();
    for byte in 0..size {
        let bits = (0..8).map(|shift| {
            let index = byte * 8 + shift;
            let set = if index < precision { bit(offset + index) } else { negative };
            u8::from(set) << shift
        });
        result.push(bits.fold(0, |byte, bit| byte | bit));
    }
    if ByteOrder::NATIVE == ByteOrder::BigEndian {
        result.reverse();
    }
    result
}

export! {
    /// Returns a new identifier of the native datatype (the matching C type of this machine) for a
    /// datatype. The direction argument does not change the result.
    fn H5Tget_native_type(id: hid_t, direction: c_int) -> hid_t {
        let datatype = datatype::copy_of(id)?;
        if !(0..=2).contains(&direction) {
            return Err(Failure::bad_value("unknown search direction for the native datatype"));
        }
        let native = native(&datatype).because(codes::ARGS, codes::BADVALUE, "there is no native datatype")?;
        Ok(datatype::register(native.datatype))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use hyperslab::datatype::ByteOrder::{BigEndian, LittleEndian};

    fn native_of(datatype: Datatype) -> Datatype {
        crate::init::start();
        // SAFETY: no pointers are passed.
        datatype::copy_of(unsafe { H5Tget_native_type(datatype::register(datatype), 0) }).unwrap()
    }

    #[test]
    fn compounds_are_padded_like_structs() {
        let members = [
            ("a", Datatype::u8()),
            ("b", Datatype::f64(BigEndian)),
            ("c", Datatype::array([3], Datatype::i16(BigEndian))),
        ];
        let found = native_of(Datatype::packed(members));
        let DatatypeClass::Compound(compound) = &found.class else { panic!("not a compound") };
        let offsets: Vec<u32> = compound.members.iter().map(|member| member.offset).collect();
        assert_eq!((offsets, found.size), (vec![0, 8, 16], 24));
        assert_eq!(compound.members[1].datatype, Datatype::f64(ByteOrder::NATIVE));
    }

    #[test]
    fn values_of_enumerations_are_converted() {
        let member = |value: &[u8]| EnumerationMember { name: value.to_vec(), value: value.to_vec() };
        let members = vec![member(&[0xff, 0xfe]), member(&[1, 2])];
        let found = native_of(Datatype::enumeration(Datatype::integer(2, true, BigEndian), members));
        let DatatypeClass::Enumeration(enumeration) = &found.class else { panic!("not an enumeration") };
        let values: Vec<&[u8]> = enumeration.members.iter().map(|member| member.value.as_slice()).collect();
        if ByteOrder::NATIVE == LittleEndian {
            assert_eq!(values, [[0xfe, 0xff], [2, 1]]);
        }
        let mut odd = Datatype::integer(4, true, LittleEndian);
        if let DatatypeClass::FixedPoint(fixed) = &mut odd.class {
            (fixed.precision, fixed.bit_offset) = (6, 3);
        }
        assert_eq!(value(&[0b1111_1000, 1, 0, 0], &odd, 2), [0xff, 0xff]);
    }
}
