//! The files of raw data that external storage names.

use std::sync::Arc;

use super::FileResolver;
use crate::data::linear::OpenRaw;
use crate::error::{Error, Result};
use crate::store::RawFile;

/// Opens files of raw data by the way that the caller gave to other files, if any.
#[derive(Debug)]
pub(super) struct RawFiles {
    resolver: Option<Arc<dyn FileResolver>>,
    write: bool,
}

impl RawFiles {
    /// For reading.
    pub(super) fn to_read(resolver: Option<Arc<dyn FileResolver>>) -> Self {
        Self { resolver, write: false }
    }

    /// For writing; files that are not there are made.
    pub(super) fn to_write(resolver: Option<Arc<dyn FileResolver>>) -> Self {
        Self { resolver, write: true }
    }
}

impl OpenRaw for RawFiles {
    fn open_raw(&self, name: &[u8]) -> Result<RawFile> {
        match &self.resolver {
            Some(resolver) if self.write => RawFile::new(resolver.open_raw_to_write(name)?),
            Some(resolver) => RawFile::new(resolver.open_raw(name)?),
            None => Err(Error::Misuse("data in other files is not reached".into())),
        }
    }
}
