//! The memory form and the file form of datatypes, and the change from one form to the other.

use hyperslab::datatype::{Array, Compound, Member, ReferenceKind, VariableLength, VariableLengthKind};
use hyperslab::{Datatype, DatatypeClass};

use crate::symbols::datatypes::REFERENCE_BYTES;

/// The size in bytes of a variable-length string in memory: a pointer.
pub const STRING_BYTES: u32 = 8;
/// The size in bytes of a variable-length sequence in memory: a count and a pointer.
pub const SEQUENCE_BYTES: u32 = 16;

/// The form of a datatype: in memory or in a file. The form determines the size of strings,
/// sequences and references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The form of elements in the memory of C programs.
    Memory,
    /// The form of elements in a file whose addresses have this number of bytes.
    File(u8),
}

/// Converts a datatype to the given form, in memory or in a file. If the size of a compound member
/// changes, later members move and keep the gaps between members.
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
                // A reference in a file: a header of 6 bytes, a length of 4 bytes, and a position
                // in the global heap.
                (Form::File(width), _) => 10 + u32::from(width),
            };
            Datatype { class: datatype.class.clone(), size }
        }
        DatatypeClass::Array(array) => {
            let base = convert(&array.base, form);
            // Saturates, because each use of a datatype of this size is an error.
            let count = array.dims.iter().fold(1_u32, |count, size| count.saturating_mul(*size));
            let size = base.size.saturating_mul(count);
            let class = DatatypeClass::Array(Array { dims: array.dims.clone(), base: Box::new(base) });
            Datatype { class, size }
        }
        DatatypeClass::Compound(compound) => members(datatype, compound, form),
        _ => datatype.clone(),
    }
}

/// Converts the members of a compound datatype to the form in memory or in a file, and adjusts the
/// member offsets.
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

/// Returns a member offset or a datatype size plus a signed shift. On overflow, returns 0 or the
/// largest 32-bit number; each use of such a datatype is an error.
fn shifted(offset: u32, shift: i64) -> u32 {
    u32::try_from(i64::from(offset).saturating_add(shift).max(0)).unwrap_or(u32::MAX)
}

/// Converts a datatype from file form to memory form.
pub fn memory(datatype: &Datatype) -> Datatype {
    if depends_on_form(datatype) { convert(datatype, Form::Memory) } else { datatype.clone() }
}

/// Converts a datatype to file form, for a file whose addresses have `offset_bytes` bytes.
pub fn file(datatype: &Datatype, offset_bytes: u8) -> Datatype {
    if depends_on_form(datatype) { convert(datatype, Form::File(offset_bytes)) } else { datatype.clone() }
}

/// Returns whether the memory form and the file form of a datatype may differ.
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
