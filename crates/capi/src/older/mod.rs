//! The parts of the interface of HDF5 1.10 that HDF5 2.2 does not have: the build with the feature
//! `hdf5-1-10` exports them, for programs that ask for the name `libhdf5_serial.so.103`.
//!
//! Functions of 1.10 that later versions only renamed are not here: `abi-103.tsv` names them, and
//! the linker gives both names to one function.

pub mod options;
pub mod skip_list;

use crate::ctypes::{herr_t, hid_t};
use crate::error::{Failure, codes};
use crate::export;
use crate::pointer::Out;

macro_rules! codes_of_1_10 {
    ($($symbol:ident $name:ident)*) => {$(
        #[doc = concat!("The name in HDF5 1.10 of the error code `", stringify!($name), "`.")]
        #[expect(unsafe_code, reason = "C programs read the symbol by its name")]
        // SAFETY: the name belongs to the interface; nothing else defines it.
        #[unsafe(no_mangle)]
        pub static $symbol: hid_t = codes::$name;
    )*};
}

codes_of_1_10! {
    H5E_ATOM_g ID
    H5E_BADATOM_g BADID
    H5E_LOGFAIL_g LOGGING
}

/// The numbers of allocated bytes and blocks (`H5_alloc_stats_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allocations {
    /// The number of bytes that were ever allocated.
    pub total_bytes: u64,
    /// Six more numbers: bytes now, at most, of the largest block; blocks ever, now, at most.
    pub others: [usize; 6],
}

export! {
    /// Stores zeros, as a C library that does not count its allocations.
    fn H5get_alloc_stats(stats: Out<Allocations>) -> herr_t {
        stats.put(Allocations::default());
        Ok(0)
    }
}

macro_rules! absent {
    ($($result:ty: $($name:ident)*;)*) => {
        export! {$($(
            /// Fails with `H5E_UNSUPPORTED`, because hyperslab does not have the driver.
            fn $name() -> $result {
                Err(Failure::unsupported(concat!(stringify!($name), " is not supported")))
            }
        )*)*}
    };
}

absent! {
    herr_t: H5Pget_fapl_hdfs H5Pget_fapl_ros3 H5Pset_fapl_hdfs H5Pset_fapl_ros3;
    hid_t: H5FD_hdfs_init H5FD_ros3_init;
}
