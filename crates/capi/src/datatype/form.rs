//! The two forms of datatypes: in memory of C programs, and in files.

use hyperslab::datatype::{Array, Compound, Member, ReferenceKind, VariableLength, VariableLengthKind};
use hyperslab::{Datatype, DatatypeClass};

use crate::symbols::datatypes::REFERENCE_BYTES;

/// The bytes of a pointer to a variable-length string.
pub const STRING_BYTES: u32 = 8;
/// The bytes of a sequence: the number of items and a pointer.
pub const SEQUENCE_BYTES: u32 = 16;

/// A form of datatypes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The memory of C programs.
    Memory,
    /// A file whose addresses have this number of bytes.
    File(u8),
}

/// Returns a datatype in another form. Members of compounds keep their distances to the end of the
/// member before them.
pub fn convert(datatype: &Datatype, form: Form) -> Datatype {
    match &datatype.class {
        DatatypeClass::VariableLength(variable) => {
            let base = Box::new(convert(&variable.base, form));
            let size = match (form, &variable.kind) {
                (Form::Memory, VariableLengthKind::String { .. }) => STRING_BYTES,
                (Form::Memory, VariableLengthKind::Sequence) => SEQUENCE_BYTES,
                (Form::File(width), _) => 8 + u32::from(width),
            };
            let kind = variable.kind;
            Datatype { class: DatatypeClass::VariableLength(VariableLength { kind, base }), size }
        }
        DatatypeClass::Reference(reference) => {
            let size = match (form, reference.kind) {
                (Form::Memory, ReferenceKind::Object1) => 8,
                (Form::Memory, ReferenceKind::DatasetRegion1) => 12,
                (Form::Memory, _) => REFERENCE_BYTES,
                (Form::File(width), ReferenceKind::Object1) => u32::from(width),
                (Form::File(width), ReferenceKind::DatasetRegion1) => u32::from(width) + 4,
                // A header of 6 bytes, a length, and the position in the global heap.
                (Form::File(width), _) => 10 + u32::from(width),
            };
            Datatype { class: datatype.class.clone(), size }
        }
        DatatypeClass::Array(array) => {
            let base = convert(&array.base, form);
            // Saturates, because a type of this size is refused wherever it is used.
            let count = array.dims.iter().fold(1_u32, |count, size| count.saturating_mul(*size));
            let size = base.size.saturating_mul(count);
            let class = DatatypeClass::Array(Array { dims: array.dims.clone(), base: Box::new(base) });
            Datatype { class, size }
        }
        DatatypeClass::Compound(compound) => members(datatype, compound, form),
        _ => datatype.clone(),
    }
}

fn members(datatype: &Datatype, compound: &Compound, form: Form) -> Datatype {
    let mut order: Vec<usize> = (0..compound.members.len()).collect();
    order.sort_by_key(|index| compound.members.get(*index).map(|member| member.offset));
    let mut shift = 0_i64;
    let mut members: Vec<Member> = compound.members.clone();
    for index in order {
        let Some(member) = members.get_mut(index) else { continue };
        let changed = convert(&member.datatype, form);
        member.offset = shifted(member.offset, shift);
        shift += i64::from(changed.size) - i64::from(member.datatype.size);
        member.datatype = changed;
    }
    let size = shifted(datatype.size, shift);
    Datatype { class: DatatypeClass::Compound(Compound { members }), size }
}

/// Returns an offset or size that moved. Saturates, because a type of this size is refused wherever
/// it is used.
fn shifted(offset: u32, shift: i64) -> u32 {
    u32::try_from(i64::from(offset).saturating_add(shift).max(0)).unwrap_or(u32::MAX)
}

/// Returns a datatype of a file in the form of memory.
pub fn memory(datatype: &Datatype) -> Datatype {
    if depends_on_form(datatype) { convert(datatype, Form::Memory) } else { datatype.clone() }
}

/// Returns a datatype of memory in the form of a file.
pub fn file(datatype: &Datatype, offset_bytes: u8) -> Datatype {
    if depends_on_form(datatype) { convert(datatype, Form::File(offset_bytes)) } else { datatype.clone() }
}

/// Returns whether the two forms of a datatype may differ.
pub fn depends_on_form(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::VariableLength(_) | DatatypeClass::Reference(_) => true,
        DatatypeClass::Array(array) => depends_on_form(&array.base),
        DatatypeClass::Compound(compound) => {
            compound.members.iter().any(|member| depends_on_form(&member.datatype))
        }
        _ => false,
    }
}
