//! Variable-length data in the memory of C programs: strings as pointers, and sequences as counts
//! with pointers.

#![expect(unsafe_code, reason = "elements in memory contain pointers of the caller")]
#![expect(clippy::host_endian_bytes, reason = "elements in memory have the byte order of the host")]

use std::ffi::{CStr, c_char, c_void};

use hyperslab::datatype::convert::{ConvertError, HeapError, VariableSink, VariableSource};

use crate::ctypes::hvl_t;
use crate::memory;
use crate::plist::callbacks::VariableLengthMemory;

/// The allocator of variable-length data in the memory of a C program.
#[derive(Debug, Default)]
pub struct Heap {
    /// The functions that allocate and free blocks: the user's functions or `malloc` and `free`.
    pub memory: VariableLengthMemory,
}

/// Returns the C string pointer in a variable-length string element in memory. Returns `None` for a
/// null pointer.
fn string(descriptor: &[u8]) -> Option<*const c_char> {
    let bytes: [u8; 8] = descriptor.try_into().ok()?;
    Some(usize::from_ne_bytes(bytes) as *const c_char)
}

/// Returns the count and the pointer (`hvl_t`) in a variable-length sequence element in memory.
/// Returns `None` for too few bytes.
pub fn sequence(descriptor: &[u8]) -> Option<hvl_t> {
    let (count, pointer) = descriptor.split_first_chunk::<8>()?;
    let pointer: [u8; 8] = pointer.try_into().ok()?;
    Some(hvl_t { len: usize::from_ne_bytes(*count), p: usize::from_ne_bytes(pointer) as *mut c_void })
}

/// Returns the error for an element in memory whose bytes are not valid variable-length data.
fn invalid() -> ConvertError {
    ConvertError::Heap(HeapError::new("an element has invalid variable-length data"))
}

impl VariableSource for Heap {
    fn items(
        &self,
        descriptor: &[u8],
        item_size: usize,
        with: &mut dyn FnMut(&[u8]) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        if let Some(pointer) = string(descriptor) {
            if pointer.is_null() {
                return with(&[]);
            }
            // SAFETY: a string element that is not null points to a text that ends with a zero
            // byte: the caller of the C function promises this.
            return with(unsafe { CStr::from_ptr(pointer) }.to_bytes());
        }
        let sequence = sequence(descriptor).ok_or_else(invalid)?;
        if sequence.len == 0 || sequence.p.is_null() {
            return with(&[]);
        }
        let length = sequence.len.checked_mul(item_size).filter(|length| isize::try_from(*length).is_ok());
        let length = length.ok_or_else(invalid)?;
        // SAFETY: a sequence element points to as many items as its count states: the caller of the
        // C function promises this.
        with(unsafe { std::slice::from_raw_parts(sequence.p.cast(), length) })
    }

    fn is_null(&self, descriptor: &[u8]) -> bool {
        string(descriptor).is_some_and(<*const c_char>::is_null)
    }
}

impl Heap {
    /// Returns a new memory block of `size` bytes from the program's allocator of variable-length
    /// data, or null if there is no memory.
    fn allocate(&self, size: usize) -> *mut c_void {
        match self.memory.allocate.function {
            // SAFETY: the user passed the function to `H5Pset_vlen_mem_manager`, whose
            // documentation states the arguments.
            Some(allocate) => unsafe { allocate(size, self.memory.allocate.data) },
            None => memory::allocate(size, false),
        }
    }

    /// Frees a memory block that the program's allocator of variable-length data allocated.
    pub(crate) fn release(&self, block: *mut c_void) {
        match self.memory.free.function {
            // SAFETY: the user passed the function to `H5Pset_vlen_mem_manager`, whose
            // documentation states the arguments.
            Some(free) => unsafe { free(block, self.memory.free.data) },
            None => memory::free(block),
        }
    }

    /// Copies bytes into a new memory block of the program's allocator of variable-length data and
    /// appends `extra` zero bytes.
    fn copy(&self, bytes: &[u8], extra: usize) -> Result<*mut c_void, ConvertError> {
        let block = self.allocate(bytes.len() + extra);
        if block.is_null() {
            return Err(ConvertError::Memory { count: bytes.len(), element: 1 });
        }
        // SAFETY: the new block has `bytes.len() + extra` bytes and overlaps nothing.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.cast(), bytes.len());
            block.cast::<u8>().add(bytes.len()).write_bytes(0, extra);
        }
        Ok(block)
    }
}

impl VariableSink for Heap {
    fn store(&self, items: &[u8], count: usize, descriptor: &mut [u8]) -> Result<(), ConvertError> {
        if let Ok(element) = <&mut [u8; 8]>::try_from(&mut *descriptor) {
            *element = (self.copy(items, 1)? as usize).to_ne_bytes();
            return Ok(());
        }
        let (length, pointer) = descriptor.split_first_chunk_mut::<8>().ok_or_else(invalid)?;
        let pointer: &mut [u8; 8] = pointer.try_into().map_err(|_| invalid())?;
        let block = if items.is_empty() { 0 } else { self.copy(items, 0)? as usize };
        *length = count.to_ne_bytes();
        *pointer = block.to_ne_bytes();
        Ok(())
    }

    fn store_null(&self, descriptor: &mut [u8]) -> Result<(), ConvertError> {
        descriptor.fill(0);
        Ok(())
    }
}

/// Returns the number of bytes that the variable-length data of one element occupies in memory.
pub fn data_bytes(datatype: &hyperslab::Datatype, element: &[u8]) -> u64 {
    use hyperslab::DatatypeClass;
    use hyperslab::datatype::VariableLengthKind;
    match &datatype.class {
        DatatypeClass::VariableLength(variable) => match variable.kind {
            VariableLengthKind::String { .. } => match string(element) {
                Some(pointer) if !pointer.is_null() => {
                    // SAFETY: the element was just read; its text ends with a zero byte.
                    let text = unsafe { CStr::from_ptr(pointer) };
                    hyperslab_exact::to_u64(text.to_bytes_with_nul().len())
                }
                _ => 0,
            },
            VariableLengthKind::Sequence => sequence(element).map_or(0, |found| {
                let size = variable.base.size as usize;
                let own = found.len.saturating_mul(size); // The data is in memory, so the product fits.
                let bytes = memory::bytes_of_user(found.p, own);
                let nested = bytes.chunks_exact(size.max(1)).map(|item| data_bytes(&variable.base, item));
                hyperslab_exact::to_u64(own) + nested.sum::<u64>()
            }),
        },
        DatatypeClass::Array(array) => {
            let size = (array.base.size as usize).max(1);
            element.chunks_exact(size).map(|item| data_bytes(&array.base, item)).sum()
        }
        DatatypeClass::Compound(compound) => {
            let part = |member: &hyperslab::datatype::Member| {
                let start = member.offset as usize;
                let bytes = element.get(start..)?.get(..member.datatype.size as usize)?;
                Some(data_bytes(&member.datatype, bytes))
            };
            compound.members.iter().filter_map(part).sum()
        }
        _ => 0,
    }
}
