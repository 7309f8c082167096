//! The functions of the library as a whole (`H5*`).

use std::ffi::{c_char, c_uint, c_void};

use crate::ctypes::herr_t;
use crate::error::Failure;
use crate::export;
use crate::memory;
use crate::pointer::Out;

/// The version of the C interface: major, minor, release.
pub const VERSION: (c_uint, c_uint, c_uint) = (2, 2, 0);
/// The version as text.
pub const VERSION_TEXT: &str = "2.2.0";

export! {
    /// Starts the library.
    fn H5open() -> herr_t {
        Ok(0)
    }

    /// Closes all objects.
    fn H5close() -> herr_t {
        crate::init::stop();
        Ok(0)
    }

    /// Accepts the request. The library registers no function for the end of the process.
    fn H5dont_atexit() -> herr_t {
        Ok(0)
    }

    /// Returns the version of the interface.
    fn H5get_libversion(major: Out<c_uint>, minor: Out<c_uint>, release: Out<c_uint>) -> herr_t {
        major.put(VERSION.0);
        minor.put(VERSION.1);
        release.put(VERSION.2);
        Ok(0)
    }

    /// Checks that a program was compiled for this interface.
    fn H5check_version(major: c_uint, minor: c_uint, release: c_uint) -> herr_t {
        let _ = (minor, release);
        if major == VERSION.0 || major == 1 {
            return Ok(0);
        }
        Err(Failure::bad_value(format!("the program was compiled for version {major} of the interface")))
    }

    /// Frees unused memory. hyperslab keeps none.
    fn H5garbage_collect() -> herr_t {
        Ok(0)
    }

    /// Accepts limits of free lists. hyperslab has none.
    fn H5set_free_list_limits(
        regular_global: i32,
        regular_list: i32,
        array_global: i32,
        array_list: i32,
        block_global: i32,
        block_list: i32,
    ) -> herr_t {
        let _ = (regular_global, regular_list, array_global, array_list, block_global, block_list);
        Ok(0)
    }

    /// Returns the sizes of free lists, which are empty.
    fn H5get_free_list_sizes(
        regular: Out<usize>,
        array: Out<usize>,
        block: Out<usize>,
        factory: Out<usize>,
    ) -> herr_t {
        for size in [regular, array, block, factory] {
            size.put(0);
        }
        Ok(0)
    }

    /// Allocates memory that `H5free_memory` frees.
    fn H5allocate_memory(size: usize, clear: bool) -> *mut c_void {
        Ok(memory::allocate(size, clear))
    }

    /// Changes the size of a block of `H5allocate_memory`.
    fn H5resize_memory(block: *mut c_void, size: usize) -> *mut c_void {
        Ok(memory::resize(block, size))
    }

    /// Frees a block that a function of the library returned.
    fn H5free_memory(block: *mut c_void) -> herr_t {
        memory::free(block);
        Ok(0)
    }

    /// Returns `true`: each function may be called from each thread.
    fn H5is_library_threadsafe(threadsafe: Out<bool>) -> herr_t {
        threadsafe.require("result")?.put(true);
        Ok(0)
    }

    /// Returns `false`: the library can be started again after its end.
    fn H5is_library_terminating(terminating: Out<bool>) -> herr_t {
        terminating.require("result")?.put(false);
        Ok(0)
    }
}

/// A text in the C interface.
pub type CText = *const c_char;
