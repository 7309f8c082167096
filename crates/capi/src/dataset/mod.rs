//! Datasets that C programs hold by identifiers.

pub mod access;
pub mod chunk_list;
pub mod create;
pub mod elements;
pub mod scatter;
pub mod selection_io;
pub mod transfer;

use std::sync::Arc;

use hyperslab::Dataset;
use hyperslab::Datatype;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome};
use crate::file::Location;
use crate::id::{self, Entry};
use crate::plist::settings::DatasetAccess;

/// An open dataset to which an identifier refers.
#[derive(Debug)]
pub struct DatasetHandle {
    /// The open dataset of hyperslab.
    pub dataset: Dataset,
    /// The dataset's datatype in memory form.
    pub memory: Datatype,
    /// The file and the name of the dataset.
    pub location: Location,
    /// The access properties with which the program opened the dataset.
    pub access: DatasetAccess,
    /// The virtual dataset with the shape that the program set. It serves reads until the program
    /// requests the dataspace.
    pub set_shape: parking_lot::Mutex<Option<Dataset>>,
    /// The stored chunks, which calls for single chunks share.
    pub chunks: parking_lot::Mutex<chunk_list::ChunkList>,
    /// True after a transfer of contiguous elements until a flush. The C library keeps such
    /// elements in a sieve buffer.
    pub sieved: std::sync::atomic::AtomicBool,
}

impl DatasetHandle {
    /// Returns a handle of the virtual dataset with the shape that the program set, if it set one.
    pub fn with_set_shape(&self) -> Option<Self> {
        let dataset = self.set_shape.lock().clone()?;
        let (memory, location) = (self.memory.clone(), self.location.clone());
        let access = self.access.clone();
        Some(Self {
            dataset,
            memory,
            location,
            access,
            set_shape: Default::default(),
            chunks: Default::default(),
            sieved: Default::default(),
        })
    }
}

/// Returns the open dataset to which an identifier refers.
///
/// # Errors
/// Fails with a bad type if the identifier does not refer to a dataset.
pub fn find(id: hid_t) -> Outcome<Arc<DatasetHandle>> {
    match id::find(id) {
        Some(Entry::Dataset(dataset)) => Ok(dataset),
        _ => Err(Failure::bad_type("not a dataset")),
    }
}

/// Returns the identifiers `datasets` after a check that all of the datasets are in the same file.
///
/// # Errors
/// Fails with a bad value if two datasets are in different files.
pub fn in_one_file(datasets: &[hid_t]) -> Outcome<&[hid_t]> {
    let mut first = None;
    for dataset in datasets {
        let shared = Arc::clone(&find(*dataset)?.location.shared);
        let first = first.get_or_insert_with(|| Arc::clone(&shared));
        if !Arc::ptr_eq(first, &shared) {
            return Err(Failure::bad_value("the datasets are in different files"));
        }
    }
    Ok(datasets)
}
