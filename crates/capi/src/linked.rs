//! The version of the HDF5 interface with which the program was linked.
//!
//! One file serves programs of HDF5 1.14 and of HDF5 2: both find their functions in it. A few
//! defaults differ, and a program expects those of its version. The name under which the system
//! loaded the library tells the version: `libhdf5.so.310` is a library of 1.14.

use std::ffi::{CStr, c_int, c_void};
use std::sync::LazyLock;

/// A version of the HDF5 interface whose defaults a program expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// HDF5 1.10.
    V1_10,
    /// HDF5 1.14.
    V1_14,
    /// HDF5 2.
    V2,
}

impl Interface {
    /// Returns the version with which this program was linked.
    pub fn of_program() -> Self {
        static FOUND: LazyLock<Interface> = LazyLock::new(|| {
            if crate::h5::IS_1_10 { Interface::V1_10 } else { Interface::of_library(&loaded_name()) }
        });
        *FOUND
    }

    /// Returns the version that the file name of a library states. Wheels insert a hash into the
    /// name, as in `libhdf5-b93485fa.so.310.5.1`.
    fn of_library(path: &[u8]) -> Self {
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        if name.split(|&byte| byte == b'.').any(|part| part == b"310") { Self::V1_14 } else { Self::V2 }
    }

    /// Returns the lowest and the highest library version (`H5F_libver_t`) whose format a new file
    /// may use if the program sets no bounds.
    pub fn format_bounds(self) -> (c_int, c_int) {
        match self {
            Self::V1_10 => (0, 2),
            Self::V1_14 => (0, 4),
            Self::V2 => (1, 5),
        }
    }
}

/// Returns the path under which the system loaded the file that holds this code; empty if the
/// system does not know the path.
#[expect(unsafe_code, reason = "the system finds the file by an address")]
fn loaded_name() -> Vec<u8> {
    let address: *const c_void = (loaded_name as fn() -> Vec<u8>) as *const c_void;
    let mut found = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the address is one of this program's code, and `found` is a whole structure.
    let known = unsafe { libc::dladdr(address, &raw mut found) } != 0;
    if !known || found.dli_fname.is_null() {
        return Vec::new();
    }
    // SAFETY: the system stored a text that ends with a zero and lives as long as the library.
    unsafe { CStr::from_ptr(found.dli_fname) }.to_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_library_states_the_version() {
        let cases: [(&[u8], Interface); 6] = [
            (b"/usr/lib/hyperslab/hdf5/lib/libhdf5.so.310", Interface::V1_14),
            (b"tables.libs/libhdf5-b93485fa.so.310.5.1", Interface::V1_14),
            (b"libhdf5_serial.so.310", Interface::V1_14),
            (b"/opt/310/libhdf5.so.320", Interface::V2),
            (b"libhdf5.so", Interface::V2),
            (b"", Interface::V2),
        ];
        for (path, expected) in cases {
            assert_eq!(Interface::of_library(path), expected, "{}", String::from_utf8_lossy(path));
        }
    }

    #[test]
    fn the_system_knows_the_file_of_this_code() {
        assert!(std::path::Path::new(&*String::from_utf8_lossy(&loaded_name())).exists());
    }
}
