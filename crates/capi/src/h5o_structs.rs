//! The C structs with information about objects (`H5O_info2_t`, `H5O_native_info_t`, …).

use std::ffi::{c_int, c_uint};

use crate::ctypes::{H5O_token_t, haddr_t, hsize_t};

/// The sizes of an object's index and heap in bytes (`H5_ih_info_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct H5_ih_info_t {
    /// The size of the index in bytes.
    pub index_size: hsize_t,
    /// The size of the heap in bytes.
    pub heap_size: hsize_t,
}

/// Information about the storage of an object header (`H5O_hdr_info_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct H5O_hdr_info_t {
    /// The version of the object header.
    pub version: c_uint,
    /// The number of messages.
    pub nmesgs: c_uint,
    /// The number of chunks of the object header.
    pub nchunks: c_uint,
    /// The flags of the object header.
    pub flags: c_uint,
    /// The total size of the object header in bytes.
    pub space_total: hsize_t,
    /// The size of the object header's own metadata in bytes.
    pub space_meta: hsize_t,
    /// The size of the messages in bytes.
    pub space_mesg: hsize_t,
    /// The free space of the object header in bytes.
    pub space_free: hsize_t,
    /// A bit for each message type that is present.
    pub mesg_present: u64,
    /// A bit for each message type that is shared.
    pub mesg_shared: u64,
}

/// Information about an object, in the HDF5 1.8 form (`H5O_info1_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5O_info1_t {
    /// The number of the file that contains the object.
    pub fileno: u64,
    /// The address of the object header.
    pub addr: haddr_t,
    /// The kind of the object (`H5O_type_t`).
    pub kind: c_int,
    /// The number of hard links to the object.
    pub rc: c_uint,
    /// The time of the last access, in seconds since 1970; 0 if unknown.
    pub atime: i64,
    /// The time of the last modification, in seconds since 1970; 0 if unknown.
    pub mtime: i64,
    /// The time of the last change of metadata, in seconds since 1970; 0 if unknown.
    pub ctime: i64,
    /// The time of creation, in seconds since 1970; 0 if unknown.
    pub btime: i64,
    /// The number of attributes of the object.
    pub num_attrs: hsize_t,
    /// The storage of the object header.
    pub hdr: H5O_hdr_info_t,
    /// The sizes of the object's own index and heap.
    pub meta_obj: H5_ih_info_t,
    /// The sizes of the index and the heap of attributes.
    pub meta_attr: H5_ih_info_t,
}

/// Information about an object (`H5O_info2_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5O_info2_t {
    /// The number of the file that contains the object.
    pub fileno: u64,
    /// The token of the object.
    pub token: H5O_token_t,
    /// The kind of the object (`H5O_type_t`).
    pub kind: c_int,
    /// The number of hard links to the object.
    pub rc: c_uint,
    /// The time of the last access, in seconds since 1970; 0 if unknown.
    pub atime: i64,
    /// The time of the last modification, in seconds since 1970; 0 if unknown.
    pub mtime: i64,
    /// The time of the last change of metadata, in seconds since 1970; 0 if unknown.
    pub ctime: i64,
    /// The time of creation, in seconds since 1970; 0 if unknown.
    pub btime: i64,
    /// The number of attributes of the object.
    pub num_attrs: hsize_t,
}

/// Information about the storage of an object's metadata (`H5O_native_info_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5O_native_info_t {
    /// The storage of the object header.
    pub hdr: H5O_hdr_info_t,
    /// The sizes of the object's own index and heap.
    pub meta_obj: H5_ih_info_t,
    /// The sizes of the index and the heap of attributes.
    pub meta_attr: H5_ih_info_t,
}

const _: () = assert!(size_of::<H5O_info1_t>() == 160 && size_of::<H5O_info2_t>() == 72);
