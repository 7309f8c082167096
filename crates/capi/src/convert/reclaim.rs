//! Deallocation of the variable-length data to which elements in memory point.

#![expect(unsafe_code, reason = "elements in memory contain pointers of the library's heap")]
#![expect(clippy::host_endian_bytes, reason = "elements in memory have the byte order of the host")]

use hyperslab::datatype::VariableLengthKind;
use hyperslab::{Datatype, DatatypeClass};

use super::heap::{Heap, sequence};
use super::references;
use crate::h5r_new::H5R_ref_t;

/// Frees the variable-length data of one element in memory and sets the element's pointers to null.
pub fn element(datatype: &Datatype, bytes: &mut [u8], heap: &Heap) {
    match &datatype.class {
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::String { .. } => {
                if let Ok(element) = <&mut [u8; 8]>::try_from(bytes) {
                    release(usize::from_ne_bytes(*element), heap);
                    *element = [0; 8];
                }
            }
            VariableLengthKind::Sequence => {
                let Some(found) = sequence(bytes) else { return };
                let size = variable.base.size as usize;
                let length = found.len.checked_mul(size).filter(|length| isize::try_from(*length).is_ok());
                if let Some(length) =
                    length.filter(|_| !found.p.is_null() && is_nested(&variable.base) && size > 0)
                {
                    // SAFETY: the element states the number of its items, which the library's heap
                    // or the program allocated; a slice of that length is possible.
                    let items = unsafe { std::slice::from_raw_parts_mut(found.p.cast::<u8>(), length) };
                    items.chunks_exact_mut(size).for_each(|item| element(&variable.base, item, heap));
                }
                release(found.p as usize, heap);
                bytes.fill(0);
            }
        },
        DatatypeClass::Array(array) if is_nested(&array.base) => {
            let size = (array.base.size as usize).max(1);
            bytes.chunks_exact_mut(size).for_each(|item| element(&array.base, item, heap));
        }
        DatatypeClass::Compound(compound) => {
            for member in compound.members.iter().filter(|member| is_nested(&member.datatype)) {
                let start = member.offset as usize;
                let part =
                    bytes.get_mut(start..).and_then(|rest| rest.get_mut(..member.datatype.size as usize));
                if let Some(part) = part {
                    element(&member.datatype, part, heap);
                }
            }
        }
        DatatypeClass::Reference(_) if references::is_held(datatype) => {
            // The caller cannot receive an error of closing the file of the reference's target.
            let _ = H5R_ref_t::of_bytes(bytes).release();
            bytes.fill(0);
        }
        _ => {}
    }
}

/// Frees the block of variable-length data at an address. An address of null has no effect.
fn release(address: usize, heap: &Heap) {
    if address != 0 {
        heap.release(address as *mut std::ffi::c_void);
    }
}

/// Returns true if elements of a datatype in memory contain pointers to variable-length data or
/// references in memory form (`H5R_ref_t`).
pub fn is_nested(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::VariableLength(_) => true,
        DatatypeClass::Reference(_) => references::is_held(datatype),
        DatatypeClass::Array(array) => is_nested(&array.base),
        DatatypeClass::Compound(compound) => {
            compound.members.iter().any(|member| is_nested(&member.datatype))
        }
        _ => false,
    }
}
