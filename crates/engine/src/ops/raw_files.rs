//! The files of external storage.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hyperslab_format::codec::Address;
use hyperslab_vfd::Driver;

use super::dataset_access::{DatasetAccess, RawFolders};
use crate::data::linear::OpenRaw;
use crate::error::{Error, Result};
use crate::store::RawFile;

/// A trait of resolvers that open the external raw data files that datasets name.
pub trait RawFileResolver: Send + Sync + fmt::Debug {
    /// Opens an external raw data file for reading. A dataset refers to the file by its name.
    /// `folder` is the folder of the dataset's raw data files, if the program chose one.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or must not be opened.
    fn open_raw(&self, name: &[u8], folder: Option<&Path>) -> Result<Arc<dyn Driver>>;

    /// Opens an external raw data file for writing. If the file does not exist, creates it. A
    /// dataset refers to the file by its name. `folder` is the folder of the dataset's raw data
    /// files, if the program chose one.
    ///
    /// # Errors
    /// Returns an error if the file must not be opened or created.
    fn open_raw_to_write(&self, name: &[u8], _folder: Option<&Path>) -> Result<Arc<dyn Driver>> {
        let name = String::from_utf8_lossy(name);
        Err(Error::unsupported(format!("writing to the external file `{name}`")))
    }
}

/// An opener of external raw data files, which uses the resolver of an open file if the file has
/// one.
#[derive(Debug)]
pub(super) struct RawFiles {
    resolver: Option<Arc<dyn RawFileResolver>>,
    folders: Arc<RawFolders>,
    dataset: Address,
    /// The access of the handle that reads, whose folder takes precedence.
    access: Option<Arc<DatasetAccess>>,
    write: bool,
}

impl RawFiles {
    /// Creates an opener that opens external raw data files of a dataset for reading.
    pub(super) fn to_read(
        resolver: Option<&Arc<dyn RawFileResolver>>,
        folders: &Arc<RawFolders>,
        dataset: Address,
        access: Option<&Arc<DatasetAccess>>,
    ) -> Self {
        let (resolver, folders) = (resolver.cloned(), Arc::clone(folders));
        Self { resolver, folders, dataset, access: access.cloned(), write: false }
    }

    /// Creates an opener that opens external raw data files of a dataset for writing and creates
    /// missing files.
    pub(super) fn to_write(
        resolver: Option<&Arc<dyn RawFileResolver>>,
        folders: &Arc<RawFolders>,
        dataset: Address,
    ) -> Self {
        let (resolver, folders) = (resolver.cloned(), Arc::clone(folders));
        Self { resolver, folders, dataset, access: None, write: true }
    }
}

impl OpenRaw for RawFiles {
    fn open_raw(&self, name: &[u8]) -> Result<RawFile> {
        let own = self.access.clone().filter(|access| access.raw_folder.is_some());
        let access = own.or_else(|| self.folders.of(self.dataset));
        let folder = access.as_ref().and_then(|access| access.raw_folder.as_deref());
        match &self.resolver {
            Some(resolver) if self.write => RawFile::new(resolver.open_raw_to_write(name, folder)?),
            Some(resolver) => RawFile::new(resolver.open_raw(name, folder)?),
            None => Err(Error::Misuse("this handle cannot open the files of external storage".into())),
        }
    }
}
