//! The functions and data symbols of `libhdf5.so` that this library uses, by their C names.
//!
//! The functions are safe to call, because their pointer arguments have the types of
//! [`mod@crate::pointer`], and `libhdf5.so` checks each identifier.

#![expect(unsafe_code, reason = "this module declares the functions of `libhdf5.so`")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::ctypes::{H5O_info2_t, herr_t, hid_t, hsize_t, hssize_t, htri_t};
use crate::pointer::{Buffer, Data, In, Out, Text};

/// A function that releases the object of an identifier.
pub type Free = extern "C" fn(*mut c_void, *mut *mut c_void) -> herr_t;
/// A function of the user that a write at the end of a dataset calls.
pub type AppendFlush = unsafe extern "C" fn(hid_t, *mut hsize_t, *mut c_void) -> herr_t;

// SAFETY: the prototypes are those of the C headers in `crates/capi/include`. A pointer argument
// comes from a C caller, who promises what the documentation of the function states, or from a
// slice of this library with the size that the call states.
unsafe extern "C" {
    /// Calls `H5open` of the C interface.
    pub safe fn H5open() -> herr_t;
    /// Calls `H5Idec_ref` of the C interface.
    pub safe fn H5Idec_ref(id: hid_t) -> c_int;
    /// Calls `H5Iget_type` of the C interface.
    pub safe fn H5Iget_type(id: hid_t) -> c_int;
    /// Calls `H5Iregister_type2` of the C interface.
    pub safe fn H5Iregister_type2(reserved: c_uint, free: Option<Free>) -> c_int;
    /// Calls `H5Iregister` of the C interface.
    pub safe fn H5Iregister(kind: c_int, object: *mut c_void) -> hid_t;
    /// Calls `H5Iobject_verify` of the C interface.
    pub safe fn H5Iobject_verify(id: hid_t, kind: c_int) -> *mut c_void;
    /// Calls `H5Iremove_verify` of the C interface.
    pub safe fn H5Iremove_verify(id: hid_t, kind: c_int) -> *mut c_void;
    /// Calls `H5Epush1` of the C interface.
    pub safe fn H5Epush1(
        file: Text,
        function: Text,
        line: c_uint,
        major: hid_t,
        minor: hid_t,
        text: Text,
    ) -> herr_t;
    /// Calls `H5free_memory` of the C interface.
    pub safe fn H5free_memory(memory: *mut c_void) -> herr_t;
    /// Calls `H5Aclose` of the C interface.
    pub safe fn H5Aclose(attribute: hid_t) -> herr_t;
    /// Calls `H5Acreate2` of the C interface.
    pub safe fn H5Acreate2(
        object: hid_t,
        name: Text,
        datatype: hid_t,
        space: hid_t,
        acpl: hid_t,
        aapl: hid_t,
    ) -> hid_t;
    /// Calls `H5Adelete` of the C interface.
    pub safe fn H5Adelete(object: hid_t, name: Text) -> herr_t;
    /// Calls `H5Aexists` of the C interface.
    pub safe fn H5Aexists(object: hid_t, name: Text) -> htri_t;
    /// Calls `H5Aget_space` of the C interface.
    pub safe fn H5Aget_space(attribute: hid_t) -> hid_t;
    /// Calls `H5Aget_type` of the C interface.
    pub safe fn H5Aget_type(attribute: hid_t) -> hid_t;
    /// Calls `H5Aopen` of the C interface.
    pub safe fn H5Aopen(object: hid_t, name: Text, aapl: hid_t) -> hid_t;
    /// Calls `H5Aread` of the C interface.
    pub safe fn H5Aread(attribute: hid_t, datatype: hid_t, memory: Buffer) -> herr_t;
    /// Calls `H5Awrite` of the C interface.
    pub safe fn H5Awrite(attribute: hid_t, datatype: hid_t, memory: Data) -> herr_t;
    /// Calls `H5Dcreate2` of the C interface.
    pub safe fn H5Dcreate2(
        location: hid_t,
        name: Text,
        datatype: hid_t,
        space: hid_t,
        lcpl: hid_t,
        dcpl: hid_t,
        dapl: hid_t,
    ) -> hid_t;
    /// Calls `H5Dcreate_anon` of the C interface.
    pub safe fn H5Dcreate_anon(
        location: hid_t,
        datatype: hid_t,
        space: hid_t,
        dcpl: hid_t,
        dapl: hid_t,
    ) -> hid_t;
    /// Calls `H5Dflush` of the C interface.
    pub safe fn H5Dflush(dataset: hid_t) -> herr_t;
    /// Calls `H5Dget_access_plist` of the C interface.
    pub safe fn H5Dget_access_plist(dataset: hid_t) -> hid_t;
    /// Calls `H5Dget_create_plist` of the C interface.
    pub safe fn H5Dget_create_plist(dataset: hid_t) -> hid_t;
    /// Calls `H5Dget_space` of the C interface.
    pub safe fn H5Dget_space(dataset: hid_t) -> hid_t;
    /// Calls `H5Dget_type` of the C interface.
    pub safe fn H5Dget_type(dataset: hid_t) -> hid_t;
    /// Calls `H5Dopen2` of the C interface.
    pub safe fn H5Dopen2(location: hid_t, name: Text, dapl: hid_t) -> hid_t;
    /// Calls `H5Dread` of the C interface.
    pub safe fn H5Dread(
        dataset: hid_t,
        datatype: hid_t,
        memory_space: hid_t,
        file_space: hid_t,
        dxpl: hid_t,
        memory: Buffer,
    ) -> herr_t;
    /// Calls `H5Dread_chunk1` of the C interface.
    pub safe fn H5Dread_chunk1(
        dataset: hid_t,
        dxpl: hid_t,
        offset: In<hsize_t>,
        filters: Out<u32>,
        memory: Buffer,
    ) -> herr_t;
    /// Calls `H5Dset_extent` of the C interface.
    pub safe fn H5Dset_extent(dataset: hid_t, dims: In<hsize_t>) -> herr_t;
    /// Calls `H5Dwrite` of the C interface.
    pub safe fn H5Dwrite(
        dataset: hid_t,
        datatype: hid_t,
        memory_space: hid_t,
        file_space: hid_t,
        dxpl: hid_t,
        memory: Data,
    ) -> herr_t;
    /// Calls `H5Dwrite_chunk` of the C interface.
    pub safe fn H5Dwrite_chunk(
        dataset: hid_t,
        dxpl: hid_t,
        filters: u32,
        offset: In<hsize_t>,
        size: usize,
        memory: Data,
    ) -> herr_t;
    /// Calls `H5Fopen` of the C interface.
    pub safe fn H5Fopen(name: Text, flags: c_uint, fapl: hid_t) -> hid_t;
    /// Calls `H5Ldelete` of the C interface.
    pub safe fn H5Ldelete(location: hid_t, name: Text, lapl: hid_t) -> herr_t;
    /// Calls `H5Lexists` of the C interface.
    pub safe fn H5Lexists(location: hid_t, name: Text, lapl: hid_t) -> htri_t;
    /// Calls `H5Oexists_by_name` of the C interface.
    pub safe fn H5Oexists_by_name(location: hid_t, name: Text, lapl: hid_t) -> htri_t;
    /// Calls `H5Oget_info3` of the C interface.
    pub safe fn H5Oget_info3(object: hid_t, info: Out<H5O_info2_t>, fields: c_uint) -> herr_t;
    /// Calls `H5Olink` of the C interface.
    pub safe fn H5Olink(object: hid_t, location: hid_t, name: Text, lcpl: hid_t, lapl: hid_t) -> herr_t;
    /// Calls `H5Oopen` of the C interface.
    pub safe fn H5Oopen(location: hid_t, name: Text, lapl: hid_t) -> hid_t;
    /// Calls `H5Pcreate` of the C interface.
    pub safe fn H5Pcreate(class: hid_t) -> hid_t;
    /// Calls `H5Pisa_class` of the C interface.
    pub safe fn H5Pisa_class(list: hid_t, class: hid_t) -> htri_t;
    /// Calls `H5Pget_chunk` of the C interface.
    pub safe fn H5Pget_chunk(list: hid_t, ndims: c_int, dims: Out<hsize_t>) -> c_int;
    /// Calls `H5Pget_append_flush` of the C interface.
    pub safe fn H5Pget_append_flush(
        list: hid_t,
        ndims: c_uint,
        boundary: Out<hsize_t>,
        function: Out<Option<AppendFlush>>,
        data: Out<*mut c_void>,
    ) -> herr_t;
    /// Calls `H5Pset_chunk` of the C interface.
    pub safe fn H5Pset_chunk(list: hid_t, ndims: c_int, dims: In<hsize_t>) -> herr_t;
    /// Calls `H5Pcopy` of the C interface.
    pub safe fn H5Pcopy(list: hid_t) -> hid_t;
    /// Calls `H5Pset_deflate` of the C interface.
    pub safe fn H5Pset_deflate(list: hid_t, level: c_uint) -> herr_t;
    /// Calls `H5Pset_fapl_core` of the C interface.
    pub safe fn H5Pset_fapl_core(list: hid_t, increment: usize, backing_store: c_uint) -> herr_t;
    /// Calls `H5Pset_file_image` of the C interface.
    pub safe fn H5Pset_file_image(list: hid_t, memory: Buffer, length: usize) -> herr_t;
    /// Calls `H5Pfill_value_defined` of the C interface.
    pub safe fn H5Pfill_value_defined(list: hid_t, status: Out<c_int>) -> herr_t;
    /// Calls `H5Pget_fill_value` of the C interface.
    pub safe fn H5Pget_fill_value(list: hid_t, datatype: hid_t, value: Buffer) -> herr_t;
    /// Calls `H5Pset_fill_value` of the C interface.
    pub safe fn H5Pset_fill_value(list: hid_t, datatype: hid_t, value: Data) -> herr_t;
    /// Calls `H5Rcreate` of the C interface.
    pub safe fn H5Rcreate(
        reference: Buffer,
        location: hid_t,
        name: Text,
        kind: c_int,
        space: hid_t,
    ) -> herr_t;
    /// Calls `H5Rcreate_object` of the C interface.
    pub safe fn H5Rcreate_object(location: hid_t, name: Text, oapl: hid_t, reference: Buffer) -> herr_t;
    /// Calls `H5Rdereference2` of the C interface.
    pub safe fn H5Rdereference2(object: hid_t, oapl: hid_t, kind: c_int, reference: Data) -> hid_t;
    /// Calls `H5Requal` of the C interface.
    pub safe fn H5Requal(first: Data, second: Data) -> htri_t;
    /// Calls `H5Rdestroy` of the C interface.
    pub safe fn H5Rdestroy(reference: Buffer) -> herr_t;
    /// Calls `H5Ropen_object` of the C interface.
    pub safe fn H5Ropen_object(reference: Data, rapl: hid_t, oapl: hid_t) -> hid_t;
    /// Calls `H5Screate` of the C interface.
    pub safe fn H5Screate(class: c_int) -> hid_t;
    /// Calls `H5Screate_simple` of the C interface.
    pub safe fn H5Screate_simple(rank: c_int, dims: In<hsize_t>, max_dims: In<hsize_t>) -> hid_t;
    /// Calls `H5Sget_select_npoints` of the C interface.
    pub safe fn H5Sget_select_npoints(space: hid_t) -> hssize_t;
    /// Calls `H5Sget_simple_extent_dims` of the C interface.
    pub safe fn H5Sget_simple_extent_dims(space: hid_t, dims: Out<hsize_t>, max_dims: Out<hsize_t>) -> c_int;
    /// Calls `H5Sget_simple_extent_ndims` of the C interface.
    pub safe fn H5Sget_simple_extent_ndims(space: hid_t) -> c_int;
    /// Calls `H5Sget_simple_extent_npoints` of the C interface.
    pub safe fn H5Sget_simple_extent_npoints(space: hid_t) -> hssize_t;
    /// Calls `H5Sselect_hyperslab` of the C interface.
    pub safe fn H5Sselect_hyperslab(
        space: hid_t,
        operator: c_int,
        start: In<hsize_t>,
        stride: In<hsize_t>,
        count: In<hsize_t>,
        block: In<hsize_t>,
    ) -> herr_t;
    /// Calls `H5Tarray_create2` of the C interface.
    pub safe fn H5Tarray_create2(base: hid_t, ndims: c_uint, dims: In<hsize_t>) -> hid_t;
    /// Calls `H5Tcomplex_create` of the C interface.
    pub safe fn H5Tcomplex_create(base: hid_t) -> hid_t;
    /// Calls `H5Tcopy` of the C interface.
    pub safe fn H5Tcopy(datatype: hid_t) -> hid_t;
    /// Calls `H5Tcreate` of the C interface.
    pub safe fn H5Tcreate(class: c_int, size: usize) -> hid_t;
    /// Calls `H5Tenum_create` of the C interface.
    pub safe fn H5Tenum_create(base: hid_t) -> hid_t;
    /// Calls `H5Tenum_insert` of the C interface.
    pub safe fn H5Tenum_insert(datatype: hid_t, name: Text, value: Data) -> herr_t;
    /// Calls `H5Tequal` of the C interface.
    pub safe fn H5Tequal(first: hid_t, second: hid_t) -> htri_t;
    /// Calls `H5Tget_array_dims2` of the C interface.
    pub safe fn H5Tget_array_dims2(datatype: hid_t, dims: Out<hsize_t>) -> c_int;
    /// Calls `H5Tget_array_ndims` of the C interface.
    pub safe fn H5Tget_array_ndims(datatype: hid_t) -> c_int;
    /// Calls `H5Tget_class` of the C interface.
    pub safe fn H5Tget_class(datatype: hid_t) -> c_int;
    /// Calls `H5Tget_cset` of the C interface.
    pub safe fn H5Tget_cset(datatype: hid_t) -> c_int;
    /// Calls `H5Tget_member_index` of the C interface.
    pub safe fn H5Tget_member_index(datatype: hid_t, name: Text) -> c_int;
    /// Calls `H5Tget_member_name` of the C interface.
    pub safe fn H5Tget_member_name(datatype: hid_t, index: c_uint) -> *mut c_char;
    /// Calls `H5Tget_member_offset` of the C interface.
    pub safe fn H5Tget_member_offset(datatype: hid_t, index: c_uint) -> usize;
    /// Calls `H5Tget_member_type` of the C interface.
    pub safe fn H5Tget_member_type(datatype: hid_t, index: c_uint) -> hid_t;
    /// Calls `H5Tget_member_value` of the C interface.
    pub safe fn H5Tget_member_value(datatype: hid_t, index: c_uint, value: Buffer) -> herr_t;
    /// Calls `H5Tget_native_type` of the C interface.
    pub safe fn H5Tget_native_type(datatype: hid_t, direction: c_int) -> hid_t;
    /// Calls `H5Tget_nmembers` of the C interface.
    pub safe fn H5Tget_nmembers(datatype: hid_t) -> c_int;
    /// Calls `H5Tget_order` of the C interface.
    pub safe fn H5Tget_order(datatype: hid_t) -> c_int;
    /// Calls `H5Tget_sign` of the C interface.
    pub safe fn H5Tget_sign(datatype: hid_t) -> c_int;
    /// Calls `H5Tget_size` of the C interface.
    pub safe fn H5Tget_size(datatype: hid_t) -> usize;
    /// Calls `H5Tget_strpad` of the C interface.
    pub safe fn H5Tget_strpad(datatype: hid_t) -> c_int;
    /// Calls `H5Tget_super` of the C interface.
    pub safe fn H5Tget_super(datatype: hid_t) -> hid_t;
    /// Calls `H5Tget_tag` of the C interface.
    pub safe fn H5Tget_tag(datatype: hid_t) -> *mut c_char;
    /// Calls `H5Tinsert` of the C interface.
    pub safe fn H5Tinsert(datatype: hid_t, name: Text, offset: usize, member: hid_t) -> herr_t;
    /// Calls `H5Tis_variable_str` of the C interface.
    pub safe fn H5Tis_variable_str(datatype: hid_t) -> htri_t;
    /// Calls `H5Tconvert` of the C interface.
    pub safe fn H5Tconvert(
        from: hid_t,
        to: hid_t,
        count: usize,
        memory: Buffer,
        background: Buffer,
        dxpl: hid_t,
    ) -> herr_t;
    /// Calls `H5Treclaim` of the C interface.
    pub safe fn H5Treclaim(datatype: hid_t, space: hid_t, dxpl: hid_t, memory: Buffer) -> herr_t;
    /// Calls `H5Tset_cset` of the C interface.
    pub safe fn H5Tset_cset(datatype: hid_t, set: c_int) -> herr_t;
    /// Calls `H5Tset_order` of the C interface.
    pub safe fn H5Tset_order(datatype: hid_t, order: c_int) -> herr_t;
    /// Calls `H5Tset_size` of the C interface.
    pub safe fn H5Tset_size(datatype: hid_t, size: usize) -> herr_t;
    /// Calls `H5Tset_strpad` of the C interface.
    pub safe fn H5Tset_strpad(datatype: hid_t, padding: c_int) -> herr_t;
    /// Calls `H5Tset_tag` of the C interface.
    pub safe fn H5Tset_tag(datatype: hid_t, tag: Text) -> herr_t;
    /// Calls `H5Tvlen_create` of the C interface.
    pub safe fn H5Tvlen_create(base: hid_t) -> hid_t;

    /// The identifier `H5E_ARGS_g` of the C interface.
    pub safe static H5E_ARGS_g: hid_t;
    /// The identifier `H5E_BADVALUE_g` of the C interface.
    pub safe static H5E_BADVALUE_g: hid_t;
    /// The identifier `H5E_BADRANGE_g` of the C interface.
    pub safe static H5E_BADRANGE_g: hid_t;
    /// The identifier `H5E_BADTYPE_g` of the C interface.
    pub safe static H5E_BADTYPE_g: hid_t;
    /// The identifier `H5E_UNSUPPORTED_g` of the C interface.
    pub safe static H5E_UNSUPPORTED_g: hid_t;
    /// The identifier `H5P_CLS_DATASET_CREATE_ID_g` of the C interface.
    pub safe static H5P_CLS_DATASET_CREATE_ID_g: hid_t;
    /// The identifier `H5P_CLS_DATASET_XFER_ID_g` of the C interface.
    pub safe static H5P_CLS_DATASET_XFER_ID_g: hid_t;
    /// The identifier `H5P_CLS_FILE_ACCESS_ID_g` of the C interface.
    pub safe static H5P_CLS_FILE_ACCESS_ID_g: hid_t;
    /// The identifier `H5T_C_S1_g` of the C interface.
    pub safe static H5T_C_S1_g: hid_t;
    /// The identifier `H5T_FORTRAN_S1_g` of the C interface.
    pub safe static H5T_FORTRAN_S1_g: hid_t;
    /// The identifier `H5T_STD_REF_OBJ_g` of the C interface.
    pub safe static H5T_STD_REF_OBJ_g: hid_t;
    /// The identifier `H5T_STD_REF_g` of the C interface.
    pub safe static H5T_STD_REF_g: hid_t;
    /// The identifier `H5T_STD_REF_DSETREG_g` of the C interface.
    pub safe static H5T_STD_REF_DSETREG_g: hid_t;
    /// The identifier of the datatype `H5T_STD_I8BE`.
    pub safe static H5T_STD_I8BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_I8LE`.
    pub safe static H5T_STD_I8LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_I16BE`.
    pub safe static H5T_STD_I16BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_I16LE`.
    pub safe static H5T_STD_I16LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_I32BE`.
    pub safe static H5T_STD_I32BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_I32LE`.
    pub safe static H5T_STD_I32LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_I64BE`.
    pub safe static H5T_STD_I64BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_I64LE`.
    pub safe static H5T_STD_I64LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_U8BE`.
    pub safe static H5T_STD_U8BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_U8LE`.
    pub safe static H5T_STD_U8LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_U16BE`.
    pub safe static H5T_STD_U16BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_U16LE`.
    pub safe static H5T_STD_U16LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_U32BE`.
    pub safe static H5T_STD_U32BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_U32LE`.
    pub safe static H5T_STD_U32LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_U64BE`.
    pub safe static H5T_STD_U64BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_U64LE`.
    pub safe static H5T_STD_U64LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_B8BE`.
    pub safe static H5T_STD_B8BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_B8LE`.
    pub safe static H5T_STD_B8LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_B16BE`.
    pub safe static H5T_STD_B16BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_B16LE`.
    pub safe static H5T_STD_B16LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_B32BE`.
    pub safe static H5T_STD_B32BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_B32LE`.
    pub safe static H5T_STD_B32LE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_B64BE`.
    pub safe static H5T_STD_B64BE_g: hid_t;
    /// The identifier of the datatype `H5T_STD_B64LE`.
    pub safe static H5T_STD_B64LE_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_SCHAR`.
    pub safe static H5T_NATIVE_SCHAR_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_UCHAR`.
    pub safe static H5T_NATIVE_UCHAR_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_SHORT`.
    pub safe static H5T_NATIVE_SHORT_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_USHORT`.
    pub safe static H5T_NATIVE_USHORT_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_INT`.
    pub safe static H5T_NATIVE_INT_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_UINT`.
    pub safe static H5T_NATIVE_UINT_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_LONG`.
    pub safe static H5T_NATIVE_LONG_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_ULONG`.
    pub safe static H5T_NATIVE_ULONG_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_LLONG`.
    pub safe static H5T_NATIVE_LLONG_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_ULLONG`.
    pub safe static H5T_NATIVE_ULLONG_g: hid_t;
    /// The identifier of the datatype `H5T_IEEE_F16BE`.
    pub safe static H5T_IEEE_F16BE_g: hid_t;
    /// The identifier of the datatype `H5T_IEEE_F16LE`.
    pub safe static H5T_IEEE_F16LE_g: hid_t;
    /// The identifier of the datatype `H5T_IEEE_F32BE`.
    pub safe static H5T_IEEE_F32BE_g: hid_t;
    /// The identifier of the datatype `H5T_IEEE_F32LE`.
    pub safe static H5T_IEEE_F32LE_g: hid_t;
    /// The identifier of the datatype `H5T_IEEE_F64BE`.
    pub safe static H5T_IEEE_F64BE_g: hid_t;
    /// The identifier of the datatype `H5T_IEEE_F64LE`.
    pub safe static H5T_IEEE_F64LE_g: hid_t;
    /// The identifier of the datatype `H5T_FLOAT_BFLOAT16BE`.
    pub safe static H5T_FLOAT_BFLOAT16BE_g: hid_t;
    /// The identifier of the datatype `H5T_FLOAT_BFLOAT16LE`.
    pub safe static H5T_FLOAT_BFLOAT16LE_g: hid_t;
    /// The identifier of the datatype `H5T_FLOAT_F4E2M1`.
    pub safe static H5T_FLOAT_F4E2M1_g: hid_t;
    /// The identifier of the datatype `H5T_FLOAT_F6E2M3`.
    pub safe static H5T_FLOAT_F6E2M3_g: hid_t;
    /// The identifier of the datatype `H5T_FLOAT_F6E3M2`.
    pub safe static H5T_FLOAT_F6E3M2_g: hid_t;
    /// The identifier of the datatype `H5T_FLOAT_F8E4M3`.
    pub safe static H5T_FLOAT_F8E4M3_g: hid_t;
    /// The identifier of the datatype `H5T_FLOAT_F8E5M2`.
    pub safe static H5T_FLOAT_F8E5M2_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_FLOAT16`.
    pub safe static H5T_NATIVE_FLOAT16_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_FLOAT`.
    pub safe static H5T_NATIVE_FLOAT_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_DOUBLE`.
    pub safe static H5T_NATIVE_DOUBLE_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_LDOUBLE`.
    pub safe static H5T_NATIVE_LDOUBLE_g: hid_t;
    /// The identifier of the datatype `H5T_COMPLEX_IEEE_F16BE`.
    pub safe static H5T_COMPLEX_IEEE_F16BE_g: hid_t;
    /// The identifier of the datatype `H5T_COMPLEX_IEEE_F16LE`.
    pub safe static H5T_COMPLEX_IEEE_F16LE_g: hid_t;
    /// The identifier of the datatype `H5T_COMPLEX_IEEE_F32BE`.
    pub safe static H5T_COMPLEX_IEEE_F32BE_g: hid_t;
    /// The identifier of the datatype `H5T_COMPLEX_IEEE_F32LE`.
    pub safe static H5T_COMPLEX_IEEE_F32LE_g: hid_t;
    /// The identifier of the datatype `H5T_COMPLEX_IEEE_F64BE`.
    pub safe static H5T_COMPLEX_IEEE_F64BE_g: hid_t;
    /// The identifier of the datatype `H5T_COMPLEX_IEEE_F64LE`.
    pub safe static H5T_COMPLEX_IEEE_F64LE_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_FLOAT_COMPLEX`.
    pub safe static H5T_NATIVE_FLOAT_COMPLEX_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_DOUBLE_COMPLEX`.
    pub safe static H5T_NATIVE_DOUBLE_COMPLEX_g: hid_t;
    /// The identifier of the datatype `H5T_NATIVE_LDOUBLE_COMPLEX`.
    pub safe static H5T_NATIVE_LDOUBLE_COMPLEX_g: hid_t;
}
