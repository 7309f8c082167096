//! URLs in a build without the feature `cloud`: errors.

use std::ops::Deref;
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

/// A local file that replaces an object; there is none in this build.
pub(crate) enum Draft {}

impl Deref for Draft {
    type Target = File;

    fn deref(&self) -> &File {
        match *self {}
    }
}

impl Draft {
    pub(crate) fn close(self) -> Result<()> {
        match self {}
    }

    pub(crate) fn discard(self) {
        match self {}
    }
}

/// Opens an object of a store for changes.
pub(crate) fn draft(_: &str, _: bool) -> anyhow::Result<Draft> {
    Err(missing_feature(PARTS))
}

/// Uploads a file as an object of a store.
pub(crate) fn upload(_: &std::fs::File, _: &str, _: bool) -> anyhow::Result<()> {
    Err(missing_feature(PARTS))
}

/// Copies a whole file from or to a URL.
pub(crate) fn copy_file(_: &Path, _: &Path, _: bool) -> anyhow::Result<()> {
    Err(missing_feature(PARTS))
}

/// Prints the requests that reads of a file need.
pub(crate) fn print_requests(_: &Path, _: bool, _: bool) -> anyhow::Result<()> {
    Err(missing_feature(PARTS))
}
