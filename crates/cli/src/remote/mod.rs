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

pub(crate) use build::{copy_file, print_requests};

/// The schemes of URLs that name a store.
const SCHEMES: [&str; 6] = ["s3", "gs", "az", "http", "https", "file"];

/// Returns the URL if the name of a file is a URL of a store.
pub(crate) fn url(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)).then_some(text)
}

/// Returns a path, or a URL without the parts that may be credentials: the user, and the query.
pub(crate) fn shown(path: &Path) -> String {
    let Some((scheme, rest)) = url(path).and_then(|url| url.split_once("://")) else {
        return path.display().to_string();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    format!("{scheme}://{}/{path}", host.rsplit('@').next().unwrap_or(host))
}

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
