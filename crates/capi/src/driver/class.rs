//! The C structs of user-defined file drivers (`H5FD_class_t`, `H5FD_t`).

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

use crate::ctypes::{haddr_t, herr_t, hid_t, hsize_t};

/// The C type of a function that deletes a file.
pub type Delete = unsafe extern "C" fn(*const c_char, hid_t) -> herr_t;
/// The C type of a function for operations that only a driver defines.
pub type Control = unsafe extern "C" fn(*mut H5FD_t, u64, u64, *const c_void, *mut *mut c_void) -> herr_t;

/// The C struct of functions that a file driver implements (`H5FD_class_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5FD_class_t {
    /// The version of this C struct.
    #[cfg(not(feature = "hdf5-1-10"))]
    pub version: c_uint,
    /// The number of the driver (`H5FD_class_value_t`).
    #[cfg(not(feature = "hdf5-1-10"))]
    pub value: c_int,
    /// The name of the driver.
    pub name: *const c_char,
    /// The largest address that the driver supports.
    pub maxaddr: haddr_t,
    /// The default close degree of files of the driver.
    pub fc_degree: c_int,
    /// The function that the library calls when the driver is removed.
    pub terminate: Option<unsafe extern "C" fn() -> herr_t>,
    /// The function that returns the size of the driver's data in the superblock.
    pub sb_size: Option<unsafe extern "C" fn(*mut H5FD_t) -> hsize_t>,
    /// The function that encodes the driver's data for the superblock.
    pub sb_encode: Option<unsafe extern "C" fn(*mut H5FD_t, *mut c_char, *mut u8) -> herr_t>,
    /// The function that decodes the driver's data from the superblock.
    pub sb_decode: Option<unsafe extern "C" fn(*mut H5FD_t, *const c_char, *const u8) -> herr_t>,
    /// The size of the driver's configuration in bytes; 0 if it varies.
    pub fapl_size: usize,
    /// The function that returns the configuration of an open file.
    pub fapl_get: Option<unsafe extern "C" fn(*mut H5FD_t) -> *mut c_void>,
    /// The function that copies a configuration.
    pub fapl_copy: Option<unsafe extern "C" fn(*const c_void) -> *mut c_void>,
    /// The function that frees a configuration.
    pub fapl_free: Option<unsafe extern "C" fn(*mut c_void) -> herr_t>,
    /// The size of the driver's transfer properties in bytes.
    pub dxpl_size: usize,
    /// The function that copies the driver's transfer properties.
    pub dxpl_copy: Option<unsafe extern "C" fn(*const c_void) -> *mut c_void>,
    /// The function that frees the driver's transfer properties.
    pub dxpl_free: Option<unsafe extern "C" fn(*mut c_void) -> herr_t>,
    /// The function that opens a file for this driver.
    pub open: Option<unsafe extern "C" fn(*const c_char, c_uint, hid_t, haddr_t) -> *mut H5FD_t>,
    /// The function that closes a file of this driver.
    pub close: Option<unsafe extern "C" fn(*mut H5FD_t) -> herr_t>,
    /// The function that compares two open files of this driver.
    pub cmp: Option<unsafe extern "C" fn(*const H5FD_t, *const H5FD_t) -> c_int>,
    /// The function that returns the features of the driver (`H5FD_FEAT_*`).
    pub query: Option<unsafe extern "C" fn(*const H5FD_t, *mut c_ulong) -> herr_t>,
    /// The function that maps memory kinds to free lists.
    pub get_type_map: Option<unsafe extern "C" fn(*const H5FD_t, *mut c_int) -> herr_t>,
    /// The function that allocates a block of the file.
    pub alloc: Option<unsafe extern "C" fn(*mut H5FD_t, c_int, hid_t, hsize_t) -> haddr_t>,
    /// The function that frees a block of the file.
    pub free: Option<unsafe extern "C" fn(*mut H5FD_t, c_int, hid_t, haddr_t, hsize_t) -> herr_t>,
    /// The function that returns the end of allocation.
    pub get_eoa: Option<unsafe extern "C" fn(*const H5FD_t, c_int) -> haddr_t>,
    /// The function that sets the end of allocation.
    pub set_eoa: Option<unsafe extern "C" fn(*mut H5FD_t, c_int, haddr_t) -> herr_t>,
    /// The function that returns the end of the file.
    pub get_eof: Option<unsafe extern "C" fn(*const H5FD_t, c_int) -> haddr_t>,
    /// The function that returns the driver's handle of a file.
    pub get_handle: Option<unsafe extern "C" fn(*mut H5FD_t, hid_t, *mut *mut c_void) -> herr_t>,
    /// The function that reads bytes of an open file.
    pub read: Option<unsafe extern "C" fn(*mut H5FD_t, c_int, hid_t, haddr_t, usize, *mut c_void) -> herr_t>,
    /// The function that writes bytes to an open file.
    pub write:
        Option<unsafe extern "C" fn(*mut H5FD_t, c_int, hid_t, haddr_t, usize, *const c_void) -> herr_t>,
    /// A function that reads several blocks, which the library does not call.
    #[cfg(not(feature = "hdf5-1-10"))]
    pub read_vector: *const c_void,
    /// A function that writes several blocks, which the library does not call.
    #[cfg(not(feature = "hdf5-1-10"))]
    pub write_vector: *const c_void,
    /// A function that reads selections, which the library does not call.
    #[cfg(not(feature = "hdf5-1-10"))]
    pub read_selection: *const c_void,
    /// A function that writes selections, which the library does not call.
    #[cfg(not(feature = "hdf5-1-10"))]
    pub write_selection: *const c_void,
    /// The function that writes the driver's own dirty data to the file.
    pub flush: Option<unsafe extern "C" fn(*mut H5FD_t, hid_t, bool) -> herr_t>,
    /// The function that sets the file's length to the end of allocation.
    pub truncate: Option<unsafe extern "C" fn(*mut H5FD_t, hid_t, bool) -> herr_t>,
    /// The function that locks an open file.
    pub lock: Option<unsafe extern "C" fn(*mut H5FD_t, bool) -> herr_t>,
    /// The function that unlocks an open file.
    pub unlock: Option<unsafe extern "C" fn(*mut H5FD_t) -> herr_t>,
    /// The function that deletes a file of this driver.
    #[cfg(not(feature = "hdf5-1-10"))]
    pub del: Option<Delete>,
    /// The function that performs an operation specific to the driver.
    #[cfg(not(feature = "hdf5-1-10"))]
    pub ctl: Option<Control>,
    /// The free list that the driver uses for each memory kind.
    pub fl_map: [c_int; 7],
}

