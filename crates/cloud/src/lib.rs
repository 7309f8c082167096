//! HDF5 files in object stores and on web servers: `s3://`, `gs://`, `az://`, `http://` and
//! `https://`.
//!
//! [`open`] returns a file that reads byte ranges of the object, by a driver. Everything that reads
//! a [`File`] works.
//!
//! ```no_run
//! let file = hyperslab_cloud::open("https://example.org/run42.h5")?;
//! let frames = file.dataset("entry/frames")?.read_raw::<u16>(hyperslab::s![17, .., ..])?;
//! # Ok::<(), hyperslab::Error>(())
//! ```
//!
//! # Requests
//!
//! The first request fetches the first MiB of the object, its size and its version. Small reads
//! fetch lines of 64 KiB, or of a page, which stay in memory. Reads of chunks are announced to the
//! driver, which joins their byte ranges over small gaps and sends up to 32 requests at the same
//! time. Memory is bounded: [`CloudOptions::cache`].
//!
//! # Writing
//!
//! An object cannot be changed in part. [`CloudOptions::create`] and its relatives return a
//! [`Draft`]: a local file that is uploaded as a whole when it is closed.
//!
//! # Changes of the object
//!
//! Each request has the condition that the object is the one that was opened (`If-Match`), and each
//! answer is compared with it. If the object was replaced, reads return
//! [`DriverError::Changed`](hyperslab::vfd::DriverError::Changed).
//!
//! # Credentials
//!
//! Stores take credentials from the environment variables of their vendors (`AWS_…`, `GOOGLE_…`,
//! `AZURE_…`) or from [`CloudOptions::config`]. Errors, logs and `Debug` never show them. They are
//! not sent without encryption, except to this machine.
//!
//! # Asynchronous code
//!
//! [`AsyncFile`] runs closures over the same API without a blocked thread: bytes that are missing
//! are noted, fetched together, and the closure runs again.
//!
//! # Threads
//!
//! One thread of the process sends all requests. A read blocks the calling thread until its bytes
//! are there, so a read in asynchronous code blocks the executor's thread.
#![forbid(unsafe_code)]

mod ahead;
mod async_file;
#[cfg(feature = "client")]
mod connect;
mod counters;
mod draft;
mod driver;
mod error;
mod fetcher;
mod files;
mod held;
mod location;
mod notes;
mod options;
mod ranges;
mod reader;
mod remote;
mod runtime;
mod streamed;
mod transfer;

pub use async_file::{AsyncDataset, AsyncFile};
pub use counters::Usage;
pub use draft::Draft;
pub use driver::CloudDriver;
pub use location::is_url;
pub use object_store;
pub use options::CloudOptions;
pub use reader::RangeReader;
pub use transfer::Existing;

use hyperslab::{File, Result};

/// Returns a URL without the parts that may be credentials: the user, and the query.
///
/// ```
/// let shown = hyperslab_cloud::without_credentials("https://me:secret@host/a.h5?signature=secret");
/// assert_eq!(shown, "https://host/a.h5");
/// ```
pub fn without_credentials(url: &str) -> String {
    error::without_secrets(url)
}

/// Opens the HDF5 file at a URL for reading, with the default options.
///
/// # Errors
/// Returns [`ErrorKind::Io`](hyperslab::ErrorKind::Io) if the object cannot be read, and the errors
/// of [`hyperslab::OpenOptions::open_driver`].
pub fn open(url: &str) -> Result<File> {
    CloudOptions::new().open(url)
}
