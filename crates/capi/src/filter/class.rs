//! Filters as tables of functions in C (`H5Z_class2_t` and the older form).

#![expect(unsafe_code, reason = "this module reads tables of functions of users")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::ctypes::{herr_t, hid_t, htri_t};
use crate::error::{Failure, Outcome};

/// A function that decides whether a filter applies to a dataset.
pub type CanApply = unsafe extern "C" fn(hid_t, hid_t, hid_t) -> htri_t;
/// A function that computes the parameters of a filter for a dataset.
pub type SetLocal = unsafe extern "C" fn(hid_t, hid_t, hid_t) -> herr_t;
/// A function that encodes or decodes a chunk.
pub type FilterFunction =
    unsafe extern "C" fn(c_uint, usize, *const c_uint, usize, *mut usize, *mut *mut c_void) -> usize;

/// The table of functions of version 2.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct H5Z_class2_t {
    version: c_int,
    id: c_int,
    encoder_present: c_uint,
    decoder_present: c_uint,
    name: *const c_char,
    can_apply: Option<CanApply>,
    set_local: Option<SetLocal>,
    filter: Option<FilterFunction>,
}

/// The table of functions of version 1, without a version.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct H5Z_class1_t {
    id: c_int,
    name: *const c_char,
    can_apply: Option<CanApply>,
    set_local: Option<SetLocal>,
    filter: Option<FilterFunction>,
}

const _: () = assert!(size_of::<H5Z_class2_t>() == 48 && size_of::<H5Z_class1_t>() == 40);

/// The version of the table of functions.
const CLASS_VERSION: c_int = 1;
/// The largest identifier of a filter.
const MAX_ID: c_int = 65_535;
/// The first identifier that users may register.
const FIRST_USER_ID: c_int = 256;

/// A filter of a user.
#[derive(Debug, Clone)]
pub struct FilterClass {
    /// The identifier.
    pub id: u16,
    /// The name.
    pub name: Vec<u8>,
    /// True if the filter encodes.
    pub encoder_present: bool,
    /// True if the filter decodes.
    pub decoder_present: bool,
    /// Decides whether the filter applies to a dataset.
    pub can_apply: Option<CanApply>,
    /// Computes the parameters for a dataset.
    pub set_local: Option<SetLocal>,
    /// Encodes or decodes a chunk.
    pub filter: FilterFunction,
}

/// Reads the table of functions of a user. The version field tells the two forms apart: in the
/// older form it is the identifier, which is never 1 for a filter of a user.
///
/// # Errors
/// Fails with a bad value if there is no table, or a value of it is not valid.
pub fn read(class: *const c_void) -> Outcome<FilterClass> {
    if class.is_null() {
        return Err(Failure::bad_value("no filter class"));
    }
    // SAFETY: both forms start with an integer, and the caller's pointer leads to one of them.
    let version = unsafe { class.cast::<c_int>().read_unaligned() };
    let table = if version == CLASS_VERSION {
        // SAFETY: the version says that this form has the caller's pointer.
        unsafe { class.cast::<H5Z_class2_t>().read_unaligned() }
    } else {
        // SAFETY: see above.
        let old = unsafe { class.cast::<H5Z_class1_t>().read_unaligned() };
        H5Z_class2_t {
            version: CLASS_VERSION,
            id: old.id,
            encoder_present: 1,
            decoder_present: 1,
            name: old.name,
            can_apply: old.can_apply,
            set_local: old.set_local,
            filter: old.filter,
        }
    };
    if !(0..=MAX_ID).contains(&table.id) {
        return Err(Failure::bad_value("the identifier of the filter is out of range"));
    }
    if table.id < FIRST_USER_ID {
        return Err(Failure::bad_value("the identifier belongs to a filter of the library"));
    }
    let filter = table.filter.ok_or_else(|| Failure::bad_value("the filter has no function"))?;
    let name = if table.name.is_null() {
        Vec::new()
    } else {
        // SAFETY: the name is a text with a zero byte at its end.
        unsafe { CStr::from_ptr(table.name) }.to_bytes().to_vec()
    };
    Ok(FilterClass {
        id: u16::try_from(table.id).map_err(|_| Failure::bad_value("the identifier is out of range"))?,
        name,
        encoder_present: table.encoder_present != 0,
        decoder_present: table.decoder_present != 0,
        can_apply: table.can_apply,
        set_local: table.set_local,
        filter,
    })
}
