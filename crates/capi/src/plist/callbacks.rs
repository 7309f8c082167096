//! Callbacks of the user that property lists contain.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::ctypes::{herr_t, hid_t, hsize_t};

/// Defines a struct for each kind of callback, with the function and its data.
macro_rules! callbacks {
    ($($(#[$meta:meta])* $name:ident: $function:ty;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name {
            /// The user's function, or `None` if no function is set.
            pub function: Option<$function>,
            /// The data that the user's function receives.
            pub data: *mut c_void,
        }

        impl Default for $name {
            fn default() -> Self {
                Self { function: None, data: std::ptr::null_mut() }
            }
        }

        // SAFETY: the library only passes the opaque pointer `data` to `function`. The C interface
        // makes the user responsible for the use by several threads.
        #[expect(unsafe_code, reason = "property lists with opaque data of users cross threads")]
        unsafe impl Send for $name {}
        // SAFETY: see above.
        #[expect(unsafe_code, reason = "property lists with opaque data of users cross threads")]
        unsafe impl Sync for $name {}
    )*};
}

callbacks! {
    /// The callback for conversion exceptions (`H5T_conv_except_func_t`).
    TypeConversionCallback: unsafe extern "C" fn(c_int, hid_t, hid_t, *mut c_void, *mut c_void, *mut c_void) -> c_int;
    /// The callback for failed filters (`H5Z_filter_func_t`).
    FilterCallback: unsafe extern "C" fn(c_int, *mut c_void, usize, *mut c_void) -> c_int;
    /// The callback before the traversal of an external link (`H5L_elink_traverse_t`).
    ExternalLinkCallback: unsafe extern "C" fn(*const c_char, *const c_char, *const c_char, *const c_char, *mut c_uint, hid_t, *mut c_void) -> herr_t;
    /// The callback for the flush of an object (`H5F_flush_cb_t`).
    FlushCallback: unsafe extern "C" fn(hid_t, *mut c_void) -> herr_t;
    /// The callback that decides how `H5Ocopy` searches for equal committed datatypes
    /// (`H5O_mcdt_search_cb_t`).
    MergeCallback: unsafe extern "C" fn(*mut c_void) -> c_int;
    /// The callback for appended data that reaches a boundary (`H5D_append_cb_t`).
    AppendFunction: unsafe extern "C" fn(hid_t, *mut hsize_t, *mut c_void) -> herr_t;
    /// The function that allocates memory for variable-length data (`H5MM_allocate_t`).
    Allocate: unsafe extern "C" fn(usize, *mut c_void) -> *mut c_void;
    /// The function that frees memory of variable-length data (`H5MM_free_t`).
    Free: unsafe extern "C" fn(*mut c_void, *mut c_void);
}

/// The boundary of appended data in each dimension of a dataset, with the user's function that is
/// called at the boundary.
#[derive(Debug, Clone, Default)]
pub struct AppendFlush {
    /// The boundary in each dimension; empty if no boundary is set.
    pub boundary: Vec<hsize_t>,
    /// The callback that the user set for the boundary.
    pub function: AppendFunction,
}

/// The allocator of variable-length data in memory: callbacks of the user, or `malloc` and `free`.
#[derive(Debug, Clone, Copy, Default)]
pub struct VariableLengthMemory {
    /// The function that allocates memory; `malloc` if it is not set.
    pub allocate: Allocate,
    /// The function that frees memory; `free` if it is not set.
    pub free: Free,
}

/// The user's functions that manage the memory of file images (`H5FD_file_image_callbacks_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ImageCallbacks {
    /// The function that allocates the memory of an image.
    pub image_malloc: Option<unsafe extern "C" fn(usize, c_int, *mut c_void) -> *mut c_void>,
    /// The function that copies an image.
    pub image_memcpy:
        Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int, *mut c_void) -> *mut c_void>,
    /// The function that changes the size of an image.
    pub image_realloc: Option<unsafe extern "C" fn(*mut c_void, usize, c_int, *mut c_void) -> *mut c_void>,
    /// The function that frees the memory of an image.
    pub image_free: Option<unsafe extern "C" fn(*mut c_void, c_int, *mut c_void) -> herr_t>,
    /// The function that copies the data of the image functions.
    pub udata_copy: Option<unsafe extern "C" fn(*mut c_void) -> *mut c_void>,
    /// The function that frees the data of the image functions.
    pub udata_free: Option<unsafe extern "C" fn(*mut c_void) -> herr_t>,
    /// The data that the image functions receive.
    pub udata: *mut c_void,
}

impl ImageCallbacks {
    /// Returns whether the functions manage the memory of files in memory.
    pub fn manages_memory(&self) -> bool {
        self.image_malloc.is_some() || self.image_realloc.is_some() || self.image_free.is_some()
    }
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

// SAFETY: the library only passes the opaque pointer `udata` to the functions. The C interface
// makes the user responsible for the use by several threads.
#[expect(unsafe_code, reason = "property lists with opaque data of users cross threads")]
unsafe impl Send for ImageCallbacks {}
// SAFETY: see above.
#[expect(unsafe_code, reason = "property lists with opaque data of users cross threads")]
unsafe impl Sync for ImageCallbacks {}
