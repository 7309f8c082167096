//! The C structs that describe user-defined filters (`H5Z_class2_t` and its older form).

#![expect(unsafe_code, reason = "this module reads tables of functions of users")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::ctypes::{herr_t, hid_t, htri_t};
use crate::error::{Failure, Outcome};

/// The C type of a user's filter function that decides whether the filter applies to a dataset.
pub type CanApply = unsafe extern "C" fn(hid_t, hid_t, hid_t) -> htri_t;
/// The C type of a user's filter function that computes the filter parameters for a dataset.
pub type SetLocal = unsafe extern "C" fn(hid_t, hid_t, hid_t) -> herr_t;
/// The C type of a user's filter function that encodes or decodes one chunk.
pub type FilterFunction =
    unsafe extern "C" fn(c_uint, usize, *const c_uint, usize, *mut usize, *mut *mut c_void) -> usize;

/// The C struct that describes a user's filter, in version 2 (`H5Z_class2_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct H5Z_class2_t {
    /// The version of the struct, which is 1.
    version: c_int,
    /// The identifier of the filter.
    id: c_int,
    /// Nonzero if the filter encodes.
    encoder_present: c_uint,
    /// Nonzero if the filter decodes.
    decoder_present: c_uint,
    /// The name of the filter.
    name: *const c_char,
    /// The function that decides whether the filter applies to a dataset.
    can_apply: Option<CanApply>,
    /// The function that computes the filter parameters for a dataset.
    set_local: Option<SetLocal>,
    /// The function that encodes or decodes a chunk.
    filter: Option<FilterFunction>,
}

/// The C struct that describes a user's filter, in version 1 (`H5Z_class1_t`), which has no version
/// field.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct H5Z_class1_t {
    /// The identifier of the filter.
    id: c_int,
    /// The name of the filter.
    name: *const c_char,
    /// The function that decides whether the filter applies to a dataset.
    can_apply: Option<CanApply>,
    /// The function that computes the filter parameters for a dataset.
    set_local: Option<SetLocal>,
    /// The function that encodes or decodes a chunk.
    filter: Option<FilterFunction>,
}

const _: () = assert!(size_of::<H5Z_class2_t>() == 48 && size_of::<H5Z_class1_t>() == 40);

/// The value of the version field in the C struct that describes a user's filter.
const CLASS_VERSION: c_int = 1;
/// The largest filter identifier that the C interface accepts.
const MAX_ID: c_int = 65_535;
/// The smallest identifier of a filter that users may register.
const FIRST_USER_ID: c_int = 256;

/// A filter that a user registered or that a plugin provides.
#[derive(Debug, Clone)]
pub struct FilterClass {
    /// The identifier of the filter.
    pub id: u16,
    /// The name of the filter.
    pub name: Vec<u8>,
    /// True if the filter can encode.
    pub encoder_present: bool,
    /// True if the filter can decode.
    pub decoder_present: bool,
    /// The function that decides whether the filter applies to a dataset.
    pub can_apply: Option<CanApply>,
    /// The function that computes the filter parameters for a dataset.
    pub set_local: Option<SetLocal>,
    /// The function that encodes or decodes one chunk.
    pub filter: FilterFunction,
}

/// Reads the C struct of a filter in either version. The first field distinguishes the versions: it
/// is 1 in version 2. In version 1, the first field is the identifier, which is at least 256 for
/// filters of users.
///
/// # Errors
/// Fails with a bad value if the pointer is null or if a field of the struct is invalid.
pub fn read(class: *const c_void) -> Outcome<FilterClass> {
    if class.is_null() {
        return Err(Failure::bad_value("no filter class"));
    }
    // SAFETY: both versions start with an integer, and the caller's pointer leads to one of them.
    let version = unsafe { class.cast::<c_int>().read_unaligned() };
    let table = if version == CLASS_VERSION {
        // SAFETY: the first field shows that the pointer leads to a struct of this version.
        unsafe { class.cast::<H5Z_class2_t>().read_unaligned() }
    } else {
        // SAFETY: the first field shows that the pointer leads to a struct of this version.
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
        // SAFETY: the name is a C string.
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
