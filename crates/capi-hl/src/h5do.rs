//! Writes at the end of a dataset, and encoded chunks (`H5DO*`).

use std::ffi::{c_uint, c_void};

use crate::ctypes::{H5P_DEFAULT, H5S_SELECT_SET, herr_t, hid_t, hsize_t};
use crate::export::call_user;
use crate::failure::{Failure, Outcome, check, truth};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, In, Out};
use crate::{export, object, sys};

export! {
    /// Extends the dimension `axis` of a dataset and writes the new elements. If the dimension
    /// reaches a boundary that the access properties state, calls the user's function and flushes.
    fn H5DOappend(dset_id: hid_t, dxpl_id: hid_t, axis: c_uint, extension: usize, memtype: hid_t, buf: Data) -> herr_t {
        object::require_dataset(dset_id)?;
        if dxpl_id != H5P_DEFAULT && !truth(sys::H5Pisa_class(dxpl_id, sys::H5P_CLS_DATASET_XFER_ID_g))? {
            return Err(Failure::bad_type("not a transfer property list"));
        }
        let axis = hyperslab_exact::to_usize(u64::from(axis)).map_err(|_| Failure::bad_range("axis"))?;
        append(dset_id, dxpl_id, axis, hyperslab_exact::to_u64(extension), memtype, buf)?;
        Ok(0)
    }

    /// Writes an encoded chunk.
    fn H5DOwrite_chunk(dset_id: hid_t, dxpl_id: hid_t, filters: u32, offset: In<hsize_t>, data_size: usize, buf: Data) -> herr_t {
        check(sys::H5Dwrite_chunk(dset_id, dxpl_id, filters, offset, data_size, buf))
    }

    /// Reads an encoded chunk.
    fn H5DOread_chunk(dset_id: hid_t, dxpl_id: hid_t, offset: In<hsize_t>, filters: Out<u32>, buf: Buffer) -> herr_t {
        check(sys::H5Dread_chunk1(dset_id, dxpl_id, offset, filters, buf))
    }
}

fn append(
    dataset: hid_t,
    dxpl: hid_t,
    axis: usize,
    extension: hsize_t,
    memtype: hid_t,
    buf: Data,
) -> Outcome<()> {
    let before = object::dataset_dims(dataset)?;
    let held = *before.get(axis).ok_or_else(|| Failure::bad_range("the dataset has no such axis"))?;
    let grown = held.checked_add(extension).ok_or_else(|| Failure::bad_range("the new size is too large"))?;
    let replaced = |dims: &[hsize_t], value| -> Vec<hsize_t> {
        dims.iter().enumerate().map(|(at, dim)| if at == axis { value } else { *dim }).collect()
    };
    let mut after = replaced(&before, grown);
    check(sys::H5Dset_extent(dataset, In::to(&after)))?;
    let file = Id::own(sys::H5Dget_space(dataset))?;
    let start = replaced(&vec![0; before.len()], held);
    let count = replaced(&before, extension);
    let (from, number) = (In::to(&start), In::to(&count));
    check(sys::H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, from, In::null(), number, In::null()))?;
    let elements = check(sys::H5Sget_select_npoints(file.get()))?;
    let memory = object::space(&[elements.cast_unsigned()])?;
    check(sys::H5Dwrite(dataset, memtype, memory.get(), file.get(), dxpl, buf))?;
    at_boundary(dataset, axis, held, &mut after)
}

/// Calls the user's function and flushes the dataset if the new dimensions have reached a boundary.
fn at_boundary(dataset: hid_t, axis: usize, held: hsize_t, dims: &mut [hsize_t]) -> Outcome<()> {
    let list = Id::own(sys::H5Dget_access_plist(dataset))?;
    let rank = c_uint::try_from(dims.len()).map_err(|_| Failure::bad_range("too many dimensions"))?;
    let mut boundaries = vec![0; dims.len()];
    let mut function: Option<sys::AppendFlush> = None;
    let mut data: *mut c_void = std::ptr::null_mut();
    let (to, of, with) = (Out::to(&mut boundaries), Out::one(&mut function), Out::one(&mut data));
    check(sys::H5Pget_append_flush(list.get(), rank, to, of, with))?;
    let (Some(boundary), Some(grown)) = (boundaries.get(axis), dims.get(axis)) else { return Ok(()) };
    if *boundary == 0 || held / boundary == grown / boundary {
        return Ok(());
    }
    if let Some(function) = function {
        check(call_user!(function, dataset, dims.as_mut_ptr(), data))?;
    }
    check(sys::H5Dflush(dataset)).map(drop)
}
