//! Functions of the user that property lists hold.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::ctypes::{herr_t, hid_t, hsize_t};

/// Defines a function of the user with its data.
macro_rules! callbacks {
    ($($(#[$meta:meta])* $name:ident: $function:ty;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name {
            /// The function, if one is set.
            pub function: Option<$function>,
            /// The data that the function gets.
            pub data: *mut c_void,
        }

        impl Default for $name {
            fn default() -> Self {
                Self { function: None, data: std::ptr::null_mut() }
            }
        }

        // SAFETY: `data` is opaque to the library, which only passes it to `function`. The C
        // interface leaves its use by several threads to the user.
        #[expect(unsafe_code, reason = "property lists with opaque data of users cross threads")]
        unsafe impl Send for $name {}
        // SAFETY: see above.
        #[expect(unsafe_code, reason = "property lists with opaque data of users cross threads")]
        unsafe impl Sync for $name {}
    )*};
}

callbacks! {
    /// The function that is called for exceptions of conversions (`H5T_conv_except_func_t`).
    TypeConversionCallback: unsafe extern "C" fn(c_int, hid_t, hid_t, *mut c_void, *mut c_void, *mut c_void) -> c_int;
    /// The function that is called when a filter fails (`H5Z_filter_func_t`).
    FilterCallback: unsafe extern "C" fn(c_int, *mut c_void, usize, *mut c_void) -> c_int;
    /// The function that is called before an external link is followed (`H5L_elink_traverse_t`).
    ExternalLinkCallback: unsafe extern "C" fn(*const c_char, *const c_char, *const c_char, *const c_char, *mut c_uint, hid_t, *mut c_void) -> herr_t;
    /// The function that is called when an object is flushed (`H5F_flush_cb_t`).
    FlushCallback: unsafe extern "C" fn(hid_t, *mut c_void) -> herr_t;
    /// The function that decides about the search for committed datatypes (`H5O_mcdt_search_cb_t`).
    MergeCallback: unsafe extern "C" fn(*mut c_void) -> c_int;
    /// The function that is called at a boundary of appended data (`H5D_append_cb_t`).
    AppendFunction: unsafe extern "C" fn(hid_t, *mut hsize_t, *mut c_void) -> herr_t;
    /// The function that allocates variable-length data (`H5MM_allocate_t`).
    Allocate: unsafe extern "C" fn(usize, *mut c_void) -> *mut c_void;
    /// The function that frees variable-length data (`H5MM_free_t`).
    Free: unsafe extern "C" fn(*mut c_void, *mut c_void);
}

/// The boundary of appended data in each dimension, and the function that is called there.
#[derive(Debug, Clone, Default)]
pub struct AppendFlush {
    /// The boundary in each dimension; empty if none is set.
    pub boundary: Vec<hsize_t>,
    /// The function.
    pub function: AppendFunction,
}

/// The functions that allocate and free variable-length data; `malloc` and `free` by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct VariableLengthMemory {
    /// The function that allocates.
    pub allocate: Allocate,
    /// The function that frees.
    pub free: Free,
}

/// The functions for file images (`H5FD_file_image_callbacks_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ImageCallbacks {
    /// Allocates an image.
    pub image_malloc: Option<unsafe extern "C" fn(usize, c_int, *mut c_void) -> *mut c_void>,
    /// Copies an image.
    pub image_memcpy:
        Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int, *mut c_void) -> *mut c_void>,
    /// Changes the size of an image.
    pub image_realloc: Option<unsafe extern "C" fn(*mut c_void, usize, c_int, *mut c_void) -> *mut c_void>,
    /// Frees an image.
    pub image_free: Option<unsafe extern "C" fn(*mut c_void, c_int, *mut c_void) -> herr_t>,
    /// Copies the user's data.
    pub udata_copy: Option<unsafe extern "C" fn(*mut c_void) -> *mut c_void>,
    /// Frees the user's data.
    pub udata_free: Option<unsafe extern "C" fn(*mut c_void) -> herr_t>,
    /// The user's data.
    pub udata: *mut c_void,
}

impl Default for ImageCallbacks {
    fn default() -> Self {
        Self {
            image_malloc: None,
            image_memcpy: None,
            image_realloc: None,
            image_free: None,
            udata_copy: None,
            udata_free: None,
            udata: std::ptr::null_mut(),
        }
    }
}

// SAFETY: `udata` is opaque to the library, which only passes it to the functions. The C interface
// leaves its use by several threads to the user.
#[expect(unsafe_code, reason = "property lists with opaque data of users cross threads")]
unsafe impl Send for ImageCallbacks {}
// SAFETY: see above.
#[expect(unsafe_code, reason = "property lists with opaque data of users cross threads")]
unsafe impl Sync for ImageCallbacks {}
