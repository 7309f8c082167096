//! Identifiers: the table of all objects that C programs hold.
//!
//! An identifier has the kind of its object in the bits above 56. The numbers below are never used
//! again while the library is in use. The table holds no lock while an object is used or closed.

mod entry;
pub mod predefined;
mod table;
pub mod user;

use std::ffi::c_int;

pub use entry::Entry;
pub use table::{
    clear_user_kind, close_all, count, decrement, find, increment, list, references, register, register_as,
    replace, take,
};

use crate::ctypes::{IdKind, hid_t};

/// The bits of an identifier below its kind.
const KIND_SHIFT: u32 = 56;

/// Returns the identifier of a predefined object.
pub const fn constant(kind: IdKind, number: u32) -> hid_t {
    (kind as hid_t) << KIND_SHIFT | number as hid_t
}

/// Returns the number of the kind in an identifier. The object may not exist.
pub fn kind_number(id: hid_t) -> Option<c_int> {
    let kind = (id >> KIND_SHIFT) & 0x7f;
    (id > 0 && kind != 0).then(|| c_int::try_from(kind).ok()).flatten()
}
