//! The asynchronous functions (`H5*_async`): each operation completes before the call returns, and
//! is counted in its event set.

use std::ffi::{c_int, c_uint, c_void};

use crate::ctypes::{ConstText, herr_t, hid_t, hsize_t};
use crate::export::Returned;
use crate::h5a::{
    H5Aclose, H5Acreate_by_name, H5Acreate2, H5Aopen, H5Aopen_by_idx, H5Aopen_by_name, H5Aread, H5Arename,
    H5Arename_by_name, H5Awrite,
};
use crate::h5a::{H5Aexists, H5Aexists_by_name};
use crate::h5d::{
    H5Dclose, H5Dcreate2, H5Dget_space, H5Dopen2, H5Dread, H5Dread_multi, H5Dset_extent, H5Dwrite,
    H5Dwrite_multi,
};
use crate::h5f::{H5Fclose, H5Fcreate, H5Fflush, H5Fopen, H5Freopen};
use crate::h5g::H5G_info_t;
use crate::h5g::{H5Gclose, H5Gcreate2, H5Gget_info, H5Gget_info_by_idx, H5Gget_info_by_name, H5Gopen2};
use crate::h5l::H5Lexists;
use crate::h5l::{H5Lcreate_hard, H5Lcreate_soft, H5Ldelete};
use crate::h5l_info::Visit2;
use crate::h5l_info::{H5Ldelete_by_idx, H5Literate2};
use crate::h5o::{H5Oclose, H5Ocopy, H5Oflush, H5Oopen, H5Oopen_by_idx, H5Orefresh};
use crate::h5o_info::H5Oget_info_by_name3;
use crate::h5o_structs::H5O_info2_t;
use crate::h5r_new::H5R_ref_t;
use crate::h5r_new::{H5Ropen_attr, H5Ropen_object, H5Ropen_region};

use crate::h5t_commit::{H5Tcommit2, H5Topen2};
use crate::pointer::{Buffer, Data, In, Out, Text};

/// Counts a successful asynchronous operation in its event set and returns the operation's result.
///
/// The operation is complete, so nothing needs the event set: as in libhdf5 with its native
/// connector, an identifier that does not refer to an event set is no error.
fn finish<T: Returned + PartialEq>(set: hid_t, result: T) -> T {
    if result != T::FAILURE {
        crate::h5es::count(set);
    }
    result
}

/// Defines each asynchronous function by the synchronous function of the same name without
/// `_async`.
macro_rules! asynchronous {
    ($($name:ident $function:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        /// Calls the synchronous function of the same name without `_async` and counts the call in
        /// `event_set`.
        ///
        /// # Safety
        /// The arguments are as the C function requires; see [`crate::pointer`].
        #[expect(unsafe_code, reason = "the function is called from C by its name")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            file: ConstText,
            function: ConstText,
            line: c_uint,
            $($argument: $type,)*
            event_set: hid_t,
        ) -> $result {
            let _ = (file, function, line);
            // SAFETY: the caller of the asynchronous function makes the same promises for these
            // arguments.
            finish(event_set, unsafe { $function($($argument),*) })
        }
    )*};
}

