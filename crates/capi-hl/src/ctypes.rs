//! The C types and constants of the HDF5 interface that this library uses.

use std::ffi::{c_int, c_void};

/// An identifier of an open object, property list or other resource; negative for failures.
pub type hid_t = i64;
/// The status that a C function returns: negative for failures.
pub type herr_t = c_int;
/// A truth value that a C function returns: positive, zero, or negative for failures.
pub type htri_t = c_int;
/// A number of elements or bytes, as an unsigned 64-bit integer of the C interface.
pub type hsize_t = u64;
/// A signed number of elements; negative for failures.
pub type hssize_t = i64;

/// The identifier that stands for the default property list of each property list class.
pub const H5P_DEFAULT: hid_t = 0;
/// The dataspace argument that selects all elements of the dataset.
pub const H5S_ALL: hid_t = 0;
/// The maximum dimension without a limit.
pub const H5S_UNLIMITED: hsize_t = u64::MAX;
/// The selection operator that replaces the selection.
pub const H5S_SELECT_SET: c_int = 0;
/// The selection operator that removes elements from the selection.
pub const H5S_SELECT_NOTB: c_int = 4;
/// The class of dataspaces with one element.
pub const H5S_SCALAR: c_int = 0;
/// The kind of identifiers of datasets.
pub const H5I_DATASET: c_int = 5;
/// The kind of identifiers without an object.
pub const H5I_BADID: c_int = -1;
/// The size argument that stands for strings of variable length.
pub const H5T_VARIABLE: usize = usize::MAX;
/// The reference type of objects in the older interface of references.
pub const H5R_OBJECT: c_int = 0;

/// The classes of datatypes (`H5T_class_t`).
pub mod class {
    use std::ffi::c_int;

    /// The class of integers.
    pub const INTEGER: c_int = 0;
    /// The class of floating-point numbers.
    pub const FLOAT: c_int = 1;
    /// The class of times.
    pub const TIME: c_int = 2;
    /// The class of strings.
    pub const STRING: c_int = 3;
    /// The class of bit fields.
    pub const BITFIELD: c_int = 4;
    /// The class of opaque elements.
    pub const OPAQUE: c_int = 5;
    /// The class of compound datatypes.
    pub const COMPOUND: c_int = 6;
    /// The class of references.
    pub const REFERENCE: c_int = 7;
    /// The class of enumerations.
    pub const ENUM: c_int = 8;
    /// The class of variable-length sequences.
    pub const VLEN: c_int = 9;
    /// The class of array datatypes.
    pub const ARRAY: c_int = 10;
    /// The class of complex numbers.
    pub const COMPLEX: c_int = 11;
}

/// The token of an object: its identity in its file (`H5O_token_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct H5O_token_t {
    /// The bytes of the token.
    pub bytes: [u8; 16],
}

/// The description of an object (`H5O_info2_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5O_info2_t {
    /// The number of the object's file.
    pub fileno: std::ffi::c_ulong,
    /// The identity of the object in its file.
    pub token: H5O_token_t,
    /// The kind of the object, its number of links, its times and its number of attributes.
    pub rest: [u64; 8],
}

/// A variable-length sequence in memory (`hvl_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hvl_t {
    /// The number of items of the sequence.
    pub len: usize,
    /// The address of the first item of the sequence.
    pub p: *mut c_void,
}
