//! Open files, and the locations of objects in these files.

pub mod drivers;
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
use crate::plist::driver_choice::DriverChoice;
use crate::plist::settings::{FileAccess, MappingChoice};

/// The flag of `H5Fopen` that opens the file for reading and writing.
pub const H5F_ACC_RDWR: c_uint = 0x0001;
/// The flag of `H5Fcreate` that overwrites an existing file.
pub const H5F_ACC_TRUNC: c_uint = 0x0002;
/// The flag of `H5Fcreate` that makes an existing file an error.
pub const H5F_ACC_EXCL: c_uint = 0x0004;
/// The file access flag that creates the file if it does not exist, in calls of a user's driver.
pub const H5F_ACC_CREAT: c_uint = 0x0010;
/// The flag of `H5Fopen` that opens the file as the SWMR writer.
pub const H5F_ACC_SWMR_WRITE: c_uint = 0x0020;
/// The flag of `H5Fopen` that opens the file as a SWMR reader.
pub const H5F_ACC_SWMR_READ: c_uint = 0x0040;

/// A file that this process has opened once. All identifiers of the file share this value. The
/// library closes the file together with the last identifier of the file or its objects.
#[derive(Debug)]
pub struct SharedFile {
    /// The open file of hyperslab.
    pub file: File,
    /// The number of the file (`H5O_info_t::fileno`), unique among all files that the process
    /// opened.
    pub number: u64,
    /// The process that opened the file. A fork of this process inherits the file.
    pub process: u32,
    /// The identity of the file in the file system; `None` for a file in memory.
    pub identity: Option<hyperslab::vfd::FileIdentity>,
    /// The length and the time of the last change before the file was opened for reading; `None`
    /// for a file in memory.
    pub stamp: Option<registry::Stamp>,
    /// The name with which the program opened the file.
    pub name: Vec<u8>,
    /// The access properties with which the program opened the file.
    pub access: RwLock<FileAccess>,
    /// The flags (`H5F_ACC_*`) with which the program opened the file.
    pub flags: RwLock<c_uint>,
    /// The files that are mounted on groups of this file.
    pub mounts: RwLock<Vec<Mount>>,
    /// The file struct of the user's driver, for `H5Fget_vfd_handle`; `None` for other drivers.
    pub user_driver: Option<Arc<crate::driver::user::UserFile>>,
    /// The copy of a file in memory that functions of the user manage.
    pub file_image: Option<crate::plist::image::FileImage>,
    /// The mappings of virtual datasets that were created since the file was opened, by the address
    /// of the dataset. The file does not store the extents of the source datasets.
    pub created_mappings: RwLock<std::collections::HashMap<u64, Vec<MappingChoice>>>,
    /// The addresses of the objects whose dirty metadata the program wants to keep in the cache.
    pub kept_metadata: parking_lot::Mutex<std::collections::HashSet<u64>>,
    /// The generation of the file after the last flush for chunk addresses.
    pub written: parking_lot::Mutex<Option<u64>>,
    /// True between `H5Fstart_mdc_logging` and `H5Fstop_mdc_logging`.
    pub is_logging: std::sync::atomic::AtomicBool,
    /// True if the library gives new object headers the minimum size.
    pub minimize: std::sync::atomic::AtomicBool,
}

/// A file that is mounted on a group of another file.
#[derive(Debug, Clone)]
pub struct Mount {
    /// The token of the group on which the file is mounted.
    pub group: hyperslab::ObjectToken,
    /// The mounted file.
    pub child: Arc<FileHandle>,
}

/// An open file to which an identifier refers.
#[derive(Debug)]
pub struct FileHandle {
    /// The file, which all its identifiers share.
    pub shared: Arc<SharedFile>,
    /// The flags with which the program opened the file through this identifier.
    pub flags: c_uint,
    /// The name with which the program opened the file through this identifier.
    pub name: Vec<u8>,
    /// The number of this handle. Objects record the number of the handle through which the program
    /// reached them. Handles that `H5Freopen` returns have numbers of their own.
    pub number: u64,
}

impl FileHandle {
    /// Returns the location of the root group of the file to which the identifier refers.
    pub fn root(&self) -> Location {
        Location { handle: self.number, ..self.shared.root() }
    }
}

impl SharedFile {
    /// Returns the location of the root group of the shared file.
    pub fn root(self: &Arc<Self>) -> Location {
        Location { shared: Arc::clone(self), name: Name::known(b"/".to_vec()), handle: 0 }
    }

    /// Returns true if object headers of new datasets in this file have the minimum size.
    pub fn minimizes_headers(&self) -> bool {
        self.minimize.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Sets whether object headers of new datasets in this file have the minimum size.
    pub fn minimize_headers(&self, yes: bool) {
        self.minimize.store(yes, std::sync::atomic::Ordering::Relaxed);
    }

    /// Writes the log of accesses, if the program chose the log driver with a name for the log.
    fn write_log(&self) -> Outcome<()> {
        use std::os::unix::ffi::OsStrExt as _;
        let access = self.access.read();
        let DriverChoice::Log { log: Some(log), counts, .. } = &access.driver else { return Ok(()) };
        let text = format!("{}\n{}\n", String::from_utf8_lossy(&self.name), counts.report());
        std::fs::write(std::ffi::OsStr::from_bytes(log), text)
            .map_err(|error| Failure::new(codes::VFL, codes::LOGGING, error.to_string()))
    }

    /// Returns the number of bytes in which this file stores an address.
    pub fn offset_bytes(&self) -> u8 {
        self.file.info().size_of_offsets
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        registry::forget(self.number);
        crate::driver::handle::close(self.number);
        if let Err(failure) = crate::h5f::finish(self).and_then(|()| self.write_log()) {
            registry::keep_error(failure);
        }
    }
}

/// Runs `release`, which may drop the last reference to an open file and thereby close the file.
/// Returns the error if this fails.
///
/// # Errors
/// Returns the error of writing or closing the file.
pub fn closing<T>(release: impl FnOnce() -> T) -> Outcome<T> {
    registry::take_error();
    let value = release();
    registry::take_error().map_or(Ok(value), Err)
}

/// Deletes the file with the given name from the file system.
///
/// # Errors
/// Returns the error of the file system.
pub fn remove(name: &[u8]) -> Outcome<()> {
    use std::os::unix::ffi::OsStrExt as _;
    std::fs::remove_file(std::ffi::OsStr::from_bytes(name))
        .map_err(|error| Failure::new(codes::VFL, codes::CANTDELETEFILE, error.to_string()))
}

/// Returns the handle of the open file to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a file.
pub fn find(id: hid_t) -> Outcome<Arc<FileHandle>> {
    match id::find(id) {
        Some(Entry::File(file)) => Ok(file),
        _ => Err(Failure::bad_type("not a file")),
    }
}
