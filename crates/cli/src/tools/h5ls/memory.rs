//! Datatypes as elements have them in the memory of the C library, whose sizes h5ls tells.

use hyperslab::datatype::{
    Array, Complex, Compound, Member, ReferenceKind, VariableLength, VariableLengthKind,
};
use hyperslab::{Datatype, DatatypeClass};

/// Bytes of a pointer to text, and of a length with a pointer.
const TEXT: u32 = 8;
const SEQUENCE: u32 = 16;

/// Bytes of references to objects, to regions, and of those of the newer kind.
const OBJECT: u32 = 8;
const REGION: u32 = 12;
const ANY: u32 = 64;

/// The type with the sizes that its elements have in memory, and the places that members of compounds have then.
pub(super) fn in_memory(datatype: &Datatype) -> Datatype {
    let boxed = |base: &Datatype| Box::new(in_memory(base));
    let (class, size) = match &datatype.class {
        DatatypeClass::VariableLength(variable) => {
            let size = match variable.kind {
                VariableLengthKind::Sequence => SEQUENCE,
                VariableLengthKind::String { .. } => TEXT,
            };
            let variable = VariableLength { base: boxed(&variable.base), ..variable.clone() };
            (DatatypeClass::VariableLength(variable), size)
        }
        DatatypeClass::Reference(reference) => {
            let size = match reference.kind {
                ReferenceKind::Object1 => OBJECT,
                ReferenceKind::DatasetRegion1 => REGION,
                _ => ANY,
            };
            (datatype.class.clone(), size)
        }
        DatatypeClass::Array(array) => {
            let base = boxed(&array.base);
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

/// Members behind one that takes more or less room are moved by as much.
fn compound(record: &Compound, size: u32) -> (DatatypeClass, u32) {
    let moved = |offset: u32, by: i64| {
        u32::try_from(i64::from(offset).saturating_add(by)).unwrap_or(if by < 0 { 0 } else { u32::MAX })
    };
    let mut members: Vec<Member> = record.members.clone();
    let mut in_order: Vec<&mut Member> = members.iter_mut().collect();
    in_order.sort_by_key(|member| member.offset);
    let mut by = 0_i64;
    for member in in_order {
        let datatype = in_memory(&member.datatype);
        member.offset = moved(member.offset, by);
        by = by.saturating_add(i64::from(datatype.size)).saturating_sub(i64::from(member.datatype.size));
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
    fn members_move_behind_text() {
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
    }
}
