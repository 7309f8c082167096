//! Identifiers, and the table of all objects to which identifiers refer.
//!
//! The bits of an identifier from bit 56 on contain the kind of its object. The bits below contain
//! a number, which the library never reuses while it is running. The table is not locked while an
//! object is used or closed.

mod entry;
pub mod predefined;
mod table;
pub mod user;

use std::ffi::c_int;

pub use entry::Entry;
pub use table::{
    clear_user_kind, close_all, count, decrement, find, increment, leave_inherited, list, references,
    register, register_as, replace, take,
};

use crate::ctypes::{IdKind, hid_t};

/// The number of low bits of an identifier. The bits above contain the kind of the identifier.
const KIND_SHIFT: u32 = 56;

/// Returns the identifier of the predefined resource with the given kind and number.
pub const fn constant(kind: IdKind, number: u32) -> hid_t {
    (kind as hid_t) << KIND_SHIFT | number as hid_t
}

/// Returns the kind number from the bits of an identifier. The identifier need not refer to a
/// resource.
pub fn kind_number(id: hid_t) -> Option<c_int> {
    let kind = (id >> KIND_SHIFT) & 0x7f;
    (id > 0 && kind != 0).then(|| c_int::try_from(kind).ok()).flatten()
}
