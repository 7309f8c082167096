//! URLs in a build with the feature `cloud`.

use std::sync::Arc;

use hyperslab::vfd::Driver;
use hyperslab::{File, OpenOptions, Result};
use hyperslab_cloud::CloudOptions;

pub(crate) use super::copy::{copy_file, draft, upload};
pub(crate) use super::requests::print_requests;

pub(super) fn open(options: OpenOptions, url: &str) -> Result<File> {
    CloudOptions::new().open_options(options).open(url)
}

pub(super) fn driver(url: &str) -> Result<Arc<dyn Driver>> {
    Ok(Arc::new(CloudOptions::new().driver(url)?))
}
