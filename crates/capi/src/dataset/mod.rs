//! Datasets with identifiers.

pub mod create;
pub mod elements;
pub mod transfer;

use std::sync::Arc;

use hyperslab::Dataset;
use hyperslab::Datatype;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::file::Location;
use crate::id::{self, Entry};
use crate::plist::settings::DatasetAccess;

/// A dataset with an identifier.
#[derive(Debug)]
pub struct DatasetHandle {
    /// The dataset.
    pub dataset: Dataset,
    /// The datatype in memory form.
    pub memory: Datatype,
    /// The place of the dataset.
    pub location: Location,
    /// The access properties with which the dataset was opened.
    pub access: DatasetAccess,
}

/// Returns the dataset of an identifier.
///
/// # Errors
/// Fails with a bad type for other identifiers.
pub fn find(id: hid_t) -> Outcome<Arc<DatasetHandle>> {
    match id::find(id) {
        Some(Entry::Dataset(dataset)) => Ok(dataset),
        _ => Err(Failure::bad_type("not a dataset")),
    }
}
