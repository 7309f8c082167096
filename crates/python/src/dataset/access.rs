//! The folders of the other files that a dataset names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab::DatasetAccess;
use pyo3::prelude::*;

use super::Dataset;
use crate::errors::OrRaise;

/// The text at the start of a folder that stands for the folder of the HDF5 file.
const ORIGIN: &str = "${ORIGIN}";

/// Returns the access to a dataset of the file at `file` with a folder of external raw data files,
/// and a folder of the source files of a virtual dataset. An empty folder is no folder.
pub(super) fn access(file: &str, raw: Option<PathBuf>, sources: Option<PathBuf>) -> DatasetAccess {
    let mut access = DatasetAccess::new();
    if let Some(folder) = raw.and_then(|folder| expanded(file, &folder)) {
        access = access.raw_data_folder(folder);
    }
    if let Some(folder) = sources.and_then(|folder| expanded(file, &folder)) {
        access = access.source_folder(folder);
    }
    access
}

fn expanded(file: &str, folder: &Path) -> Option<PathBuf> {
    if folder.as_os_str().is_empty() {
        return None;
    }
    let Ok(rest) = folder.strip_prefix(ORIGIN) else { return Some(folder.to_owned()) };
    let parent = Path::new(file).parent().filter(|parent| !parent.as_os_str().is_empty());
    Some(parent.unwrap_or(Path::new(".")).join(rest))
}

#[pymethods]
impl Dataset {
    /// Returns a handle of the dataset that finds external raw data files in the folder
    /// `efile_prefix`, and source files of a virtual dataset in the folder `virtual_prefix`.
    #[pyo3(signature = (efile_prefix=None, virtual_prefix=None))]
    fn with_prefixes(
        &self,
        py: Python<'_>,
        efile_prefix: Option<PathBuf>,
        virtual_prefix: Option<PathBuf>,
    ) -> PyResult<Py<Self>> {
        let session = self.session();
        let access = access(session.file()?.file_name(), efile_prefix, virtual_prefix);
        let dataset = self.facade()?.with_access(&access).or_raise()?;
        Self::create(&Arc::clone(session), dataset, py)
    }
}
