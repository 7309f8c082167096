//! Functions for dataset access lists.

use std::ffi::{c_int, c_uint, c_void};

use crate::ctypes::{H5S_UNLIMITED, counted, herr_t, hid_t, hsize_t};
use crate::error::Failure;
use crate::export;
use crate::h5p::{copy_optional_text, optional_text};
use crate::plist::callbacks::{AppendFlush, AppendFunction};
use crate::plist::settings::{FileAccess, UNSET_SIZE};
use crate::plist::{change_dataset_access, dataset_access};
use crate::pointer::{In, Out, Text, TextBuffer};

/// The C type of a user's function that the library calls when appended data reaches a boundary.
pub type AppendCallback = unsafe extern "C" fn(hid_t, *mut hsize_t, *mut c_void) -> herr_t;

export! {
    /// Sets the chunk cache of datasets in a dataset access list. A size with all bits set, or a
    /// negative factor, stands for the setting of the file.
    fn H5Pset_chunk_cache(dapl_id: hid_t, rdcc_nslots: usize, rdcc_nbytes: usize, rdcc_w0: f64) -> herr_t {
        if rdcc_w0 > 1.0 || rdcc_w0.is_nan() {
            return Err(Failure::bad_value("the preemption factor must be from 0 to 1, or negative"));
        }
        change_dataset_access(dapl_id, |it| {
            it.cache_slots = Some(rdcc_nslots).filter(|size| *size != UNSET_SIZE);
            it.cache_bytes = Some(rdcc_nbytes).filter(|size| *size != UNSET_SIZE);
            it.cache_preemption = Some(rdcc_w0).filter(|factor| *factor >= 0.0);
            Ok(0)
        })
    }

    /// Stores the chunk cache parameters of a dataset access list. If the list lacks a parameter,
    /// stores the default parameter of files.
    fn H5Pget_chunk_cache(
        dapl_id: hid_t,
        rdcc_nslots: Out<usize>,
        rdcc_nbytes: Out<usize>,
        rdcc_w0: Out<f64>,
    ) -> herr_t {
        let list = dataset_access(dapl_id)?;
        let default = FileAccess::default().cache;
        rdcc_nslots.put(list.cache_slots.unwrap_or(default.slots));
        rdcc_nbytes.put(list.cache_bytes.unwrap_or(default.bytes));
        rdcc_w0.put(list.cache_preemption.unwrap_or(default.preemption));
        Ok(0)
    }

    /// Sets the view of unlimited virtual datasets in a dataset access list. The view determines if
    /// their current dimensions end at the first missing source element or after the last available
    /// one.
    fn H5Pset_virtual_view(dapl_id: hid_t, view: c_int) -> herr_t {
        if view != 0 && view != 1 {
            return Err(Failure::bad_value("unknown view of a virtual dataset"));
        }
        change_dataset_access(dapl_id, |it| {
            it.virtual_view = view;
            Ok(0)
        })
    }

    /// Stores in `view` the view of unlimited virtual datasets. The view determines if their
    /// current dimensions end at the first missing source element or after the last available one.
    fn H5Pget_virtual_view(dapl_id: hid_t, view: Out<c_int>) -> herr_t {
        view.put(dataset_access(dapl_id)?.virtual_view);
        Ok(0)
    }

    /// Sets the gap of unlimited virtual datasets in a dataset access list: the maximum number of
    /// missing source datasets in a row that are skipped.
    fn H5Pset_virtual_printf_gap(dapl_id: hid_t, gap_size: hsize_t) -> herr_t {
        if gap_size == H5S_UNLIMITED {
            return Err(Failure::bad_value("the number of missing sources must not be unlimited"));
        }
        change_dataset_access(dapl_id, |it| {
            it.virtual_gap = gap_size;
            Ok(0)
        })
    }

    /// Stores in `gap_size` the gap of unlimited virtual datasets: the maximum number of missing
    /// source datasets in a row that are skipped.
    fn H5Pget_virtual_printf_gap(dapl_id: hid_t, gap_size: Out<hsize_t>) -> herr_t {
        gap_size.put(dataset_access(dapl_id)?.virtual_gap);
        Ok(0)
    }

    /// Sets whether a spatial tree speeds up the search for mappings of a virtual dataset.
    fn H5Pset_virtual_spatial_tree(dcpl_id: hid_t, use_tree: bool) -> herr_t {
        change_dataset_access(dcpl_id, |it| {
            it.virtual_tree = use_tree;
            Ok(0)
        })
    }

    /// Stores in `use_tree` whether a spatial tree speeds up the search for mappings of a virtual
    /// dataset.
    fn H5Pget_virtual_spatial_tree(dcpl_id: hid_t, use_tree: Out<bool>) -> herr_t {
        use_tree.put(dataset_access(dcpl_id)?.virtual_tree);
        Ok(0)
    }

    /// Sets the folder that contains the source files of virtual datasets, in a dataset access
    /// list.
    fn H5Pset_virtual_prefix(dapl_id: hid_t, prefix: Text) -> herr_t {
        change_dataset_access(dapl_id, |it| {
            it.virtual_prefix = optional_text(prefix);
            Ok(0)
        })
    }

    /// Copies the name of the folder of virtual datasets' source files to `prefix` and returns its
    /// length.
    fn H5Pget_virtual_prefix(dapl_id: hid_t, prefix: TextBuffer, size: usize) -> isize {
        copy_optional_text(dataset_access(dapl_id)?.virtual_prefix.as_deref(), prefix, size)
    }

    /// Sets the folder that contains external raw data files, in a dataset access list.
    fn H5Pset_efile_prefix(dapl_id: hid_t, prefix: Text) -> herr_t {
        change_dataset_access(dapl_id, |it| {
            it.external_prefix = optional_text(prefix);
            Ok(0)
        })
    }

    /// Copies the name of the folder of external raw data files to `prefix` and returns its length.
    fn H5Pget_efile_prefix(dapl_id: hid_t, prefix: TextBuffer, size: usize) -> isize {
        copy_optional_text(dataset_access(dapl_id)?.external_prefix.as_deref(), prefix, size)
    }

    /// Sets a callback for appended data in a dataset access list, and the boundary in each
    /// dimension at which the library calls it.
    fn H5Pset_append_flush(
        dapl_id: hid_t,
        ndims: c_uint,
        boundary: In<hsize_t>,
        func: Option<AppendCallback>,
        udata: *mut c_void,
    ) -> herr_t {
        let rank = usize::try_from(ndims).ok().filter(|rank| (1..=32).contains(rank));
        let rank = rank.ok_or_else(|| Failure::bad_value("the rank must be from 1 to 32"))?;
        let boundary = boundary.array(rank, "boundary")?.to_vec();
        if func.is_none() && !udata.is_null() {
            return Err(Failure::bad_value("callback data was passed without a callback function"));
        }
        if boundary.iter().any(|size| u32::try_from(*size).is_err()) {
            return Err(Failure::bad_value("each boundary of the append callback must be below 2^32"));
        }
        change_dataset_access(dapl_id, |it| {
            it.append_flush = AppendFlush { boundary, function: AppendFunction { function: func, data: udata } };
            Ok(0)
        })
    }

    /// Stores a dataset access list's callback for appended data, and the boundary for each
    /// dimension.
    fn H5Pget_append_flush(
        dapl_id: hid_t,
        dims: c_uint,
        boundary: Out<hsize_t>,
        func: Out<Option<AppendCallback>>,
        udata: Out<*mut c_void>,
    ) -> herr_t {
        let append = dataset_access(dapl_id)?.append_flush;
        let rank = counted::<usize, _>(dims)?.min(32);
        let mut values = append.boundary;
        values.resize(rank, 0);
        boundary.fill(&values, rank)?;
        func.put(append.function.function);
        udata.put(append.function.data);
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::H5Pcreate;

    #[test]
    fn caches_have_values_of_the_file() {
        // SAFETY: the calls have no pointers.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_DATASET_ACCESS);
            assert_eq!(H5Pset_chunk_cache(list, 1, 2, 1.5), -1);
            assert_eq!(H5Pset_chunk_cache(list, 1, usize::MAX, -1.0), 0);
            let access = dataset_access(list).expect("list");
            assert_eq!((access.cache_slots, access.cache_bytes), (Some(1), None));
            assert_eq!((H5Pset_virtual_view(list, 2), H5Pset_virtual_view(list, 0)), (-1, 0));
            assert_eq!(crate::h5p_links::H5Pset_nlinks(list, 4), 0);
        }
    }
}
