//! Properties that users add to classes and lists.

use std::ffi::{c_char, c_int, c_void};

use crate::ctypes::{herr_t, hid_t};

/// The functions that are called for a property.
#[derive(Debug, Clone, Copy, Default)]
pub struct PropertyCallbacks {
    /// Called when a list gets the property.
    pub create: Option<unsafe extern "C" fn(*const c_char, usize, *mut c_void) -> herr_t>,
    /// Called before a value is set.
    pub set: Option<unsafe extern "C" fn(hid_t, *const c_char, usize, *mut c_void) -> herr_t>,
    /// Called when a value is read.
    pub get: Option<unsafe extern "C" fn(hid_t, *const c_char, usize, *mut c_void) -> herr_t>,
    /// Called when the property is removed from a list.
    pub delete: Option<unsafe extern "C" fn(hid_t, *const c_char, usize, *mut c_void) -> herr_t>,
    /// Called when a list is copied.
    pub copy: Option<unsafe extern "C" fn(*const c_char, usize, *mut c_void) -> herr_t>,
    /// Compares two values.
    pub compare: Option<unsafe extern "C" fn(*const c_void, *const c_void, usize) -> c_int>,
    /// Called when a list is closed.
    pub close: Option<unsafe extern "C" fn(*const c_char, usize, *mut c_void) -> herr_t>,
}

/// A property of the user.
#[derive(Debug, Clone)]
pub struct Property {
    /// The name.
    pub name: Vec<u8>,
    /// The value; its length is the size of the property.
    pub value: Vec<u8>,
    /// The functions.
    pub callbacks: PropertyCallbacks,
}

/// The properties of the user in a class or list, in the order of their names.
#[derive(Debug, Clone, Default)]
pub struct Properties {
    /// The properties.
    pub list: Vec<Property>,
}