asynchronous! {
    H5Aclose_async H5Aclose(attribute_id: hid_t) -> herr_t;
    H5Acreate_async H5Acreate2(loc: hid_t, name: Text, type_id: hid_t, space_id: hid_t, acpl: hid_t, aapl: hid_t) -> hid_t;
    H5Acreate_by_name_async H5Acreate_by_name(loc: hid_t, object: Text, name: Text, type_id: hid_t, space_id: hid_t, acpl: hid_t, aapl: hid_t, lapl: hid_t) -> hid_t;
    H5Aopen_async H5Aopen(loc: hid_t, name: Text, aapl: hid_t) -> hid_t;
    H5Aopen_by_idx_async H5Aopen_by_idx(loc: hid_t, object: Text, index: c_int, order: c_int, number: hsize_t, aapl: hid_t, lapl: hid_t) -> hid_t;
    H5Aopen_by_name_async H5Aopen_by_name(loc: hid_t, object: Text, name: Text, aapl: hid_t, lapl: hid_t) -> hid_t;
    H5Aread_async H5Aread(attribute_id: hid_t, type_id: hid_t, buffer: Buffer) -> herr_t;
    H5Arename_async H5Arename(loc: hid_t, from: Text, to: Text) -> herr_t;
    H5Arename_by_name_async H5Arename_by_name(loc: hid_t, object: Text, from: Text, to: Text, lapl: hid_t) -> herr_t;
    H5Awrite_async H5Awrite(attribute_id: hid_t, type_id: hid_t, buffer: Data) -> herr_t;
    H5Dclose_async H5Dclose(dataset_id: hid_t) -> herr_t;
    H5Dcreate_async H5Dcreate2(loc: hid_t, name: Text, type_id: hid_t, space_id: hid_t, lcpl: hid_t, dcpl: hid_t, dapl: hid_t) -> hid_t;
    H5Dget_space_async H5Dget_space(dataset_id: hid_t) -> hid_t;
    H5Dopen_async H5Dopen2(loc: hid_t, name: Text, dapl: hid_t) -> hid_t;
    H5Dread_async H5Dread(dataset_id: hid_t, mem_type: hid_t, mem_space: hid_t, file_space: hid_t, dxpl: hid_t, buffer: Buffer) -> herr_t;
    H5Dread_multi_async H5Dread_multi(count: usize, datasets: In<hid_t>, mem_types: In<hid_t>, mem_spaces: In<hid_t>, file_spaces: In<hid_t>, dxpl: hid_t, buffers: In<Buffer>) -> herr_t;
    H5Dset_extent_async H5Dset_extent(dataset_id: hid_t, dims: In<hsize_t>) -> herr_t;
    H5Dwrite_async H5Dwrite(dataset_id: hid_t, mem_type: hid_t, mem_space: hid_t, file_space: hid_t, dxpl: hid_t, buffer: Data) -> herr_t;
    H5Dwrite_multi_async H5Dwrite_multi(count: usize, datasets: In<hid_t>, mem_types: In<hid_t>, mem_spaces: In<hid_t>, file_spaces: In<hid_t>, dxpl: hid_t, buffers: In<Data>) -> herr_t;
    H5Fclose_async H5Fclose(file_id: hid_t) -> herr_t;
    H5Fcreate_async H5Fcreate(name: Text, flags: c_uint, fcpl: hid_t, fapl: hid_t) -> hid_t;
    H5Fflush_async H5Fflush(object: hid_t, scope: c_int) -> herr_t;
    H5Fopen_async H5Fopen(name: Text, flags: c_uint, fapl: hid_t) -> hid_t;
    H5Freopen_async H5Freopen(file_id: hid_t) -> hid_t;
    H5Gclose_async H5Gclose(group: hid_t) -> herr_t;
    H5Gcreate_async H5Gcreate2(loc: hid_t, name: Text, lcpl: hid_t, gcpl: hid_t, gapl: hid_t) -> hid_t;
    H5Gget_info_async H5Gget_info(loc: hid_t, info: Out<H5G_info_t>) -> herr_t;
    H5Gget_info_by_idx_async H5Gget_info_by_idx(loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t, info: Out<H5G_info_t>, lapl: hid_t) -> herr_t;
    H5Gget_info_by_name_async H5Gget_info_by_name(loc: hid_t, name: Text, info: Out<H5G_info_t>, lapl: hid_t) -> herr_t;
    H5Gopen_async H5Gopen2(loc: hid_t, name: Text, gapl: hid_t) -> hid_t;
    H5Lcreate_hard_async H5Lcreate_hard(from: hid_t, source: Text, to: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> herr_t;
    H5Lcreate_soft_async H5Lcreate_soft(target: Text, loc: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> herr_t;
    H5Ldelete_async H5Ldelete(loc: hid_t, name: Text, lapl: hid_t) -> herr_t;
    H5Ldelete_by_idx_async H5Ldelete_by_idx(loc: hid_t, group: Text, index: c_int, order: c_int, number: hsize_t, lapl: hid_t) -> herr_t;
    H5Literate_async H5Literate2(loc: hid_t, index: c_int, order: c_int, position: Out<hsize_t>, op: Option<Visit2>, data: *mut c_void) -> herr_t;
    H5Oclose_async H5Oclose(object: hid_t) -> herr_t;
    H5Ocopy_async H5Ocopy(source: hid_t, name: Text, target: hid_t, new: Text, ocpypl: hid_t, lcpl: hid_t) -> herr_t;
    H5Oflush_async H5Oflush(object: hid_t) -> herr_t;
    H5Oget_info_by_name_async H5Oget_info_by_name3(loc: hid_t, name: Text, info: Out<H5O_info2_t>, fields: c_uint, lapl: hid_t) -> herr_t;
    H5Oopen_async H5Oopen(loc: hid_t, name: Text, lapl: hid_t) -> hid_t;
    H5Oopen_by_idx_async H5Oopen_by_idx(loc: hid_t, name: Text, index: c_int, order: c_int, number: hsize_t, lapl: hid_t) -> hid_t;
    H5Orefresh_async H5Orefresh(object: hid_t) -> herr_t;
    H5Ropen_attr_async H5Ropen_attr(reference: In<H5R_ref_t>, rapl: hid_t, aapl: hid_t) -> hid_t;
    H5Ropen_object_async H5Ropen_object(reference: In<H5R_ref_t>, rapl: hid_t, oapl: hid_t) -> hid_t;
    H5Ropen_region_async H5Ropen_region(reference: In<H5R_ref_t>, rapl: hid_t, oapl: hid_t) -> hid_t;
    H5Tcommit_async H5Tcommit2(loc: hid_t, name: Text, type_id: hid_t, lcpl: hid_t, tcpl: hid_t, tapl: hid_t) -> herr_t;
    H5Topen_async H5Topen2(loc: hid_t, name: Text, tapl: hid_t) -> hid_t;
}

/// Defines asynchronous functions that write a truth value through a pointer instead of returning
/// the value.
macro_rules! asynchronous_questions {
    ($($name:ident $function:ident($($before:ident: $before_type:ty),*; $($after:ident: $after_type:ty),*);)*) => {$(
        /// Calls the synchronous function of the same name without `_async` and writes its result
        /// through the pointer `exists`.
        ///
        /// # Safety
        /// The arguments are as the C function requires; see [`crate::pointer`].
        #[expect(unsafe_code, reason = "the function is called from C by its name")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            file: ConstText,
            function: ConstText,
            line: c_uint,
            $($before: $before_type,)*
            exists: Out<bool>,
            $($after: $after_type,)*
            event_set: hid_t,
        ) -> herr_t {
            let _ = (file, function, line);
            // SAFETY: the caller of the asynchronous function makes the same promises for these
            // arguments.
            let result = unsafe { $function($($before,)* $($after),*) };
            exists.put(result > 0);
            finish(event_set, if result < 0 { -1 } else { 0 })
        }
    )*};
}

asynchronous_questions! {
    H5Aexists_async H5Aexists(object: hid_t, name: Text; );
    H5Aexists_by_name_async H5Aexists_by_name(loc: hid_t, object: Text, name: Text; lapl: hid_t);
    H5Lexists_async H5Lexists(loc: hid_t, name: Text; lapl: hid_t);
}
