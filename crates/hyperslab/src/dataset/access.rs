//! The choices of a program for access to one dataset.

use std::path::PathBuf;
use std::sync::Arc;

use hyperslab_engine::Result;
use hyperslab_engine::ops::datasets::DatasetAccess as Choices;

use super::{Dataset, DatasetBuilder};
use crate::{Object, VirtualView};

/// The choices of a program for access to one dataset: the view of a virtual dataset, and the
/// folders of the other files that the dataset names. An absent choice is that of the file
/// ([`AccessOptions`](crate::AccessOptions)).
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir(folder.path().join("raw"))?;
/// use hyperslab::{DatasetAccess, File};
/// let file = File::create(folder.path().join("a.h5"))?;
/// let access = DatasetAccess::new().raw_data_folder(folder.path().join("raw"));
/// let dataset = file.new_dataset("a").external(&[("a.raw", 0, None)]).access(&access).write(&[1_u8, 2])?;
/// assert_eq!(std::fs::read(folder.path().join("raw/a.raw"))?, [1, 2]);
/// drop(dataset);
/// assert_eq!(file.dataset_with("a", &access)?.read_raw::<u8>(..)?, [1, 2]);
/// assert!(file.dataset("a")?.read_raw::<u8>(..).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct DatasetAccess {
    pub(crate) choices: Choices,
}

impl DatasetAccess {
    /// Returns the access without choices of the program: the file chooses.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the rule for the current dimensions of a virtual dataset with unlimited mappings.
    #[must_use]
    pub fn virtual_view(mut self, view: VirtualView) -> Self {
        self.choices.view = Some(view);
        self
    }

    /// Sets the largest number of missing source datasets in a row that a virtual dataset skips in
    /// the search for numbered source datasets (`%b` in their name).
    #[must_use]
    pub fn virtual_gap(mut self, gap: u64) -> Self {
        self.choices.gap = Some(gap);
        self
    }

    /// Sets the current dimensions of a virtual dataset with unlimited mappings. They replace the
    /// dimensions that its source datasets determine. Elements without a source have the fill
    /// value.
    #[must_use]
    pub fn virtual_shape(mut self, shape: &[u64]) -> Self {
        self.choices.shape = Some(shape.to_vec());
        self
    }

    /// Sets the folder in which the search for the source files of a virtual dataset begins. The
    /// search goes on in the folder of the file. Source files in the folder may be opened as if the
    /// file were in this folder; see [`ExternalFiles`](crate::ExternalFiles).
    #[must_use]
    pub fn source_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.choices.source_folder = Some(folder.into());
        self
    }

    /// Sets the folder for relative names of external raw data files of the dataset. All handles of
    /// the dataset write to files in this folder while a handle with this choice exists.
    #[must_use]
    pub fn raw_data_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.choices.raw_folder = Some(folder.into());
        self
    }
}

impl Object {
    /// Returns the object as a dataset with the choices `access` of the program, or an error if the
    /// object has another kind.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the object is not a dataset, or
    /// if the dataset is open with another folder of external raw data files.
    pub fn into_dataset_with(self, access: &DatasetAccess) -> Result<Dataset> {
        Dataset::new_with(self, access)
    }
}

impl DatasetBuilder {
    /// Sets the choices of the program for access to the new dataset.
    pub fn access(mut self, access: &DatasetAccess) -> Self {
        self.access = access.clone();
        self
    }
}

impl Dataset {
    /// Returns a handle of the same dataset with the choices `access` of the program.
    ///
    /// # Errors
    /// As [`Group::dataset_with`](crate::Group::dataset_with).
    pub fn with_access(&self, access: &DatasetAccess) -> Result<Self> {
        let dataset = Self::new_with(self.object.clone(), access)?;
        Ok(Self { conversions: Arc::clone(&self.conversions), ..dataset })
    }

    /// Returns the choices of the program with which this handle was opened.
    pub fn access(&self) -> DatasetAccess {
        DatasetAccess { choices: self.access.as_deref().map_or_else(Choices::default, Choices::clone) }
    }
}
