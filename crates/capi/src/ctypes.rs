//! The C types of the interface.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// An identifier.
pub type hid_t = i64;
/// A status: negative for failures.
pub type herr_t = c_int;
/// A truth value: positive, zero, or negative for failures.
pub type htri_t = c_int;
/// A number of elements or bytes.
pub type hsize_t = u64;
/// A signed number of elements; negative for failures.
pub type hssize_t = i64;
/// An address in a file.
pub type haddr_t = u64;

/// The undefined address.
pub const HADDR_UNDEF: haddr_t = u64::MAX;
/// The maximum dimension of a dataspace without limit, and counts without limit.
pub const H5S_UNLIMITED: hsize_t = u64::MAX;
/// The default property list.
pub const H5P_DEFAULT: hid_t = 0;
/// The whole extent as a dataspace argument.
pub const H5S_ALL: hid_t = 0;
/// The dataspace of the memory buffer, in the order of the file selection.
pub const H5S_BLOCK: hid_t = 1;
/// The dataspace argument that names the property list's selection.
pub const H5S_PLIST: hid_t = 2;
/// The invalid identifier.
pub const H5I_INVALID_HID: hid_t = -1;

/// The identity of an object in its file (`H5O_token_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct H5O_token_t {
    /// The bytes: the address of the object header, little-endian, then zeros.
    pub bytes: [u8; 16],
}

impl H5O_token_t {
    /// The undefined token.
    pub const UNDEFINED: Self = Self { bytes: [0xff; 16] };

    /// Returns the token of the object whose header is at an address.
    pub fn of(address: u64) -> Self {
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(address.to_le_bytes()) {
            *to = from;
        }
        Self { bytes }
    }

    /// Returns the address of the object header.
    pub fn address(self) -> u64 {
        self.bytes.iter().take(8).rev().fold(0, |address, byte| address << 8 | u64::from(*byte))
    }
}

/// A sequence of variable length in memory (`hvl_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hvl_t {
    /// The number of items.
    pub len: usize,
    /// The first item.
    pub p: *mut c_void,
}

/// A function that compares, visits or frees something of the caller.
pub type Opaque = *mut c_void;

/// The kinds of identifiers (`H5I_type_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say the kinds of objects")]
pub enum IdKind {
    File = 1,
    Group = 2,
    Datatype = 3,
    Dataspace = 4,
    Dataset = 5,
    Map = 6,
    Attribute = 7,
    Driver = 8,
    Connector = 9,
    PropertyClass = 10,
    PropertyList = 11,
    ErrorClass = 12,
    ErrorMessage = 13,
    ErrorStack = 14,
    SelectionIterator = 15,
    EventSet = 16,
}

/// The number of kinds that the library defines; kinds of users follow.
pub const FIRST_USER_KIND: c_int = 17;

/// The order of an iteration (`H5_iter_order_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say the orders")]
pub enum Order {
    Increasing,
    Decreasing,
    Native,
}

/// The index of an iteration (`H5_index_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say the indexes")]
pub enum Index {
    Name,
    CreationOrder,
}

/// The character sets of names and strings.
pub const H5T_CSET_ASCII: c_int = 0;
/// UTF-8.
pub const H5T_CSET_UTF8: c_int = 1;

/// A borrowed name in calls to functions of the user.
pub type ConstText = *const c_char;
/// An unsigned integer.
pub type Unsigned = c_uint;
