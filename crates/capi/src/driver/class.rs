//! The C structs of user-defined file drivers (`H5FD_class_t`, `H5FD_t`).

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

use crate::ctypes::{haddr_t, herr_t, hid_t, hsize_t};

/// The function table of a file driver (`H5FD_class_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5FD_class_t {
    pub version: c_uint,
    pub value: c_int,
    pub name: *const c_char,
    pub maxaddr: haddr_t,
    pub fc_degree: c_int,
    pub terminate: Option<unsafe extern "C" fn() -> herr_t>,
    pub sb_size: Option<unsafe extern "C" fn(*mut H5FD_t) -> hsize_t>,
    pub sb_encode: Option<unsafe extern "C" fn(*mut H5FD_t, *mut c_char, *mut u8) -> herr_t>,
    pub sb_decode: Option<unsafe extern "C" fn(*mut H5FD_t, *const c_char, *const u8) -> herr_t>,
    pub fapl_size: usize,
    pub fapl_get: Option<unsafe extern "C" fn(*mut H5FD_t) -> *mut c_void>,
    pub fapl_copy: Option<unsafe extern "C" fn(*const c_void) -> *mut c_void>,
    pub fapl_free: Option<unsafe extern "C" fn(*mut c_void) -> herr_t>,
    pub dxpl_size: usize,
    pub dxpl_copy: Option<unsafe extern "C" fn(*const c_void) -> *mut c_void>,
    pub dxpl_free: Option<unsafe extern "C" fn(*mut c_void) -> herr_t>,
    pub open: Option<unsafe extern "C" fn(*const c_char, c_uint, hid_t, haddr_t) -> *mut H5FD_t>,
    pub close: Option<unsafe extern "C" fn(*mut H5FD_t) -> herr_t>,
    pub cmp: Option<unsafe extern "C" fn(*const H5FD_t, *const H5FD_t) -> c_int>,
    pub query: Option<unsafe extern "C" fn(*const H5FD_t, *mut c_ulong) -> herr_t>,
    pub get_type_map: Option<unsafe extern "C" fn(*const H5FD_t, *mut c_int) -> herr_t>,
    pub alloc: Option<unsafe extern "C" fn(*mut H5FD_t, c_int, hid_t, hsize_t) -> haddr_t>,
    pub free: Option<unsafe extern "C" fn(*mut H5FD_t, c_int, hid_t, haddr_t, hsize_t) -> herr_t>,
    pub get_eoa: Option<unsafe extern "C" fn(*const H5FD_t, c_int) -> haddr_t>,
    pub set_eoa: Option<unsafe extern "C" fn(*mut H5FD_t, c_int, haddr_t) -> herr_t>,
    pub get_eof: Option<unsafe extern "C" fn(*const H5FD_t, c_int) -> haddr_t>,
    pub get_handle: Option<unsafe extern "C" fn(*mut H5FD_t, hid_t, *mut *mut c_void) -> herr_t>,
    pub read: Option<unsafe extern "C" fn(*mut H5FD_t, c_int, hid_t, haddr_t, usize, *mut c_void) -> herr_t>,
    pub write:
        Option<unsafe extern "C" fn(*mut H5FD_t, c_int, hid_t, haddr_t, usize, *const c_void) -> herr_t>,
    pub read_vector: *const c_void,
    pub write_vector: *const c_void,
    pub read_selection: *const c_void,
    pub write_selection: *const c_void,
    pub flush: Option<unsafe extern "C" fn(*mut H5FD_t, hid_t, bool) -> herr_t>,
    pub truncate: Option<unsafe extern "C" fn(*mut H5FD_t, hid_t, bool) -> herr_t>,
    pub lock: Option<unsafe extern "C" fn(*mut H5FD_t, bool) -> herr_t>,
    pub unlock: Option<unsafe extern "C" fn(*mut H5FD_t) -> herr_t>,
    pub del: Option<unsafe extern "C" fn(*const c_char, hid_t) -> herr_t>,
    pub ctl: Option<unsafe extern "C" fn(*mut H5FD_t, u64, u64, *const c_void, *mut *mut c_void) -> herr_t>,
    pub fl_map: [c_int; 7],
}

/// The library's part of a driver's open file (`H5FD_t`). The driver's own data follows in memory.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5FD_t {
    pub driver_id: hid_t,
    pub cls: *const H5FD_class_t,
    pub fileno: c_ulong,
    pub access_flags: c_uint,
    pub feature_flags: c_ulong,
    pub maxaddr: haddr_t,
    pub base_addr: haddr_t,
    pub threshold: hsize_t,
    pub alignment: hsize_t,
    pub paged_aggr: bool,
}

const _: () = assert!(size_of::<H5FD_class_t>() == 336 && size_of::<H5FD_t>() == 80);
