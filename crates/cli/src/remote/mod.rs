//! Files at URLs: object stores and web servers, by the feature `cloud`.

#[cfg(not(feature = "cloud"))]
mod absent;
#[cfg(feature = "cloud")]
mod copy;
#[cfg(feature = "cloud")]
mod present;
#[cfg(feature = "cloud")]
mod requests;

use std::path::Path;
use std::sync::Arc;

use hyperslab::vfd::Driver;
use hyperslab::{File, OpenOptions, Result};

#[cfg(not(feature = "cloud"))]
use absent as build;
#[cfg(feature = "cloud")]
use present as build;

#[cfg(not(feature = "cloud"))]
pub(crate) use absent::Draft;
#[cfg(feature = "cloud")]
pub(crate) use hyperslab_cloud::Draft;

pub(crate) use build::{copy_file, draft, print_requests, upload};

pub(crate) use crate::urls::{shown, url};

/// Opens the file at a path or URL.
pub(crate) fn open(options: OpenOptions, path: &Path) -> Result<File> {
    match url(path) {
        Some(url) => build::open(options, url),
        None => options.open(path),
    }
}

/// Returns the driver of the file at a path or URL.
pub(crate) fn find_driver(options: OpenOptions, path: &Path) -> Result<Arc<dyn Driver>> {
    match url(path) {
        Some(url) => build::driver(url),
        None => options.find_driver(path),
    }
}
