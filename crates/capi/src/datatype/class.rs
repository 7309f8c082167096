//! The class numbers of the C interface, the comparison of datatypes, and the base types of arrays,
//! enumerations and sequences.

use std::ffi::c_int;

use hyperslab::datatype::{Array, Compound, Enumeration, VariableLength, VariableLengthKind};
use hyperslab::{Datatype, DatatypeClass};

/// The class number of integer datatypes (`H5T_INTEGER`).
pub const INTEGER: c_int = 0;
/// The class number of floating-point datatypes (`H5T_FLOAT`).
pub const FLOAT: c_int = 1;
/// The class number of time datatypes (`H5T_TIME`).
pub const TIME: c_int = 2;
/// The class number of string datatypes (`H5T_STRING`), including variable-length strings.
pub const STRING: c_int = 3;
/// The class number of bit field datatypes (`H5T_BITFIELD`).
pub const BITFIELD: c_int = 4;
/// The class number of opaque datatypes (`H5T_OPAQUE`).
pub const OPAQUE: c_int = 5;
/// The class number of compound datatypes (`H5T_COMPOUND`).
pub const COMPOUND: c_int = 6;
/// The class number of reference datatypes (`H5T_REFERENCE`).
pub const REFERENCE: c_int = 7;
/// The class number of enumeration datatypes (`H5T_ENUM`).
pub const ENUM: c_int = 8;
/// The class number of variable-length sequence datatypes (`H5T_VLEN`).
pub const VLEN: c_int = 9;
/// The class number of array datatypes (`H5T_ARRAY`).
pub const ARRAY: c_int = 10;
/// The class number of complex datatypes (`H5T_COMPLEX`).
pub const COMPLEX: c_int = 11;
/// The number of datatype classes.
pub const CLASSES: c_int = 12;

/// Returns the class number of a datatype (`H5T_class_t`).
pub fn number(datatype: &Datatype) -> c_int {
    match &datatype.class {
        DatatypeClass::FixedPoint(_) => INTEGER,
        DatatypeClass::FloatingPoint(_) => FLOAT,
        DatatypeClass::Time(_) => TIME,
        DatatypeClass::String(_) => STRING,
        DatatypeClass::Bitfield(_) => BITFIELD,
        DatatypeClass::Opaque(_) => OPAQUE,
        DatatypeClass::Compound(_) => COMPOUND,
        DatatypeClass::Reference(_) => REFERENCE,
        DatatypeClass::Enumeration(_) => ENUM,
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::String { .. } => STRING,
            VariableLengthKind::Sequence => VLEN,
        },
        DatatypeClass::Array(_) => ARRAY,
        DatatypeClass::Complex(_) => COMPLEX,
    }
}

/// Returns the base type of an array, an enumeration, a sequence or a complex datatype; `None` for
/// other classes.
pub fn base(datatype: &Datatype) -> Option<&Datatype> {
    match &datatype.class {
        DatatypeClass::Enumeration(enumeration) => Some(&enumeration.base),
        DatatypeClass::VariableLength(variable) => Some(&variable.base),
        DatatypeClass::Array(array) => Some(&array.base),
        DatatypeClass::Complex(complex) => Some(&complex.base),
        _ => None,
    }
}

/// Returns a mutable reference to the base type of a datatype. Returns `None` if the datatype's
/// class has no base type. After a change, the caller updates the sizes with [`update_size`].
pub fn base_mut(datatype: &mut Datatype) -> Option<&mut Datatype> {
    match &mut datatype.class {
        DatatypeClass::Enumeration(enumeration) => Some(&mut enumeration.base),
        DatatypeClass::VariableLength(variable) => Some(&mut variable.base),
        DatatypeClass::Array(array) => Some(&mut array.base),
        DatatypeClass::Complex(complex) => Some(&mut complex.base),
        _ => None,
    }
}

/// Updates the size of a datatype after its base type changed.
pub fn update_size(datatype: &mut Datatype) {
    datatype.size = match &datatype.class {
        DatatypeClass::Enumeration(enumeration) => enumeration.base.size,
        // Saturates, because each use of a datatype of this size is an error.
        DatatypeClass::Array(array) => {
            array.dims.iter().fold(array.base.size, |size, dim| size.saturating_mul(*dim))
        }
        DatatypeClass::Complex(complex) => complex.base.size.saturating_mul(2),
        _ => datatype.size,
    };
}

/// Returns the innermost base type of a datatype: the base type of its base type and so on, down to
/// a datatype without a base type.
pub fn root(datatype: &Datatype) -> &Datatype {
    let mut root = datatype;
    while let Some(inner) = base(root) {
        root = inner;
    }
    root
}

