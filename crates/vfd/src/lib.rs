//! Virtual file drivers: they store the bytes of a file in one file, several files, memory or
//! elsewhere.
//!
//! A [`Driver`] reads and writes bytes at offsets, and does not interpret them. Every
//! implementation passes the tests in [`conformance`]. The API has no stability promise: programs
//! use the crate `hyperslab`.
//!
//! ```
//! use hyperslab_vfd::{Core, Driver};
//!
//! let driver = Core::empty("scratch");
//! driver.write_at(4, b"HDF")?;
//! let mut bytes = [0xff; 7];
//! driver.read_at(0, &mut bytes)?;
//! assert_eq!(&bytes, b"\0\0\0\0HDF");
//! # Ok::<(), hyperslab_vfd::DriverError>(())
//! ```
#![cfg_attr(not(all(unix, feature = "mmap")), forbid(unsafe_code))]

mod access_log;
mod clock;
pub mod conformance;
mod core;
mod driver;
mod error;
mod family;
mod holders;
mod joined;
mod log;
#[cfg(all(unix, feature = "mmap"))]
mod mmap;
mod multi;
mod pattern;
mod positional;
mod same_file;
mod sec2;
mod side_file;
pub mod simulated;
mod stdio;
mod stream;
mod stream_server;
mod subfiling;
mod vectored;

pub use crate::core::{Core, CoreOptions};
pub use access_log::{AccessCell, AccessLog, AccessReport, Traffic};
pub use driver::{Driver, DriverKind, FileIdentity, LockKind, ReadRequest, WriteRequest};
pub use error::{DriverError, Result};
pub use family::Family;
pub use holders::{LockHolder, LockHolders, find_writers};
pub use log::Log;
#[cfg(all(unix, feature = "mmap"))]
pub use mmap::Mmap;
pub use multi::{Multi, MultiMember};
pub use pattern::FamilyPattern;
pub use same_file::is_same_file;
pub use sec2::{Access, Sec2};
pub use side_file::{PathSideFile, SideAccess, SideFile};
pub use stdio::Stdio;
pub use stream::{Stream, StreamOptions, StreamToken};
pub use stream_server::StreamServer;
pub use subfiling::Subfiling;
