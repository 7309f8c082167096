//! The C types and constants of the HDF5 interface.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::error::{Failure, Outcome};

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
/// An address in a file, relative to the base address.
pub type haddr_t = u64;

/// The value of an undefined file address (`HADDR_UNDEF`).
pub const HADDR_UNDEF: haddr_t = u64::MAX;
/// The value that stands for an unlimited maximum dimension, or for an unlimited count of blocks in
/// a hyperslab.
pub const H5S_UNLIMITED: hsize_t = u64::MAX;
/// The identifier that stands for the default property list of each property list class.
pub const H5P_DEFAULT: hid_t = 0;
/// The dataspace argument that selects all elements of the dataset.
pub const H5S_ALL: hid_t = 0;
/// The dataspace argument for a contiguous memory buffer, whose elements follow the order of the
/// file selection.
pub const H5S_BLOCK: hid_t = 1;
/// The dataspace argument that stands for the selection in the transfer property list.
pub const H5S_PLIST: hid_t = 2;
/// The identifier that C functions return after a failure.
pub const H5I_INVALID_HID: hid_t = -1;

/// The token of an object: its identity in its file (`H5O_token_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct H5O_token_t {
    /// The bytes of the token: the object header's address in little-endian order, then zeros.
    pub bytes: [u8; 16],
}

impl H5O_token_t {
    /// The undefined object token, which names no object.
    pub const UNDEFINED: Self = Self { bytes: [0xff; 16] };

    /// Returns the token of the object whose object header is at `address`.
    pub fn of(address: u64) -> Self {
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(address.to_le_bytes()) {
            *to = from;
        }
        Self { bytes }
    }

    /// Returns the address of the object header that the object token names.
    pub fn address(self) -> u64 {
        self.bytes.iter().take(8).rev().fold(0, |address, byte| address << 8 | u64::from(*byte))
    }
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

/// A pointer of the caller to data or a function. The library does not interpret it.
pub type Opaque = *mut c_void;

/// The kind of resource to which an identifier refers (`H5I_type_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say the kinds of objects")]
pub enum IdKind {
    File = 1,
    Group = 2,
    Datatype = 3,
    Dataspace = 4,
    Dataset = 5,
    Map = kind(6, 123),
    Attribute = kind(7, 6),
    Driver = 8,
    Connector = kind(9, 124),
    PropertyClass = kind(10, 9),
    PropertyList = kind(11, 10),
    ErrorClass = kind(12, 11),
    ErrorMessage = kind(13, 12),
    ErrorStack = kind(14, 13),
    SelectionIterator = kind(15, 125),
    EventSet = kind(16, 126),
}

/// Returns the number of a kind of identifiers: HDF5 1.12 gave new numbers to some kinds. The kinds
/// that HDF5 1.10 does not have get the largest numbers there.
const fn kind(since_1_12: isize, in_1_10: isize) -> isize {
    if cfg!(feature = "hdf5-1-10") { in_1_10 } else { since_1_12 }
}

/// The number of the first identifier kind that users register.
pub const FIRST_USER_KIND: c_int = if cfg!(feature = "hdf5-1-10") { 14 } else { 17 };
/// The largest number of an identifier kind that users register. An identifier has seven bits for
/// the kind.
pub const LAST_USER_KIND: c_int = if cfg!(feature = "hdf5-1-10") { 122 } else { 126 };

/// The order in which an iteration visits links or attributes (`H5_iter_order_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say the orders")]
pub enum Order {
    Increasing,
    Decreasing,
    Native,
}

/// The key, name or creation order, by which an iteration sorts links or attributes (`H5_index_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say the indexes")]
pub enum Index {
    Name,
    CreationOrder,
}

/// The number of the ASCII character set (`H5T_cset_t`).
pub const H5T_CSET_ASCII: c_int = 0;
/// The number of the UTF-8 character set (`H5T_cset_t`).
pub const H5T_CSET_UTF8: c_int = 1;

/// A C string that a function of the user receives and must not keep.
pub type ConstText = *const c_char;
/// The type `unsigned int` of the C interface.
pub type Unsigned = c_uint;

/// Converts a count or a number to an integer type of the C interface.
///
/// # Errors
/// Fails if the value does not fit in the type.
pub fn counted<T: TryFrom<N>, N>(count: N) -> Outcome<T> {
    T::try_from(count).map_err(|_| Failure::bad_value("a number does not fit in its type of the C interface"))
}
