//! Transfers between memory buffers and functions of the user (`H5Dscatter`, `H5Dgather`).

use std::ffi::c_void;

use super::elements;
use crate::call_user;
use crate::ctypes::{herr_t, hid_t};
use crate::datatype;
use crate::error::{Failure, Outcome, codes};
use crate::pointer::Buffer;
use crate::space;

/// The C type of a user's function that supplies elements for `H5Dscatter` (`H5D_scatter_func_t`).
pub type ScatterFunction = unsafe extern "C" fn(*mut *const c_void, *mut usize, *mut c_void) -> herr_t;
/// The C type of a user's function that receives elements from `H5Dgather` (`H5D_gather_func_t`).
pub type GatherFunction = unsafe extern "C" fn(*const c_void, usize, *mut c_void) -> herr_t;

/// Calls a user's function that supplies elements, and copies them to the selected elements of a
/// memory buffer.
///
/// # Errors
/// Fails if the function of the user fails or is missing, or if a buffer is too small.
pub fn scatter(
    function: Option<ScatterFunction>,
    data: Buffer,
    type_id: hid_t,
    space_id: hid_t,
    target: Buffer,
) -> Outcome<()> {
    let function = function.ok_or_else(|| Failure::bad_value("invalid callback function"))?;
    let size = datatype::copy_of(type_id)?.size as usize;
    let runs = elements::runs(&space::copy_of(space_id)?)?;
    let memory = target.bytes(elements::bytes(elements::end(&runs)?, size)?, "destination buffer")?;
    let count: u64 = runs.iter().map(|(_, count)| count).sum();
    let wanted = elements::bytes(hyperslab_exact::to_usize(count)?, size)?;
    let mut packed = Vec::with_capacity(wanted.min(1 << 20));
    while packed.len() < wanted {
        let (mut source, mut length) = (std::ptr::null(), 0_usize);
        if call_user!(function, &raw mut source, &raw mut length, data.pointer()) < 0 {
            return Err(Failure::new(codes::DATASET, codes::CALLBACK, "scatter operation failed"));
        }
        if length == 0 || length % size.max(1) != 0 || length > wanted - packed.len() {
            return Err(Failure::new(codes::DATASET, codes::BADVALUE, "invalid size of scattered elements"));
        }
        packed.extend_from_slice(crate::memory::bytes_of_user(source, length));
    }
    elements::scatter(&packed, memory, &runs, size)
}

/// Copies the selected elements of a memory buffer to a contiguous buffer and passes them to a
/// user's function.
///
/// # Errors
/// Fails if the function of the user fails or is missing, or if a buffer is too small.
pub fn gather(
    space_id: hid_t,
    source: Buffer,
    type_id: hid_t,
    (size, target): (usize, Buffer),
    function: Option<GatherFunction>,
    data: Buffer,
) -> Outcome<()> {
    let element = datatype::copy_of(type_id)?.size as usize;
    let runs = elements::runs(&space::copy_of(space_id)?)?;
    let memory = source.bytes(elements::bytes(elements::end(&runs)?, element)?, "source buffer")?;
    let packed = elements::gather(memory, &runs, element)?;
    let per_call = (size / element.max(1)) * element;
    if per_call == 0 {
        return Err(Failure::bad_value("the destination buffer is smaller than an element"));
    }
    if function.is_none() && packed.len() > per_call {
        return Err(Failure::bad_value("no callback function, and the destination buffer is too small"));
    }
    for part in packed.chunks(per_call) {
        target.put(part, size);
        if let Some(function) = function
            && call_user!(function, target.pointer().cast_const(), part.len(), data.pointer()) < 0
        {
            return Err(Failure::new(codes::DATASET, codes::CALLBACK, "gather operation failed"));
        }
    }
    Ok(())
}
