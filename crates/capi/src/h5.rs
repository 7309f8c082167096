//! Functions for the library as a whole (`H5*`): versions, memory and shutdown.

use std::ffi::{c_char, c_uint, c_void};

use crate::ctypes::herr_t;
use crate::error::Failure;
use crate::export;
use crate::init::{CloseFunction, Closing};
use crate::memory;
use crate::pointer::Out;

/// The version of the HDF5 C interface that hyperslab implements: major, minor, release.
pub const VERSION: (c_uint, c_uint, c_uint) = if IS_1_10 { (1, 10, 8) } else { (2, 2, 0) };
/// The version of the HDF5 C interface that hyperslab implements, as text.
pub const VERSION_TEXT: &str = if IS_1_10 { "1.10.8" } else { "2.2.0" };

/// True if the library has the interface of HDF5 1.10, for programs that were linked with it.
pub const IS_1_10: bool = cfg!(feature = "hdf5-1-10");

export! {
    /// Starts the HDF5 library. Other functions also start it, so this call is optional.
    fn H5open() -> herr_t {
        Ok(0)
    }

    /// Closes all open files and objects and shuts the HDF5 library down.
    fn H5close() -> herr_t {
        crate::init::stop();
        Ok(0)
    }

    /// Prevents that the library closes open files when the program ends.
    fn H5dont_atexit() -> herr_t {
        crate::init::no_exit();
        Ok(0)
    }

    /// Adds a function that the library calls before it shuts down. The last function is called
    /// first.
    fn H5atclose(function: Option<CloseFunction>, data: *mut c_void) -> herr_t {
        let function = function.ok_or_else(|| Failure::bad_value("no function"))?;
        crate::init::at_close(Closing { function, data });
        Ok(0)
    }

    /// Stores the version of the HDF5 interface in `major`, `minor` and `release`.
    fn H5get_libversion(major: Out<c_uint>, minor: Out<c_uint>, release: Out<c_uint>) -> herr_t {
        major.put(VERSION.0);
        minor.put(VERSION.1);
        release.put(VERSION.2);
        Ok(0)
    }

    /// Checks that the program was compiled for a supported version of the HDF5 interface.
    fn H5check_version(major: c_uint, minor: c_uint, release: c_uint) -> herr_t {
        let _ = (minor, release);
        if major == VERSION.0 || major == 1 {
            return Ok(0);
        }
        Err(Failure::bad_value(format!("the program was compiled for version {major} of the interface")))
    }

    /// Returns success without an effect: hyperslab keeps no unused memory.
    fn H5garbage_collect() -> herr_t {
        Ok(0)
    }

    /// Accepts and ignores limits for free lists, which hyperslab does not use.
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

    /// Stores 0 as the size of each free list, because hyperslab has no free lists.
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

    /// Allocates a memory block of `size` bytes, which the program frees with `H5free_memory`.
    fn H5allocate_memory(size: usize, clear: bool) -> *mut c_void {
        Ok(memory::allocate(size, clear))
    }

    /// Changes the size of a memory block from `H5allocate_memory` and returns the block's new
    /// address.
    fn H5resize_memory(block: *mut c_void, size: usize) -> *mut c_void {
        Ok(memory::resize(block, size))
    }

    /// Frees a block of memory that a library function allocated for the program.
    fn H5free_memory(block: *mut c_void) -> herr_t {
        memory::free(block);
        Ok(0)
    }

    /// Stores `true` in `threadsafe`, because several threads may call the library at the same
    /// time.
    fn H5is_library_threadsafe(threadsafe: Out<bool>) -> herr_t {
        threadsafe.require("result")?.put(true);
        Ok(0)
    }

    /// Stores `false` in `terminating`, because the library can be started again after its
    /// shutdown.
    fn H5is_library_terminating(terminating: Out<bool>) -> herr_t {
        terminating.require("result")?.put(false);
        Ok(0)
    }
}

/// The C type of a C string that a library function returns or receives.
pub type CText = *const c_char;
