//! URLs in a build without the feature `cloud`: errors.

use std::path::Path;
use std::sync::Arc;

use hyperslab::vfd::Driver;
use hyperslab::{Error, File, OpenOptions, Result};

use crate::missing_feature::missing_feature;

const PARTS: &str = "object stores and web servers";

fn missing() -> Error {
    Error::Misuse(missing_feature(PARTS).to_string())
}

pub(super) fn open(_: OpenOptions, _: &str) -> Result<File> {
    Err(missing())
}

pub(super) fn driver(_: &str) -> Result<Arc<dyn Driver>> {
    Err(missing())
}

/// Copies a whole file from or to a URL.
pub(crate) fn copy_file(_: &Path, _: &Path) -> anyhow::Result<()> {
    Err(missing_feature(PARTS))
}

/// Prints the requests that reads of a file need.
pub(crate) fn print_requests(_: &Path, _: bool) -> anyhow::Result<()> {
    Err(missing_feature(PARTS))
}
