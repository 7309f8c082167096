//! Functions for the creation lists of objects and groups, and for object copy lists.

use std::ffi::{c_int, c_uint, c_void};

use crate::ctypes::{herr_t, hid_t};
use crate::error::{Failure, Outcome};
use crate::export;
use crate::plist::callbacks::MergeCallback;
use crate::plist::{
    change_group_create, change_object_copy, change_object_create, group_create, object_copy, object_create,
};
use crate::pointer::{Out, Text};

/// The maximum number of attributes or links in compact storage that a creation list accepts.
const MAX_COMPACT: c_uint = 65_535;
/// The flag that an object tracks the creation order of links or attributes
/// (`H5P_CRT_ORDER_TRACKED`).
const TRACKED: c_uint = 1;
/// The flag that an object indexes the creation order of links or attributes
/// (`H5P_CRT_ORDER_INDEXED`).
const INDEXED: c_uint = 2;
/// All flags that `H5Pset_copy_object` accepts.
const COPY_ALL: c_uint = 0x3f;

/// Checks two limits for the number of links or attributes: the maximum in compact storage, and the
/// minimum in dense storage.
fn check_phase_change(max_compact: c_uint, min_dense: c_uint) -> Outcome<()> {
    if max_compact < min_dense {
        return Err(Failure::new(
            crate::error::codes::ARGS,
            crate::error::codes::BADRANGE,
            "the maximum compact number is below the minimum dense number",
        ));
    }
    if max_compact > MAX_COMPACT || min_dense > MAX_COMPACT {
        return Err(Failure::arguments(
            crate::error::codes::BADRANGE,
            "the maximum compact number and the minimum dense number must be below 65536",
        ));
    }
    Ok(())
}

/// Checks the flags of creation order tracking: all flags are known, and an indexed creation order
/// is also tracked.
fn check_order(flags: c_uint) -> Outcome<()> {
    if flags & !(TRACKED | INDEXED) != 0 {
        return Err(Failure::bad_value("unknown flags of a creation order"));
    }
    if flags & INDEXED != 0 && flags & TRACKED == 0 {
        return Err(Failure::bad_value("an indexed creation order must also be tracked"));
    }
    Ok(())
}

export! {
    /// Sets the maximum number of an object's attributes in compact storage and the minimum number
    /// in dense storage.
    fn H5Pset_attr_phase_change(plist_id: hid_t, max_compact: c_uint, min_dense: c_uint) -> herr_t {
        check_phase_change(max_compact, min_dense)?;
        change_object_create(plist_id, |it| {
            (it.max_compact, it.min_dense) = (max_compact, min_dense);
            Ok(0)
        })
    }

    /// Stores the maximum number of an object's attributes in compact storage and the minimum
    /// number in dense storage.
    fn H5Pget_attr_phase_change(plist_id: hid_t, max_compact: Out<c_uint>, min_dense: Out<c_uint>) -> herr_t {
        let list = object_create(plist_id)?;
        max_compact.put(list.max_compact);
        min_dense.put(list.min_dense);
        Ok(0)
    }

    /// Sets the flags of creation order tracking for the attributes of a new object.
    fn H5Pset_attr_creation_order(plist_id: hid_t, crt_order_flags: c_uint) -> herr_t {
        check_order(crt_order_flags)?;
        change_object_create(plist_id, |it| {
            it.attribute_order = crt_order_flags;
            Ok(0)
        })
    }

    /// Stores in `crt_order_flags` the flags of creation order tracking for the attributes of a new
    /// object.
    fn H5Pget_attr_creation_order(plist_id: hid_t, crt_order_flags: Out<c_uint>) -> herr_t {
        crt_order_flags.put(object_create(plist_id)?.attribute_order);
        Ok(0)
    }

    /// Sets whether new objects store times in their object header.
    fn H5Pset_obj_track_times(plist_id: hid_t, track_times: bool) -> herr_t {
        change_object_create(plist_id, |it| {
            it.track_times = track_times;
            Ok(0)
        })
    }

    /// Stores in `track_times` whether new objects store times in their object header.
    fn H5Pget_obj_track_times(plist_id: hid_t, track_times: Out<bool>) -> herr_t {
        track_times.put(object_create(plist_id)?.track_times);
        Ok(0)
    }

    /// Sets the size in bytes of the local heap of new groups.
    fn H5Pset_local_heap_size_hint(plist_id: hid_t, size_hint: usize) -> herr_t {
        change_group_create(plist_id, |it| {
            it.local_heap_size = size_hint;
            Ok(0)
        })
    }

    /// Stores in `size_hint` the size in bytes of the local heap of new groups.
    fn H5Pget_local_heap_size_hint(plist_id: hid_t, size_hint: Out<usize>) -> herr_t {
        size_hint.put(group_create(plist_id)?.local_heap_size);
        Ok(0)
    }

    /// Sets the maximum number of a group's links in compact storage and the minimum number in
    /// dense storage.
    fn H5Pset_link_phase_change(plist_id: hid_t, max_compact: c_uint, min_dense: c_uint) -> herr_t {
        check_phase_change(max_compact, min_dense)?;
        change_group_create(plist_id, |it| {
            (it.max_compact, it.min_dense) = (max_compact, min_dense);
            Ok(0)
        })
    }

    /// Stores the maximum number of a group's links in compact storage and the minimum number in
    /// dense storage.
    fn H5Pget_link_phase_change(plist_id: hid_t, max_compact: Out<c_uint>, min_dense: Out<c_uint>) -> herr_t {
        let list = group_create(plist_id)?;
        max_compact.put(list.max_compact);
        min_dense.put(list.min_dense);
        Ok(0)
    }

    /// Sets the expected number of links and the expected length of link names in new groups.
    fn H5Pset_est_link_info(plist_id: hid_t, est_num_entries: c_uint, est_name_len: c_uint) -> herr_t {
        if est_num_entries > MAX_COMPACT || est_name_len > MAX_COMPACT {
            return Err(Failure::arguments(
                crate::error::codes::BADRANGE,
                "the maximum compact number and the minimum dense number must be below 65536",
            ));
        }
        change_group_create(plist_id, |it| {
            (it.estimated_links, it.estimated_name_length) = (est_num_entries, est_name_len);
            Ok(0)
        })
    }

    /// Stores the expected number of links and the expected length of link names in new groups.
    fn H5Pget_est_link_info(plist_id: hid_t, est_num_entries: Out<c_uint>, est_name_len: Out<c_uint>) -> herr_t {
        let list = group_create(plist_id)?;
        est_num_entries.put(list.estimated_links);
        est_name_len.put(list.estimated_name_length);
        Ok(0)
    }

    /// Sets the flags of creation order tracking for the links of a new group.
    fn H5Pset_link_creation_order(plist_id: hid_t, crt_order_flags: c_uint) -> herr_t {
        check_order(crt_order_flags)?;
        change_group_create(plist_id, |it| {
            it.link_order = crt_order_flags;
            Ok(0)
        })
    }

    /// Stores in `crt_order_flags` the flags of creation order tracking for the links of a new
    /// group.
    fn H5Pget_link_creation_order(plist_id: hid_t, crt_order_flags: Out<c_uint>) -> herr_t {
        crt_order_flags.put(group_create(plist_id)?.link_order);
        Ok(0)
    }
}

