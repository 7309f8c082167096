//! Virtual file drivers: the storage of the bytes of a file.
//!
//! [`FileDriver`](crate::FileDriver) chooses a built-in driver for a path. A program that stores
//! bytes elsewhere implements [`Driver`] and passes it to
//! [`OpenOptions::open_driver`](crate::OpenOptions::open_driver):
//!
//! ```
//! use hyperslab::vfd::{Core, Driver};
//! use hyperslab::{FileOptions, OpenOptions};
//! use std::sync::Arc;
//!
//! let driver: Arc<dyn Driver> = Arc::new(Core::from_vec("scratch", Vec::new()));
//! FileOptions::new().create_driver(Arc::clone(&driver))?.close()?;
//! assert!(OpenOptions::new().open_driver(driver)?.is_empty()?);
//! # Ok::<(), hyperslab::Error>(())
//! ```

#[cfg(all(unix, feature = "mmap"))]
pub use hyperslab_vfd::Mmap;
pub use hyperslab_vfd::{
    Access, AccessCell, AccessLog, AccessReport, Core, CoreOptions, Driver, DriverError, DriverKind, Family,
    FamilyPattern, FileIdentity, LockHolder, LockHolders, LockKind, Log, Multi, MultiMember, PathSideFile,
    ReadRequest, Result, Sec2, SideAccess, SideFile, Stdio, Stream, StreamOptions, StreamServer, StreamToken,
    Subfiling, Traffic, WriteRequest, find_writers, is_same_file,
};
