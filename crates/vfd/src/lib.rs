//! Virtual file drivers: the bytes of a file, wherever they lie. No stability promise: use the crate
//! `hyperslab`.
//!
//! A [`Driver`] reads and writes bytes at offsets and knows nothing of what they mean. Every
//! implementation passes the suite in [`conformance`].
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
#![forbid(unsafe_code)]

pub mod conformance;
mod core;
mod driver;
mod error;
mod positional;
mod sec2;
mod vectored;

pub use crate::core::{Core, CoreOptions};
pub use driver::{Driver, FileIdentity, LockKind, ReadRequest, WriteRequest};
pub use error::{DriverError, Result};
pub use sec2::{Access, Sec2};
