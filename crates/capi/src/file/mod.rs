//! Open files, and the places of objects in them.

pub mod location;
pub mod open;
pub mod registry;
pub mod traverse;

use std::ffi::c_uint;
use std::sync::Arc;

use hyperslab::File;
use parking_lot::RwLock;

pub use location::{Location, Name};
pub use registry::{find_open, identity_of};

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome, codes};
use crate::id::{self, Entry};
use crate::plist::settings::{FileAccess, MappingChoice};

/// The flags of `H5Fopen` and `H5Fcreate`.
pub const H5F_ACC_RDWR: c_uint = 0x0001;
/// Overwrites a file that exists.
pub const H5F_ACC_TRUNC: c_uint = 0x0002;
/// Fails if the file exists.
pub const H5F_ACC_EXCL: c_uint = 0x0004;
/// Creates the file if it does not exist.
pub const H5F_ACC_CREAT: c_uint = 0x0010;
/// Opens for SWMR writing.
pub const H5F_ACC_SWMR_WRITE: c_uint = 0x0020;
/// Opens for SWMR reading.
pub const H5F_ACC_SWMR_READ: c_uint = 0x0040;

/// A file that is open once in this process. All identifiers of the file share it; the file is
/// closed when the last one is closed.
#[derive(Debug)]
pub struct SharedFile {
    /// The file.
    pub file: File,
    /// The number of the file (`H5O_info_t::fileno`), which no other file of the process has.
    pub number: u64,
    /// The identity of the file in the file system; `None` for files in memory.
    pub identity: Option<hyperslab::vfd::FileIdentity>,
    /// The name with which the file was opened.
    pub name: Vec<u8>,
    /// The access properties with which the file was opened.
    pub access: RwLock<FileAccess>,
    /// The flags with which the file was opened.
    pub flags: RwLock<c_uint>,
    /// Files that are mounted on groups of this file.
    pub mounts: RwLock<Vec<Mount>>,
    /// The file that the driver of the user has open, for `H5Fget_vfd_handle`.
    pub user_driver: Option<Arc<crate::driver::user::UserFile>>,
    /// The mappings of virtual datasets that were created since the file was opened, by the address
    /// of the dataset. The file does not store the extents of the sources.
    pub created_mappings: RwLock<std::collections::HashMap<u64, Vec<MappingChoice>>>,
    /// True if the log of the metadata cache is written now.
    pub is_logging: std::sync::atomic::AtomicBool,
    /// True if new object headers are made as small as possible.
    pub minimize: std::sync::atomic::AtomicBool,
}

/// A file that is mounted on a group.
#[derive(Debug, Clone)]
pub struct Mount {
    /// The token of the group.
    pub group: hyperslab::ObjectToken,
    /// The mounted file.
    pub child: Arc<FileHandle>,
}

/// A file with an identifier.
#[derive(Debug)]
pub struct FileHandle {
    /// The file.
    pub shared: Arc<SharedFile>,
    /// The flags with which this identifier was opened.
    pub flags: c_uint,
    /// The name with which this identifier was opened.
    pub name: Vec<u8>,
    /// The number of this identifier, which objects that are reached by it state. Identifiers of
    /// one opened file count as one.
    pub number: u64,
}

impl FileHandle {
    /// Returns the place of the root group.
    pub fn root(&self) -> Location {
        Location { handle: self.number, ..self.shared.root() }
    }
}

impl SharedFile {
    /// Returns the place of the root group.
    pub fn root(self: &Arc<Self>) -> Location {
        Location { shared: Arc::clone(self), name: Name::known(b"/".to_vec()), handle: 0 }
    }

    /// Returns whether new object headers are made as small as possible.
    pub fn minimizes_headers(&self) -> bool {
        self.minimize.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Sets whether new object headers are made as small as possible.
    pub fn minimize_headers(&self, yes: bool) {
        self.minimize.store(yes, std::sync::atomic::Ordering::Relaxed);
    }

    /// Returns the bytes of an address in the file.
    pub fn offset_bytes(&self) -> u8 {
        self.file.info().size_of_offsets
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        registry::forget(self.number);
        crate::driver::handle::close(self.number);
        if let Err(failure) = crate::h5f::finish(self) {
            registry::keep_error(failure);
        }
    }
}

/// Runs `release`, which may drop the last user of a file, and returns the error of closing the
/// file.
///
/// # Errors
/// Returns the error of writing the file.
pub fn closing<T>(release: impl FnOnce() -> T) -> Outcome<T> {
    registry::take_error();
    let value = release();
    registry::take_error().map_or(Ok(value), Err)
}

/// Removes the file at a path.
///
/// # Errors
/// Returns the error of the file system.
pub fn remove(name: &[u8]) -> Outcome<()> {
    use std::os::unix::ffi::OsStrExt as _;
    std::fs::remove_file(std::ffi::OsStr::from_bytes(name))
        .map_err(|error| Failure::new(codes::VFL, codes::CANTDELETEFILE, error.to_string()))
}

/// Returns the file of an identifier.
///
/// # Errors
/// Fails with a bad type for other identifiers.
pub fn find(id: hid_t) -> Outcome<Arc<FileHandle>> {
    match id::find(id) {
        Some(Entry::File(file)) => Ok(file),
        _ => Err(Failure::bad_type("not a file")),
    }
}
