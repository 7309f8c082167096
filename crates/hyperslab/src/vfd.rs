//! Virtual file drivers: where the bytes of a file are.
//!
//! [`FileDriver`](crate::FileDriver) chooses a built-in driver for a path. A program with bytes elsewhere implements
//! [`Driver`] and passes it to [`OpenOptions::open_driver`](crate::OpenOptions::open_driver).

#[cfg(all(unix, feature = "mmap"))]
pub use hyperslab_vfd::Mmap;
pub use hyperslab_vfd::{
    Access, AccessCell, AccessLog, AccessReport, Core, CoreOptions, Driver, DriverError, DriverKind, Family,
    FamilyPattern, FileIdentity, LockHolder, LockHolders, LockKind, Log, Multi, MultiMember, PathSideFile,
    ReadRequest, Result, Sec2, SideAccess, SideFile, Stdio, Stream, StreamOptions, StreamServer, StreamToken,
    Subfiling, Traffic, WriteRequest, find_writers, is_same_file,
};