export! {
    /// Sets the copy flags of `H5Ocopy` (`H5O_COPY_*`) in an object copy list.
    fn H5Pset_copy_object(plist_id: hid_t, copy_options: c_uint) -> herr_t {
        if copy_options & !COPY_ALL != 0 {
            return Err(Failure::bad_value("unknown flags of a copy"));
        }
        change_object_copy(plist_id, |it| {
            it.flags = copy_options;
            Ok(0)
        })
    }

    /// Stores in `copy_options` the copy flags of `H5Ocopy` from an object copy list.
    fn H5Pget_copy_object(plist_id: hid_t, copy_options: Out<c_uint>) -> herr_t {
        copy_options.put(object_copy(plist_id)?.flags);
        Ok(0)
    }

    /// Adds the path of a committed datatype that `H5Ocopy` may reuse.
    fn H5Padd_merge_committed_dtype_path(plist_id: hid_t, path: Text) -> herr_t {
        let path = path.name("path")?;
        change_object_copy(plist_id, |it| {
            it.merge_paths.push(path.to_vec());
            Ok(0)
        })
    }

    /// Removes all paths of committed datatypes that `H5Ocopy` may reuse.
    fn H5Pfree_merge_committed_dtype_paths(plist_id: hid_t) -> herr_t {
        change_object_copy(plist_id, |it| {
            it.merge_paths.clear();
            Ok(0)
        })
    }

    /// Sets the user's function that decides how `H5Ocopy` searches for equal committed datatypes.
    fn H5Pset_mcdt_search_cb(
        plist_id: hid_t,
        func: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
        op_data: *mut c_void,
    ) -> herr_t {
        if func.is_none() && !op_data.is_null() {
            return Err(Failure::bad_value("callback data was passed without a callback function"));
        }
        change_object_copy(plist_id, |it| {
            it.merge_callback = MergeCallback { function: func, data: op_data };
            Ok(0)
        })
    }

    /// Stores the user's function that decides how `H5Ocopy` searches for equal committed
    /// datatypes.
    fn H5Pget_mcdt_search_cb(
        plist_id: hid_t,
        func: Out<Option<unsafe extern "C" fn(*mut c_void) -> c_int>>,
        op_data: Out<*mut c_void>,
    ) -> herr_t {
        let callback = object_copy(plist_id)?.merge_callback;
        func.put(callback.function);
        op_data.put(callback.data);
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::H5Pcreate;

    #[test]
    fn values_are_validated() {
        // SAFETY: the calls have no pointers.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_GROUP_CREATE);
            assert_eq!(H5Pset_link_creation_order(list, INDEXED), -1);
            assert_eq!(H5Pset_link_creation_order(list, INDEXED | TRACKED), 0);
            assert_eq!(group_create(list).expect("list").link_order, 3);
            assert_eq!(H5Pset_attr_phase_change(list, 3, 4), -1);
            assert_eq!(H5Pset_attr_phase_change(list, 5, 4), 0);
            assert_eq!(object_create(list).expect("list").max_compact, 5);
            assert_eq!(H5Pset_copy_object(list, 1), -1, "a list of another class");
            let copy = H5Pcreate(crate::symbols::CLASS_OBJECT_COPY);
            assert_eq!((H5Pset_copy_object(copy, 0x40), H5Pset_copy_object(copy, 0x21)), (-1, 0));
        }
    }
}
