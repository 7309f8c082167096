//! The choices of a program for access to one dataset: the view of a virtual dataset, and the
//! folders of the other files that the dataset names.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use hyperslab_format::codec::Address;
use parking_lot::Mutex;

use crate::data::virtual_::{VirtualOptions, VirtualView};
use crate::error::{Error, Result};
use crate::store::AddressMap;

/// The choices of a program for access to one dataset. An absent choice is that of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct DatasetAccess {
    /// The rule for the current dimensions of an unlimited virtual dataset.
    pub view: Option<VirtualView>,
    /// The largest number of missing source datasets in a row that a virtual dataset skips.
    pub gap: Option<u64>,
    /// The shape of an unlimited virtual dataset, instead of the shape that its sources determine.
    pub shape: Option<Vec<u64>>,
    /// The folder in which the search for source files of a virtual dataset begins.
    pub source_folder: Option<PathBuf>,
    /// The folder that contains the external raw data files of the dataset.
    pub raw_folder: Option<PathBuf>,
}

impl DatasetAccess {
    /// Returns the options of virtual datasets: the choices of this access, and the options `file`
    /// of the file for absent choices.
    pub(in crate::ops) fn virtual_options(&self, file: VirtualOptions) -> VirtualOptions {
        VirtualOptions { view: self.view.unwrap_or(file.view), gap: self.gap.unwrap_or(file.gap) }
    }
}

/// The open datasets of a file whose external raw data files are in a folder that the program
/// chose. All handles of a dataset use the same folder.
#[derive(Debug, Default)]
pub(in crate::ops) struct RawFolders(Mutex<AddressMap<Weak<DatasetAccess>>>);

impl RawFolders {
    /// Returns the access that chose the folder of a dataset's external raw data files, as long as
    /// a handle with this access is open.
    pub(in crate::ops) fn of(&self, dataset: Address) -> Option<Arc<DatasetAccess>> {
        self.0.lock().get(&dataset).and_then(Weak::upgrade)
    }

    /// Registers the folder of a dataset's external raw data files.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the dataset is open with another folder.
    pub(in crate::ops) fn add(&self, dataset: Address, access: &Arc<DatasetAccess>) -> Result<()> {
        let mut table = self.0.lock();
        if let Some(other) = table.get(&dataset).and_then(Weak::upgrade)
            && other.raw_folder != access.raw_folder
        {
            let folder = other.raw_folder.as_deref().unwrap_or(Path::new("")).display().to_string();
            return Err(Error::Misuse(format!(
                "the dataset is open with the folder `{folder}` of external raw data files"
            )));
        }
        table.retain(|_, access| access.strong_count() > 0);
        table.insert(dataset, Arc::downgrade(access));
        Ok(())
    }
}
