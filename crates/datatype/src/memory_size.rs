//! Sizes and offsets in the memory of a C program.

use crate::{Compound, Datatype, DatatypeClass, VariableLengthKind};

/// The size of a pointer in bytes.
const POINTER_BYTES: u32 = 8;

impl Datatype {
    /// Returns the size in bytes that libhdf5 gives an element in memory, where a variable-length
    /// string is a pointer. Returns `None` if the members of a compound overlap.
    ///
    /// ```
    /// use hyperslab_datatype::{CharacterSet, Datatype};
    /// let text = Datatype::variable_string(CharacterSet::Utf8, 8);
    /// assert_eq!((text.size, text.memory_size()), (16, Some(8)));
    /// ```
    pub fn memory_size(&self) -> Option<u32> {
        match &self.class {
            DatatypeClass::VariableLength(variable) => match variable.kind {
                VariableLengthKind::String { .. } => Some(POINTER_BYTES),
                VariableLengthKind::Sequence => Some(self.size),
            },
            DatatypeClass::Array(array) => {
                self.size.checked_div(array.base.size)?.checked_mul(array.base.memory_size()?)
            }
            DatatypeClass::Compound(compound) => compound.memory_offset(self.size),
            _ => Some(self.size),
        }
    }
}

impl Compound {
    /// Returns the offset in memory of the byte at `offset` in the stored compound; see
    /// [`Datatype::memory_size`].
    pub fn memory_offset(&self, offset: u32) -> Option<u32> {
        let mut before = self.members.iter().filter(|member| member.offset < offset);
        before.try_fold(offset, |place, member| {
            place.checked_add(member.datatype.memory_size()?)?.checked_sub(member.datatype.size)
        })
    }
}
