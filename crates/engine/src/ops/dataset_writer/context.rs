//! The parts of an open file that the writer of a dataset uses.

use std::sync::Arc;

use super::super::dataset_access::RawFolders;
use super::super::raw_files::RawFileResolver;
use crate::data::transfer::Resources;
use crate::object::container::Container;
use crate::object::open_editors::OpenEditors;

/// The parts of an open file that the writer of a dataset uses. The table of writers is not part of
/// this, because the caller of a writer holds a lock of that table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriterContext<'a> {
    pub(in crate::ops) container: &'a Container,
    pub(in crate::ops) editors: &'a OpenEditors,
    pub(in crate::ops) resources: &'a Resources,
    /// Opens the files of external storage.
    pub(in crate::ops) raw_files: Option<&'a Arc<dyn RawFileResolver>>,
    /// The folders of external raw data files that the program chose for open datasets.
    pub(in crate::ops) raw_folders: &'a Arc<RawFolders>,
}
