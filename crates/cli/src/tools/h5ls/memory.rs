//! The datatypes that the C library uses in memory. h5ls prints the sizes of these types.

use hyperslab::datatype::{
    Array, Complex, Compound, Member, ReferenceKind, VariableLength, VariableLengthKind,
};
use hyperslab::{Datatype, DatatypeClass};

/// The size of a variable-length string in the memory of a C program: a pointer.
const TEXT_BYTES: u32 = 8;
/// The size of a sequence in the memory of a C program: a length and a pointer.
const SEQUENCE_BYTES: u32 = 16;

/// The size of an object reference in the memory of a C program.
const OBJECT_BYTES: u32 = 8;
/// The size of a region reference in the memory of a C program.
const REGION_BYTES: u32 = 12;
/// The size of a reference of HDF5 1.12 and later in the memory of a C program.
const REFERENCE_BYTES: u32 = 64;

/// Returns a datatype as it is in the memory of a C program: with other element sizes and member
/// offsets.
pub(super) fn in_memory(datatype: &Datatype) -> Datatype {
    let boxed = |base: &Datatype| Box::new(in_memory(base));
    let (class, size) = match &datatype.class {
        DatatypeClass::VariableLength(variable) => {
            let size = match variable.kind {
                VariableLengthKind::Sequence => SEQUENCE_BYTES,
                VariableLengthKind::String { .. } => TEXT_BYTES,
            };
            let variable = VariableLength { base: boxed(&variable.base), ..variable.clone() };
            (DatatypeClass::VariableLength(variable), size)
        }
        DatatypeClass::Reference(reference) => {
            let size = match reference.kind {
                ReferenceKind::Object1 => OBJECT_BYTES,
                ReferenceKind::DatasetRegion1 => REGION_BYTES,
                ReferenceKind::Object2 | ReferenceKind::DatasetRegion2 | ReferenceKind::Attribute => {
                    REFERENCE_BYTES
                }
            };
            (datatype.class.clone(), size)
        }
        DatatypeClass::Array(array) => {
            let base = boxed(&array.base);
            // Saturates, because the size is only printed.
            let size = array.dims.iter().fold(base.size, |product, size| product.saturating_mul(*size));
            (DatatypeClass::Array(Array { base, dims: array.dims.clone() }), size)
        }
        DatatypeClass::Compound(record) => compound(record, datatype.size),
        DatatypeClass::Complex(complex) => {
            (DatatypeClass::Complex(Complex { base: boxed(&complex.base) }), datatype.size)
        }
        _ => return datatype.clone(),
    };
    Datatype { class, size }
}

/// Returns a compound datatype with its layout in memory. If a member changes its size, the
/// following members move by the difference. For display, an offset beyond 32 bits becomes the
/// largest number of the type.
fn compound(record: &Compound, size: u32) -> (DatatypeClass, u32) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 32 bits")]
    let moved = |offset: u32, by: i64| (i64::from(offset) + by).clamp(0, u32::MAX.into()) as u32;
    let mut members: Vec<Member> = record.members.clone();
    let mut in_order: Vec<&mut Member> = members.iter_mut().collect();
    in_order.sort_by_key(|member| member.offset);
    let mut by = 0_i64;
    for member in in_order {
        let datatype = in_memory(&member.datatype);
        member.offset = moved(member.offset, by);
        by += i64::from(datatype.size) - i64::from(member.datatype.size);
        member.datatype = datatype;
    }
    (DatatypeClass::Compound(Compound { members }), moved(size, by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::CharacterSet;
    use hyperslab::H5Type;
    use hyperslab::datatype::StringPadding;

    #[test]
    fn members_after_text_move() {
        let kind = VariableLengthKind::String {
            padding: StringPadding::NullTerminated,
            charset: CharacterSet::Utf8,
        };
        let text = VariableLength { kind, base: Box::new(u8::datatype()) };
        let text = Datatype { class: DatatypeClass::VariableLength(text), size: 16 };
        let member = |name: &str, offset, datatype| Member { name: name.into(), offset, datatype };
        let members = vec![
            member("last", 20, i32::datatype()),
            member("text", 0, text.clone()),
            member("number", 16, i32::datatype()),
        ];
        let record = Datatype { class: DatatypeClass::Compound(Compound { members }), size: 24 };
        let record = in_memory(&record);
        assert_eq!(record.size, 16);
        let DatatypeClass::Compound(compound) = record.class else { unreachable!() };
        assert_eq!(compound.members.iter().map(|member| member.offset).collect::<Vec<_>>(), [12, 0, 8]);
        let array = Datatype {
            class: DatatypeClass::Array(Array { base: Box::new(text), dims: [2, 3].as_slice().into() }),
            size: 96,
        };
        assert_eq!(in_memory(&array).size, 48);
        assert_eq!(in_memory(&i64::datatype()), i64::datatype());
        let kind = hyperslab::datatype::Reference { kind: ReferenceKind::Object2, version: 1 };
        let reference = Datatype { class: DatatypeClass::Reference(kind), size: 18 };
        assert_eq!(in_memory(&reference).size, 64);
    }
}