/// Returns whether a datatype or one of its nested datatypes belongs to a class.
pub fn contains(datatype: &Datatype, class: c_int) -> bool {
    let is_string = datatype.is_variable_string();
    number(datatype) == class
        || match &datatype.class {
            DatatypeClass::Compound(compound) => {
                compound.members.iter().any(|member| contains(&member.datatype, class))
            }
            _ => !is_string && base(datatype).is_some_and(|base| contains(base, class)),
        }
}

/// Returns whether two datatypes are equal. The order of compound and enumeration members is
/// ignored.
pub fn equal(a: &Datatype, b: &Datatype) -> bool {
    if a.size != b.size {
        return false;
    }
    match (&a.class, &b.class) {
        (DatatypeClass::Compound(a), DatatypeClass::Compound(b)) => equal_compounds(a, b),
        (DatatypeClass::Enumeration(a), DatatypeClass::Enumeration(b)) => equal_enumerations(a, b),
        (DatatypeClass::VariableLength(a), DatatypeClass::VariableLength(b)) => {
            let (VariableLength { kind: kind_a, base: a }, VariableLength { kind: kind_b, base: b }) = (a, b);
            // All string base types have one byte, and their sign does not matter.
            kind_a == kind_b && (*kind_a != VariableLengthKind::Sequence || equal(a, b))
        }
        (DatatypeClass::Array(a), DatatypeClass::Array(b)) => {
            let (Array { dims: dims_a, base: a }, Array { dims: dims_b, base: b }) = (a, b);
            dims_a == dims_b && equal(a, b)
        }
        (DatatypeClass::Complex(a), DatatypeClass::Complex(b)) => equal(&a.base, &b.base),
        (DatatypeClass::Reference(a), DatatypeClass::Reference(b)) => a.kind == b.kind,
        (a, b) => a == b,
    }
}

/// Returns whether two compound datatypes have equal members, in any order.
fn equal_compounds(a: &Compound, b: &Compound) -> bool {
    if a.members.len() != b.members.len() {
        return false;
    }
    let sorted = |compound: &Compound| {
        let mut order: Vec<usize> = (0..compound.members.len()).collect();
        order.sort_by_key(|index| compound.members.get(*index).map(|member| member.name.as_slice()));
        order
    };
    sorted(a).into_iter().zip(sorted(b)).all(|(a_index, b_index)| {
        match (a.members.get(a_index), b.members.get(b_index)) {
            (Some(a), Some(b)) => a.name == b.name && a.offset == b.offset && equal(&a.datatype, &b.datatype),
            _ => false,
        }
    })
}

/// Returns whether two enumeration datatypes have equal members, in any order.
fn equal_enumerations(a: &Enumeration, b: &Enumeration) -> bool {
    let mut sorted_a: Vec<_> = a.members.iter().map(|member| (&member.name, &member.value)).collect();
    let mut sorted_b: Vec<_> = b.members.iter().map(|member| (&member.name, &member.value)).collect();
    sorted_a.sort();
    sorted_b.sort();
    sorted_a == sorted_b && equal(&a.base, &b.base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::CharacterSet;
    use hyperslab::datatype::{ByteOrder::LittleEndian, Member};

    #[test]
    fn the_order_of_members_does_not_matter() {
        let member = |name: &[u8], offset, datatype| Member { name: name.to_vec(), offset, datatype };
        let (a, b) = (member(b"a", 0, Datatype::i32(LittleEndian)), member(b"b", 4, Datatype::u8()));
        let one = Datatype::compound(8, vec![a.clone(), b.clone()]);
        let two = Datatype::compound(8, vec![b.clone(), a.clone()]);
        assert!(equal(&one, &two));
        assert!(!equal(&one, &Datatype::compound(12, vec![b, a.clone()])));
        assert!(!equal(&one, &Datatype::compound(8, vec![a.clone(), member(b"b", 5, Datatype::u8())])));
        assert!(!equal(&one, &Datatype::compound(8, vec![a])));
    }

    #[test]
    fn properties_of_text_matter() {
        let (ascii, utf8) = (CharacterSet::Ascii, CharacterSet::Utf8);
        assert!(!equal(&Datatype::variable_string(ascii, 8), &Datatype::variable_string(utf8, 8)));
        assert!(!equal(&Datatype::opaque(4, "a"), &Datatype::opaque(4, "b")));
        assert!(equal(&Datatype::opaque(4, "a"), &Datatype::opaque(4, "a")));
        let sequence = Datatype::sequence(Datatype::u8(), 8);
        assert!(contains(&Datatype::array([2], sequence), VLEN));
        assert!(!contains(&Datatype::variable_string(ascii, 8), INTEGER));
    }
}