/// The library's part of the C struct of a file that a driver has open (`H5FD_t`). In memory, the
/// driver's own data follows this part.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5FD_t {
    /// The identifier of the driver.
    pub driver_id: hid_t,
    /// The function table of the driver.
    pub cls: *const H5FD_class_t,
    /// The number of the file.
    pub fileno: c_ulong,
    /// The flags with which the file was opened.
    pub access_flags: c_uint,
    /// The features of the driver (`H5FD_FEAT_*`).
    pub feature_flags: c_ulong,
    /// The largest address in the file.
    pub maxaddr: haddr_t,
    /// The base address of the HDF5 data in the file.
    pub base_addr: haddr_t,
    /// The minimum size of an aligned block in bytes.
    pub threshold: hsize_t,
    /// The alignment of blocks in bytes.
    pub alignment: hsize_t,
    /// True if the file uses paged aggregation.
    pub paged_aggr: bool,
}

const _: () = assert!(size_of::<H5FD_class_t>() == if crate::h5::IS_1_10 { 280 } else { 336 });
const _: () = assert!(size_of::<H5FD_t>() == 80);

#[cfg(not(feature = "hdf5-1-10"))]
impl H5FD_class_t {
    /// Returns true if the table has the version that the library knows.
    pub fn has_known_version(&self) -> bool {
        self.version == 1
    }

    /// Returns the number of the driver (`H5FD_class_value_t`).
    pub fn number(&self) -> Option<c_int> {
        Some(self.value)
    }

    /// Returns the function that deletes a file.
    pub fn delete(&self) -> Option<Delete> {
        self.del
    }

    /// Returns the function of operations that only the driver defines.
    pub fn control(&self) -> Option<Control> {
        self.ctl
    }
}

#[cfg(feature = "hdf5-1-10")]
impl H5FD_class_t {
    /// Returns true: the tables of HDF5 1.10 state no version.
    pub fn has_known_version(&self) -> bool {
        true
    }

    /// Returns `None`: the tables of HDF5 1.10 state no number.
    pub fn number(&self) -> Option<c_int> {
        None
    }

    /// Returns `None`: the tables of HDF5 1.10 have no such function.
    pub fn delete(&self) -> Option<Delete> {
        None
    }

    /// Returns `None`: the tables of HDF5 1.10 have no such function.
    pub fn control(&self) -> Option<Control> {
        None
    }
}
